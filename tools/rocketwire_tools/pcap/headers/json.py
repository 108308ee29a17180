"""Reads JSON headers with msgspec, which knows the members that become columns, and with the codec.

The codec reads headers that msgspec rejects.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import msgspec
import numpy as np

from rocketwire.codes import LanguageCode
from rocketwire.errors import CodecError
from rocketwire.wire.binary_header import decode_binary_header
from rocketwire.wire.json_header import decode_json_header
from rocketwire_tools.pcap.arrow import column, pa
from rocketwire_tools.pcap.headers.columns import NAMES, Columns, has_letters, parse_int32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from rocketwire.wire.header_fields import HeaderFields
    from rocketwire_tools.pcap.arrow import Column
    from rocketwire_tools.pcap.files.records import Array
    from rocketwire_tools.pcap.streams.header_bytes import HeaderBytes

    Integer = int
else:
    Integer = Annotated[int, msgspec.Meta(ge=-(1 << 31), le=(1 << 31) - 1)]


class ExtFields(msgspec.Struct, gc=False):
    topic: str | None = None
    consumerGroup: str | None = None
    producerGroup: str | None = None
    group: str | None = None
    groupName: str | None = None
    queueId: str | None = None
    a: str | None = None
    b: str | None = None
    e: str | None = None


class ColumnFields(msgspec.Struct, gc=False):
    code: Integer = 0
    flag: Integer = 0
    language: str | None = "JAVA"
    opaque: Integer = 0
    remark: str | None = None
    version: Integer = 0


class ColumnFieldsWithExt(ColumnFields, gc=False):
    extFields: ExtFields | None = None


_NO_CODE: Final = 1 << 32
BAD: Final = ColumnFieldsWithExt(_NO_CODE, language=None)  # Stands for an unreadable header
_NO_EXT_FIELDS: Final = ExtFields()
_MAX_OBJECTS: Final = 4096  # Headers that become columns at once: as objects they take much memory
_NOT_STRICT: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class JsonHeaders:
    def __init__(self, column_names: AbstractSet[str]) -> None:
        self._column_names = column_names
        header_class = ColumnFields if column_names.isdisjoint(NAMES) else ColumnFieldsWithExt
        decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(header_class)
        self._decode_header: Callable[[memoryview], ColumnFields] = decoder.decode

    def read(self, headers: HeaderBytes) -> Iterator[tuple[Array, Columns]]:
        """Read headers in parts: yields indices of headers and their columns."""
        for piece, numbers, start in headers.split():
            text, ends = piece.data, start + headers.length[numbers]
            for first in range(0, len(numbers), _MAX_OBJECTS):
                part = slice(first, first + _MAX_OBJECTS)
                spans = zip(start[part].tolist(), ends[part].tolist(), strict=True)
                read = [self.read_one(text[begin:end]) for begin, end in spans]
                yield numbers[part], to_columns(read, self._column_names)

    def read_one(self, header: memoryview) -> ColumnFields:
        try:
            return self._decode_header(header)
        except _NOT_STRICT:
            try:
                return _from_fields(decode_json_header(bytes(header)))
            except CodecError:
                return BAD


def read_rocketmq(headers: Sequence[bytes], column_names: AbstractSet[str]) -> Columns:
    return to_columns([_read_rocketmq(header) for header in headers], column_names)


def _read_rocketmq(header: bytes) -> ColumnFieldsWithExt:
    try:
        fields, _ = decode_binary_header(header)
    except CodecError:
        return BAD
    return _from_fields(fields)


def _from_fields(fields: HeaderFields) -> ColumnFieldsWithExt:
    language = fields.language
    if isinstance(language, LanguageCode):
        language = language.name
    return ColumnFieldsWithExt(
        code=fields.code,
        language=None if language is None else str(language),
        version=fields.version,
        opaque=fields.opaque,
        flag=fields.flag,
        remark=fields.remark,
        extFields=_ext_from_fields(fields.ext_fields),
    )


def _ext_from_fields(fields: Mapping[str, Any] | None) -> ExtFields | None:
    if not fields:
        return None
    return ExtFields(**{name: fields.get(name) for name in ExtFields.__struct_fields__})


# ---------------------------------------------------------------------------- objects to columns


def to_columns(headers: Sequence[ColumnFields], column_names: AbstractSet[str]) -> Columns:
    pack = struct.Struct(f"{len(headers)}q").pack
    code, version, opaque, flag = (
        np.frombuffer(packed, np.int64)
        for packed in (
            pack(*[header.code for header in headers]),
            pack(*[header.version for header in headers]),
            pack(*[header.opaque for header in headers]),
            pack(*[header.flag for header in headers]),
        )
    )
    ok = code != _NO_CODE
    if not ok.all():
        code = np.where(ok, code, 0)
    result = Columns(code, version, opaque, flag, ok)
    if "language" in column_names:
        result.language = texts([header.language for header in headers])
    if "remark" in column_names:
        result.remark = texts([header.remark for header in headers])
    if not column_names.isdisjoint(NAMES):
        with_ext = cast("Sequence[ColumnFieldsWithExt]", headers)
        _ext_columns(
            result, [header.extFields or _NO_EXT_FIELDS for header in with_ext], column_names
        )
    return result


def _ext_columns(
    columns: Columns, exts: Sequence[ExtFields], column_names: AbstractSet[str]
) -> None:
    has_letter_names = has_letters(columns.code, columns.flag).tolist()
    if "topic" in column_names:
        columns.topic = texts(
            [
                (ext.b or ext.topic) if letters else ext.topic
                for ext, letters in zip(exts, has_letter_names, strict=True)
            ]
        )
    if "group" in column_names:
        columns.group = texts(
            [
                (letters and ext.a)
                or ext.consumerGroup
                or ext.producerGroup
                or ext.group
                or ext.groupName
                for ext, letters in zip(exts, has_letter_names, strict=True)
            ]
        )
    if "queue_id" in column_names:
        queue_id = [
            ext.e if letters and ext.e is not None else ext.queueId
            for ext, letters in zip(exts, has_letter_names, strict=True)
        ]
        columns.queue_id = column(list(map(_INTEGERS.__getitem__, queue_id)), pa.int32())


def texts(values: Sequence[str | None]) -> Column:
    try:
        return column(values, pa.string())
    except UnicodeEncodeError:
        return column([text and replace_surrogates(text) for text in values], pa.string())


def replace_surrogates(text: str) -> str:
    """Replace each half of a surrogate pair by a question mark, as Java does, because UTF-8
    cannot encode it."""
    return text.encode(errors="replace").decode()


class _Integers(dict[str | None, int | None]):
    def __missing__(self, text: str | None) -> int | None:
        number = parse_int32(text)
        if len(self) < _MAX_INTEGERS:
            self[text] = number
        return number


_MAX_INTEGERS: Final = 65_536
_INTEGERS: Final = _Integers()
