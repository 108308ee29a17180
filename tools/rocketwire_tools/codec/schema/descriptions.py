"""Describes the bytes of a field in a few words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from rocketwire.codes import LanguageCode, RequestCode, ResponseCode, SerializeType
from rocketwire.flags import CommandFlag, MessageSysFlag
from rocketwire.messages.operations.registry import ArrayOf, Raw
from rocketwire.versions import MQVersion
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.layouts.functions import MAGIC_V1, MAGIC_V2
from rocketwire.wire.message.host import Host
from rocketwire.wire.zlib_stream import looks_like_zlib

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import Enum, IntFlag

    from rocketwire_tools.codec.schema.walk import Range

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_LENGTH: Final = 200
_MAGICS: Final = {MAGIC_V1: "V1: topic length of one byte", MAGIC_V2: "V2: topic length of two"}


def meaning(piece: Range) -> str:
    """Returns the meaning of a range; the ``flag`` of a message belongs to the application."""
    name = piece.path.rpartition(".")[2]
    if isinstance(piece.value, int):
        describe = None if name == "flag" and "magic" in piece.scope else _NUMBERS.get(name)
        return str(piece.value) if describe is None else f"{piece.value}: {describe(piece.value)}"
    if name == "surplus":
        return f"{len(piece.value)} bytes that belong to no field"
    if isinstance(piece.value, str):
        return _shortened(piece.value)
    if name in ("born_address", "store_address"):
        return Host.of(piece.value, 0).ip
    if "kind" in piece.scope:
        return _body(piece.value, piece.scope["kind"])
    return _text(piece.value)


def _body(body: bytes, body_type: Any) -> str:
    """Describes a body by its class."""
    if isinstance(body_type, Raw):
        return f"{body_type.value}: {_text(body)}"
    if looks_like_zlib(body):
        return f"zlib stream of {len(body)} bytes"
    what = "array, JSON" if isinstance(body_type, ArrayOf) else "JSON"
    return _text(body) if body_type is None else f"{what}: {_text(body)}"


def _text(raw: bytes) -> str:
    """Returns printable text as it is, other bytes by their number."""
    text = decode_utf8(raw[: 2 * _MAX_LENGTH])
    if text.isprintable() and "\ufffd" not in text:
        return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}... ({len(raw)} bytes)"
    return f"{len(raw)} bytes"


def _shortened(text: str) -> str:
    printed = repr(text[: _MAX_LENGTH + 1])[1:-1]
    return printed if len(text) <= _MAX_LENGTH else f"{printed}... ({len(text)} characters)"


def _name(members: type[Enum]) -> Callable[[int], str]:
    by_number = {member.value: member.name for member in members}
    return lambda number: by_number.get(number, "unknown")


def _bits(members: type[IntFlag]) -> Callable[[int], str]:
    return lambda number: "|".join(bit.name or "?" for bit in members(number)) or "none"


def _code(number: int) -> str:
    """Names both codes: only the flag, which follows, shows which one applies."""
    request, response = _name(RequestCode)(number), _name(ResponseCode)(number)
    return f"{request} of a request, {response} of a response"


def _time(milliseconds: int) -> str:
    try:
        return (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds")
    except OverflowError:
        return "no date"


_NUMBERS: Final[dict[str, Callable[[int], str]]] = {
    "length": lambda number: "bytes that follow",
    "header_length": lambda number: "bytes of the header",
    "header_type": _name(SerializeType),
    "size": lambda number: "bytes in all, these included",
    "count": lambda number: "elements",
    "code": _code,
    "language": _name(LanguageCode),
    "version": _name(MQVersion),
    "flag": _bits(CommandFlag),
    "magic": lambda number: _MAGICS.get(number, "unknown"),
    "sys_flag": _bits(MessageSysFlag),
    "born_timestamp": _time,
    "store_timestamp": _time,
}
