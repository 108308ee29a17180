"""Source text of parsers and builders, derived from the declarations.

It may import ``rocketwire.wire.layouts.runtime`` and ``rocketwire.wire.java_utf8``.  Only
development and tools use it; programs use the generated functions.
"""
