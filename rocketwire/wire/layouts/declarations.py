"""All binary layouts of the protocol as construct declarations.

Rules of this file: expressions use only ``this``, and lengths that can be computed are ``Rebuild``.
Programs use the functions of ``fused``, which ``derive`` writes from the declarations; construct
itself is 10 to 40 times slower.  Integers are big-endian.
"""

# construct has no types, so its values are Any in this file
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportOperatorIssue=false

from __future__ import annotations

from typing import Any, Final

from construct import (
    Bytes,
    GreedyBytes,
    IfThenElse,
    Int8sb,
    Int8ub,
    Int16sb,
    Int24ub,
    Int32sb,
    Int32ub,
    Int64sb,
    Prefixed,
    Rebuild,
    Struct,
    Terminated,
    len_,
    this,
)

from rocketwire.wire.layouts.constructs import (
    JavaEntries,
    JavaText,
    OneOf,
    OptionalPrefixed,
    StrictArray,
    StrictRange,
)

# ------------------------------------------------------------------ frame

LENGTH: Final[Any] = Int32sb
"""The first word of a frame: the number of bytes after it."""

PREFIX: Final[Any] = Struct("length" / LENGTH, "header_type" / Int8ub, "header_length" / Int24ub)
"""The first two words of a frame."""

_LENGTH_SIZE: Final[int] = LENGTH.sizeof()
_PREFIX_SIZE: Final[int] = PREFIX.sizeof()

ENVELOPE: Final[Any] = Struct(
    "length" / Rebuild(LENGTH, len_(this.header) + len_(this.body) + (_PREFIX_SIZE - _LENGTH_SIZE)),
    "header_type" / Int8ub,
    "header_length" / Rebuild(Int24ub, len_(this.header)),
    "header" / Bytes(this.header_length),
    "body" / Bytes(this.length - this.header_length - (_PREFIX_SIZE - _LENGTH_SIZE)),
)
"""A frame (Java: ``RemotingCommand.encode``, ``NettyDecoder``)."""

# ------------------------------------------------------------------ binary header

MAX_EXT_FIELDS: Final = 16_384
"""Maximum number of entries of a binary header; real headers have about twenty."""

BINARY_HEADER: Final[Any] = Struct(
    "code" / Int16sb,
    "language" / Int8ub,
    "version" / Int16sb,
    "opaque" / Int32sb,
    "flag" / Int32sb,
    "remark" / Prefixed(Int32sb, JavaText()),
    "ext_fields" / JavaEntries(Int32sb, Int16sb, Int32sb, limit=MAX_EXT_FIELDS),
)
"""The ROCKETMQ header (Java: ``RocketMQSerializable``)."""

# ------------------------------------------------------------------ registration

REGISTER_ITEM: Final[Any] = Prefixed(Int32sb, GreedyBytes)
"""A part of a registration, such as a topic."""
_ITEMS: Final[Any] = StrictArray(Int32sb, REGISTER_ITEM, element_size=_LENGTH_SIZE)
_COUNT: Final[Any] = _ITEMS.countfield

REGISTER_BODY: Final[Any] = Struct(
    "data_version" / REGISTER_ITEM, "topics" / _ITEMS, "filter_servers" / REGISTER_ITEM
)
"""Inflated registration of brokers before V5_0_0 (Java: ``RegisterBrokerBody.decode``)."""

REGISTER_BODY_WITH_MAPPINGS: Final[Any] = Struct(*REGISTER_BODY.subcons, "mappings" / _ITEMS)
"""``REGISTER_BODY`` with the queue mappings, which exist from protocol version 413 on."""

REGISTER_HEAD: Final[Any] = Struct("data_version" / REGISTER_ITEM, "topics" / _COUNT)
"""The parts of ``REGISTER_BODY`` before its topics."""
REGISTER_TAIL: Final[Any] = Struct(*REGISTER_BODY.subcons[2:])
"""The parts of ``REGISTER_BODY`` after its topics."""
REGISTER_TAIL_WITH_MAPPINGS: Final[Any] = Struct(*REGISTER_BODY_WITH_MAPPINGS.subcons[2:])
"""The parts of ``REGISTER_BODY_WITH_MAPPINGS`` after its topics."""

# ------------------------------------------------------------------ stored message

MAGIC_V1: Final = 0xDAA320A7
MAGIC_V2: Final = 0xDAA320AB
"""Magic number of messages whose topic length has two bytes (Java: ``MessageVersion``)."""


def _stored_message(text: Any) -> Any:
    return Prefixed(
        Int32sb,
        Struct(
            "magic" / OneOf(Int32ub, MAGIC_V1, MAGIC_V2),
            "body_crc" / Int32sb,
            "queue_id" / Int32sb,
            "flag" / Int32sb,
            "queue_offset" / Int64sb,
            "physical_offset" / Int64sb,
            "sys_flag" / Int32sb,
            "born_timestamp" / Int64sb,
            "born_address" / IfThenElse(this.sys_flag & 0x10, Bytes(16), Bytes(4)),
            "born_port" / Int32sb,
            "store_timestamp" / Int64sb,
            "store_address" / IfThenElse(this.sys_flag & 0x20, Bytes(16), Bytes(4)),
            "store_port" / Int32sb,
            "reconsume_times" / Int32sb,
            "prepared_transaction_offset" / Int64sb,
            "body" / OptionalPrefixed(Int32sb, GreedyBytes),
            "topic"
            / IfThenElse(this.magic == MAGIC_V2, Prefixed(Int16sb, text), Prefixed(Int8sb, text)),
            "properties" / OptionalPrefixed(Int16sb, text),
            Terminated,
        ),
        includelength=True,
    )


STORED_MESSAGE: Final[Any] = _stored_message(JavaText())
"""A message as brokers store and send it (Java: ``MessageDecoder``).

Java does not compare the size with the fields; here they must match.
"""

STORED_MESSAGE_RAW: Final[Any] = _stored_message(GreedyBytes)
"""``STORED_MESSAGE`` with topic and properties as bytes, which most callers do not need."""

# ------------------------------------------------------------------ batch

BATCH: Final[Any] = StrictRange(
    Prefixed(
        Int32sb,
        Struct(
            "magic" / Rebuild(Int32sb, 0),
            "body_crc" / Rebuild(Int32sb, 0),
            "flag" / Int32sb,
            "body" / Prefixed(Int32sb, GreedyBytes),
            "properties" / Prefixed(Int16sb, JavaText()),
            Terminated,
        ),
        includelength=True,
    )
)
"""The body of a batch send (Java: ``MessageDecoder.encodeMessage``); two fields are unused."""
