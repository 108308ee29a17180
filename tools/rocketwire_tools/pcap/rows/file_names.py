"""``FileNames``: which file each frame of a series of captures begins in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocketwire_tools.pcap.arrow import column, pa, taken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocketwire_tools.pcap.arrow import Column

    Array = np.ndarray[Any, Any]


class FileNames:
    """The files that have been read so far.

    Args:
        first: path of the first.

    Attributes:
        begun: offset, among all bytes of the series, at which each begins, and its path.
    """

    def __init__(self, first: str) -> None:
        self.begun: list[tuple[int, str]] = [(0, first)]
        self._scalar = pa.scalar(first, pa.string())
        self._equal: Column = pa.repeat(self._scalar, 0)

    def add(self, base: int, path: str) -> None:
        """One more file begins.

        Args:
            base: its offset.
            path: its path.
        """
        self.begun.append((base, path))

    def learn(self, begun: Iterable[tuple[int, str]]) -> None:
        """Take over what another process knows."""
        self.begun = list(begun)

    def column(self, where: Array) -> Column:
        """The paths of the files in which frames begin.

        Args:
            where: offset of the record of the first byte of each.
        """
        if len(self.begun) == 1:
            if len(self._equal) < len(where):
                self._equal = pa.repeat(self._scalar, len(where))
            return self._equal.slice(0, len(where))
        bases, paths = zip(*self.begun, strict=True)
        number = np.searchsorted(np.array(bases[1:]), where, side="right")
        return taken(column(list(paths), pa.string()), column(number))
