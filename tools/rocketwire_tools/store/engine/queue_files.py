"""Files of queues as arrays of units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.store import layouts
from rocketwire.store.folder import file_at, files_between
from rocketwire_tools.store.engine.blocks import open_blocks, read_bytes
from rocketwire_tools.store.engine.columns import record_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from rocketwire.store.folder import StoreFile

    Units = npt.NDArray[np.void]

UNIT: Final = record_type(layouts.QUEUE_UNIT)
BATCH_UNIT: Final = record_type(layouts.BATCH_UNIT)
_CHUNK: Final = 1 << 20


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
        """Files, numbers of the first unit, and units, piece by piece; holes are left out."""
        size = self.unit.itemsize
        step = _CHUNK - _CHUNK % size
        for file in self.files:
            with open_blocks(file, block_size=step) as blocks:
                position = blocks.next_data(0) // size * size
                while position + size <= file.size:
                    data = blocks.read_data(position, step)
                    whole = min(-(-len(data) // size), (file.size - position) // size)
                    if not whole:
                        break
                    units = np.frombuffer(data.ljust(whole * size, b"\0"), self.unit, whole)
                    yield file, (file.offset + position) // size, units
                    position += whole * size
                    position = max(position, blocks.next_data(position) // size * size)
