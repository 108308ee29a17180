"""Calls into trio, and what they leave for those who wait.

A call is finished in trio's thread, exactly once. Whoever made it waits with a lock
(``ThreadCall``) or a future of its loop (``rocketwire.aio``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from rocketwire.errors import ChannelClosedError, RocketWireError
from rocketwire.portal.contexts import current_context

if TYPE_CHECKING:
    from contextvars import Context

    from rocketwire.portal.interfaces import Cancellable, Runnable


class Call:
    """A call of a coroutine function in trio.

    Attributes:
        function: the coroutine function.
        arguments: its positional arguments.
        named: its other arguments.
        context: context variables of the caller, which the function sees; None without any.
        worker: the trio task that executes it now, or None.
        is_taken: whether trio has it.
        is_cancelled: whether it is to be cancelled.
        is_done: whether it has ended.
        value: its result.
        error: its error, or None; ``CallCancelledError`` if it was cancelled.
    """

    __slots__ = (
        "arguments",
        "context",
        "error",
        "function",
        "is_cancelled",
        "is_done",
        "is_taken",
        "named",
        "value",
        "worker",
    )

    def __init__(
        self,
        function: Callable[..., Awaitable[Any]],
        arguments: tuple[Any, ...],
        named: dict[str, Any],
    ) -> None:
        """Create a call that has not started."""
        self.function: Callable[..., Awaitable[Any]] = function
        self.arguments: tuple[Any, ...] = arguments
        self.named: dict[str, Any] = named
        self.context: Context | None = current_context()
        self.worker: Cancellable | None = None
        self.is_taken: bool = False
        self.is_cancelled: bool = False
        self.is_done: bool = False
        self.value: Any = None
        self.error: BaseException | None = None

    def finish(self, value: Any, error: BaseException | None) -> None:
        """Note the result, and wake whoever waits; in trio's thread."""
        self.value = value
        self.error = error
        self.is_done = True
        self.wake()

    def visible_error(self) -> BaseException:
        """Return the error for a caller who has not cancelled the call.

        An error of this package says what failed: it leaves the frames in trio's thread out.
        """
        if self.error is None or isinstance(self.error, CallCancelledError):
            return ChannelClosedError("the client was closed")
        if isinstance(self.error, RocketWireError):
            return self.error.with_traceback(None)
        return self.error

    def wake(self) -> None:
        """Wake whoever waits; in trio's thread."""


class ThreadCall(Call):
    """A call that a thread waits for.

    Attributes:
        lock: released when the call has ended, or when there is an errand.
        errand: what the waiting thread has to execute, or None.
    """

    __slots__ = ("errand", "lock")

    def __init__(
        self,
        function: Callable[..., Awaitable[Any]],
        arguments: tuple[Any, ...],
        named: dict[str, Any],
    ) -> None:
        """Create a call that has not started."""
        super().__init__(function, arguments, named)
        self.errand: Runnable | None = None
        self.lock: Final = Lock()
        self.lock.acquire()

    def wake(self) -> None:
        """Release the lock."""
        with suppress(
            RuntimeError
        ):  # released for an errand, before which the wait was interrupted
            self.lock.release()


class CallCancelledError(BaseException):
    """The call was cancelled; seen only by those who cancelled it."""
