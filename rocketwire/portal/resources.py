"""``Resource``: a context manager of ``rocketwire.client`` that a facade opens and closes."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from threading import Event
from typing import Any, Final, Generic, TypeVar

import trio

from rocketwire.errors import ChannelClosedError, ClientForkedError
from rocketwire.portal.portal import CLOSED, Portal, PortalUser, current, leave_portal, use_portal

T_co = TypeVar("T_co", covariant=True)

EXIT_PATIENCE: Final = 5.0  # seconds that open resources get to close when the program ends


class Resource(PortalUser, Generic[T_co]):
    def __init__(self, opener: Callable[[], AbstractAsyncContextManager[T_co]]) -> None:
        self.error: BaseException | None = None  # the error that has ended it
        self.is_closed: bool = False  # its task has ended
        self.on_closed: list[Callable[[], object]] = []  # called in trio when its task has ended
        self._opener = opener
        self._values: list[Any] = []
        self._scope = trio.CancelScope()
        self._ready, self._closing, self._ended = trio.Event(), trio.Event(), trio.Event()
        self._has_ended = Event()
        self._has_task = False

    def begin(self) -> Portal:
        return use_portal(self)

    @property
    def portal(self) -> Portal:
        portal = self.used_portal
        if portal is None:
            raise ChannelClosedError(CLOSED)
        return portal

    @property
    def value(self) -> T_co:
        """The value of the context manager.

        Raises:
            ChannelClosedError: it is closed; or the error that has ended it.
        """
        if self.is_closed or not self._values:
            raise self.error or ChannelClosedError(CLOSED)
        value: T_co = self._values[0]
        return value

    # ------------------------------------------------------------------ in trio

    async def open(self) -> T_co:
        self._has_task = True
        self.portal.start_soon(self._run)
        await self._wait(self._ready)
        return self.value

    async def close(self) -> None:
        # Raises the error that had ended it. If it is cancelled, so are its tasks.
        self._close_now()
        if self._has_task:  # otherwise it was never opened
            await self._wait(self._ended)
            self.raise_error()

    async def _wait(self, event: trio.Event) -> None:
        try:
            await event.wait()
        except trio.Cancelled:
            self._scope.cancel()
            with trio.CancelScope(shield=True):
                await self._ended.wait()
            raise

    def raise_error(self) -> None:
        error, self.error = self.error, None
        if error is not None:
            raise error

    async def _run(self) -> None:
        try:
            with self._scope:
                async with self._opener() as value:
                    self._values.append(value)
                    self._ready.set()
                    await self._closing.wait()
        except BaseException as error:  # noqa: BLE001 - raised where the resource is used
            self.error = error
        finally:
            self.is_closed = True
            self._values.clear()
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
            leave_portal(self)

    def fail_soon(self, error: BaseException) -> None:
        """End with an error, which is raised where the resource is used."""

        def fail() -> None:
            self.error = self.error or error
            self._closing.set()

        with suppress(ChannelClosedError):
            self.portal.post(fail)

    def wait_closed(self, seconds: float) -> None:
        self._has_ended.wait(seconds)


def close_everything() -> None:
    portal = current.portal
    if portal is None or portal.is_forked:
        return
    resources: list[Resource[Any]] = [u for u in portal.users.copy() if isinstance(u, Resource)]
    for resource in resources:
        resource.close_soon()
    for resource in resources:
        resource.wait_closed(EXIT_PATIENCE)


atexit.register(close_everything)
