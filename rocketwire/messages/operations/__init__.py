"""Operations: the header and body classes of each request code.

It may import the modules of ``rocketwire.messages``.
"""
