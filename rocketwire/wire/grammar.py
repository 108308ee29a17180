"""Every layout of the protocol as a construct declaration: the one place where bytes are described.

Rules of this file: ``this`` expressions only; lengths that can be computed are ``Rebuild`` and
never handed over; what the module offers are typed functions on tuples, never a ``Container``.  The
functions are derived from the declarations at import by ``fuse``; with
``ROCKETWIRE_CONSTRUCT=interpreted`` in the environment construct runs the declarations itself, with
the same results and the same errors.

Integers are big-endian.  Parsers take a buffer with the part to read and raise ``DecodeError``
(``TruncatedError``, ``LimitExceededError``) with path and position; builders raise ``EncodeError``.
"""

# construct has no types: what it gives is Any here, and nothing untyped leaves this file
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportOperatorIssue=false

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from construct import (
    Bytes,
    Check,
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

from rocketwire.wire.fuse import (
    JavaEntries,
    JavaText,
    OptionalPrefixed,
    StrictArray,
    StrictRange,
    compile_builder,
    compile_parser,
    lower,
)
from rocketwire.wire.interpret import interpret_builder, interpret_parser
from rocketwire.wire.layout import fixed_struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire.wire.layout import Buffer, Builder, Parser

INTERPRETED: Final = os.environ.get("ROCKETWIRE_CONSTRUCT") == "interpreted"
"""Whether construct runs the declarations itself."""


def _parser(con: Any, name: str) -> Parser[Any]:
    return interpret_parser(con) if INTERPRETED else compile_parser(con, name)


def _builder(con: Any, name: str) -> Builder:
    return interpret_builder(con) if INTERPRETED else compile_builder(con, name)


# ------------------------------------------------------------------ frame

LENGTH: Final[Any] = Int32sb
"""The first word of a frame: how many bytes follow it."""

PREFIX: Final[Any] = Struct("length" / LENGTH, "header_type" / Int8ub, "header_length" / Int24ub)
"""The first two words of a frame: everything that can be wrong with one."""

LENGTH_SIZE: Final[int] = LENGTH.sizeof()
PREFIX_SIZE: Final[int] = PREFIX.sizeof()

PREFIX_STRUCT: Final = fixed_struct(lower(PREFIX))
"""``PREFIX`` for who reads thousands of frames in one go: length, header type, and the header
length as its first byte and the two others."""

ENVELOPE: Final[Any] = Struct(
    "length" / Rebuild(LENGTH, len_(this.header) + len_(this.body) + (PREFIX_SIZE - LENGTH_SIZE)),
    "header_type" / Int8ub,
    "header_length" / Rebuild(Int24ub, len_(this.header)),
    "header" / Bytes(this.header_length),
    "body" / Bytes(this.length - this.header_length - (PREFIX_SIZE - LENGTH_SIZE)),
)
"""A frame (Java: ``RemotingCommand.encode``, ``NettyDecoder``)."""

parse_length: Final[Parser[int]] = _parser(LENGTH, "LENGTH")
"""The length word of a frame, unchecked."""

parse_prefix: Final[Parser[tuple[int, int, int]]] = _parser(PREFIX, "PREFIX")
"""Length, header type and header length of a frame, unchecked."""

parse_envelope: Final[Parser[tuple[int, Buffer, Buffer]]] = _parser(ENVELOPE, "ENVELOPE")
"""Header type, header and body of a frame; the last two are slices of the buffer."""

_build_envelope = _builder(ENVELOPE, "ENVELOPE")


def build_envelope(header_type: int, header: bytes, body: bytes) -> bytes:
    """The bytes of a frame."""
    return _build_envelope(header_type, header, body)


# ------------------------------------------------------------------ binary header

MAX_EXT_FIELDS: Final = 16_384
"""Most entries of a binary header; real ones have some twenty."""

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

BinaryHeader = tuple[int, int, int, int, int, str, dict[str, str] | None]
"""Code, language, version, opaque, flag, remark (empty for none), fields."""

parse_binary_header: Final[Parser[BinaryHeader]] = _parser(BINARY_HEADER, "BINARY_HEADER")
"""The fields of a header; bytes may follow them."""

_build_binary_header = _builder(BINARY_HEADER, "BINARY_HEADER")


def build_binary_header(
    code: int,
    language: int,
    version: int,
    opaque: int,
    flag: int,
    remark: str,
    ext_fields: Mapping[str, str] | None,
) -> bytes:
    """The bytes of a header; None for the fields writes no map."""
    return _build_binary_header(code, language, version, opaque, flag, remark, ext_fields)


# ------------------------------------------------------------------ registration

_ITEM: Final[Any] = Prefixed(Int32sb, GreedyBytes)
_ITEMS: Final[Any] = StrictArray(Int32sb, _ITEM)

_COUNT: Final[Any] = _ITEMS.countfield

REGISTER_BODY: Final[Any] = Struct(
    "data_version" / _ITEM, "topics" / _ITEMS, "filter_servers" / _ITEM
)
"""Inflated registration of brokers before V5_0_0 (Java: ``RegisterBrokerBody.decode``)."""

REGISTER_BODY_WITH_MAPPINGS: Final[Any] = Struct(*REGISTER_BODY.subcons, "mappings" / _ITEMS)
"""The same with the queue mappings that ``RegisterBrokerBody`` has from ordinal 413 on."""

_parse_register_body: Final[Parser[tuple[bytes, list[bytes], bytes]]] = _parser(
    REGISTER_BODY, "REGISTER_BODY"
)
_build_register_body = _builder(REGISTER_BODY, "REGISTER_BODY")
_parse_mapped_body: Final[Parser[tuple[bytes, list[bytes], bytes, list[bytes]]]] = _parser(
    REGISTER_BODY_WITH_MAPPINGS, "REGISTER_BODY_WITH_MAPPINGS"
)
_build_mapped_body = _builder(REGISTER_BODY_WITH_MAPPINGS, "REGISTER_BODY_WITH_MAPPINGS")


class RegisterParts(NamedTuple):
    """The parts of an inflated registration, none of them understood.

    Attributes:
        data_version: JSON of DataVersion.
        topics: topic strings, six items separated by blanks.
        filter_servers: JSON array of addresses.
        mappings: JSON of each TopicQueueMappingInfo; None if the layout has none.
    """

    data_version: bytes
    topics: list[bytes]
    filter_servers: bytes
    mappings: list[bytes] | None


def parse_register_body(plain: bytes, *, with_mappings: bool) -> RegisterParts:
    """Takes an inflated registration apart; bytes after the last part are ignored, as in Java.

    Raises:
        LimitExceededError: more topics or mappings announced than could fit; nothing was allocated
            for them.
        TruncatedError: a length passes the end.
        DecodeError: a negative length.
    """
    if with_mappings:
        return RegisterParts(*_parse_mapped_body(plain)[0])
    return RegisterParts(*_parse_register_body(plain)[0], None)


REGISTER_HEAD: Final[Any] = Struct("data_version" / _ITEM, "topics" / _COUNT)
"""What precedes the topics of an inflated registration: all that ``REGISTER_BODY`` has there."""
REGISTER_TAIL: Final[Any] = Struct(*REGISTER_BODY.subcons[2:])
"""What follows them."""
REGISTER_TAIL_WITH_MAPPINGS: Final[Any] = Struct(*REGISTER_BODY_WITH_MAPPINGS.subcons[2:])

parse_register_head: Final[Parser[tuple[bytes, int]]] = _parser(REGISTER_HEAD, "REGISTER_HEAD")
"""Data version and number of topics, unchecked."""
parse_topic_item: Final[Parser[bytes]] = _parser(_ITEM, "REGISTER_ITEM")
"""One topic."""
_parse_tail: Final[Parser[tuple[bytes]]] = _parser(REGISTER_TAIL, "REGISTER_TAIL")
_parse_mapped_tail: Final[Parser[tuple[bytes, list[bytes]]]] = _parser(
    REGISTER_TAIL_WITH_MAPPINGS, "REGISTER_TAIL_WITH_MAPPINGS"
)

ITEM_LENGTH_SIZE: Final[int] = _COUNT.sizeof()
"""Bytes of the length before each topic; of a text below 256 bytes all but the last are zero."""


def parse_register_tail(
    plain: bytes, at: int, *, with_mappings: bool
) -> tuple[bytes, list[bytes] | None]:
    """Filter servers and mappings of an inflated registration, of which all else is known.

    Raises:
        DecodeError: as of ``parse_register_body``.
    """
    if with_mappings:
        return _parse_mapped_tail(plain, at)[0]
    return _parse_tail(plain, at)[0][0], None


def build_register_body(parts: RegisterParts) -> bytes:
    """The inflated form; without the mapping section if ``mappings`` is None."""
    if parts.mappings is None:
        return _build_register_body(*parts[:3])
    return _build_mapped_body(*parts)


# ------------------------------------------------------------------ stored message

MAGIC_V1: Final = 0xDAA320A7
MAGIC_V2: Final = 0xDAA320AB
"""With this magic number the topic length has two bytes (Java: ``MessageVersion``)."""


def _stored_message(text: Any) -> Any:
    return Prefixed(
        Int32sb,
        Struct(
            "magic" / Int32ub,
            Check((this.magic == MAGIC_V1) | (this.magic == MAGIC_V2)),
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
"""A message as brokers keep it and hand it out (Java: ``MessageDecoder``).

Java does not hold the size against the fields; here they must agree.
"""

StoredFields = tuple[
    *tuple[int, int, int, int, int, int, int, int],  # magic .. born_timestamp
    *tuple[bytes, int, int],  # born_address, born_port, store_timestamp
    *tuple[bytes, int, int, int],  # store_address .. prepared_transaction_offset
    *tuple[bytes | None, str, str | None],  # body, topic, properties
]
"""The fields of ``STORED_MESSAGE`` without the size; body and properties are None where empty."""

STORED_MESSAGE_RAW: Final[Any] = _stored_message(GreedyBytes)
"""The same, its topic and its properties as bytes: that topic is mostly known, those are seldom asked for."""

RawStoredFields = tuple[
    *tuple[int, int, int, int, int, int, int, int],
    *tuple[bytes, int, int],
    *tuple[bytes, int, int, int],
    *tuple[bytes | None, bytes, bytes | None],
]
"""As ``StoredFields``."""

parse_stored: Final[Parser[StoredFields]] = _parser(STORED_MESSAGE, "STORED_MESSAGE")
"""One stored message; more may follow it."""

parse_raw_stored: Final[Parser[RawStoredFields]] = _parser(STORED_MESSAGE_RAW, "STORED_MESSAGE_RAW")
"""The same with texts as bytes."""

_build_stored = _builder(STORED_MESSAGE, "STORED_MESSAGE")


def build_stored(fields: StoredFields) -> bytes:
    """The bytes of a stored message; addresses must have the sizes that ``sys_flag`` says."""
    return _build_stored(fields)


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

BatchFields = tuple[int, bytes, str]
"""Flag, body and properties of one message of a batch."""

parse_batch: Final[Parser[list[BatchFields]]] = _parser(BATCH, "BATCH")
"""All messages of a batch body."""

_build_batch = _builder(BATCH, "BATCH")


def build_batch(messages: Sequence[BatchFields]) -> bytes:
    """The body of a batch send."""
    return _build_batch(messages)
