"""Errands: functions of an application that trio lets another thread or loop execute."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import trio

from rocketwire.portal.contexts import current_context

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from rocketwire.portal.calls import ThreadCall
    from rocketwire.portal.interfaces import Poster


class Errand:
    """A call of an application's function, for which a trio task waits."""

    __slots__ = ("_cancel", "_error", "_is_done", "_portal", "_task", "_value", "function")

    def __init__(self, portal: Poster, function: Callable[[], Any]) -> None:
        """Create an errand that has not started.

        Args:
            portal: where the waiting task runs.
            function: the call; it may return an awaitable for a loop.
        """
        self.function: Callable[[], Any] = function
        self._portal = portal
        self._task: trio.lowlevel.Task | None = None
        self._cancel: Callable[[], object] | None = None
        self._is_done = False
        self._value: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Execute the function in this thread."""
        value, error = None, None
        try:
            value = self.function()
        except BaseException as raised:  # noqa: BLE001 - raised where trio waits
            error = raised
        self.finish(value, error)

    def finish(self, value: Any, error: BaseException | None) -> None:
        """Note the result, and wake the waiting task; from any thread."""
        self._value = value
        self._error = error
        try:
            self._portal.post(self._wake)
        except Exception:  # noqa: BLE001 - nobody waits: the portal has ended, or this is a fork
            self._is_done = True

    def _wake(self) -> None:
        self._is_done = True
        if self._task is not None:
            task, self._task = self._task, None
            trio.lowlevel.reschedule(task)

    async def wait(self, cancel: Callable[[], object]) -> Any:
        """Wait for the result.

        Args:
            cancel: called if the waiting task is cancelled; the result is dropped then.
        """

        def abort(_: object) -> trio.lowlevel.Abort:
            self._task = None
            cancel()
            return trio.lowlevel.Abort.SUCCEEDED

        if not self._is_done:
            self._task = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(abort)
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None
        return self._value


async def run_in_caller(portal: Poster, call: ThreadCall, function: Callable[[], Any]) -> Any:
    """Execute a function in the thread that waits for a call."""
    errand = Errand(portal, function)
    call.errand = errand
    call.lock.release()
    return await errand.wait(lambda: None)


async def run_in_executor(portal: Poster, executor: Executor, function: Callable[[], Any]) -> Any:
    """Execute a function in a thread pool, with the context variables of the waiting task.

    Cancellation: a function that has not started is not called; a running one goes on.
    """
    errand = Errand(portal, function)
    context = current_context()
    if context is None:
        future = executor.submit(errand.run)
    else:
        future = executor.submit(context.run, errand.run)
    return await errand.wait(future.cancel)
