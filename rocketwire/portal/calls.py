"""Calls into trio, and callbacks: functions of an application that run in another thread or loop.

A call is finished in trio's thread, exactly once. Its caller waits with a lock (``ThreadCall``) or
a future of its loop (``rocketwire.aio``). Both take the context variables of the caller along, for
example its OpenTelemetry span.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from threading import Lock
from types import coroutine
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import trio

from rocketwire.errors import ChannelClosedError, RocketWireError

if TYPE_CHECKING:
    from concurrent.futures import Executor

T = TypeVar("T")

Post: TypeAlias = Callable[[Callable[[], object]], None]
"""``Portal.post``."""


def current_context() -> Context | None:
    context = copy_context()
    return context if len(context) else None


@coroutine
def run_in_context(
    context: Context, function: Callable[[], Coroutine[Any, Any, T]]
) -> Generator[Any, Any, T]:
    """Await a coroutine function, and its tasks, with other context variables than the task's."""
    # A context cannot be entered across an await, so each step of the coroutine enters it again.
    steps = context.run(function)
    resume: Callable[[Any], Any] = steps.send
    value: Any = None
    while True:
        try:
            trap = context.run(resume, value)
        except StopIteration as end:
            result: T = end.value
            return result
        try:
            value = yield trap
        except BaseException as error:  # noqa: BLE001 - passed to the coroutine
            resume, value = steps.throw, error
        else:
            resume = steps.send


class CallCancelledError(BaseException):
    """The call was cancelled; only those who cancelled it see this error."""


@dataclass(eq=False)
class Call:
    function: Callable[..., Awaitable[Any]]
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    context: Context | None = field(default_factory=current_context)
    cancel: Callable[[], object] | None = None  # while a worker executes it
    is_taken: bool = False  # by trio, which sees a call twice if a thread was interrupted
    is_cancelled: bool = False
    is_done: bool = False
    value: Any = None
    error: BaseException | None = None

    def __post_init__(self) -> None:
        pass  # a subclass prepares how its caller waits

    def finish(self, value: Any, error: BaseException | None) -> None:
        self.value = value
        self.error = error
        self.is_done = True
        self.wake()

    def visible_error(self) -> BaseException:
        """Return the error for a caller that has not cancelled the call.

        An error of this package says what failed: it leaves the frames in trio's thread out.
        """
        if self.error is None or isinstance(self.error, CallCancelledError):
            return ChannelClosedError("the client was closed")
        if isinstance(self.error, RocketWireError):
            return self.error.with_traceback(None)
        return self.error

    def wake(self) -> None:
        """Wake the caller; in trio's thread."""


class ThreadCall(Call):
    # trio releases the lock at the end of the call, or for a callback
    def __post_init__(self) -> None:
        self.callback: Callback | None = None
        self.lock: Lock = Lock()
        self.lock.acquire()

    def wake(self) -> None:
        # released already for a callback, before which the wait was interrupted
        with suppress(RuntimeError):
            self.lock.release()


class Callback:
    def __init__(self, post: Post, function: Callable[[], Any]) -> None:
        self.function: Callable[[], Any] = function
        self._post = post
        self._task: trio.lowlevel.Task | None = None
        self._is_done = False
        self._value: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        value, error = None, None
        try:
            value = self.function()
        except BaseException as raised:  # noqa: BLE001 - raised where trio waits
            error = raised
        self.finish(value, error)

    def finish(self, value: Any, error: BaseException | None) -> None:
        # from any thread
        self._value = value
        self._error = error
        try:
            self._post(self._wake)
        except Exception:  # noqa: BLE001 - no task waits: the portal has ended, or this is a fork
            self._is_done = True

    def _wake(self) -> None:
        self._is_done = True
        if self._task is not None:
            task, self._task = self._task, None
            trio.lowlevel.reschedule(task)

    async def wait(self, cancel: Callable[[], object]) -> Any:
        # ``cancel`` is called if the waiting task is cancelled; the result is dropped then
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


async def run_in_caller(post: Post, call: ThreadCall, function: Callable[[], Any]) -> Any:
    callback = Callback(post, function)
    call.callback = callback
    call.lock.release()
    return await callback.wait(lambda: None)


async def run_in_executor(post: Post, executor: Executor, function: Callable[[], Any]) -> Any:
    """Execute a function in a thread pool; if it is cancelled, a running function continues."""
    callback = Callback(post, function)
    context = current_context()
    if context is None:
        future = executor.submit(callback.run)
    else:
        future = executor.submit(context.run, callback.run)
    return await callback.wait(future.cancel)
