"""ROCKETMQ headers of many frames at once.

Rules of this file: only numpy; sizes and the order of the fields are those of the codec's grammar.  Of the extension fields only
those that become columns are looked at.  A header in which anything is out of the ordinary is left to the codec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire.wire import grammar
from rocketwire_tools.pcap.capture import rows_at
from rocketwire_tools.pcap.shape import LONGEST_TEXT
from rocketwire_tools.pcap.texts import kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    Array = np.ndarray[Any, Any]

_FIXED: Final = np.dtype([(name, f">{kind}") for name, kind in grammar.BINARY_HEADER_FIXED])
_REMARK: Final = grammar.REMARK_LENGTH_SIZE
_TOTAL: Final = grammar.EXT_FIELDS_LENGTH_SIZE
_KEY: Final = grammar.KEY_LENGTH_SIZE
_VALUE: Final = grammar.VALUE_LENGTH_SIZE
_MOST_FIELDS: Final = 64
"""Extension fields of a header; more are left to the codec."""
ABSENT: Final = -1
"""Where a field is that is not there."""


class Span(NamedTuple):
    """Texts: where each begins, and its length, ``ABSENT`` for those that are not there."""

    at: Array
    length: Array

    def over(self, other: Span, where: Array) -> Span:
        """These texts at some places, others elsewhere."""
        return Span(*(np.where(where, one, two) for one, two in zip(self, other, strict=True)))


class Some(NamedTuple):
    """What is known of headers.

    Attributes:
        numbers: the fields of fixed size, an entry for each header.
        remark: of each header.
        fields: the wanted extension fields, by name.
        good: whether the header could be read here.
    """

    numbers: Array
    remark: Span
    fields: dict[str, Span]
    good: Array


def read(data: Array, start: Array, lengths: Array, names: Sequence[str]) -> Some:
    """Read headers.

    Args:
        data: has them, and ``header_bytes.BEHIND`` bytes more.
        start: where they begin.
        lengths: bytes of each.
        names: of the wanted extension fields.
    """
    ends = start + lengths
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
    spans = [
        Span(remark, np.where(length > 0, length, ABSENT)),
        *(_named(data, name.encode(), fields, good) for name in names),
    ]
    _check(data, spans, good)
    return Some(numbers, spans[0], dict(zip(names, spans[1:], strict=True)), good)


def _check(data: Array, spans: Sequence[Span], good: Array) -> None:
    """A header is not good if one of its texts is long, or not ASCII."""
    length = np.array([span.length for span in spans])
    good &= (length <= LONGEST_TEXT).all(axis=0)
    text, header = np.nonzero((length > 0) & good)
    if len(header):
        at = np.array([span.at for span in spans])[text, header]
        words = kept(data, at, length[text, header])
        good[header[(words & _NOT_ASCII).any(axis=1)]] = False


_NOT_ASCII: Final = np.uint64(0x8080808080808080)


def _integers(data: Array, size: int) -> Array:
    """The signed integers that begin at each offset."""
    return np.ndarray((len(data) - size + 1,), f">i{size}", data, strides=(1,))


class _Fields(NamedTuple):
    """Extension fields: the number of the header, where key and value begin, and the lengths of both."""

    header: Array
    key: Array
    key_length: Array
    value: Array
    length: Array


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


def _named(data: Array, name: bytes, fields: _Fields, good: Array) -> Span:
    """The values of those fields that have a name; a header that has it twice is not good any more."""
    at, length = np.full((2, len(good)), ABSENT)
    (same,) = (fields.key_length == len(name)).nonzero()
    if len(same):
        same = same[rows_at(data, fields.key[same], len(name)).view(f"S{len(name)}")[:, 0] == name]
        header = fields.header[same]
        at[header], length[header] = fields.value[same], fields.length[same]
        if np.count_nonzero(at != ABSENT) < len(header):
            good[np.bincount(header, minlength=len(good)) > 1] = False
    return Span(at, length)
