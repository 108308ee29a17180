"""Headers of many frames to columns.

Rules of this file: strict JSON headers are read many at a time by msgspec, which knows the few members that become columns;
whatever it does not take, the codec decides.  What a topic, a group and a queue are called depends on the request's code.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
import numpy as np

from rocketwire.codes import LanguageCode
from rocketwire.errors import CodecError
from rocketwire.wire.binary_header import decode_binary_header
from rocketwire.wire.grammar import parse_binary_header
from rocketwire.wire.json_header import decode_json_header
from rocketwire_tools.pcap.binary_headers import read as read_binary
from rocketwire_tools.pcap.sync import JSON

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from rocketwire.wire.fields import HeaderFields

    Array = np.ndarray[Any, Any]

SHORT_NAMED: Final = (310, 320, 325)
"""Requests whose header has names of one letter (Java: ``SendMessageRequestHeaderV2``)."""
_LEAST: Final = -(1 << 31)
_MOST: Final = (1 << 31) - 1


class Ext(msgspec.Struct, gc=False):
    """The extension fields that become columns."""

    topic: str | None = None
    consumerGroup: str | None = None
    producerGroup: str | None = None
    group: str | None = None
    groupName: str | None = None
    queueId: str | None = None
    a: str | None = None
    b: str | None = None
    e: str | None = None


class Header(msgspec.Struct, gc=False):
    """A header as far as it becomes columns, without the extension fields."""

    code: int = 0
    language: str | None = "JAVA"
    version: int = 0
    opaque: int = 0
    flag: int = 0
    remark: str | None = None


class LongHeader(Header, gc=False):
    """A header with its extension fields."""

    extFields: Ext | None = None


BAD: Final = LongHeader(language=None)
"""Stands for a header that cannot be read."""
NO_EXT: Final = Ext()


@dataclass(slots=True)
class Columns:
    """What the headers say, one entry each; None, or zero among the numbers, where nothing is said.

    Attributes:
        ok: whether the header could be read.
    """

    code: Array
    version: Array
    opaque: Array
    flag: Array
    ok: Array
    language: list[str | None]
    remark: list[str | None]
    topic: list[str | None] = field(default_factory=list[str | None])
    group: list[str | None] = field(default_factory=list[str | None])
    queue_id: list[int | None] = field(default_factory=list[int | None])


EVERYTHING: Final = frozenset({"language", "remark", "topic", "group", "queue_id"})
"""The columns that are made only if they are wanted."""
_OF_EXT: Final = frozenset({"topic", "group", "queue_id"})


def read_headers(headers: Array, types: Array, wanted: AbstractSet[str] = EVERYTHING) -> Columns:
    """Read headers.

    Args:
        headers: their bytes, an array of objects.
        types: JSON or ROCKETMQ for each.
        wanted: those of ``EVERYTHING`` that are to be made; the others are empty.
    """
    brief = not wanted & _OF_EXT
    found, ok = _read(headers, types, _BRIEF if brief else _LONG)
    numbers = _numbers(found)
    if numbers is None:
        found = [one if _in_range(one) else BAD for one in found]
        ok = False
        numbers = np.array([(one.code, one.version, one.opaque, one.flag) for one in found]).T
    columns = Columns(
        code=numbers[0],
        version=numbers[1],
        opaque=numbers[2],
        flag=numbers[3],
        ok=np.ones(len(found), np.bool_)
        if ok
        else np.array([one is not BAD for one in found], np.bool_),
        language=[one.language for one in found] if "language" in wanted else [],
        remark=[one.remark for one in found] if "remark" in wanted else [],
    )
    if not brief:
        long = cast("Sequence[LongHeader]", found)
        _ext_columns(columns, [one.extFields or NO_EXT for one in long], wanted)
    return columns


def _ext_columns(columns: Columns, exts: Sequence[Ext], wanted: AbstractSet[str]) -> None:
    if "topic" in wanted:
        columns.topic = [ext.topic for ext in exts]
    if "group" in wanted:
        columns.group = [
            ext.consumerGroup or ext.producerGroup or ext.group or ext.groupName for ext in exts
        ]
    if "queue_id" in wanted:
        columns.queue_id = [_NUMBERS[ext.queueId] for ext in exts]
    short = np.isin(columns.code, SHORT_NAMED) & (columns.flag & 1 == 0)
    for i in np.flatnonzero(short).tolist():
        ext = exts[i]
        if "topic" in wanted:
            columns.topic[i] = ext.b or columns.topic[i]
        if "group" in wanted:
            columns.group[i] = ext.a or columns.group[i]
        if ext.e is not None and "queue_id" in wanted:
            columns.queue_id[i] = _NUMBERS[ext.e]


class _Numbers(dict[str | None, int | None]):
    """Texts as numbers, each looked into once; there are few queues."""

    def __missing__(self, text: str | None) -> int | None:
        number = None if text is None else _number(text)
        if len(self) < _MOST_NUMBERS:
            self[text] = number
        return number


_MOST_NUMBERS: Final = 65_536
_NUMBERS: Final = _Numbers()


def _numbers(found: Sequence[Header]) -> Array | None:
    """Code, version, opaque and flag; None if one of them has more than 32 bits."""
    try:
        columns = (
            array("q", [one.code for one in found]),
            array("q", [one.version for one in found]),
            array("q", [one.opaque for one in found]),
            array("q", [one.flag for one in found]),
        )
    except OverflowError:
        return None
    together = np.array([np.frombuffer(each, np.int64) for each in columns])
    return together if together.min() >= _LEAST and together.max() <= _MOST else None


class _Reader:
    """Reads JSON headers as a kind of ``Header``."""

    def __init__(self, kind: type[Header]) -> None:
        decoder = msgspec.json.Decoder(kind)
        self._lines = decoder.decode_lines
        self._one = decoder.decode

    def read(self, headers: Sequence[bytes | bytearray]) -> tuple[list[Header], bool]:
        """Read headers; returns them, and whether all of them could be read."""
        found = self._read_all(headers)
        if found is not None:
            return found, True
        found = [self._read_one(header) for header in headers]
        return found, all(one is not BAD for one in found)

    def _read_all(self, headers: Sequence[bytes | bytearray]) -> list[Header] | None:
        """Read headers at once; None if one of them is not what they usually are."""
        if not headers:
            return []
        text = b"\n".join(headers)
        if np.count_nonzero(np.frombuffer(text, np.uint8) == _NEWLINE) != len(headers) - 1:
            return None
        try:
            found: list[Header] = self._lines(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return found if len(found) == len(headers) else None

    def _read_one(self, header: bytes | bytearray) -> Header:
        try:
            found = self._one(header)
            if _in_range(found):
                return found
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
        try:
            return _of_fields(decode_json_header(bytes(header)))
        except CodecError:
            return BAD


_NEWLINE: Final = 10
_LONG: Final = _Reader(LongHeader)
_BRIEF: Final = _Reader(Header)


def _read(headers: Array, types: Array, reader: _Reader) -> tuple[Sequence[Header], bool]:
    """Headers of both forms, and whether all of them could be read."""
    rocketmq = np.flatnonzero(types != JSON)
    if not len(rocketmq):
        return reader.read(headers.tolist())
    jsons = np.flatnonzero(types == JSON)
    found = np.empty(len(headers), np.object_)
    read, ok = reader.read(headers[jsons].tolist())
    found[jsons] = np.fromiter(read, np.object_, len(jsons))
    binary = _read_rocketmqs(headers[rocketmq].tolist())
    found[rocketmq] = np.fromiter(binary, np.object_, len(rocketmq))
    ok = ok and all(one is not BAD for one in binary)
    result: Sequence[Header] = found.tolist()
    return result, ok


def _number(text: str) -> int | None:
    try:
        number = int(text)
    except ValueError:
        return None
    return number if _LEAST <= number <= _MOST else None


def _in_range(header: Header) -> bool:
    numbers = (header.code, header.version, header.opaque, header.flag)
    return min(numbers) >= _LEAST and max(numbers) <= _MOST


def _read_rocketmqs(headers: Sequence[bytes | bytearray]) -> list[LongHeader]:
    some = read_binary(headers, Ext.__struct_fields__)
    numbers = (
        some.numbers[name].tolist() for name in ("code", "language", "version", "opaque", "flag")
    )
    exts = (Ext(*values) for values in zip(*some.values, strict=True))
    names = _LANGUAGES.get
    return [
        LongHeader(code, names(language) or str(language), version, opaque, flag, None, ext)
        if good
        else _read_rocketmq(header)
        for header, good, code, language, version, opaque, flag, ext in zip(
            headers, some.good.tolist(), *numbers, exts, strict=True
        )
    ]


def _read_rocketmq(header: bytes | bytearray) -> LongHeader:
    try:
        (code, language, version, opaque, flag, remark, fields), _ = parse_binary_header(
            bytes(header)
        )
    except CodecError:
        return BAD
    name = _LANGUAGES.get(language) or str(language)
    return LongHeader(code, name, version, opaque, flag, remark or None, _ext(fields))


def _of_fields(fields: HeaderFields) -> LongHeader:
    language = fields.language
    if isinstance(language, LanguageCode):
        language = language.name
    return LongHeader(
        code=fields.code,
        language=None if language is None else str(language),
        version=fields.version,
        opaque=fields.opaque,
        flag=fields.flag,
        remark=fields.remark,
        extFields=_ext(fields.ext_fields),
    )


_LANGUAGES: Final = {int(code): code.name for code in LanguageCode}


def _ext(fields: Mapping[str, Any] | None) -> Ext | None:
    if not fields:
        return None
    get = fields.get
    return Ext(
        get("topic"), get("consumerGroup"), get("producerGroup"), get("group"), get("groupName"),
        get("queueId"), get("a"), get("b"), get("e"),
    )  # fmt: skip


def ext_fields_text(header: bytes, header_type: int) -> str | None:
    """The extension fields of a header as JSON text, for who wants all of them."""
    try:
        fields = (
            decode_json_header(header) if header_type == JSON else decode_binary_header(header)[0]
        ).ext_fields
    except CodecError:
        return None
    return None if fields is None else msgspec.json.encode(fields).decode()
