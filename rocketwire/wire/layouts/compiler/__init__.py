"""Source text of parsers and builders, derived from the declarations.

It may import ``rocketwire.wire.layouts.runtime``.  Only development and tools run it; programs use the generated functions.
"""
