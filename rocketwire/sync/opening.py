"""What all clients for threads share: they open themselves, call trio, and close."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from rocketwire.client.signals import SIGNALS
from rocketwire.errors import ClientForkedError, RocketWireError
from rocketwire.portal.calls import run_in_executor
from rocketwire.portal.methods import ForThreads, PartOfClient
from rocketwire.portal.portal import Resource

if TYPE_CHECKING:
    from types import TracebackType

    from rocketwire.portal.calls import Post

R = TypeVar("R")
T = TypeVar("T")


class Pool:
    # threads of the application's choice, or threads that end with the client
    def __init__(self, executor: Executor | None, threads: int) -> None:
        self._post: Post | None = None
        self._executor = executor  # of the application, which shuts it down itself
        self._own: ThreadPoolExecutor | None = None
        self._threads = threads  # at most, without an executor

    @property
    def executor(self) -> Executor:
        if self._executor is not None:
            return self._executor
        if self._own is None:
            self._own = ThreadPoolExecutor(self._threads, thread_name_prefix="rocketwire-handler")
        return self._own

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self._post is None:
            raise RuntimeError("the pool has no portal")
        return await run_in_executor(self._post, self.executor, partial(function, *arguments))

    def begin(self, post: Post) -> None:
        self._post = post
        self._own = None

    def close(self) -> None:
        # without waiting for running functions
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)


class FacadeClient(ForThreads, Generic[T]):
    """A client that is open; the end of its block, or ``close``, closes it."""

    def __init__(
        self,
        opener: Callable[[], AbstractAsyncContextManager[T]],
        *,
        reopens: bool = False,
        pool: Pool | None = None,
    ) -> None:
        # ``opener`` creates the context manager of the trio client, in trio
        self._opener = opener
        self._reopens = reopens  # in a fork
        self._pool = pool  # threads of its functions, which it closes
        self._lock = RLock()
        self._closed = False
        self._resource: Resource[T] = self._open()

    def _open(self) -> Resource[T]:
        self._opening = resource = Resource(self._opener)
        try:
            portal = resource.begin()
            if self._pool is not None:
                self._pool.begin(portal.post)
            portal.call(resource.open)
            self._opened(resource)
        except BaseException:
            resource.close_soon()  # after an interrupt it may be open
            if resource.used_portal is not None:
                resource.used_portal.join_if_unused()
            raise
        return resource

    def _opened(self, resource: Resource[T]) -> None:
        """Do what a subclass has to do when the client is open."""

    def _call(self, method: Callable[..., Awaitable[R]], /, *arguments: Any, **named: Any) -> R:
        resource = self._open_resource
        return resource.portal.call(method, resource.value, *arguments, **named)

    @property
    def _open_resource(self) -> Resource[T]:
        # in a fork it is opened again, if the settings say so
        if self._resource.portal.is_forked:
            with self._lock:
                if self._resource.portal.is_forked:
                    if self._closed or not self._reopens:
                        raise ClientForkedError
                    self._resource = self._open()
        return self._resource

    @property
    def _client_in_trio(self) -> T:
        return self._open_resource.value

    def close(self) -> None:
        """Close the client; closing again does nothing.

        Raises:
            Exception: the error that had ended the client before.
        """
        with self._lock:
            resource = self._resource
            if self._closed and resource.is_closed:
                return
            self._closed = True
        if resource.portal.is_forked:
            return
        try:
            if resource.is_closed:  # and trio may have ended with it
                resource.raise_error()
            else:
                resource.portal.call(resource.close)
        except BaseException:
            resource.close_soon()  # an interrupt can come before trio has begun to close it
            raise
        finally:
            if self._pool is not None:
                self._pool.close()
            resource.portal.join_if_unused()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            with suppress(RocketWireError):  # the error of the block matters
                self.close()

    def __del__(self) -> None:
        resource: Resource[T] | None = getattr(self, "_opening", None)
        if resource is None or resource.is_closed or resource.used_portal is None:
            return
        resource.close_soon()
        is_open = getattr(self, "_resource", None) is resource  # not if opening was interrupted
        if is_open and not self._closed and not resource.used_portal.is_forked:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)


class Part(PartOfClient, ForThreads):
    """A part of a client of this facade."""


def wait_for_signal() -> signal.Signals:
    """Wait for SIGINT or SIGTERM, which do not end the program meanwhile; main thread only.

    Leave the block of a consumer then: its running handlers end, and its offsets are stored.

    Returns:
        The signal.

    Raises:
        RuntimeError: this is not the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("signals arrive in the main thread only; wait there")
    received: list[signal.Signals] = []
    arrival = threading.Event()

    def receive(number: int, frame: object) -> None:
        received.append(signal.Signals(number))
        arrival.set()

    earlier = [signal.signal(number, receive) for number in SIGNALS]
    try:
        arrival.wait()
        return received[0]
    finally:
        for number, handler in zip(SIGNALS, earlier, strict=True):
            signal.signal(number, handler)
