"""What all clients for threads share: they open themselves, call trio, and close."""

# Methods that are built here call ``_call`` of their client.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import wraps
from threading import RLock
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

from rocketwire.errors import ClientForkedError, RocketWireError
from rocketwire.portal.calls import ThreadCall
from rocketwire.portal.resources import Resource

if TYPE_CHECKING:
    from types import TracebackType

    from rocketwire.portal.portal import Portal
    from rocketwire.sync.pool import Pool

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")
U = TypeVar("U")


class BlockingMethod(Protocol, Generic[P, R_co]):
    """A method that waits for the result of a coroutine method."""

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Callable[..., R_co]: ...
    @overload
    def __get__(self, instance: object, owner: type[Any]) -> Callable[P, R_co]: ...


def blocking(method: Callable[Concatenate[Any, P], Awaitable[R]]) -> BlockingMethod[P, R]:
    """Return the method of a facade that calls a coroutine method of ``rocketwire.client``."""

    @wraps(method)
    def call(self: Opened[Any], *arguments: P.args, **named: P.kwargs) -> R:
        return self._call(method, *arguments, **named)

    return cast("BlockingMethod[P, R]", call)


def immediate(method: Callable[Concatenate[Any, P], R]) -> BlockingMethod[P, R]:
    """Return the method of a facade that calls a plain method of ``rocketwire.client``."""

    async def in_trio(thing: Any, /, *arguments: P.args, **named: P.kwargs) -> R:
        return method(thing, *arguments, **named)

    @wraps(method)
    def call(self: Opened[Any], *arguments: P.args, **named: P.kwargs) -> R:
        return self._call(in_trio, *arguments, **named)

    return cast("BlockingMethod[P, R]", call)


class Opened(Generic[T]):
    """A client that is open; the end of its block, or ``close``, closes it."""

    def __init__(
        self,
        opener: Callable[[], AbstractAsyncContextManager[T]],
        *,
        reopens: Callable[[], bool] = lambda: False,
        pool: Pool | None = None,
    ) -> None:
        """Open it.

        Args:
            opener: creates the context manager of ``rocketwire.client``; called in trio.
            reopens: whether it opens itself again in a fork.
            pool: threads of its functions, which it closes.
        """
        self._opener = opener
        self._reopens = reopens
        self._pool = pool
        self._lock = RLock()
        self._closed = False
        self._resource: Resource[T] = self._open()

    def _open(self) -> Resource[T]:
        self._opening = resource = Resource(self._opener)
        try:
            portal = resource.begin()
            if self._pool is not None:
                self._pool.portal = portal
                self._pool.forget()
            portal.call(resource.open)
            self._opened(resource)
        except BaseException:
            resource.close_soon()  # after an interrupt it may be open
            if resource.used_portal is not None:
                resource.used_portal.join_if_unused()
            raise
        return resource

    def _opened(self, resource: Resource[T]) -> None:
        """Note that the client is open."""

    def _call(
        self,
        method: Callable[Concatenate[T, P], Awaitable[R]],
        /,
        *arguments: P.args,
        **named: P.kwargs,
    ) -> R:
        """Call a coroutine method of the trio client, and wait for its result.

        Raises:
            ClientForkedError: this process is a fork of the one that opened the client.
            ChannelClosedError: the client was closed.
        """
        resource = self._resource
        if resource.portal.is_forked:
            resource = self._open_again()
        return resource.portal.call(method, resource.thing, *arguments, **named)

    def _call_and_keep(
        self,
        kept: list[R],
        method: Callable[Concatenate[T, P], Awaitable[R]],
        /,
        *arguments: P.args,
        **named: P.kwargs,
    ) -> R:
        """Call a method as ``_call``; keep the result if this thread is interrupted too late."""
        resource = self._resource
        if resource.portal.is_forked:
            resource = self._open_again()
        call = ThreadCall(method, (resource.thing, *arguments), named)
        try:
            result: R = resource.portal.wait(call)
        except BaseException:
            if call.is_done and call.error is None and call.value is not None:
                kept.append(call.value)
            raise
        return result

    @property
    def _portal(self) -> Portal:
        """Where the trio client runs."""
        resource = self._resource
        if resource.portal.is_forked:
            resource = self._open_again()
        return resource.portal

    @property
    def _thing(self) -> T:
        """The trio client."""
        resource = self._resource
        if resource.portal.is_forked:
            resource = self._open_again()
        return resource.thing

    def _open_again(self) -> Resource[T]:
        """Open the client in a fork.

        Raises:
            ClientForkedError: the settings do not say so.
        """
        with self._lock:
            if self._resource.portal.is_forked:
                if self._closed or not self._reopens():
                    raise ClientForkedError
                self._resource = self._open()
            return self._resource

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
        """Return the client itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the client."""
        if error is None:
            self.close()
        else:
            with suppress(RocketWireError):  # the error of the block matters
                self.close()

    def __del__(self) -> None:
        """Close a client that the program has lost."""
        resource: Resource[T] | None = getattr(self, "_opening", None)
        if resource is None or resource.is_closed or resource.used_portal is None:
            return
        resource.close_soon()
        is_open = getattr(self, "_resource", None) is resource  # not if opening was interrupted
        if is_open and not self._closed and not resource.used_portal.is_forked:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)


class Part(Generic[T, U]):
    """A part of a client, for example the topics of an admin."""

    def __init__(self, owner: Opened[T], find: Callable[[T], U]) -> None:
        """Create the part of a client.

        Args:
            find: returns the part of the trio client.
        """
        self._owner = owner
        self._find = find

    def _call(
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

        return self._owner._call(call)
