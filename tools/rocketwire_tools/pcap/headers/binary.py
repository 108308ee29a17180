"""ROCKETMQ headers of many frames at once.

Rules of this file: only numpy; sizes and the order of the fields are those of the codec's grammar.  Of the extension fields only
those that become columns are looked at.  A header in which anything is out of the ordinary is left to the codec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire.codes import LanguageCode
from rocketwire.wire.layouts import functions as layouts
from rocketwire_tools.pcap.arrow import column, encoded, pa, taken
from rocketwire_tools.pcap.files.records import rows_at
from rocketwire_tools.pcap.headers.columns import (
    ABSENT,
    LETTERS,
    NAMES,
    Columns,
    Span,
    has_letters,
    integer,
    text_column,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from rocketwire_tools.pcap.arrow import Column
    from rocketwire_tools.pcap.streams.header_bytes import HeaderBytes

    Array = np.ndarray[Any, Any]

_FIXED: Final = np.dtype([(name, f">{kind}") for name, kind in layouts.BINARY_HEADER_FIXED])
_REMARK: Final = layouts.REMARK_LENGTH_SIZE
_TOTAL: Final = layouts.EXT_FIELDS_LENGTH_SIZE
_KEY: Final = layouts.KEY_LENGTH_SIZE
_VALUE: Final = layouts.VALUE_LENGTH_SIZE
_MOST_FIELDS: Final = 64
"""Extension fields of a header; more are left to the codec."""
_LONGEST: Final = 128
"""Bytes of a text; one with more is left to the codec."""
_FIELDS: Final = ("", *(name for names in NAMES.values() for name in names), *LETTERS.values())
"""Extension fields that become columns, by number; 0 stands for all others."""
_LONGEST_NAME: Final = 16
"""None of them has a name of as many bytes."""
_WORDS: Final = (
    np.array([name.encode() for name in _FIELDS], f"S{_LONGEST_NAME}")
    .view(np.uint64)
    .reshape(len(_FIELDS), -1)
)
"""Their names."""
_MASKS: Final = (
    (np.arange(_LONGEST_NAME) < np.array([[len(name)] for name in _FIELDS])) * np.uint8(255)
).view(np.uint64)
"""Which bytes of a row their names are."""
_CANDIDATES: Final = np.zeros(_LONGEST_NAME + 1 << 8, np.uint8)
"""By length and first byte of a name: the field that it can only be, since all of them differ in one or the other."""
_CANDIDATES[[len(name) << 8 | ord(name[0]) for name in _FIELDS[1:]]] = range(1, len(_FIELDS))
_NAMES: Final = {int(code): code.name for code in LanguageCode}
_LANGUAGES: Final = column(
    [_NAMES.get(number) or str(number) for number in range(256)], pa.string()
)
"""Names of languages by their numbers."""


class _Fields(NamedTuple):
    """Extension fields: the number of the header, where key and value begin, and the lengths of both."""

    header: Array
    key: Array
    key_length: Array
    value: Array
    length: Array


def read(headers: HeaderBytes, wanted: AbstractSet[str]) -> tuple[Array, Columns]:
    """Read headers.

    Args:
        headers: lie in one piece.
        wanted: those of ``header_columns.EVERYTHING`` that are to be made.

    Returns:
        Which of the headers could be read here, and what they say; nothing to go by of the others.
    """
    (data,), start = headers.pieces, headers.start
    ends = start + headers.length
    numbers = rows_at(data, start, _FIXED.itemsize).view(_FIXED)[:, 0]
    at = start + _FIXED.itemsize
    remark = at + _REMARK
    length = _integers(data, _REMARK)[at].astype(np.int64)
    at = remark + np.maximum(length, 0)
    good = (length >= 0) & (at + _TOTAL <= ends)
    words = _integers(data, _TOTAL)
    total = words[np.minimum(at, len(words) - 1)].astype(np.int64)
    until = at + _TOTAL + np.maximum(total, 0)
    good &= until <= ends
    fields = _fields(data, at + _TOTAL, until, good)
    code, version, opaque, flag = (
        numbers[name].astype(np.int64) for name in ("code", "version", "opaque", "flag")
    )
    made = Columns(code, version, opaque, flag, good)
    if "language" in wanted:
        made.language = taken(_LANGUAGES, column(numbers["language"].astype(np.uint8)))
    spans = {"remark": Span(remark, np.where(length > 0, length, ABSENT))}
    if not wanted.isdisjoint(NAMES):
        spans |= _named(data, fields, has_letters(code, flag), good)
    for name in wanted - {"language"}:
        values = _texts(data, spans[name], good)
        setattr(made, name, _queues(values) if name == "queue_id" else values)
    return good, made


def _queues(values: Column) -> Column:
    distinct, numbers = encoded(values)
    queues = [integer(text) for text in distinct.to_pylist()]
    return taken(column(queues, pa.int32()), numbers)


def _texts(data: Array, span: Span, good: Array) -> Column:
    """Texts as a column; a header is not good if its text is long, or not ASCII."""
    good &= span.length <= _LONGEST
    span = Span(span.at, np.where(good, span.length, ABSENT))
    text, ends = texts(data, span)
    (others,) = (text >= 0x80).nonzero()
    if len(others):
        good[np.searchsorted(ends[1:], others, "right")] = False
        return _texts(data, span, good)
    return text_column(text, ends, span.length >= 0)


def _integers(data: Array, size: int) -> Array:
    """The signed integers that begin at each offset."""
    return np.ndarray((len(data) - size + 1,), f">i{size}", data, strides=(1,))


def _fields(data: Array, at: Array, until: Array, good: Array) -> _Fields:
    """The extension fields of headers; a header in which they are out of the ordinary is not good any more."""
    short, long = _integers(data, _KEY), _integers(data, _VALUE)
    last = len(long) - 1
    some = np.flatnonzero(good & (at < until))
    at, until = at[some], until[some]
    parts = [_Fields(*np.zeros((5, 0), np.int64))]
    for _ in range(_MOST_FIELDS):
        if not len(some):
            break
        key = at + _KEY
        key_length = short[at].astype(np.int64)
        value = key + np.maximum(key_length, 0)
        length = long[np.minimum(value, last)].astype(np.int64)
        value += _VALUE
        at = value + length
        fine = (key_length > 0) & (length > 0) & (at <= until)
        parts.append(_Fields(some, key, key_length, value, length))
        if np.count_nonzero(fine) < len(fine):
            good[some[~fine]] = False
        (going,) = (fine & (at < until)).nonzero()
        if len(going) < len(some):
            some, at, until = some[going], at[going], until[going]
    good[some] = False
    return _Fields(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _named(data: Array, fields: _Fields, letters: Array, good: Array) -> dict[str, Span]:
    """The texts of extension fields that columns are made of; a header that has one of these twice is not good any more.

    Args:
        data: has the headers.
        fields: of the headers.
        letters: in which headers they have names of one letter.
        good: which headers are good.
    """
    length = np.clip(fields.key_length, 0, _LONGEST_NAME)
    candidates = _CANDIDATES[length << 8 | data[fields.key]]
    (some,) = (candidates != 0).nonzero()
    words = rows_at(data, fields.key[some], _LONGEST_NAME).view(np.uint64)
    words &= _MASKS.take(candidates[some], axis=0)
    same = (words == _WORDS.take(candidates[some], axis=0)).all(axis=1)
    some = some[same]
    header, field = fields.header[some], candidates[some]
    table = np.full((len(good), len(_FIELDS)), ABSENT)
    table[header, field] = some
    good[header[table[header, field] != some]] = False
    values, lengths = np.append(fields.value, 0), np.append(fields.length, ABSENT)
    spans: dict[str, Span] = {}
    for name, names in NAMES.items():
        numbers = table[:, _FIELDS.index(names[-1])]
        for other in reversed(names[:-1]):
            first = table[:, _FIELDS.index(other)]
            numbers = np.where(first >= 0, first, numbers)
        short = table[:, _FIELDS.index(LETTERS[name])]
        numbers = np.where(letters & (short >= 0), short, numbers)
        spans[name] = Span(values[numbers], lengths[numbers])
    return spans
