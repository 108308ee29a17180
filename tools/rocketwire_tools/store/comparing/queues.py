"""The queues of two stores, compared unit by unit, whether they are in files or in RocksDB."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from rocketwire.store.consume_queue import (
    BATCH_UNIT_SIZE,
    MAX_EXTENSION_ADDRESS,
    PRE_BLANK_SIZE,
    UNIT_SIZE,
)
from rocketwire.store.folder import file_at, files_between
from rocketwire_tools.store.comparing.differences import Place, StoreDifference
from rocketwire_tools.store.engine.blocks import open_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.comparing.logs import Log
    from rocketwire_tools.store.engine.columns import Bools, Bytes
    from rocketwire_tools.store.opened import OpenedStore
    from rocketwire_tools.store.sources.rocks_queues import RocksQueue

UNITS_AT_ONCE: Final = 1 << 12
"""Units that are read at once: of most queues only the first page is no hole."""


class _Units(Protocol):
    """The units of a queue."""

    def parts(self) -> set[int]:
        """Which parts of ``UNITS_AT_ONCE`` units have any."""
        ...

    def read(self, first: int, count: int) -> Bytes:
        """Units as rows of bytes; zeros where there are none."""
        ...

    def place(self, number: int, /) -> Place | None:
        """Where a unit stands."""
        ...


class _FileUnits:
    """The units of a queue in files.

    Args:
        files: of the queue; none if the store does not have the queue.
        size: bytes of a unit.
    """

    def __init__(self, files: Sequence[StoreFile], size: int) -> None:
        self._files = files
        self._size = size

    def parts(self) -> set[int]:
        """Which parts of ``UNITS_AT_ONCE`` units have any."""
        size = UNITS_AT_ONCE * self._size
        parts: set[int] = set()
        for file in self._files:
            with open_blocks(file, block_size=1) as blocks:
                place = blocks.next_data(0)
                while place < file.size:
                    part = (file.offset + place) // size
                    parts.add(part)
                    place = blocks.next_data((part + 1) * size - file.offset)
        return parts

    def read(self, first: int, count: int) -> Bytes:
        """Units as rows of bytes; zeros where no file has them."""
        data = np.zeros(count * self._size, np.uint8)
        start = first * self._size
        for file in files_between(self._files, start, start + len(data)):
            begin, end = max(start, file.offset), min(start + len(data), file.end)
            with open_blocks(file, block_size=end - begin) as blocks:
                part = np.frombuffer(blocks.read(begin - file.offset), np.uint8)
                data[begin - start : begin - start + len(part)] = part
        return data.reshape(count, self._size)

    def place(self, number: int) -> Place | None:
        """File and byte of a unit."""
        offset = number * self._size
        file = file_at(self._files, offset)
        return None if file is None else Place(file.name, offset - file.offset)


class _RocksUnits:
    """The units of a queue in RocksDB."""

    def __init__(self, queue: RocksQueue, name: str) -> None:
        self._queue = queue
        self._name = name

    def parts(self) -> set[int]:
        """Which parts of ``UNITS_AT_ONCE`` units have any."""
        parts: set[int] = set()
        for numbers, _ in self._queue.parts(0, 1 << 62):
            parts.update(np.unique(numbers // UNITS_AT_ONCE).tolist())
        return parts

    def read(self, first: int, count: int) -> Bytes:
        """Units as rows of bytes; zeros where there are none."""
        units = np.frombuffer(self._queue.read(first, count).tobytes(), np.uint8)
        return units.reshape(count, UNIT_SIZE)

    def place(self, _number: int) -> Place | None:
        """The folder of the RocksDB."""
        return Place(self._name)


def queue_differences(
    a: OpenedStore, b: OpenedStore, logs: Sequence[tuple[Log, Log]]
) -> Iterator[StoreDifference]:
    """Queues that differ; units of messages that only one log has are left out.

    A queue in files and in RocksDB is compared by its files.

    Args:
        a, b: the stores.
        logs: their logs.
    """
    for name in sorted({*_names(a), *_names(b)}):
        yield from _queue_differences(name, _units(a, name), _units(b, name), logs)
    batches_a, batches_b = a.folder.batch_queues, b.folder.batch_queues
    for name in sorted({*batches_a, *batches_b}):
        in_a = _FileUnits(batches_a.get(name, []), BATCH_UNIT_SIZE)
        in_b = _FileUnits(batches_b.get(name, []), BATCH_UNIT_SIZE)
        yield from _queue_differences(name, in_a, in_b, logs)


def _names(store: OpenedStore) -> Iterator[tuple[str, int]]:
    yield from store.folder.queues
    yield from store.rocks_queues.ends if store.rocks_queues else ()


def _units(store: OpenedStore, name: tuple[str, int]) -> _Units:
    files = store.folder.queues.get(name, [])
    if not files and store.rocks_queues is not None:
        return _RocksUnits(store.rocks_queues.queue(*name), store.rocks_queues.name)
    return _FileUnits(files, UNIT_SIZE)


def _queue_differences(
    name: tuple[str, int], a: _Units, b: _Units, logs: Sequence[tuple[Log, Log]]
) -> Iterator[StoreDifference]:
    counts: dict[str, int] = {}
    first: dict[str, StoreDifference] = {}
    for part in sorted(a.parts() | b.parts()):
        number = part * UNITS_AT_ONCE
        units_a, units_b = a.read(number, UNITS_AT_ONCE), b.read(number, UNITS_AT_ONCE)
        if np.array_equal(units_a, units_b):
            continue
        differs = (units_a != units_b).any(1)
        differs &= ~_have_addresses(units_a, units_b)
        if not differs.any():
            continue
        is_in_a, is_in_b = _point_to_messages(units_a), _point_to_messages(units_b)
        for rule, chosen in (
            ("units differ", differs & is_in_a & is_in_b),
            ("units are in A only", is_in_a & ~is_in_b & _are_in(units_a, [b for _, b in logs])),
            ("units are in B only", is_in_b & ~is_in_a & _are_in(units_b, [a for a, _ in logs])),
        ):
            rows = np.flatnonzero(chosen)
            if not len(rows):
                continue
            counts[rule] = counts.get(rule, 0) + len(rows)
            if rule not in first:
                row = int(rows[0])
                first[rule] = StoreDifference(
                    part="queue",
                    name=f"{name[0]}:{name[1]}:{number + row}",
                    rule=rule,
                    a=_unit(units_a[row]) if is_in_a[row] else None,
                    b=_unit(units_b[row]) if is_in_b[row] else None,
                    place_a=a.place(number + row),
                    place_b=b.place(number + row),
                )
    for rule, difference in first.items():
        yield replace(difference, rule=f"{counts[rule]} {rule}, this is the first")


def _numbers(units: Bytes, start: int, size: int) -> Any:
    return np.ascontiguousarray(units[:, start : start + size]).view(f">i{size}")[:, 0]


def _point_to_messages(units: Bytes) -> Bools:
    sizes = _numbers(units, 8, 4)
    points: Bools = (_numbers(units, 0, 8) >= 0) & (sizes > 0) & (sizes != PRE_BLANK_SIZE)
    return points


def _have_addresses(units_a: Bytes, units_b: Bytes) -> Bools:
    """Which units of both lead to one message, and one has an address in an extension as tags code.

    Extensions have no common order: the same message can have other addresses.
    """
    lead_to_one: Bools = (units_a[:, :12] == units_b[:, :12]).all(1)
    codes = (_numbers(units, 12, 8) for units in (units_a, units_b))
    first, second = (each <= MAX_EXTENSION_ADDRESS for each in codes)
    have_addresses: Bools = lead_to_one & (first | second)
    return have_addresses


def _are_in(units: Bytes, logs: Sequence[Log]) -> Bools:
    offsets = _numbers(units, 0, 8)
    are_in: Bools = np.zeros(len(units), np.bool_)
    for log in logs:
        are_in |= (offsets >= log.start) & (offsets < log.end)
    return are_in


def _unit(unit: Bytes) -> dict[str, int]:
    data = unit.tobytes()
    return {
        "physical_offset": int.from_bytes(data[:8], "big"),
        "size": int.from_bytes(data[8:12], "big"),
        "tags_code": int.from_bytes(data[12:20], "big", signed=True),
    }
