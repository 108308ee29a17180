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
    length = _integers(data, at, _REMARK)
    at = remark + np.maximum(length, 0)
    good = (length >= 0) & (at + _TOTAL <= ends)
    until = at + _TOTAL + np.maximum(_integers(data, at, _TOTAL), 0)
    good &= until <= ends
    places = _fields(data, at + _TOTAL, until, good, [name.encode() for name in names])
    spans = [
        Span(remark, np.where(length > 0, length, ABSENT)),
        *(Span(place, _lengths(data, place)) for place in places),
    ]
    for span in spans:
        _check(data, span, good)
    return Some(numbers, spans[0], dict(zip(names, spans[1:], strict=True)), good)


def _lengths(data: Array, at: Array) -> Array:
    """The lengths of the values that begin there, ``ABSENT`` for those that do not."""
    return np.where(at < 0, ABSENT, _integers(data, at - _VALUE, _VALUE))


def _check(data: Array, span: Span, good: Array) -> None:
    """A header is not good if one of these texts is long, or not ASCII."""
    good &= span.length <= LONGEST_TEXT
    some = np.flatnonzero(good & (span.length > 0))
    if len(some):
        words = kept(data, span.at[some], span.length[some])
        good[some[(words & _NOT_ASCII).any(axis=1)]] = False


_NOT_ASCII: Final = np.uint64(0x8080808080808080)


def _integers(data: Array, at: Array, size: int) -> Array:
    """The signed integers there; -1 where they are behind the end."""
    inside = (at >= 0) & (at <= len(data) - size)
    found: Array = rows_at(data, np.where(inside, at, 0), size).view(f">i{size}")[:, 0]
    return np.where(inside, found.astype(np.int64), -1)


def _fields(
    data: Array, at: Array, until: Array, good: Array, names: Sequence[bytes]
) -> list[Array]:
    """Where values begin, for each name; a header that is out of the ordinary is not good any more."""
    parts: list[tuple[Array, ...]] = []
    some = np.flatnonzero(good & (at < until))
    for _ in range(_MOST_FIELDS):
        if not len(some):
            break
        key = at[some] + _KEY
        key_length = _integers(data, at[some], _KEY)
        value = key + key_length + _VALUE
        after = value + _integers(data, value - _VALUE, _VALUE)
        fine = (key_length > 0) & (after > value) & (after <= until[some])
        if not fine.all():
            good[some[~fine]] = False
            some, key, key_length, value, after = (
                each[fine] for each in (some, key, key_length, value, after)
            )
        parts.append((some, key, key_length, value))
        at[some] = after
        some = some[after < until[some]]
    good[some] = False
    found = [np.full(len(at), ABSENT) for _ in names]
    if parts:
        fields = _Fields(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        for places, name in zip(found, names, strict=True):
            _take(data, places, name, fields, good)
    return found


class _Fields(NamedTuple):
    """Extension fields: the number of the header, where key and value begin, and the length of the key."""

    header: Array
    key: Array
    key_length: Array
    value: Array


def _take(data: Array, places: Array, name: bytes, fields: _Fields, good: Array) -> None:
    """Where the values of those fields are that have a name."""
    same = np.flatnonzero(fields.key_length == len(name))
    if not len(same):
        return
    same = same[rows_at(data, fields.key[same], len(name)).view(f"S{len(name)}")[:, 0] == name]
    header = np.sort(fields.header[same])
    good[header[1:][header[1:] == header[:-1]]] = False  # twice
    places[fields.header[same]] = fields.value[same]
