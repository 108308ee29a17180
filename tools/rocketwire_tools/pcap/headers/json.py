"""JSON headers to columns by msgspec, which knows the few members that become columns, and by the codec.

Rules of this file: headers that lie one behind the other in the memory are read together, as lines of JSON; what msgspec does not take,
the codec decides, header by header.  A header that begins with a brace and ends with one cannot become one value together with its
neighbour: no text of strict JSON has a line feed in it, and anywhere else something has to be between two braces.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, cast

import msgspec
import numpy as np

from rocketwire.codes import LanguageCode
from rocketwire.errors import CodecError
from rocketwire.wire.binary_header import decode_binary_header
from rocketwire.wire.json_header import decode_json_header
from rocketwire_tools.pcap.arrow import column, pa
from rocketwire_tools.pcap.headers.columns import NAMES, Columns, has_letters, integer
from rocketwire_tools.pcap.streams.header_bytes import in_memory_order, room_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from rocketwire.wire.header_fields import HeaderFields
    from rocketwire_tools.pcap.arrow import Column
    from rocketwire_tools.pcap.streams.header_bytes import HeaderBytes

    Array = np.ndarray[Any, Any]
    Integer = int
else:
    Integer = Annotated[int, msgspec.Meta(ge=-(1 << 31), le=(1 << 31) - 1)]


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

    code: Integer = 0
    flag: Integer = 0
    language: str | None = "JAVA"
    opaque: Integer = 0
    remark: str | None = None
    version: Integer = 0


class LongHeader(Header, gc=False):
    """A header with its extension fields."""

    extFields: Ext | None = None


_NO_CODE: Final = 1 << 32
BAD: Final = LongHeader(_NO_CODE, language=None)
"""Stands for a header that cannot be read."""
_NO_EXT: Final = Ext()
_TOGETHER: Final = 1 << 20
"""Bytes that are read at once."""
_OBJECTS: Final = 4096
"""Headers that become columns at once, unless there are fewer; as objects they are large."""
_OPENING, _CLOSING, _LINE_FEED = b"{}\n"
_NOT_STRICT: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Lines(NamedTuple):
    """Headers of a piece, in the order in which they lie there: the piece, and where each begins and ends."""

    text: memoryview
    start: Array
    end: Array


class JsonHeaders:
    """Reads JSON headers.

    Args:
        wanted: those of ``header_columns.EVERYTHING`` that are to be made.
    """

    def __init__(self, wanted: AbstractSet[str]) -> None:
        self._wanted = wanted
        kind = Header if wanted.isdisjoint(NAMES) else LongHeader
        decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)
        self._lines: Callable[[memoryview], list[Header]] = decoder.decode_lines
        self._one: Callable[[memoryview], Header] = decoder.decode

    def read(self, headers: HeaderBytes) -> Iterator[tuple[Array, Columns]]:
        """Read headers; gives the numbers of some, and what they say, until all were given."""
        for piece, numbers, start in headers.split():
            order = in_memory_order(start)
            of, start = numbers[order], start[order]
            lines = _Lines(piece.data, start, start + headers.length[of])
            first = 0
            for some in self._read_piece(lines, _ends_of_lots(piece, *lines[1:])):
                last = first + len(some.code)
                yield of[first:last], some
                first = last

    def _read_piece(self, lines: _Lines, ends: Sequence[int]) -> Iterator[Columns]:
        """Read headers of a piece, in the order in which they lie there."""
        read: list[Header] = []
        first = 0
        for last in ends:
            self._read_lot(lines, first, last, read)
            first = last
            if len(read) >= _OBJECTS:
                yield columns(read, self._wanted)
                read.clear()
        if read:
            yield columns(read, self._wanted)

    def _read_lot(self, lines: _Lines, first: int, last: int, read: list[Header]) -> None:
        """Read headers together, unless one of them is bad.

        Args:
            lines: has them.
            first: number of the first.
            last: number behind the last.
            read: takes them.
        """
        text = lines.text[lines.start[first] : lines.end[last - 1]]
        if last - first == 1:
            read.append(self.read_one(text))
            return
        try:
            lot = self._lines(text)
        except _NOT_STRICT:
            lot = []
        if len(lot) == last - first:
            read += lot
            return
        middle = (first + last) // 2
        self._read_lot(lines, first, middle, read)
        self._read_lot(lines, middle, last, read)

    def read_one(self, header: memoryview) -> Header:
        """Read a header by itself."""
        try:
            return self._one(header)
        except _NOT_STRICT:
            try:
                return _of_fields(decode_json_header(bytes(header)))
            except CodecError:
                return BAD


def _ends_of_lots(piece: Array, start: Array, end: Array) -> list[int]:
    """The numbers behind the last one of headers that can be read together: they lie one behind the other, and each begins and ends
    with a brace, but for a line feed behind it."""
    last = end - 1
    last -= piece[last] == _LINE_FEED
    usual = (piece[start] == _OPENING) & (piece[last] == _CLOSING) & (last > start)
    lot = start // _TOGETHER
    cut = (start[1:] != start[:-1] + room_of(end - start)[:-1]) | (lot[1:] != lot[:-1])
    if not usual.all():
        cut |= ~usual[1:] | ~usual[:-1]
    return [*(np.flatnonzero(cut) + 1).tolist(), len(start)]


def read_rocketmq(headers: Sequence[bytes], wanted: AbstractSet[str]) -> Columns:
    """Read ROCKETMQ headers by the codec, one by one."""
    return columns([_read_rocketmq(header) for header in headers], wanted)


def _read_rocketmq(header: bytes) -> LongHeader:
    try:
        fields, _ = decode_binary_header(header)
    except CodecError:
        return BAD
    return _of_fields(fields)


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


def _ext(fields: Mapping[str, Any] | None) -> Ext | None:
    if not fields:
        return None
    return Ext(**{name: fields.get(name) for name in Ext.__struct_fields__})


# ---------------------------------------------------------------------------- objects to columns


def columns(headers: Sequence[Header], wanted: AbstractSet[str]) -> Columns:
    """What headers say."""
    pack = struct.Struct(f"{len(headers)}q").pack
    code, version, opaque, flag = (
        np.frombuffer(packed, np.int64)
        for packed in (
            pack(*[one.code for one in headers]),
            pack(*[one.version for one in headers]),
            pack(*[one.opaque for one in headers]),
            pack(*[one.flag for one in headers]),
        )
    )
    ok = code != _NO_CODE
    if not ok.all():
        code = np.where(ok, code, 0)
    made = Columns(code, version, opaque, flag, ok)
    if "language" in wanted:
        made.language = texts([one.language for one in headers])
    if "remark" in wanted:
        made.remark = texts([one.remark for one in headers])
    if not wanted.isdisjoint(NAMES):
        long = cast("Sequence[LongHeader]", headers)
        _ext_columns(made, [one.extFields or _NO_EXT for one in long], wanted)
    return made


def _ext_columns(made: Columns, exts: Sequence[Ext], wanted: AbstractSet[str]) -> None:
    """Make the columns of extension fields; what has a name of one letter in some of the rows is taken there."""
    short = has_letters(made.code, made.flag).tolist()
    if "topic" in wanted:
        made.topic = texts(
            [
                (ext.b or ext.topic) if letters else ext.topic
                for ext, letters in zip(exts, short, strict=True)
            ]
        )
    if "group" in wanted:
        made.group = texts(
            [
                (letters and ext.a)
                or ext.consumerGroup
                or ext.producerGroup
                or ext.group
                or ext.groupName
                for ext, letters in zip(exts, short, strict=True)
            ]
        )
    if "queue_id" in wanted:
        queue_id = [
            ext.e if letters and ext.e is not None else ext.queueId
            for ext, letters in zip(exts, short, strict=True)
        ]
        made.queue_id = column(list(map(_INTEGERS.__getitem__, queue_id)), pa.int32())


def texts(values: Sequence[str | None]) -> Column:
    """Texts as a column."""
    try:
        return column(values, pa.string())
    except UnicodeEncodeError:
        return column([text and whole(text) for text in values], pa.string())


def whole(text: str) -> str:
    """The text with a question mark, as Java writes it, for each half of a surrogate pair, which UTF-8 does not have."""
    return text.encode(errors="replace").decode()


class _Integers(dict[str | None, int | None]):
    """Texts as integers, each looked into once; there are few queues."""

    def __missing__(self, text: str | None) -> int | None:
        number = integer(text)
        if len(self) < _MOST_INTEGERS:
            self[text] = number
        return number


_MOST_INTEGERS: Final = 65_536
_INTEGERS: Final = _Integers()
