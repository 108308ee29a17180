"""The codec of typed headers and bodies: metadata of fields, and functions that read and write them.

It may import ``rocketwire.wire``, ``rocketwire.codes`` and ``rocketwire.errors``.
"""
