"""Headers of many frames to columns.

Rules of this file: strict JSON headers are read many at a time by msgspec, which knows the few members that become columns;
whatever it does not take, the codec decides.  What a topic, a group and a queue are called depends on the request's code.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import msgspec
import numpy as np

from rocketwire.codes import LanguageCode
from rocketwire.errors import CodecError
from rocketwire.wire.binary_header import decode_binary_header
from rocketwire.wire.grammar import parse_binary_header
from rocketwire.wire.json_header import decode_json_header
from rocketwire_tools.pcap.arrow import column, masked, pa, taken
from rocketwire_tools.pcap.shape import NUMBERS
from rocketwire_tools.pcap.shapes import Shaped, Shapes
from rocketwire_tools.pcap.sync import JSON
from rocketwire_tools.pcap.texts import integer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from rocketwire.wire.fields import HeaderFields
    from rocketwire_tools.pcap.arrow import Column
    from rocketwire_tools.pcap.header_bytes import HeaderBytes

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
    """A header as far as it becomes columns, without the extension fields; in the order in which Java writes them."""

    code: int = 0
    flag: int = 0
    language: str | None = "JAVA"
    opaque: int = 0
    remark: str | None = None
    version: int = 0


class LongHeader(Header, gc=False):
    """A header with its extension fields."""

    extFields: Ext | None = None


BAD: Final = LongHeader(language=None)
"""Stands for a header that cannot be read."""
NO_EXT: Final = Ext()


@dataclass(slots=True)
class Columns:
    """What the headers say, one entry each; null, or zero among the numbers, where nothing is said.

    Attributes:
        ok: whether the header could be read.
    """

    code: Array
    version: Array
    opaque: Array
    flag: Array
    ok: Array
    language: Column | None = None
    remark: Column | None = None
    topic: Column | None = None
    group: Column | None = None
    queue_id: Column | None = None


EVERYTHING: Final = frozenset({"language", "remark", "topic", "group", "queue_id"})
"""The columns that are made only if they are wanted."""
_OF_EXT: Final = frozenset({"topic", "group", "queue_id"})
_FEW_BYTES: Final = 1 << 14
"""Bytes of headers without a shape whose texts are kept with those of shapes: to put columns together would take longer."""


class HeaderReader:
    """Reads headers, those of shapes that it has seen before without an object for each.

    Args:
        wanted: those of ``EVERYTHING`` that are to be made.
    """

    def __init__(self, wanted: AbstractSet[str] = EVERYTHING) -> None:
        self._wanted = wanted
        self._shapes = Shapes(_said, _language, SHORT_NAMED, wanted)

    def read(self, headers: HeaderBytes, types: Array) -> Columns:
        """Read headers.

        Args:
            headers: their bytes.
            types: JSON or ROCKETMQ for each.
        """
        shaped = self._shapes.read(headers, types == JSON)
        rest = np.flatnonzero(~shaped.done)
        if len(rest) == len(headers):
            return read_singly(headers, types, self._wanted)
        others = self._others(headers.take(rest), types[rest], rest, shaped) if len(rest) else None
        code, version, opaque, flag, _ = shaped.numbers
        columns = Columns(code, version, opaque, flag, shaped.done)
        if others is not None:
            for name in _ARRAYS:
                getattr(columns, name)[rest] = getattr(others, name)
        for name in self._wanted:
            made = self._column(name, shaped)
            if others is not None:
                places = np.arange(len(headers))
                places[rest] = np.arange(len(headers), len(headers) + len(rest))
                made = taken(pa.concat_arrays([made, getattr(others, name)]), column(places))
            setattr(columns, name, made)
        return columns

    def _others(
        self, headers: HeaderBytes, types: Array, numbers: Array, shaped: Shaped
    ) -> Columns | None:
        """Read those of these numbers that have no shape; where they are few, ``shaped`` takes what they say."""
        read = read_singly(headers, types, self._wanted)
        if headers.length.sum() > _FEW_BYTES:
            return read
        shaped.done[numbers] = read.ok
        for row, name in zip(shaped.numbers, NUMBERS, strict=False):
            row[numbers] = getattr(read, name)
        for name in self._wanted - {"queue_id"}:
            texts = getattr(read, name).to_pylist()
            getattr(shaped, name)[numbers] = [self._shapes.texts.number(text) for text in texts]
        if read.queue_id is not None:
            queues = read.queue_id.to_pylist()
            shaped.numbers[-1, numbers] = [queue or 0 for queue in queues]
            shaped.has_queue[numbers] = [queue is not None for queue in queues]
        return None

    def _column(self, name: str, shaped: Shaped) -> Column:
        if name == "queue_id":
            return masked(shaped.numbers[-1].astype(np.int32), shaped.has_queue)
        numbers = getattr(shaped, name)
        return taken(self._shapes.texts.column(), masked(numbers, numbers >= 0))


def _said(header: bytes) -> tuple[str | None, str | None] | None:
    """Language and remark of a strict JSON header."""
    found = _LONG.strict(header)
    if found is None:
        return None
    return found.language, found.remark


def read_singly(headers: HeaderBytes, types: Array, wanted: AbstractSet[str]) -> Columns:
    """Read headers by an object for each."""
    parts: list[Columns] = []
    for start in range(0, max(len(headers), 1), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        parts.append(_read_some(headers.take(some).tolist(), types[some], wanted))
    if len(parts) == 1:
        return parts[0]
    made: dict[str, Any] = {}
    for name in Columns.__dataclass_fields__:
        each = [getattr(part, name) for part in parts]
        if each[0] is not None:
            made[name] = np.concatenate(each) if name in _ARRAYS else pa.concat_arrays(each)
    return Columns(**made)


_TOGETHER: Final = 4096
"""Headers that are objects at the same time, for they are large."""
_ARRAYS: Final = frozenset({"code", "version", "opaque", "flag", "ok"})


def _read_some(headers: list[bytes], types: Array, wanted: AbstractSet[str]) -> Columns:
    brief = not wanted & _OF_EXT
    found, ok = _read(headers, types, _BRIEF if brief else _LONG)
    numbers = _numbers(found)
    if numbers is None:
        found = [one if _in_range(one) else BAD for one in found]
        ok = False
        numbers = [np.array(each) for each in _parts(found)]
    code, version, opaque, flag = numbers
    columns = Columns(
        code=code,
        version=version,
        opaque=opaque,
        flag=flag,
        ok=np.ones(len(found), np.bool_)
        if ok
        else np.array([one is not BAD for one in found], np.bool_),
    )
    if "language" in wanted:
        columns.language = texts([one.language for one in found])
    if "remark" in wanted:
        columns.remark = texts([one.remark for one in found])
    if not brief:
        long = cast("Sequence[LongHeader]", found)
        _ext_columns(columns, [one.extFields or NO_EXT for one in long], wanted)
    return columns


def _ext_columns(columns: Columns, exts: Sequence[Ext], wanted: AbstractSet[str]) -> None:
    """Make the columns of extension fields; what has a name of one letter in some of the rows is taken there."""
    named = np.logical_or.reduce([columns.code == code for code in SHORT_NAMED])
    short = np.flatnonzero(named & (columns.flag & 1 == 0)).tolist()
    short_exts = [exts[i] for i in short]
    if "topic" in wanted:
        topic = [ext.topic for ext in exts]
        for i, ext in zip(short, short_exts, strict=True):
            if ext.b:
                topic[i] = ext.b
        columns.topic = texts(topic)
    if "group" in wanted:
        group = [
            ext.consumerGroup or ext.producerGroup or ext.group or ext.groupName for ext in exts
        ]
        for i, ext in zip(short, short_exts, strict=True):
            if ext.a:
                group[i] = ext.a
        columns.group = texts(group)
    if "queue_id" in wanted:
        queue_id = [ext.queueId for ext in exts]
        for i, ext in zip(short, short_exts, strict=True):
            if ext.e is not None:
                queue_id[i] = ext.e
        columns.queue_id = column(list(map(_NUMBERS.__getitem__, queue_id)), pa.int32())


def texts(values: Sequence[str | None]) -> Column:
    """Texts as a column."""
    try:
        return column(values, pa.string())
    except UnicodeEncodeError:
        return column([text and _whole(text) for text in values], pa.string())


def _whole(text: str) -> str:
    """The text with a question mark, as Java writes it, for each half of a surrogate pair, which UTF-8 does not have."""
    return text.encode(errors="replace").decode()


class _Numbers(dict[str | None, int | None]):
    """Texts as numbers, each looked into once; there are few queues."""

    def __missing__(self, text: str | None) -> int | None:
        number = None if text is None else integer(text)
        if len(self) < _MOST_NUMBERS:
            self[text] = number
        return number


_MOST_NUMBERS: Final = 65_536
_NUMBERS: Final = _Numbers()


def _parts(found: Sequence[Header]) -> tuple[list[int], list[int], list[int], list[int]]:
    return (
        [one.code for one in found],
        [one.version for one in found],
        [one.opaque for one in found],
        [one.flag for one in found],
    )


def _numbers(found: Sequence[Header]) -> list[Array] | None:
    """Code, version, opaque and flag; None if one of them has more than 32 bits."""
    pack = struct.Struct(f"{len(found)}i").pack
    try:
        packed = [pack(*each) for each in _parts(found)]
    except struct.error:
        return None
    return [np.frombuffer(each, np.int32).astype(np.int64) for each in packed]


class _Reader:
    """Reads JSON headers as a kind of ``Header``.

    The names of known languages are the same texts in all of them; a header with another one is read by itself.
    """

    def __init__(self, kind: type[Header]) -> None:
        names = cast("Any", Literal)[tuple(LanguageCode.__members__)]
        known: Any = msgspec.defstruct(
            f"Known{kind.__name__}", [("language", names | None, "JAVA")], bases=(kind,), gc=False
        )
        self._lines: Callable[[bytes], list[Header]] = msgspec.json.Decoder(known).decode_lines
        self._one = msgspec.json.Decoder(kind).decode

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
            found = self._lines(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return found if len(found) == len(headers) else None

    def strict(self, header: bytes | bytearray) -> Header | None:
        """Read a header of strict JSON with numbers of 32 bits; None for any other."""
        try:
            found = self._one(header)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return found if _in_range(found) else None

    def _read_one(self, header: bytes | bytearray) -> Header:
        found = self.strict(header)
        if found is not None:
            return found
        try:
            return _of_fields(decode_json_header(bytes(header)))
        except CodecError:
            return BAD


_NEWLINE: Final = 10
_LONG: Final = _Reader(LongHeader)
_BRIEF: Final = _Reader(Header)


def _read(texts: list[bytes], types: Array, reader: _Reader) -> tuple[Sequence[Header], bool]:
    """Headers of both forms, and whether all of them could be read."""
    rocketmq = np.flatnonzero(types != JSON).tolist()
    if not rocketmq:
        return reader.read(texts)
    read = [_read_rocketmq(texts[i]) for i in rocketmq]
    for i in rocketmq:
        texts[i] = b"{}"
    found, ok = reader.read(texts)
    for i, one in zip(rocketmq, read, strict=True):
        found[i] = one
        ok = ok and one is not BAD
    return found, ok


def _in_range(header: Header) -> bool:
    numbers = (header.code, header.version, header.opaque, header.flag)
    return min(numbers) >= _LEAST and max(numbers) <= _MOST


def _read_rocketmq(header: bytes | bytearray) -> LongHeader:
    try:
        (code, language, version, opaque, flag, remark, fields), _ = parse_binary_header(
            bytes(header)
        )
    except CodecError:
        return BAD
    name = _language(language)
    return LongHeader(code, flag, name, opaque, remark or None, version, _ext(fields))


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


def _language(number: int) -> str:
    return _LANGUAGES.get(number) or str(number)


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
    if fields is None:
        return None
    try:
        return msgspec.json.encode(fields).decode()
    except UnicodeEncodeError:
        whole = {_whole(name): value and _whole(value) for name, value in fields.items()}
        return msgspec.json.encode(whole).decode()
