"""Flag bits of the protocol as named masks.

Java declares some as bit positions (``RemotingCommand.RPC_TYPE = 0`` means ``1 << 0``); here each
value is the mask.  Unknown bits survive: the classes are ``IntFlag`` with ``KEEP``.
"""

from __future__ import annotations

from enum import KEEP, IntFlag


class CommandFlag(IntFlag, boundary=KEEP):
    """``flag`` of a command (Java: ``RemotingCommand.RPC_TYPE``, ``RPC_ONEWAY``)."""

    RESPONSE = 1
    ONEWAY = 2


class Perm(IntFlag, boundary=KEEP):
    """``perm`` of a topic (Java: ``PermName``)."""

    INHERIT = 1
    WRITE = 2
    READ = 4
    PRIORITY = 8


class TopicSysFlag(IntFlag, boundary=KEEP):
    """``topicSysFlag`` of a topic (Java: ``TopicSysFlag``)."""

    UNIT = 1
    UNIT_SUB = 2


class MessageSysFlag(IntFlag, boundary=KEEP):
    """``sysFlag`` of a stored message (Java: ``MessageSysFlag``).

    Two fields are wider than a bit: ``TRANSACTION_MASK`` (none 0, prepared 4, commit 8, rollback
    12) and ``COMPRESSION_TYPE_MASK`` (0 old zlib, LZ4 0x100, ZSTD 0x200, ZLIB 0x300).
    """

    COMPRESSED = 0x1
    MULTI_TAGS = 0x2
    TRANSACTION_PREPARED = 0x4
    TRANSACTION_COMMIT = 0x8
    TRANSACTION_ROLLBACK = 0xC
    TRANSACTION_MASK = 0xC
    BORNHOST_V6 = 0x10
    STOREHOSTADDRESS_V6 = 0x20
    NEED_UNWRAP = 0x40
    INNER_BATCH = 0x80
    COMPRESSION_LZ4 = 0x100
    COMPRESSION_ZSTD = 0x200
    COMPRESSION_ZLIB = 0x300
    COMPRESSION_TYPE_MASK = 0x700


class PullSysFlag(IntFlag, boundary=KEEP):
    """``sysFlag`` of a pull request (Java: ``PullSysFlag``)."""

    COMMIT_OFFSET = 1
    SUSPEND = 2
    SUBSCRIPTION = 4
    CLASS_FILTER = 8
    LITE_PULL_MESSAGE = 16
