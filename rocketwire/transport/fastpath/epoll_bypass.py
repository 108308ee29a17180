"""``Shortcut``: waiting for one descriptor as trio's loop would, without going through it.

A turn of trio's loop costs twice what the system takes to send a request and to read its answer.  Where one task waits and no
other could run, all that the loop does in a turn is to wait with its ``epoll`` until the next deadline.  So the task may do that
itself: for its descriptor and for the loop's ``epoll``, which is readable as soon as there is anything for the loop to do, be it
a socket of another task, a thread that calls back, or a signal.

Rules of this file:

* It is the only one that looks inside trio, and it changes nothing there.  Where anything is not as it is expected, because of a
  release, a system, or the way in which trio is run, there is no shortcut; the ordinary way is always right.
* Nobody waits longer for it: it is not taken while any other task could run, or by who is cancelled, and left when the loop has
  anything to do or a deadline has come.  Where both are ready, since the loop waits for the descriptor too, or for another reason,
  the descriptor comes first; the loop is looked at alone every eighth time.  It has no schedule point where there is nobody to schedule.

Looked at: trio 0.27 to 0.35, ``_core/_run.py`` (``unrolled_run``) and ``_core/_io_epoll.py``.
"""

from __future__ import annotations

import math
import select
import sys
from typing import Any, Final

import trio

MOST_TASKS: Final = 100
"""Tasks of the whole run; with more of them it takes too long to see whether one could run."""

LOOKS: Final = 8
"""So many waits in a row at most that find bytes at once, while the loop may have something to do."""

LONGEST: Final = 1.0
"""Seconds after which the loop has a turn whatever happens."""


class Shortcut:
    """The shortcut for one descriptor; made by ``shortcut_to``.

    Attributes:
        poll: waits for so many milliseconds at most, and not beyond what ``deadline`` has just said; gives the descriptor first if it
            can be read, then the loop's if that has anything to do (``select.poll``).
    """

    __slots__ = ("_context", "_descriptor", "_loop", "_runner", "_task", "_turn", "_waits", "poll")

    def __init__(self, descriptor: int, runner: Any, context: dict[str, Any], loop: int) -> None:
        """The shortcut of one run of trio.

        Args:
            descriptor: what is waited for.
            runner: what trio keeps of the run.
            context: what trio keeps of its thread.
            loop: descriptor of the loop's ``epoll``.
        """
        self._descriptor = descriptor
        self._runner = runner
        self._context = context
        self._task: int = -1  # number of a task ...
        self._turn: int = -1  # ... and of its turn in which nobody else is to run
        both, one = select.poll(), select.poll()
        both.register(descriptor, select.POLLIN)  # what is ready comes as it was registered
        both.register(loop, select.POLLIN)
        one.register(loop, select.POLLIN)
        self.poll, self._loop = both.poll, one.poll
        self._waits = 0

    def is_ready(self) -> bool:
        """Wait until the descriptor can be read; returns False as soon as the loop has to have a turn, which may be at once."""
        deadline = self.deadline()
        if deadline is None:
            return False
        seconds = self._runner.clock.deadline_to_sleep_time(deadline)
        ready = seconds > 0 and self.poll(1000 * min(seconds, LONGEST))
        return bool(ready) and ready[0][0] == self._descriptor

    def deadline(self) -> float | None:
        """The time of trio's clock until which nothing but the descriptor need be waited for; None where the loop has to have a turn
        at once.

        That holds until this task waits, starts or wakes another one.
        """
        runner = self._runner
        task = self._context["task"]
        if runner.runq or task._cancel_status.effectively_cancelled or runner.ki_pending:
            return None
        # whoever is to run in this turn of the loop was chosen before it began
        if task._schedule_points != self._turn or task._counter != self._task:
            if not self._is_quiet():
                return None
            self._task, self._turn = task._counter, task._schedule_points
        self._waits += 1
        if self._waits % LOOKS == 0 and self._loop(0):
            return None
        deadlines = (
            runner.deadlines._heap
        )  # one that holds no more is too early at worst, and taken away in the next turn
        deadline: float = deadlines[0][0] if deadlines else math.inf
        return deadline

    def _is_quiet(self) -> bool:
        """Whether no other task is to run, and nobody looks on."""
        runner = self._runner
        tasks = runner.tasks
        if len(tasks) > MOST_TASKS or runner.waiting_for_idle:
            return False
        if runner.clock_autojump_threshold != math.inf or runner.instruments["_all"]:
            return False
        return all(task._next_send_fn is None for task in tasks)


def shortcut_to(descriptor: int) -> Shortcut | None:
    """The shortcut for a descriptor in the run of trio that calls this; None where there is none.

    Args:
        descriptor: of a socket, which may be closed only when the shortcut is not used any more.
    """
    task: Any = trio.lowlevel.current_task()
    try:
        runner = task._runner
        inside = vars(sys.modules["trio._core._run"])
        of_thread = inside["GLOBAL_RUN_CONTEXT"].__dict__  # in which all of the run is
        shortcut = Shortcut(descriptor, runner, of_thread, runner.io_manager._epoll.fileno())
        _ = runner.runq, runner.ki_pending, runner.waiting_for_idle, runner.clock_autojump_threshold
        _ = runner.instruments["_all"], [one[0] for one in runner.deadlines._heap]
        runs = task in runner.tasks and task._next_send_fn is None and of_thread["task"] is task
        _ = task._counter, task._schedule_points, task._cancel_status.effectively_cancelled
        return shortcut if runs and not runner.is_guest else None
    except (AttributeError, LookupError, TypeError):
        return None
