"""``FileNames``: the file of a series in which each frame begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocketwire_tools.pcap.arrow import column, pa, take

if TYPE_CHECKING:
    from rocketwire_tools.pcap.arrow import Column

    Array = np.ndarray[Any, Any]


class FileNames:
    """The files that have been read so far."""

    def __init__(self, first: str) -> None:
        # offset of each file in the series, and its path
        self.begun: list[tuple[int, str]] = [(0, first)]
        self._scalar = pa.scalar(first, pa.string())
        self._equal: Column = pa.repeat(self._scalar, 0)

    def add(self, base: int, path: str) -> None:
        self.begun.append((base, path))

    def column(self, file_offset: Array) -> Column:
        if len(self.begun) == 1:
            if len(self._equal) < len(file_offset):
                self._equal = pa.repeat(self._scalar, len(file_offset))
            return self._equal.slice(0, len(file_offset))
        bases, paths = zip(*self.begun, strict=True)
        number = np.searchsorted(np.array(bases[1:]), file_offset, side="right")
        return take(column(list(paths), pa.string()), column(number))
