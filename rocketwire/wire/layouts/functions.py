"""Typed parsers and builders of the layouts in ``declarations``.

Rules of this file: the functions come from ``fused``, which ``derive`` generates, so that programs
do not import construct.  With ``ROCKETWIRE_CONSTRUCT=interpreted`` in the environment construct
runs the declarations, with the same results and errors.  Values are tuples and never
``Container``.  The declarations are attributes of this module, too.

Parsers raise ``DecodeError`` (``TruncatedError``, ``LimitExceededError``) with path and position.
Builders raise ``EncodeError``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from rocketwire.wire.layouts import fused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from struct import Struct

    from rocketwire.wire.buffer import Buffer
    from rocketwire.wire.layouts.declarations import BATCH as BATCH
    from rocketwire.wire.layouts.declarations import BINARY_HEADER as BINARY_HEADER
    from rocketwire.wire.layouts.declarations import ENVELOPE as ENVELOPE
    from rocketwire.wire.layouts.declarations import LENGTH as LENGTH
    from rocketwire.wire.layouts.declarations import PREFIX as PREFIX
    from rocketwire.wire.layouts.declarations import REGISTER_BODY as REGISTER_BODY
    from rocketwire.wire.layouts.declarations import (
        REGISTER_BODY_WITH_MAPPINGS as REGISTER_BODY_WITH_MAPPINGS,
    )
    from rocketwire.wire.layouts.declarations import STORED_MESSAGE as STORED_MESSAGE
    from rocketwire.wire.layouts.declarations import STORED_MESSAGE_RAW as STORED_MESSAGE_RAW

ValueT = TypeVar("ValueT", covariant=True)


class Parser(Protocol[ValueT]):
    """``parse(buf, pos=0, end=None)`` returns the value and the position after it."""

    def __call__(self, buf: Buffer, pos: int = ..., end: int | None = ...) -> tuple[ValueT, int]:
        """Parses ``buf`` from ``pos`` to ``end``; None means the end of ``buf``."""
        ...


Builder = Callable[..., bytes]
"""``build(*fields)`` for a record, ``build(value)`` for any other layout."""

INTERPRETED: Final = os.environ.get("ROCKETWIRE_CONSTRUCT") == "interpreted"
"""Whether construct runs the declarations."""


def _function(verb: str, name: str) -> Any:
    """The parser (``parse``) or builder (``build``) of a layout."""
    return (
        import_module("rocketwire.wire.layouts.interpreter").interpreted(verb, name)
        if INTERPRETED
        else vars(fused)[f"{verb}_{name.lower()}"]
    )


_DECLARED: Final = (
    "LENGTH",
    "PREFIX",
    "ENVELOPE",
    "BINARY_HEADER",
    "REGISTER_BODY",
    "REGISTER_BODY_WITH_MAPPINGS",
    "STORED_MESSAGE",
    "STORED_MESSAGE_RAW",
    "BATCH",
)


def __getattr__(name: str) -> Any:
    if name not in _DECLARED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return vars(import_module("rocketwire.wire.layouts.declarations"))[name]


LENGTH_SIZE: Final[int] = fused.LENGTH_SIZE
PREFIX_SIZE: Final[int] = fused.PREFIX_SIZE

PREFIX_STRUCT: Final[Struct] = fused.PREFIX_STRUCT
"""``PREFIX`` as a struct; the header length is its first byte and its last two bytes."""

MAX_EXT_FIELDS: Final[int] = fused.MAX_EXT_FIELDS
"""Maximum number of entries of a binary header; real headers have about twenty."""

BINARY_HEADER_FIXED: Final[tuple[tuple[str, str], ...]] = fused.BINARY_HEADER_FIXED
"""The fixed-size fields of a binary header: name, and ``i`` or ``u`` (unsigned) with the size."""

REMARK_LENGTH_SIZE: Final[int] = fused.REMARK_LENGTH_SIZE
EXT_FIELDS_LENGTH_SIZE: Final[int] = fused.EXT_FIELDS_LENGTH_SIZE
KEY_LENGTH_SIZE: Final[int] = fused.KEY_LENGTH_SIZE
VALUE_LENGTH_SIZE: Final[int] = fused.VALUE_LENGTH_SIZE
"""Sizes of the lengths in a binary header: of the remark, all fields, a key and a value."""

ITEM_LENGTH_SIZE: Final[int] = fused.ITEM_LENGTH_SIZE
"""Size of the length before each topic."""

MAGIC_V1: Final[int] = fused.MAGIC_V1
MAGIC_V2: Final[int] = fused.MAGIC_V2
"""Magic number of messages whose topic length has two bytes (Java: ``MessageVersion``)."""

# ------------------------------------------------------------------ frame

parse_length: Final[Parser[int]] = _function("parse", "LENGTH")
"""The length word of a frame, not validated."""

parse_prefix: Final[Parser[tuple[int, int, int]]] = _function("parse", "PREFIX")
"""Length, header type and header length of a frame, not validated."""

parse_envelope: Final[Parser[tuple[int, Buffer, Buffer]]] = _function("parse", "ENVELOPE")
"""Header type, header and body of a frame; header and body are slices of the buffer."""

_build_envelope: Final[Builder] = _function("build", "ENVELOPE")


def build_envelope(header_type: int, header: bytes, body: bytes) -> bytes:
    """The bytes of a frame."""
    return _build_envelope(header_type, header, body)


# ------------------------------------------------------------------ binary header

BinaryHeader = tuple[int, int, int, int, int, str, dict[str, str] | None]
"""Code, language, version, opaque, flag, remark (empty for None), fields."""

parse_binary_header: Final[Parser[BinaryHeader]] = _function("parse", "BINARY_HEADER")
"""The fields of a header; more bytes may follow."""

_build_binary_header: Final[Builder] = _function("build", "BINARY_HEADER")


def build_binary_header(
    code: int,
    language: int,
    version: int,
    opaque: int,
    flag: int,
    remark: str,
    ext_fields: Mapping[str, str] | None,
) -> bytes:
    """The bytes of a header; without a map if the fields are None."""
    return _build_binary_header(code, language, version, opaque, flag, remark, ext_fields)


# ------------------------------------------------------------------ registration

_parse_register_body: Final[Parser[tuple[bytes, list[bytes], bytes]]] = _function(
    "parse", "REGISTER_BODY"
)
_build_register_body: Final[Builder] = _function("build", "REGISTER_BODY")
_parse_mapped_body: Final[Parser[tuple[bytes, list[bytes], bytes, list[bytes]]]] = _function(
    "parse", "REGISTER_BODY_WITH_MAPPINGS"
)
_build_mapped_body: Final[Builder] = _function("build", "REGISTER_BODY_WITH_MAPPINGS")


class RegisterParts(NamedTuple):
    """The undecoded parts of an inflated registration.

    Attributes:
        data_version: JSON of DataVersion.
        topics: topic strings, six items separated by spaces.
        filter_servers: JSON array of addresses.
        mappings: JSON of each TopicQueueMappingInfo; None if the layout has none.
    """

    data_version: bytes
    topics: list[bytes]
    filter_servers: bytes
    mappings: list[bytes] | None


def parse_register_body(inflated: bytes, *, with_mappings: bool) -> RegisterParts:
    """Splits an inflated registration; bytes after the last part are ignored, as in Java.

    Raises:
        LimitExceededError: the number of topics or mappings is too large for the data; no memory
            was allocated for them.
        TruncatedError: a length passes the end.
        DecodeError: a negative length.
    """
    if with_mappings:
        return RegisterParts(*_parse_mapped_body(inflated)[0])
    return RegisterParts(*_parse_register_body(inflated)[0], None)


parse_register_head: Final[Parser[tuple[bytes, int]]] = _function("parse", "REGISTER_HEAD")
"""Data version and number of topics, not validated."""
parse_topic_item: Final[Parser[bytes]] = _function("parse", "REGISTER_ITEM")
"""A topic string."""
_parse_tail: Final[Parser[tuple[bytes]]] = _function("parse", "REGISTER_TAIL")
_parse_mapped_tail: Final[Parser[tuple[bytes, list[bytes]]]] = _function(
    "parse", "REGISTER_TAIL_WITH_MAPPINGS"
)


def parse_register_tail(
    inflated: bytes, pos: int, *, with_mappings: bool
) -> tuple[bytes, list[bytes] | None]:
    """Filter servers and mappings of an inflated registration, which follow its topics at ``pos``.

    Raises:
        DecodeError: as in ``parse_register_body``.
    """
    if with_mappings:
        return _parse_mapped_tail(inflated, pos)[0]
    return _parse_tail(inflated, pos)[0][0], None


def build_register_body(parts: RegisterParts) -> bytes:
    """An inflated registration; without the mapping section if ``mappings`` is None."""
    if parts.mappings is None:
        return _build_register_body(*parts[:3])
    return _build_mapped_body(*parts)


# ------------------------------------------------------------------ stored message

StoredFields = tuple[
    *tuple[int, int, int, int, int, int, int, int],  # magic .. born_timestamp
    *tuple[bytes, int, int],  # born_address, born_port, store_timestamp
    *tuple[bytes, int, int, int],  # store_address .. prepared_transaction_offset
    *tuple[bytes | None, str, str | None],  # body, topic, properties
]
"""The fields of ``STORED_MESSAGE`` without the size; an empty body or properties are None."""

RawStoredFields = tuple[
    *tuple[int, int, int, int, int, int, int, int],
    *tuple[bytes, int, int],
    *tuple[bytes, int, int, int],
    *tuple[bytes | None, bytes, bytes | None],
]
"""``StoredFields`` with texts as bytes."""

parse_stored: Final[Parser[StoredFields]] = _function("parse", "STORED_MESSAGE")
"""A stored message; more bytes may follow."""

parse_raw_stored: Final[Parser[RawStoredFields]] = _function("parse", "STORED_MESSAGE_RAW")
"""A stored message with texts as bytes; more bytes may follow."""

_build_stored: Final[Builder] = _function("build", "STORED_MESSAGE")


def build_stored(fields: StoredFields) -> bytes:
    """The bytes of a stored message; ``sys_flag`` determines the sizes of the addresses."""
    return _build_stored(fields)


# ------------------------------------------------------------------ batch

BatchFields = tuple[int, bytes, str]
"""Flag, body and properties of a message in a batch."""

parse_batch: Final[Parser[list[BatchFields]]] = _function("parse", "BATCH")
"""All messages of a batch body."""

_build_batch: Final[Builder] = _function("build", "BATCH")


def build_batch(messages: Sequence[BatchFields]) -> bytes:
    """The body of a batch send."""
    return _build_batch(messages)
