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

*_fixed, _remark, _entries = grammar.BINARY_HEADER.subcons
_FIXED: Final = np.dtype(
    [
        (each.name, f">{'u' if each.subcon.fmtstr[-1].isupper() else 'i'}{each.sizeof()}")
        for each in _fixed
    ]
)
_REMARK: Final[int] = _remark.subcon.lengthfield.sizeof()
_TOTAL: Final[int] = _entries.subcon.length.sizeof()
_KEY: Final[int] = _entries.subcon.key.sizeof()
_VALUE: Final[int] = _entries.subcon.value.sizeof()
_MOST_FIELDS: Final = 64
"""Extension fields of a header; more are left to the codec."""
_ROOM: Final = 64
"""Bytes behind the last header, so that what may be a field can be gathered before it is known to be one."""


class Some(NamedTuple):
    """What is known of headers.

    Attributes:
        numbers: the fields of fixed size, an entry for each header.
        values: the wanted extension fields of each, in the order in which they were asked for.
        good: whether the header could be read here.
    """

    numbers: Array
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
    good = (at + _REMARK + _TOTAL <= ends) & (_integers(text, at, _REMARK) == 0)
    at += _REMARK
    until = at + _TOTAL + np.maximum(_integers(text, at, _TOTAL), 0)
    good &= until <= ends
    found = _fields(text, at + _TOTAL, until, good, [name.encode() for name in names])
    return Some(numbers, found, good)


def _integers(text: bytearray, at: Array, size: int) -> Array:
    """The signed integers there; -1 where they are behind the end."""
    inside = at <= len(text) - size
    found: Array = rows_at(text, np.where(inside, at, 0), size).view(f">i{size}")[:, 0]
    return np.where(inside, found.astype(np.int64), -1)


def _fields(
    text: bytearray, at: Array, until: Array, good: Array, names: Sequence[bytes]
) -> list[list[str | None]]:
    """Values by name; a header that is out of the ordinary is not good any more."""
    found: list[list[str | None]] = [[None] * len(at) for _ in names]
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
        parts.append((some, key, key_length, value, after))
        at[some] = after
        some = some[after < until[some]]
    good[some] = False
    if parts:
        fields = _Fields(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        for column, name in zip(found, names, strict=True):
            _take(text, column, name, fields, good)
    return found


class _Fields(NamedTuple):
    """Extension fields: the number of the header, where key and value begin, and where the value ends."""

    header: Array
    key: Array
    key_length: Array
    value: Array
    after: Array


def _take(
    text: bytearray, column: list[str | None], name: bytes, fields: _Fields, good: Array
) -> None:
    """The values of those fields that have a name."""
    same = np.flatnonzero(fields.key_length == len(name))
    if not len(same):
        return
    same = same[rows_at(text, fields.key[same], len(name)).view(f"S{len(name)}")[:, 0] == name]
    places = (fields.header[same], fields.value[same], fields.after[same])
    for number, start, end in zip(*(each.tolist() for each in places), strict=True):
        if column[number] is not None:
            good[number] = False  # twice
        try:
            column[number] = text[start:end].decode("ascii")
        except UnicodeDecodeError:
            good[number] = False
