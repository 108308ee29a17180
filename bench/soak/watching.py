"""What a process holds over time, and whether that grows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.namesrv import machine

if TYPE_CHECKING:
    from collections.abc import Sequence

MIB = 1024 * 1024


class Sample(NamedTuple):
    """What a process holds at a moment.

    Attributes:
        at: seconds since the beginning.
        resident: bytes of physical memory.
        descriptors: open files and sockets.
        tasks: of trio.
    """

    at: float
    resident: int
    descriptors: int
    tasks: int


class Watch:
    """Looks at a process from outside.

    Args:
        pid: of the process.
        tasks: the file in which it keeps the number of its tasks.
    """

    def __init__(self, pid: int, tasks: Path) -> None:
        self._pid = pid
        self._tasks = tasks
        self.samples: list[Sample] = []

    def look(self, at: float) -> Sample:
        """Look now."""
        text = self._tasks.read_text() if self._tasks.exists() else ""
        sample = Sample(
            at,
            machine.resident_bytes(self._pid),
            len(os.listdir(f"/proc/{self._pid}/fd")),
            int(text) if text.strip() else 0,
        )
        self.samples.append(sample)
        return sample

    def sockets(self) -> list[str]:
        """What its descriptors lead to, for the report of a leak."""
        folder = Path(f"/proc/{self._pid}/fd")
        return sorted(os.readlink(folder / name) for name in os.listdir(folder))


def slope(samples: Sequence[Sample]) -> float:
    """How fast the memory grows, in MiB a minute: the straight line with the least squares."""
    if len(samples) < 3:
        return 0.0
    middle = sum(sample.at for sample in samples) / len(samples)
    mean = sum(sample.resident for sample in samples) / len(samples)
    above = sum((sample.at - middle) * (sample.resident - mean) for sample in samples)
    below = sum((sample.at - middle) ** 2 for sample in samples)
    return above / below * 60 / MIB
