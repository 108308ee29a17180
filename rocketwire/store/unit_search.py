"""Units of a queue's file, searched for the first one that is invalid or points too far."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

from rocketwire.store import layouts
from rocketwire.store.consume_queue import BATCH_UNIT_SIZE, UNIT_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNIT: Final = Struct(layouts.format_of(layouts.QUEUE_UNIT))
_BATCH_UNIT: Final = Struct(layouts.format_of(layouts.BATCH_UNIT))
_MANY: Final = 1024
_UNIT_OFFSETS: Final = Struct(">" + f"q{UNIT_SIZE - 8}x" * _MANY)
_BATCH_UNIT_OFFSETS: Final = Struct(">" + f"q{BATCH_UNIT_SIZE - 8}x" * _MANY)
"""Offsets of many units at once; units that are read one by one take five times as long."""

_SIGNS: Final = bytes(128) + b"\1" * 128


def first_invalid(data: bytes, unit_size: int) -> int:
    """Position of the first unit that Java takes for the end of a queue; the end without one.

    A unit is valid if its offset is not negative and its size is positive; one of a batch must
    have a base that is not negative and a positive count too.

    Args:
        data: whole units.
        unit_size: of one unit, which says what kind it is.
    """
    count = len(data) // unit_size
    if not count:
        return 0
    is_batch = unit_size == BATCH_UNIT_SIZE
    data = data[: count * unit_size]
    firsts = (0, 8, 28, 36) if is_batch else (0, 8)
    places = [_joined(data, firsts, unit_size).translate(_SIGNS).find(1)]
    places.append(_joined(data, range(8, 12), unit_size).find(0))
    if is_batch:
        places.append(_joined(data, (36, 37), unit_size).find(0))
    return min((place for place in places if place >= 0), default=count) * unit_size


def first_from(data: bytes, unit_size: int, offset: int) -> int | None:
    """Position of the first unit that points to an offset or behind it; None without one."""
    layout, many = (
        (_UNIT, _UNIT_OFFSETS) if unit_size == UNIT_SIZE else (_BATCH_UNIT, _BATCH_UNIT_OFFSETS)
    )
    for start in range(0, len(data), many.size):
        part = data[start : start + many.size]
        if len(part) == many.size and max(many.unpack(part)) < offset:
            continue
        for number, unit in enumerate(layout.iter_unpack(part)):
            if unit[0] >= offset:
                return start + number * unit_size
    return None


def _joined(data: bytes, columns: Iterable[int], unit_size: int) -> bytes:
    """For each unit the bits of some of its bytes, put together with *or*."""
    bits = 0
    for column in columns:
        bits |= int.from_bytes(data[column::unit_size], "big")
    return bits.to_bytes(len(data) // unit_size, "big")
