"""``Resource``: a context manager of ``rocketwire.client`` that a facade opens and closes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from threading import Event
from typing import Any, Generic, TypeVar

import trio

from rocketwire.errors import ChannelClosedError, ClientForkedError
from rocketwire.portal import forks as forks  # registers what a fork does
from rocketwire.portal.portal import CLOSED, Portal, PortalUser, leave_portal, use_portal

T_co = TypeVar("T_co", covariant=True)


class Resource(PortalUser, Generic[T_co]):
    """A context manager that one trio task enters and leaves.

    Attributes:
        error: the error that ended it, or None.
        is_closed: whether its task has ended.
        on_closed: called in trio's thread when its task has ended.
    """

    def __init__(self, opener: Callable[[], AbstractAsyncContextManager[T_co]]) -> None:
        """Take the context manager; ``begin`` and ``open`` enter it.

        Args:
            opener: creates the context manager; called in trio.
        """
        self.error: BaseException | None = None
        self.is_closed: bool = False
        self.on_closed: list[Callable[[], object]] = []
        self._opener = opener
        self._things: list[Any] = []
        self._scope = trio.CancelScope()
        self._ready, self._closing, self._ended = trio.Event(), trio.Event(), trio.Event()
        self._has_ended = Event()
        self._has_task = False

    def begin(self) -> Portal:
        """Return the portal of the process, and use it; ``close_soon`` ends that at any time."""
        portal = use_portal(self)
        portal.resources.add(self)
        return portal

    @property
    def portal(self) -> Portal:
        """Where its task runs.

        Raises:
            ChannelClosedError: it has not begun.
        """
        portal = self.used_portal
        if portal is None:
            raise ChannelClosedError(CLOSED)
        return portal

    @property
    def thing(self) -> T_co:
        """What the context manager has returned.

        Raises:
            ChannelClosedError: it is closed; or the error that has ended it.
        """
        if self.is_closed or not self._things:
            raise self.error or ChannelClosedError(CLOSED)
        thing: T_co = self._things[0]
        return thing

    # ------------------------------------------------------------------ in trio

    async def open(self) -> T_co:
        """Enter the context manager, in a task of its own.

        Cancellation: it is left again.
        """
        self._has_task = True
        self.portal.start_soon(self._run)
        try:
            await self._ready.wait()
        except trio.Cancelled:
            self._scope.cancel()
            with trio.CancelScope(shield=True):
                await self._ended.wait()
            raise
        return self.thing

    async def close(self) -> None:
        """Leave the context manager, and wait until it has been left.

        Raises:
            Exception: the error that had ended it before.

        Cancellation: its tasks are cancelled, as when a trio program is cancelled.
        """
        self._close_now()
        if not self._has_task:  # it was never opened
            return
        try:
            await self._ended.wait()
        except trio.Cancelled:
            self._scope.cancel()
            with trio.CancelScope(shield=True):
                await self._ended.wait()
            raise
        self.raise_error()

    def raise_error(self) -> None:
        """Raise the error that has ended it, once."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    async def _run(self) -> None:
        try:
            with self._scope:
                async with self._opener() as thing:
                    self._things.append(thing)
                    self._ready.set()
                    await self._closing.wait()
        except BaseException as error:  # noqa: BLE001 - raised where the resource is used
            self.error = error
        finally:
            self.is_closed = True
            self._things.clear()
            self.portal.resources.discard(self)
            self._ready.set()
            self._ended.set()
            self._has_ended.set()
            for function in self.on_closed:
                function()
            leave_portal(self)

    # ------------------------------------------------------------------ from any thread

    def close_soon(self) -> None:
        """Start to leave the context manager, without waiting, whether it was entered or not."""
        if not self.is_closed:
            with suppress(ChannelClosedError, ClientForkedError):
                self.portal.post(self._close_now)

    def _close_now(self) -> None:
        self._closing.set()
        if not self._has_task:
            self.is_closed = True
            self.portal.resources.discard(self)
            leave_portal(self)

    def fail_soon(self, error: BaseException) -> None:
        """End with an error, which is raised where the resource is used."""

        def fail() -> None:
            self.error = self.error or error
            self._closing.set()

        with suppress(ChannelClosedError):
            self.portal.post(fail)

    def wait_closed(self, seconds: float) -> None:
        """Wait in this thread until the context manager has been left."""
        self._has_ended.wait(seconds)
