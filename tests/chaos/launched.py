"""``python -m tests.chaos.launched -c FILE``: the name server under limits and on a disk that its environment names.

``CHAOS_NOFILE``: limit of its descriptors.  ``CHAOS_FSIZE``: limit of the bytes of a file, as on a full disk.
``CHAOS_TASKS``: a file with the number of its tasks.
``CHAOS_FIRST_SCAN``: seconds to the first scan for silent brokers.  SIGUSR1: it is killed at a random call of its next saves.
"""

import os
import random
import resource
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Final

import trio

from rocketwire_namesrv.__main__ import main
from rocketwire_namesrv.runtime import storage
from rocketwire_namesrv.server import timers
from tests.support.virtual_disk import VirtualDisk

CALLS_OF_A_SAVE: Final = 12


def _limit(resource_: int, name: str) -> None:
    if name in os.environ:
        limit = int(os.environ[name])
        resource.setrlimit(resource_, (limit, limit))


class DyingDisk(VirtualDisk):
    def end(self, name: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def _arm(calls: int) -> None:
    save = storage.save
    disks: list[DyingDisk] = []

    def save_until_death(path: str, content: bytes) -> None:
        if not disks:
            disks.append(DyingDisk(Path(path).parent, calls))
        with disks[0]:
            save(path, content)

    setattr(storage, "save", save_until_death)  # noqa: B010 - from outside


class TaskCount(trio.abc.Instrument):
    def __init__(self, path: Path) -> None:
        self._path = path
        self._tasks = 0

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        self._tasks += 1

    def task_exited(self, task: trio.lowlevel.Task) -> None:
        self._tasks -= 1

    def before_io_wait(self, timeout: float) -> None:
        if timeout > 0:
            self._path.write_text(str(self._tasks))


if __name__ == "__main__":
    _limit(resource.RLIMIT_NOFILE, "CHAOS_NOFILE")
    _limit(resource.RLIMIT_FSIZE, "CHAOS_FSIZE")
    signal.signal(signal.SIGUSR1, lambda number, frame: _arm(random.randrange(CALLS_OF_A_SAVE)))
    if "CHAOS_FIRST_SCAN" in os.environ:
        first = float(os.environ["CHAOS_FIRST_SCAN"])
        setattr(timers, "FIRST_SCAN_SECONDS", first)  # noqa: B010 - it is Final
    if "CHAOS_TASKS" in os.environ:
        count = TaskCount(Path(os.environ["CHAOS_TASKS"]))
        setattr(trio, "run", partial(trio.run, instruments=[count]))  # noqa: B010 - it is Final
    sys.exit(main(sys.argv[1:]))
