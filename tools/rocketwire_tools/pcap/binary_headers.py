"""ROCKETMQ headers of many frames at once.

Rules of this file: only numpy; sizes and the order of the fields are those of the codec's grammar.  Of the extension fields only
those that become columns are looked at.  A header in which anything is out of the ordinary is left to the codec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire.wire import grammar
from rocketwire_tools.pcap.capture import rows_at

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
_ROOM: Final = 64
"""Bytes behind the last header, so that what may be a field can be gathered before it is known to be one."""


class Some(NamedTuple):
    """What is known of headers.

    Attributes:
        numbers: the fields of fixed size, an entry for each header.
        remark: of each header.
        values: the wanted extension fields of each, in the order in which they were asked for.
        good: whether the header could be read here.
    """

    numbers: Array
    remark: list[str | None]
    values: list[list[str | None]]
    good: Array


def read(headers: Sequence[bytes | bytearray], names: Sequence[str]) -> Some:
    """Read headers.

    Args:
        headers: at least one.
        names: of the wanted extension fields.
    """
    text = bytearray().join([*headers, bytes(_ROOM + _FIXED.itemsize)])
    ends = np.cumsum(np.array([len(one) for one in headers], np.int64))
    starts = np.concatenate([[0], ends[:-1]])
    numbers = rows_at(text, starts, _FIXED.itemsize).view(_FIXED)[:, 0]
    at = starts + _FIXED.itemsize
    remark = at + _REMARK
    length = _integers(text, at, _REMARK)
    at = remark + np.maximum(length, 0)
    good = (length >= 0) & (at + _TOTAL <= ends)
    until = at + _TOTAL + np.maximum(_integers(text, at, _TOTAL), 0)
    good &= until <= ends
    remarks = _texts(text, remark, np.where(length > 0, length, ABSENT), good)
    places = _fields(text, at + _TOTAL, until, good, [name.encode() for name in names])
    values = [_texts(text, place, _lengths(text, place), good) for place in places]
    return Some(numbers, remarks, values, good)


def _lengths(text: bytearray, at: Array) -> Array:
    """The lengths of the values that begin there, ``ABSENT`` for those that do not."""
    return np.where(at < 0, ABSENT, _integers(text, at - _VALUE, _VALUE))


def _texts(text: bytearray, start: Array, length: Array, good: Array) -> list[str | None]:
    """Parts of the text, None where a length is negative; a header in which they are not ASCII is not good."""
    found: list[str | None] = [None] * len(start)
    some = np.flatnonzero(good & (length >= 0))
    ends = (start + length)[some].tolist()
    for number, first, end in zip(some.tolist(), start[some].tolist(), ends, strict=True):
        try:
            found[number] = text[first:end].decode("ascii")
        except UnicodeDecodeError:
            good[number] = False
    return found


def _integers(text: bytearray, at: Array, size: int) -> Array:
    """The signed integers there; -1 where they are behind the end."""
    inside = (at >= 0) & (at <= len(text) - size)
    found: Array = rows_at(text, np.where(inside, at, 0), size).view(f">i{size}")[:, 0]
    return np.where(inside, found.astype(np.int64), -1)


def _fields(
    text: bytearray, at: Array, until: Array, good: Array, names: Sequence[bytes]
) -> list[Array]:
    """Where values begin, for each name; a header that is out of the ordinary is not good any more."""
    parts: list[tuple[Array, ...]] = []
    some = np.flatnonzero(good & (at < until))
    for _ in range(_MOST_FIELDS):
        if not len(some):
            break
        key = at[some] + _KEY
        key_length = _integers(text, at[some], _KEY)
        value = key + key_length + _VALUE
        after = value + _integers(text, value - _VALUE, _VALUE)
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
            _take(text, places, name, fields, good)
    return found


class _Fields(NamedTuple):
    """Extension fields: the number of the header, where key and value begin, and the length of the key."""

    header: Array
    key: Array
    key_length: Array
    value: Array


def _take(text: bytearray, places: Array, name: bytes, fields: _Fields, good: Array) -> None:
    """Where the values of those fields are that have a name."""
    same = np.flatnonzero(fields.key_length == len(name))
    if not len(same):
        return
    same = same[rows_at(text, fields.key[same], len(name)).view(f"S{len(name)}")[:, 0] == name]
    header = np.sort(fields.header[same])
    good[header[1:][header[1:] == header[:-1]]] = False  # twice
    places[fields.header[same]] = fields.value[same]
