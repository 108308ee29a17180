"""``EpollBypass``: waits for a descriptor as trio's loop would, without a turn of the loop.

A turn of trio's loop costs twice as much as the system calls that send a request and read its
response.  If one task waits and no other task can run, a turn only waits with the loop's ``epoll``
until the next deadline.  So the task may do that itself: it polls its descriptor and the loop's
``epoll``, which becomes readable if the loop has anything to do (a socket of another task, a
callback from a thread, a signal).

* Only this module and ``hook`` depend on internals of trio, which they never modify.  If anything
  differs from the tested releases, there is no bypass.
* Other tasks never wait longer.  The bypass is refused if another task can run or the caller is
  cancelled, and it ends when the loop has anything to do or a deadline has come.
* The descriptor has priority if both are ready, because the loop polls the descriptor too.  Every
  eighth time the loop alone is checked.  There is no schedule point if no task can be scheduled.

Tested with trio 0.27 to 0.35: ``_core/_run.py`` (``unrolled_run``) and ``_core/_io_epoll.py``.
"""

from __future__ import annotations

import logging
import math
import select
import sys
from functools import cache
from typing import Any, Final

import trio

_LOG: Final = logging.getLogger("rocketwire.channel")

# Maximum tasks of the run; with more, checking them takes longer than a turn of the loop
MAX_TASKS: Final = 100
MAX_POLLS: Final = 8  # polls in a row that can find bytes while the loop may have something to do
MAX_WAIT: Final = 1.0  # seconds after which the loop gets a turn


class EpollBypass:
    def __init__(self, descriptor: int, runner: Any, context: dict[str, Any], loop: int) -> None:
        self._descriptor = descriptor
        self._runner = runner
        self._context = context
        self._task: int = -1  # number of the task ...
        self._turn: int = -1  # ... and of its turn in which no other task can run
        both, loop_only = select.poll(), select.poll()
        both.register(descriptor, select.POLLIN)  # results come in the order of registration
        both.register(loop, select.POLLIN)
        loop_only.register(loop, select.POLLIN)
        # waits for at most N milliseconds, not beyond ``deadline``; returns the descriptor first if
        # it is readable, then the loop's if the loop has anything to do (``select.poll``)
        self.poll: Final = both.poll
        self._poll_loop = loop_only.poll
        self._polls = 0

    def is_ready(self) -> bool:
        """Wait until the descriptor is readable; return False if the loop needs a turn."""
        deadline = self.deadline()
        if deadline is None:
            return False
        seconds = self._runner.clock.deadline_to_sleep_time(deadline)
        ready = seconds > 0 and self.poll(1000 * min(seconds, MAX_WAIT))
        return bool(ready) and ready[0][0] == self._descriptor

    def deadline(self) -> float | None:
        """Return until when only the descriptor matters; None if the loop needs a turn now.

        Valid until this task waits, or starts or wakes another task.
        """
        runner = self._runner
        task = self._context["task"]
        if runner.runq or task._cancel_status.effectively_cancelled or runner.ki_pending:
            return None
        # trio chooses the tasks of a turn before it begins
        if task._schedule_points != self._turn or task._counter != self._task:
            if not self._is_quiet():
                return None
            self._task, self._turn = task._counter, task._schedule_points
        self._polls += 1
        if self._polls % MAX_POLLS == 0 and self._poll_loop(0):
            return None
        # an obsolete deadline is too early at worst; trio removes it in its next turn
        deadlines = runner.deadlines._heap
        deadline: float = deadlines[0][0] if deadlines else math.inf
        return deadline

    def _is_quiet(self) -> bool:
        runner = self._runner
        tasks = runner.tasks
        if len(tasks) > MAX_TASKS or runner.waiting_for_idle:
            return False
        if runner.clock_autojump_threshold != math.inf or runner.instruments["_all"]:
            return False
        return all(task._next_send_fn is None for task in tasks)


def bypass_for(descriptor: int) -> EpollBypass | None:
    task: Any = trio.lowlevel.current_task()
    try:
        runner = task._runner
        module = vars(sys.modules["trio._core._run"])
        context = module["GLOBAL_RUN_CONTEXT"].__dict__  # of this thread
        bypass = EpollBypass(descriptor, runner, context, runner.io_manager._epoll.fileno())
        _ = runner.runq, runner.ki_pending, runner.waiting_for_idle, runner.clock_autojump_threshold
        _ = runner.clock.deadline_to_sleep_time
        _ = runner.instruments["_all"], [entry[0] for entry in runner.deadlines._heap]
        is_usable = task in runner.tasks and task._next_send_fn is None and context["task"] is task
        _ = task._counter, task._schedule_points, task._cancel_status.effectively_cancelled
        return bypass if is_usable and not runner.is_guest else None
    except (AttributeError, LookupError, TypeError) as error:
        _report(str(error))
        return None


@cache  # once for each reason
def _report(reason: str) -> None:
    _LOG.info("the fast path is off: trio %s: %s", trio.__version__, reason)
