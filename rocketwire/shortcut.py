"""``Shortcut``: waiting for one descriptor as trio's loop would, without going through it.

A turn of trio's loop costs twice what the system takes to send a request and to read its answer.  Where one task waits and no
other could run, all that the loop does in a turn is to wait with its ``epoll`` until the next deadline.  So the task may do that
itself: for its descriptor and for the loop's ``epoll``, which is readable as soon as there is anything for the loop to do, be it
a socket of another task, a thread that calls back, or a signal.

Rules of this file:

* It is the only one that looks inside trio, and it changes nothing there.  Where anything is not as it is expected, because of a
  release, a system, or the way in which trio is run, there is no shortcut; the ordinary way is always right.
* Nobody waits longer for it: it is not taken while any other task could run, and left when the loop has anything to do or a
  deadline has come.  It has no schedule point where there is nobody to schedule; looking for cancellation is left to the caller.

Looked at: trio 0.27 to 0.35, ``_core/_run.py`` (``unrolled_run``) and ``_core/_io_epoll.py``.
"""

from __future__ import annotations

import math
import select
from typing import Any, Final

import trio

MOST_TASKS: Final = 100
"""Tasks of the whole run; with more of them it takes too long to see whether one could run."""

LONGEST: Final = 1.0
"""Seconds after which the loop has a turn whatever happens."""


class Shortcut:
    """The shortcut for one descriptor; made by ``shortcut_to``."""

    __slots__ = ("_descriptor", "_poll", "_runner")

    def __init__(self, descriptor: int, runner: Any, loop: int) -> None:
        """The shortcut of one run of trio.

        Args:
            descriptor: what is waited for.
            runner: what trio keeps of the run.
            loop: descriptor of the loop's ``epoll``.
        """
        self._descriptor = descriptor
        self._runner = runner
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._poll.register(loop, select.POLLIN)

    def is_ready(self) -> bool:
        """Wait until the descriptor can be read; returns False as soon as the loop has to have a turn, which may be at once."""
        runner = self._runner
        tasks = runner.tasks
        if runner.runq or len(tasks) > MOST_TASKS or runner.waiting_for_idle:
            return False
        if runner.clock_autojump_threshold != math.inf or runner.instruments["_all"]:
            return False
        for task in tasks:
            if task._next_send_fn is not None:  # it is to run in this turn of the loop
                return False
        left = runner.clock.deadline_to_sleep_time(runner.deadlines.next_deadline())
        if left <= 0:
            return False
        ready = self._poll.poll(1000 * min(left, LONGEST))
        return len(ready) == 1 and ready[0][0] == self._descriptor


def shortcut_to(descriptor: int) -> Shortcut | None:
    """The shortcut for a descriptor in the run of trio that calls this; None where there is none.

    Args:
        descriptor: of a socket, which may be closed only when the shortcut is not used any more.
    """
    task: Any = trio.lowlevel.current_task()
    try:
        runner = task._runner
        shortcut = Shortcut(descriptor, runner, runner.io_manager._epoll.fileno())
        _ = runner.runq, runner.waiting_for_idle, runner.clock_autojump_threshold
        _ = runner.instruments["_all"], runner.deadlines.next_deadline
        runs = task in runner.tasks and task._next_send_fn is None
        return shortcut if runs and not runner.is_guest else None
    except (AttributeError, LookupError):
        return None
