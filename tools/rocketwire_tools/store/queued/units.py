"""Units of a consume queue, found by bisection or read at once.

Units only say where to look: a caller compares the message that stands there with the unit.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from contextlib import contextmanager
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.store import consume_queue, layouts
from rocketwire_tools.store.engine.blocks import FileBlocks, open_file
from rocketwire_tools.store.engine.columns import record_type

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    import numpy.typing as npt

    from rocketwire.store.consume_queue import QueueUnit
    from rocketwire.store.folder import StoreFile

    Units = npt.NDArray[np.void]

_SIZE: Final = consume_queue.UNIT_SIZE
UNIT: Final = record_type(layouts.QUEUE_UNIT)


class QueueUnits:
    """The units of one queue; no file stays open, for a store has more queues than descriptors.

    Attributes:
        topic: of the queue.
        queue_id: of the queue.
        files: of the queue, by offset.
        start: queue offset of its first unit.
        stop: queue offset after its last one.
    """

    __slots__ = ("_blocks", "_descriptor", "files", "queue_id", "start", "stop", "topic")

    def __init__(self, topic: str, queue_id: int, files: Sequence[StoreFile]) -> None:
        self.topic = topic
        self.queue_id = queue_id
        self.files = files
        self._descriptor = -1
        self._blocks: FileBlocks | None = None
        self.start = self.files[0].offset // _SIZE
        with self._opened():
            self.stop = self._stop()

    @contextmanager
    def _opened(self) -> Generator[None]:
        """Keep a file open between reads, and close it in the end."""
        try:
            yield
        finally:
            self._close()

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self._blocks = -1, None

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def is_contiguous(self) -> bool:
        """Whether no file is missing between two others, and each has whole units."""
        return all(
            before.end == after.offset and not before.size % _SIZE
            for before, after in pairwise(self.files)
        )

    def _stop(self) -> int:
        """Queue offset after the last unit: zeros stand behind it in the last file."""
        last = self.files[-1]
        first, end = last.offset // _SIZE, last.end // _SIZE
        if first < end and self._unit(first).size and self._blocks is not None:
            end = min(end, first + -(-self._blocks.next_hole(0) // _SIZE))
        return first + bisect_left(range(first, end), True, key=lambda i: not self._unit(i).size)

    def unit(self, offset: int) -> QueueUnit:
        """The unit of a queue offset; an empty one where the files have none."""
        with self._opened():
            return self._unit(offset)

    def _unit(self, offset: int) -> QueueUnit:
        data = bytes(self._read(offset, 1))
        units = consume_queue.decode_units(data)
        return next(units, consume_queue.QueueUnit(0, 0, 0))

    def offset_at(self, physical_offset: int) -> int:
        """Queue offset of the first unit that points to an offset of the log, or behind it."""
        with self._opened():
            return self.start + bisect_left(
                range(self.start, self.stop),
                physical_offset,
                key=lambda offset: self._unit(offset).physical_offset,
            )

    def read(self, start: int, stop: int) -> Units:
        """The units from one queue offset to another."""
        parts: list[Units] = []
        with self._opened():
            while start < stop:
                data = self._read(start, stop - start)
                units = np.frombuffer(bytes(data[: len(data) - len(data) % _SIZE]), UNIT)
                if not len(units):
                    break
                parts.append(units)
                start += len(units)
        return np.concatenate(parts) if parts else np.empty(0, UNIT)

    def _read(self, offset: int, count: int) -> memoryview:
        place = offset * _SIZE
        number = bisect_right(self.files, place, key=attrgetter("offset")) - 1
        file = self.files[max(0, number)]
        if not file.offset <= place < file.end:
            return memoryview(b"")
        if self._blocks is None or self._blocks.file is not file:
            self._close()
            self._descriptor = open_file(file)
            self._blocks = FileBlocks(file, self._descriptor, block_size=_SIZE)
        return self._blocks.read(place - file.offset, count * _SIZE)
