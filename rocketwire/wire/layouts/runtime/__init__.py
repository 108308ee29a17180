"""Functions that the generated parsers and builders call.

It may import ``rocketwire.errors`` and ``rocketwire.wire.java_utf8``.
"""
