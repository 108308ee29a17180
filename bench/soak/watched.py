"""The name server as ``rocketwire-namesrv`` starts it, with a trio instrument that counts tasks.

``python -m bench.soak.watched COUNTS -c FILE`` keeps a line with that number in the file
``COUNTS``. The name server itself is unchanged.
"""

from __future__ import annotations

import sys
import threading
import time
from functools import partial
from pathlib import Path

import trio

from rocketwire_namesrv.__main__ import main

PERIOD_SECONDS = 1.0


class TaskCount(trio.abc.Instrument):
    """Counts the tasks that run."""

    def __init__(self) -> None:
        self.tasks = 0

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        self.tasks += 1

    def task_exited(self, task: trio.lowlevel.Task) -> None:
        self.tasks -= 1


def _write_for_ever(count: TaskCount, path: Path) -> None:
    while True:
        path.write_text(f"{count.tasks}\n")
        time.sleep(PERIOD_SECONDS)


if __name__ == "__main__":
    tasks = TaskCount()
    threading.Thread(
        target=_write_for_ever, args=(tasks, Path(sys.argv[1])), daemon=True, name="watch"
    ).start()
    setattr(trio, "run", partial(trio.run, instruments=[tasks]))  # noqa: B010 - it is Final
    sys.exit(main(sys.argv[2:]))
