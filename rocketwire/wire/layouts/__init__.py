"""Binary layouts: their declarations, and the functions derived from them that parse and build.

It may import ``rocketwire.wire.values`` and ``rocketwire.wire.java_utf8``.
"""
