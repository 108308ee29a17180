"""What all clients for asyncio share: they open themselves, call trio, and close."""

# Methods that are built here call ``_call`` of their client.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import warnings
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import Context
from functools import partial, wraps
from inspect import isawaitable
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    cast,
    overload,
)
from weakref import WeakKeyDictionary

from rocketwire.client.instance.task_stacks import loops
from rocketwire.errors import ChannelClosedError, ClientForkedError, RocketWireError
from rocketwire.portal.calls import Call
from rocketwire.portal.contexts import current_context
from rocketwire.portal.errands import Errand
from rocketwire.portal.resources import Resource

if TYPE_CHECKING:
    from types import TracebackType

    from rocketwire.portal.portal import Portal

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")
U = TypeVar("U")


class Endpoint:
    """A loop of asyncio, as trio sees it: one wake for many results.

    Attributes:
        loop: the loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Create the endpoint of a loop."""
        self.loop = loop
        self._functions: deque[Callable[[], object]] = deque()
        self._is_awake = False
        self._context = Context()  # not that of whoever wakes the loop first

    def post(self, function: Callable[[], object]) -> None:
        """Let the loop call a function; from any thread. A closed loop calls nothing."""
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


def endpoint() -> Endpoint:
    """Return the endpoint of the running loop.

    Raises:
        RuntimeError: no loop of asyncio runs in this thread.
    """
    loop = asyncio.get_running_loop()
    found = _endpoints.get(loop)
    if found is None:
        found = _endpoints[loop] = Endpoint(loop)
        loops.add(loop)
    return found


