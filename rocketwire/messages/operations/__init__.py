"""Operations: which header and body classes belong to which request code.

It may import the modules of ``rocketwire.messages``.
"""
