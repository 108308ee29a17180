"""Files of queues as arrays of units."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.messages import message_const
from rocketwire.store import layouts
from rocketwire.store.folder import file_at, files_between
from rocketwire_tools.store.engine.blocks import open_blocks, read_bytes
from rocketwire_tools.store.engine.columns import record_type
from rocketwire_tools.store.engine.rows import COMMITTED, INNER_BATCH, TRANSACTION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from rocketwire.store.folder import StoreFile

    Units = npt.NDArray[np.void]
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.rows import Rows


UNIT: Final = record_type(layouts.QUEUE_UNIT)
BATCH_UNIT: Final = record_type(layouts.BATCH_UNIT)
_CHUNK: Final = 3000  # units that are read at once: files of queues are mostly holes


class QueueFiles:
    """The files of one queue as an array of units.

    At least ``ahead`` bytes are read ahead; these units may be older than those in the file.
    """

    __slots__ = ("_ahead", "_kept", "_kept_start", "files", "unit")

    def __init__(
        self, files: Sequence[StoreFile], unit: np.dtype[np.void], *, ahead: int = 0
    ) -> None:
        self.files = files
        self.unit = unit
        self._ahead = ahead
        self._kept_start = 0
        self._kept = b""

    def read(self, first: int, count: int) -> Units:
        """Units by number; zeros where no file has them."""
        start, size = first * self.unit.itemsize, count * self.unit.itemsize
        begin = start - self._kept_start
        if not 0 <= begin <= len(self._kept) - size:
            file = file_at(self.files, start)
            if not self._ahead or file is None or start + size > file.end:
                return self._read_files(start, size)
            self._kept = read_bytes(file, start - file.offset, max(size, self._ahead))
            self._kept_start, begin = start, 0
        return np.frombuffer(self._kept[begin : begin + size].ljust(size, b"\0"), self.unit)

    def _read_files(self, start: int, size: int) -> Units:
        data = bytearray(size)
        for file in files_between(self.files, start, start + size):
            begin = max(start, file.offset)
            part = read_bytes(file, begin - file.offset, start + size - begin)
            data[begin - start : begin - start + len(part)] = part
        return np.frombuffer(data, self.unit)

    def runs(self) -> Iterator[tuple[StoreFile, int, Units]]:
        size = self.unit.itemsize
        for file in self.files:
            with open_blocks(file, block_size=_CHUNK * size) as blocks:
                position = blocks.next_data(0) // size * size
                while count := len(data := blocks.read(position)) // size:
                    yield (
                        file,
                        (file.offset + position) // size,
                        np.frombuffer(bytes(data), self.unit, count),
                    )
                    position += count * size
                    position = max(position, blocks.next_data(position) // size * size)


QUEUE_MASK: Final = 0xFFFFFFFF
_BATCH_SIZE: Final = re.compile(r"[0-9]{1,5}", re.ASCII)
"""Java counts the messages of a batch with 16 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueGroups:
    """Messages of a block that are in queues; those of one queue are a group and stand together."""

    # number of the topic and queue id of each group, as ``number << 32 | queue id``
    keys: list[int]
    names: list[tuple[str, int]]  # topic and queue id of each group
    bounds: Int64s  # first message of each group, and the number of messages
    rows: Int64s  # row of each message in the block
    offsets: Int64s  # its queue offset
    steps: Int64s  # messages that it stands for

    def part(self, number: int) -> slice:
        return slice(int(self.bounds[number]), int(self.bounds[number + 1]))

    def all_of_each(self, holds: Bools) -> list[bool]:
        if holds.all():
            return [True] * len(self.names)
        each: list[bool] = np.logical_and.reduceat(holds, self.bounds[:-1]).tolist()
        return each


def group_by_queue(rows: Rows) -> QueueGroups:
    """Group the messages of a block by queue, without those of open transactions."""
    messages = rows.messages
    sys_flags = messages.numbers("sys_flag")
    transactions = sys_flags & TRANSACTION
    is_queued = (transactions == 0) | (transactions == COMMITTED)
    keys = rows.topic_numbers << 32 | (messages.numbers("queue_id") & QUEUE_MASK)
    order = _stable_order(keys)
    if not is_queued.all():
        order = order[is_queued[order]]
    steps = np.ones(len(rows), np.int64)
    for row in np.flatnonzero((sys_flags & INNER_BATCH) == INNER_BATCH).tolist():
        count = rows.properties[row].get(message_const.INNER_NUM, "")
        steps[row] = int(count) if _BATCH_SIZE.fullmatch(count) else 1
    keys = keys[order]
    bounds = np.append(np.flatnonzero(np.diff(keys, prepend=-1)), len(keys))
    queues: list[int] = keys[bounds[:-1]].tolist()
    topics = rows.topics.names
    return QueueGroups(
        keys=queues,
        names=[(topics[key >> 32], key & QUEUE_MASK) for key in queues],
        bounds=bounds,
        rows=order,
        offsets=messages.numbers("queue_offset")[order],
        steps=steps[order],
    )


def _stable_order(keys: Int64s) -> Int64s:
    """The order of keys ``topic << 32 | queue id``; numpy sorts 16 bits in linear time."""
    queues = int((keys & QUEUE_MASK).max()) + 1
    if queues * (int(keys.max() >> 32) + 1) < 1 << 16:
        small = ((keys >> 32) * queues + (keys & QUEUE_MASK)).astype(np.uint16)
        return np.argsort(small, kind="stable")
    return np.argsort(keys, kind="stable")
