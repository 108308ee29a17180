"""What reads and writes the layouts of ``declarations``: typed functions on tuples, never a ``Container``.

Rules of this file: the functions come from ``fused``, which ``derive`` writes, so that nobody who only reads and writes needs
construct; with ``ROCKETWIRE_CONSTRUCT=interpreted`` in the environment construct runs the declarations itself, with the same
results and the same errors.  The declarations are offered here too, for who looks at them.

Parsers take a buffer with the part to read and raise ``DecodeError`` (``TruncatedError``, ``LimitExceededError``) with path and
position; builders raise ``EncodeError``.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.wire.layouts import fused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from struct import Struct

    from rocketwire.wire.buffer import Buffer
    from rocketwire.wire.layouts.compiler.nodes import Builder, Parser
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

INTERPRETED: Final = os.environ.get("ROCKETWIRE_CONSTRUCT") == "interpreted"
"""Whether construct runs the declarations itself."""


def _function(verb: str, name: str) -> Any:
    """What reads (``parse``) or writes (``build``) a layout."""
    return (
        import_module("rocketwire.wire.layouts.interpreter").interpreted(verb, name)
        if INTERPRETED
        else vars(fused)[f"{verb}_{name.lower()}"]
    )


def _declared(name: str) -> Any:
    return vars(import_module("rocketwire.wire.layouts.declarations"))[name]


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
    return _declared(name)


LENGTH_SIZE: Final[int] = fused.LENGTH_SIZE
PREFIX_SIZE: Final[int] = fused.PREFIX_SIZE

PREFIX_STRUCT: Final[Struct] = fused.PREFIX_STRUCT
"""``PREFIX`` for who reads thousands of frames in one go: length, header type, and the header
length as its first byte and the two others."""

MAX_EXT_FIELDS: Final[int] = fused.MAX_EXT_FIELDS
"""Most entries of a binary header; real ones have some twenty."""

BINARY_HEADER_FIXED: Final[tuple[tuple[str, str], ...]] = fused.BINARY_HEADER_FIXED
"""The fields of a binary header that have a fixed size, in order: name, and ``i`` or ``u`` (unsigned) with the number of bytes."""

REMARK_LENGTH_SIZE: Final[int] = fused.REMARK_LENGTH_SIZE
EXT_FIELDS_LENGTH_SIZE: Final[int] = fused.EXT_FIELDS_LENGTH_SIZE
KEY_LENGTH_SIZE: Final[int] = fused.KEY_LENGTH_SIZE
VALUE_LENGTH_SIZE: Final[int] = fused.VALUE_LENGTH_SIZE
"""Bytes of the lengths in a binary header: of the remark, of all extension fields, of a key and of a value."""

ITEM_LENGTH_SIZE: Final[int] = fused.ITEM_LENGTH_SIZE
"""Bytes of the length before each topic; of a text below 256 bytes all but the last are zero."""

MAGIC_V1: Final[int] = fused.MAGIC_V1
MAGIC_V2: Final[int] = fused.MAGIC_V2
"""With this magic number the topic length has two bytes (Java: ``MessageVersion``)."""

# ------------------------------------------------------------------ frame

parse_length: Final[Parser[int]] = _function("parse", "LENGTH")
"""The length word of a frame, unchecked."""

parse_prefix: Final[Parser[tuple[int, int, int]]] = _function("parse", "PREFIX")
"""Length, header type and header length of a frame, unchecked."""

parse_envelope: Final[Parser[tuple[int, Buffer, Buffer]]] = _function("parse", "ENVELOPE")
"""Header type, header and body of a frame; the last two are slices of the buffer."""

_build_envelope: Final[Builder] = _function("build", "ENVELOPE")


def build_envelope(header_type: int, header: bytes, body: bytes) -> bytes:
    """The bytes of a frame."""
    return _build_envelope(header_type, header, body)


# ------------------------------------------------------------------ binary header

BinaryHeader = tuple[int, int, int, int, int, str, dict[str, str] | None]
"""Code, language, version, opaque, flag, remark (empty for none), fields."""

parse_binary_header: Final[Parser[BinaryHeader]] = _function("parse", "BINARY_HEADER")
"""The fields of a header; bytes may follow them."""

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
    """The bytes of a header; None for the fields writes no map."""
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


parse_register_head: Final[Parser[tuple[bytes, int]]] = _function("parse", "REGISTER_HEAD")
"""Data version and number of topics, unchecked."""
parse_topic_item: Final[Parser[bytes]] = _function("parse", "REGISTER_ITEM")
"""One topic."""
_parse_tail: Final[Parser[tuple[bytes]]] = _function("parse", "REGISTER_TAIL")
_parse_mapped_tail: Final[Parser[tuple[bytes, list[bytes]]]] = _function(
    "parse", "REGISTER_TAIL_WITH_MAPPINGS"
)


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

StoredFields = tuple[
    *tuple[int, int, int, int, int, int, int, int],  # magic .. born_timestamp
    *tuple[bytes, int, int],  # born_address, born_port, store_timestamp
    *tuple[bytes, int, int, int],  # store_address .. prepared_transaction_offset
    *tuple[bytes | None, str, str | None],  # body, topic, properties
]
"""The fields of ``STORED_MESSAGE`` without the size; body and properties are None where empty."""

RawStoredFields = tuple[
    *tuple[int, int, int, int, int, int, int, int],
    *tuple[bytes, int, int],
    *tuple[bytes, int, int, int],
    *tuple[bytes | None, bytes, bytes | None],
]
"""As ``StoredFields``."""

parse_stored: Final[Parser[StoredFields]] = _function("parse", "STORED_MESSAGE")
"""One stored message; more may follow it."""

parse_raw_stored: Final[Parser[RawStoredFields]] = _function("parse", "STORED_MESSAGE_RAW")
"""The same with texts as bytes."""

_build_stored: Final[Builder] = _function("build", "STORED_MESSAGE")


def build_stored(fields: StoredFields) -> bytes:
    """The bytes of a stored message; addresses must have the sizes that ``sys_flag`` says."""
    return _build_stored(fields)


# ------------------------------------------------------------------ batch

BatchFields = tuple[int, bytes, str]
"""Flag, body and properties of one message of a batch."""

parse_batch: Final[Parser[list[BatchFields]]] = _function("parse", "BATCH")
"""All messages of a batch body."""

_build_batch: Final[Builder] = _function("build", "BATCH")


def build_batch(messages: Sequence[BatchFields]) -> bytes:
    """The body of a batch send."""
    return _build_batch(messages)
