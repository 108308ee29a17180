"""Reads ROCKETMQ headers of many frames at once.

The codec's layouts define sizes and order of the fields. Only extension fields that become columns
are read. An unusual header is left to the codec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from rocketwire.codes import LanguageCode
from rocketwire.wire.layouts import fused as layouts
from rocketwire.wire.layouts.entries import KEY, VALUE
from rocketwire_tools.pcap.arrow import column, encode, pa, take
from rocketwire_tools.pcap.files.records import rows_at
from rocketwire_tools.pcap.headers.columns import (
    ABSENT,
    LETTER_NAMES,
    NAMES,
    Columns,
    Span,
    has_letters,
    parse_int32,
    text_bytes,
    text_column,
)

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from rocketwire_tools.pcap.arrow import Column
    from rocketwire_tools.pcap.files.records import Array
    from rocketwire_tools.pcap.streams.header_bytes import HeaderBytes

_FIXED: Final = np.dtype(
    [(name, f">{number_type}") for name, number_type in layouts.BINARY_HEADER_FIXED]
)
_REMARK: Final = layouts.REMARK_LENGTH_SIZE
_TOTAL: Final = layouts.EXT_FIELDS_LENGTH_SIZE
_KEY: Final = KEY.size
_VALUE: Final = VALUE.size
_MAX_FIELDS: Final = 64  # Extension fields of a header; the codec reads a header with more
_LONGEST: Final = 128  # Bytes of a text; the codec reads a header with a longer one
_FIELDS: Final = ("", *(name for names in NAMES.values() for name in names), *LETTER_NAMES.values())
"""Names of the extension fields that become columns; index 0 stands for all others."""
_LONGEST_NAME: Final = 16  # All of these names are shorter
_WORDS: Final = (
    np.array([name.encode() for name in _FIELDS], f"S{_LONGEST_NAME}")
    .view(np.uint64)
    .reshape(len(_FIELDS), -1)
)
"""The names as numbers of 64 bits."""
_MASKS: Final = (
    (np.arange(_LONGEST_NAME) < np.array([[len(name)] for name in _FIELDS])) * np.uint8(255)
).view(np.uint64)
"""The bytes of a row that belong to the name."""
_CANDIDATES: Final = np.zeros(_LONGEST_NAME + 1 << 8, np.uint8)
"""The only possible field by length and first byte of the name: no two names share both."""
_CANDIDATES[[len(name) << 8 | ord(name[0]) for name in _FIELDS[1:]]] = range(1, len(_FIELDS))
_NAMES: Final = {int(code): code.name for code in LanguageCode}
_LANGUAGES: Final = column(
    [_NAMES.get(number) or str(number) for number in range(256)], pa.string()
)
"""Names of languages by their numbers."""


class _Fields(NamedTuple):
    header: Array
    key: Array
    key_length: Array
    value: Array
    length: Array


def read(headers: HeaderBytes, column_names: AbstractSet[str]) -> tuple[Array, Columns]:
    """Read headers; returns which of them were read, and the columns. Entries of the other headers
    are arbitrary."""
    (data,), start = headers.pieces, headers.start
    ends = start + headers.length
    numbers = rows_at(data, start, _FIXED.itemsize).view(_FIXED)[:, 0]
    offset = start + _FIXED.itemsize
    remark = offset + _REMARK
    length = _integers(data, _REMARK)[offset].astype(np.int64)
    offset = remark + np.maximum(length, 0)
    good = (length >= 0) & (offset + _TOTAL <= ends)
    words = _integers(data, _TOTAL)
    total = words[np.minimum(offset, len(words) - 1)].astype(np.int64)
    until = offset + _TOTAL + np.maximum(total, 0)
    good &= until <= ends
    fields = _find_fields(data, offset + _TOTAL, until, good)
    code, version, opaque, flag = (
        numbers[name].astype(np.int64) for name in ("code", "version", "opaque", "flag")
    )
    columns = Columns(code, version, opaque, flag, good)
    if "language" in column_names:
        columns.language = take(_LANGUAGES, column(numbers["language"].astype(np.uint8)))
    spans = {"remark": Span(remark, np.where(length > 0, length, ABSENT))}
    if not column_names.isdisjoint(NAMES):
        spans |= _find_texts(data, fields, has_letters(code, flag), good)
    for name in column_names - {"language"}:
        values = _make_text_column(data, spans[name], good)
        setattr(columns, name, _to_queue_ids(values) if name == "queue_id" else values)
    return good, columns


def _to_queue_ids(values: Column) -> Column:
    distinct, numbers = encode(values)
    queues = [parse_int32(text) for text in distinct.to_pylist()]
    return take(column(queues, pa.int32()), numbers)


def _make_text_column(data: Array, span: Span, good: Array) -> Column:
    # Make a column of texts; a header with a long or non-ASCII text is marked as not good
    good &= span.length <= _LONGEST
    span = Span(span.start, np.where(good, span.length, ABSENT))
    text, ends = text_bytes(data, span)
    (not_ascii,) = (text >= 0x80).nonzero()
    if len(not_ascii):
        good[np.searchsorted(ends[1:], not_ascii, "right")] = False
        return _make_text_column(data, span, good)
    return text_column(text, ends, span.length >= 0)


def _integers(data: Array, size: int) -> Array:
    return np.ndarray((len(data) - size + 1,), f">i{size}", data, strides=(1,))


def _find_fields(data: Array, offset: Array, until: Array, good: Array) -> _Fields:
    # Find the extension fields of headers; a header with unusual fields is marked as not good
    key_lengths, value_lengths = _integers(data, _KEY), _integers(data, _VALUE)
    last = len(value_lengths) - 1
    numbers = np.flatnonzero(good & (offset < until))
    offset, until = offset[numbers], until[numbers]
    parts = [_Fields(*np.zeros((5, 0), np.int64))]
    for _ in range(_MAX_FIELDS):
        if not len(numbers):
            break
        key = offset + _KEY
        key_length = key_lengths[offset].astype(np.int64)
        value = key + np.maximum(key_length, 0)
        length = value_lengths[np.minimum(value, last)].astype(np.int64)
        value += _VALUE
        offset = value + length
        is_valid = (key_length > 0) & (length > 0) & (offset <= until)
        parts.append(_Fields(numbers, key, key_length, value, length))
        if np.count_nonzero(is_valid) < len(is_valid):
            good[numbers[~is_valid]] = False
        (unfinished,) = (is_valid & (offset < until)).nonzero()
        if len(unfinished) < len(numbers):
            numbers, offset, until = numbers[unfinished], offset[unfinished], until[unfinished]
    good[numbers] = False
    return _Fields(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _find_texts(data: Array, fields: _Fields, letters: Array, good: Array) -> dict[str, Span]:
    # Find the texts of the extension fields that become columns; a header with a repeated field is
    # marked as not good
    length = np.clip(fields.key_length, 0, _LONGEST_NAME)
    candidates = _CANDIDATES[length << 8 | data[fields.key]]
    (entries,) = (candidates != 0).nonzero()
    words = rows_at(data, fields.key[entries], _LONGEST_NAME).view(np.uint64)
    words &= _MASKS.take(candidates[entries], axis=0)
    is_name = (words == _WORDS.take(candidates[entries], axis=0)).all(axis=1)
    entries = entries[is_name]
    header, field = fields.header[entries], candidates[entries]
    table = np.full((len(good), len(_FIELDS)), ABSENT)
    table[header, field] = entries
    good[header[table[header, field] != entries]] = False
    values, lengths = np.append(fields.value, 0), np.append(fields.length, ABSENT)
    spans: dict[str, Span] = {}
    for name, names in NAMES.items():
        numbers = table[:, _FIELDS.index(names[-1])]
        for alternative in reversed(names[:-1]):
            first = table[:, _FIELDS.index(alternative)]
            numbers = np.where(first >= 0, first, numbers)
        one_letter = table[:, _FIELDS.index(LETTER_NAMES[name])]
        numbers = np.where(letters & (one_letter >= 0), one_letter, numbers)
        spans[name] = Span(values[numbers], lengths[numbers])
    return spans