class LoopCall(Call):
    """A call that a task of asyncio waits for."""

    __slots__ = ("_endpoint", "future")

    def __init__(
        self,
        function: Callable[..., Awaitable[Any]],
        arguments: tuple[Any, ...],
        named: dict[str, Any],
        where: Endpoint,
    ) -> None:
        """Create a call that has not started."""
        super().__init__(function, arguments, named)
        self._endpoint = where
        self.future: asyncio.Future[None] = where.loop.create_future()

    def wake(self) -> None:
        """Let the loop set the future."""
        self._endpoint.post(self._set)

    def _set(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


async def call_trio(
    portal: Portal,
    where: Endpoint,
    function: Callable[..., Awaitable[R]],
    arguments: tuple[Any, ...],
    named: dict[str, Any],
) -> R:
    """Execute a coroutine function in trio, and await its result.

    Cancellation: the call is cancelled in trio, and the task goes on when it has ended.
    """
    call = LoopCall(function, arguments, named, where)
    portal.post(call)
    try:
        await call.future
    except asyncio.CancelledError:
        if not call.is_done:
            portal.cancel(call)
            while not call.is_done:
                call.future = where.loop.create_future()
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


async def run_in_loop(
    portal: Portal,
    where: Endpoint,
    function: Callable[[], Any],
    tasks: set[asyncio.Task[None]],
) -> Any:
    """Execute a function or coroutine function in a loop; called in trio.

    It sees the context variables of the waiting trio task.

    Args:
        tasks: contains the loop's task while it runs.

    Cancellation: the loop's task is cancelled.
    """
    errand = Errand(portal, function)
    own: list[asyncio.Task[None]] = []
    context = current_context()

    async def run() -> None:
        try:
            value = function()
            if isawaitable(value):
                value = await value
        except asyncio.CancelledError:
            errand.finish(None, RuntimeError("the function was cancelled"))
            raise
        except BaseException as error:  # noqa: BLE001 - raised where trio waits
            errand.finish(None, error)
        else:
            errand.finish(value, None)

    def start() -> None:
        task = where.loop.create_task(run(), context=context)
        own.append(task)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def cancel() -> None:
        for task in own:
            task.cancel()

    where.post(start)
    return await errand.wait(lambda: where.post(cancel))


class AsyncMethod(Protocol, Generic[P, R_co]):
    """A coroutine method."""

    @overload
    def __get__(
        self, instance: None, owner: type[Any]
    ) -> Callable[..., Coroutine[Any, Any, R_co]]: ...
    @overload
    def __get__(
        self, instance: object, owner: type[Any]
    ) -> Callable[P, Coroutine[Any, Any, R_co]]: ...


def awaitable(method: Callable[Concatenate[Any, P], Awaitable[R]]) -> AsyncMethod[P, R]:
    """Return the method of a facade that calls a coroutine method of ``rocketwire.client``."""

    @wraps(method)
    async def call(self: Opened[Any], *arguments: P.args, **named: P.kwargs) -> R:
        return await self._call(method, *arguments, **named)

    return cast("AsyncMethod[P, R]", call)


def immediate(method: Callable[Concatenate[Any, P], R]) -> AsyncMethod[P, R]:
    """Return the method of a facade that calls a plain method of ``rocketwire.client``."""

    async def in_trio(thing: Any, /, *arguments: P.args, **named: P.kwargs) -> R:
        return method(thing, *arguments, **named)

    @wraps(method)
    async def call(self: Opened[Any], *arguments: P.args, **named: P.kwargs) -> R:
        return await self._call(in_trio, *arguments, **named)

    return cast("AsyncMethod[P, R]", call)


async def _close(resource: Resource[Any], where: Endpoint) -> None:
    """Close a resource; it is closed also if this task is cancelled before trio has begun to."""
    try:
        await call_trio(resource.portal, where, resource.close, (), {})
    except asyncio.CancelledError:
        resource.close_soon()
        raise


async def _join_if_unused(portal: Portal, where: Endpoint) -> None:
    """Wait for the end of trio's thread if nothing is open."""
    if portal.users or portal.is_forked:
        return
    ended = where.loop.create_future()

    def note() -> None:
        if not ended.done():
            ended.set_result(None)

    portal.when_ended(lambda: where.post(note))
    await ended
    portal.join_if_unused()


class Opened(Generic[T]):
    """A client for asyncio: ``async with`` or ``await`` opens it, the end of the block or ``close``
    closes it."""

    def __init__(
        self,
        opener: Callable[[], AbstractAsyncContextManager[T]],
        *,
        reopens: Callable[[], bool] = lambda: False,
    ) -> None:
        """Open nothing yet.

        Args:
            opener: creates the context manager of ``rocketwire.client``; called in trio.
            reopens: whether it opens itself again in a fork.
        """
        self._opener = opener
        self._reopens = reopens
        self._endpoint: Endpoint | None = None
        self._handlers: set[asyncio.Task[None]] = set()
        self._opening: Resource[T] | None = None
        self._resource: Resource[T] | None = None

    async def open(self) -> Self:
        """Open the client; ``async with`` and ``await`` do so."""
        self._endpoint = where = endpoint()
        self._opening = resource = Resource(self._opener)
        resource.begin()
        try:
            await call_trio(resource.portal, where, resource.open, (), {})
        except BaseException:
            if not resource.is_closed:  # cancelled when it had just been opened
                await _close(resource, where)
            await self._end_handlers()
            await _join_if_unused(resource.portal, where)
            raise
        self._resource = resource
        self._opened(resource)
        return self

    def _opened(self, resource: Resource[T]) -> None:
        """Note that the client is open."""

    async def _call(
        self,
        method: Callable[Concatenate[T, P], Awaitable[R]],
        /,
        *arguments: P.args,
        **named: P.kwargs,
    ) -> R:
        """Call a coroutine method of the trio client.

        Raises:
            ClientForkedError: this process is a fork of the one that opened the client.
            ChannelClosedError: the client is not open.
        """
        resource = self._open_resource
        if resource.portal.is_forked:
            resource = await self._open_again()
        where = self._endpoint
        if where is None or where.loop is not asyncio.get_running_loop():
            where = endpoint()
        return await call_trio(resource.portal, where, method, (resource.thing, *arguments), named)

    async def _call_and_keep(
        self,
        kept: list[R],
        method: Callable[Concatenate[T, P], Awaitable[R]],
        /,
        *arguments: P.args,
        **named: P.kwargs,
    ) -> R:
        """Call a method as ``_call``; keep the result if this task is cancelled too late."""
        results: list[R] = []

        async def call(thing: T) -> R:
            results.append(await method(thing, *arguments, **named))
            return results[0]

        try:
            return await self._call(call)
        except asyncio.CancelledError:
            kept.extend(result for result in results if result is not None)
            raise

    @property
    def _portal(self) -> Portal:
        """Where the trio client runs."""
        if self._opening is None:
            raise ChannelClosedError("the client is not open")
        return self._opening.portal

    async def _run_there(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Execute a function of the application in the loop that opened the client; in trio."""
        if self._endpoint is None or self._opening is None:
            raise ChannelClosedError("the client is not open")
        return await run_in_loop(
            self._opening.portal, self._endpoint, partial(function, *arguments), self._handlers
        )

    @property
    def _open_resource(self) -> Resource[T]:
        if self._resource is None:
            raise ChannelClosedError("the client is not open: use async with, or await it")
        return self._resource

    @property
    def _thing(self) -> T:
        """The trio client."""
        resource = self._open_resource
        if resource.portal.is_forked:
            raise ClientForkedError
        return resource.thing

    async def _open_again(self) -> Resource[T]:
        """Open the client in a fork.

        Raises:
            ClientForkedError: the settings do not say so.
        """
        if not self._reopens():
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
            where = endpoint()
            try:
                if resource.is_closed:  # and trio may have ended with it
                    resource.raise_error()
                else:
                    await _close(resource, where)
            finally:
                await self._end_handlers()
                await _join_if_unused(resource.portal, where)

    async def _end_handlers(self) -> None:
        """Wait for the end of handlers that trio has cancelled."""
        if self._endpoint is None or self._endpoint.loop is not asyncio.get_running_loop():
            return
        tasks = [task for task in self._handlers if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def __await__(self) -> Generator[Any, Any, Self]:
        """Open the client."""
        return self.open().__await__()

    async def __aenter__(self) -> Self:
        """Open the client."""
        return await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the client."""
        if error is None:
            await self.close()
        else:
            with suppress(RocketWireError):  # the error of the block matters
                await self.close()

    def __del__(self) -> None:
        """Close a client that the program has lost."""
        resource: Resource[T] | None = getattr(self, "_resource", None)
        if resource is not None and not resource.portal.is_forked and not resource.is_closed:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)
            resource.close_soon()


class Part(Generic[T, U]):
    """A part of a client, for example the topics of an admin."""

    def __init__(self, owner: Opened[T], find: Callable[[T], U]) -> None:
        """Create the part of a client.

        Args:
            find: returns the part of the trio client.
        """
        self._owner = owner
        self._find = find

    async def _call(
        self,
        method: Callable[Concatenate[U, P], Awaitable[R]],
        /,
        *arguments: P.args,
        **named: P.kwargs,
    ) -> R:
        """Call a coroutine method of the part."""
        find = self._find

        async def call(thing: T) -> R:
            return await method(find(thing), *arguments, **named)

        return await self._owner._call(call)
