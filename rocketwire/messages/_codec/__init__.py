"""The codec of typed headers and bodies.

It may import ``rocketwire.wire``, ``rocketwire.codes`` and ``rocketwire.errors``.
"""
