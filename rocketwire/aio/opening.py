"""What all clients for asyncio share: they open themselves, call trio, and close."""

from __future__ import annotations

import asyncio
import warnings
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import Context
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar
from weakref import WeakKeyDictionary

from rocketwire.client.instance.task_stacks import loops
from rocketwire.client.signals import SIGNALS
from rocketwire.errors import ChannelClosedError, ClientForkedError, RocketWireError
from rocketwire.portal.calls import Call, Callback, current_context
from rocketwire.portal.methods import ForLoops, PartOfClient
from rocketwire.portal.portal import Resource

if TYPE_CHECKING:
    import signal
    from types import TracebackType

    from rocketwire.portal.calls import Post
    from rocketwire.portal.portal import Portal

R = TypeVar("R")
T = TypeVar("T")


class Endpoint:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._functions: deque[Callable[[], object]] = deque()
        self._is_awake = False
        self._context = Context()  # not that of the call that wakes the loop first

    def post(self, function: Callable[[], object]) -> None:
        # from any thread; a closed loop calls nothing
        self._functions.append(function)
        if not self._is_awake:
            self._is_awake = True
            with suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self._call_all, context=self._context)

    def _call_all(self) -> None:
        self._is_awake = False
        functions = self._functions
        while functions:
            functions.popleft()()


_endpoints: WeakKeyDictionary[asyncio.AbstractEventLoop, Endpoint] = WeakKeyDictionary()


def get_endpoint() -> Endpoint:
    loop = asyncio.get_running_loop()
    endpoint = _endpoints.get(loop)
    if endpoint is None:
        endpoint = _endpoints[loop] = Endpoint(loop)
        loops.add(loop)
    return endpoint


def wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class LoopCall(Call):
    def __post_init__(self) -> None:
        self._endpoint = get_endpoint()
        self.future: asyncio.Future[None] = self._endpoint.loop.create_future()

    def wake(self) -> None:
        # the loop looks for the future itself: a cancelled task waits for another one
        self._endpoint.post(lambda: wake(self.future))


async def call_trio(
    portal: Portal, function: Callable[..., Awaitable[R]], /, *arguments: Any, **named: Any
) -> R:
    # If the task is cancelled, so is the call in trio; the task continues when that has ended.
    call = LoopCall(function, arguments, named)
    portal.post(call)
    try:
        await call.future
    except asyncio.CancelledError:
        if not call.is_done:
            portal.cancel(call)
            while not call.is_done:
                call.future = asyncio.get_running_loop().create_future()
                with suppress(asyncio.CancelledError):
                    await call.future
        raise
    if call.error is not None:
        try:
            raise call.visible_error()
        finally:
            del call  # no cycle with the traceback
    value: R = call.value
    return value


async def _close(resource: Resource[Any]) -> None:
    try:
        await call_trio(resource.portal, resource.close)
    except asyncio.CancelledError:
        resource.close_soon()  # trio may not have begun to close it
        raise


async def _join_if_unused(portal: Portal) -> None:
    if portal.users or portal.is_forked:
        return
    endpoint = get_endpoint()
    ended: asyncio.Future[None] = endpoint.loop.create_future()
    portal.call_when_ended(partial(endpoint.post, partial(wake, ended)))
    await ended
    portal.join_if_unused()


