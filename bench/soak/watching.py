"""The resources of a process over time, and their growth."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.namesrv import machine

if TYPE_CHECKING:
    from collections.abc import Sequence

MIB = 1024 * 1024


class Sample(NamedTuple):
    """The resources of a process at a moment.

    Attributes:
        time: seconds since the start.
        resident: bytes of physical memory.
        descriptors: open files and sockets.
        tasks: of trio.
    """

    time: float
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

    def look(self, seconds: float) -> Sample:
        """Take a sample."""
        text = self._tasks.read_text() if self._tasks.exists() else ""
        sample = Sample(
            seconds,
            machine.resident_bytes(self._pid),
            len(os.listdir(f"/proc/{self._pid}/fd")),
            int(text) if text.strip() else 0,
        )
        self.samples.append(sample)
        return sample

    def sockets(self) -> list[str]:
        """Return the targets of its descriptors, for the report of a leak."""
        folder = Path(f"/proc/{self._pid}/fd")
        return sorted(os.readlink(folder / name) for name in os.listdir(folder))


def slope(samples: Sequence[Sample]) -> float:
    """Return the growth of the memory in MiB a minute: the least-squares line."""
    if len(samples) < 3:
        return 0.0
    middle = sum(sample.time for sample in samples) / len(samples)
    mean = sum(sample.resident for sample in samples) / len(samples)
    above = sum((sample.time - middle) * (sample.resident - mean) for sample in samples)
    below = sum((sample.time - middle) ** 2 for sample in samples)
    return above / below * 60 / MIB