class FacadeClient(ForLoops, Generic[T]):
    """A client for asyncio: ``async with`` or ``await`` opens it, the end of the block or ``close``
    closes it."""

    def __init__(
        self, opener: Callable[[], AbstractAsyncContextManager[T]], *, reopens: bool = False
    ) -> None:
        # ``opener`` creates the context manager of the trio client, in trio
        self._opener = opener
        self._reopens = reopens  # in a fork
        self._endpoint: Endpoint | None = None
        self._handlers: set[asyncio.Task[None]] = set()
        self._opening: Resource[T] | None = None
        self._resource: Resource[T] | None = None

    async def open(self) -> Self:
        """Open the client; ``async with`` and ``await`` do so."""
        self._endpoint = get_endpoint()
        self._opening = resource = Resource(self._opener)
        resource.begin()
        try:
            await call_trio(resource.portal, resource.open)
        except BaseException:
            if not resource.is_closed:  # cancelled when it had just been opened
                await _close(resource)
            await self._end_handlers()
            await _join_if_unused(resource.portal)
            raise
        self._resource = resource
        self._opened(resource)
        return self

    def _opened(self, resource: Resource[T]) -> None:
        """Do what a subclass has to do when the client is open."""

    async def _call(
        self, method: Callable[..., Awaitable[R]], /, *arguments: Any, **named: Any
    ) -> R:
        resource = self._open_resource
        if resource.portal.is_forked:
            resource = await self._open_again()
        return await call_trio(resource.portal, method, resource.value, *arguments, **named)

    async def _run_in_loop(
        self, endpoint: Endpoint | None, function: Callable[..., Any], *arguments: Any
    ) -> Any:
        # Called in trio, whose task waits; the function sees its context variables. Without
        # endpoint it runs in the loop that opened the client. If trio's task is cancelled, so is
        # the loop's.
        where = endpoint or self._endpoint
        if where is None:
            raise ChannelClosedError("the client is not open")
        callback = Callback(self._post, partial(function, *arguments))
        context, tasks = current_context(), list[asyncio.Task[None]]()

        async def run() -> None:
            try:
                value = callback.function()
                if isawaitable(value):
                    value = await value
            except asyncio.CancelledError:
                callback.finish(None, RuntimeError("the function was cancelled"))
                raise
            except BaseException as error:  # noqa: BLE001 - raised where trio waits
                callback.finish(None, error)
            else:
                callback.finish(value, None)

        def start() -> None:
            tasks.append(self._start_handler(run(), context))

        def cancel() -> None:
            for task in tasks:
                task.cancel()

        where.post(start)
        return await callback.wait(lambda: where.post(cancel))

    def _start_handler(
        self, handler: Coroutine[Any, Any, None], context: Context | None = None
    ) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(handler, context=context)
        self._handlers.add(task)
        task.add_done_callback(self._handlers.discard)
        return task

    @property
    def _post(self) -> Post:
        if self._opening is None:
            raise ChannelClosedError("the client is not open")
        return self._opening.portal.post

    @property
    def _open_resource(self) -> Resource[T]:
        if self._resource is None:
            raise ChannelClosedError("the client is not open: use async with, or await it")
        return self._resource

    @property
    def _client_in_trio(self) -> T:
        resource = self._open_resource
        if resource.portal.is_forked:
            raise ClientForkedError
        return resource.value

    async def _open_again(self) -> Resource[T]:
        # in a fork
        if not self._reopens:
            raise ClientForkedError
        await self.open()
        return self._open_resource

    async def close(self) -> None:
        """Close the client; closing again does nothing.

        Raises:
            Exception: the error that had ended the client before.
        """
        resource, self._resource = self._resource, None
        if resource is not None and not resource.portal.is_forked:
            try:
                if resource.is_closed:  # and trio may have ended with it
                    resource.raise_error()
                else:
                    await _close(resource)
            finally:
                await self._end_handlers()
                await _join_if_unused(resource.portal)

    async def _end_handlers(self) -> None:
        # trio has cancelled them
        if self._endpoint is None or self._endpoint.loop is not asyncio.get_running_loop():
            return
        tasks = [task for task in self._handlers if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def __await__(self) -> Generator[Any, Any, Self]:
        return self.open().__await__()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            await self.close()
        else:
            with suppress(RocketWireError):  # the error of the block matters
                await self.close()

    def __del__(self) -> None:
        resource: Resource[T] | None = getattr(self, "_resource", None)
        if resource is not None and not resource.portal.is_forked and not resource.is_closed:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)
            resource.close_soon()


class Part(PartOfClient, ForLoops):
    """A part of a client of this facade."""


async def wait_for_signal() -> signal.Signals:
    """Wait for SIGINT or SIGTERM, which do not end the program meanwhile; main thread only.

    Leave the block of a consumer then: its running handlers end, and its offsets are stored.

    Returns:
        The signal.

    Raises:
        RuntimeError: this is not the main thread.
    """
    loop = asyncio.get_running_loop()
    received: asyncio.Future[signal.Signals] = loop.create_future()

    def receive(number: signal.Signals) -> None:
        if not received.done():
            received.set_result(number)

    for number in SIGNALS:
        loop.add_signal_handler(number, receive, number)
    try:
        return await received
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
