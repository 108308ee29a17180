"""A thread that runs trio for fixtures, whatever the test itself runs on.

Rules of this file: what the test calls blocks for as long as the thread needs to hear of it, a moment; so synchronous tests and
tests under any event loop use the fixtures alike.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Final, Self, TypeVar

import trio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["Backstage", "host_and_port"]

T = TypeVar("T")
_SECONDS: Final = 30.0
"""Longest that anything asked of the thread may take."""


def host_and_port(address: str) -> tuple[str, int]:
    """Take ``host:port`` apart.

    Raises:
        ValueError: it is not of that form.
    """
    host, _, port = str(address).rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        raise ValueError(f"not host:port: {address!r}")
    return host, int(port)


class Backstage:
    """A trio loop in a thread of its own; a context manager.

    Attributes:
        nursery: for tasks of that loop; they are cancelled at the end.
    """

    nursery: trio.Nursery
    _token: trio.lowlevel.TrioToken

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=trio.run, args=(self._main,), name="rocketwire backstage", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self.do(self.nursery.cancel_scope.cancel)
        self._thread.join()

    def do(self, work: Callable[..., T], *args: object) -> T:
        """Call a plain function in the loop's thread; returns what it returns."""

        async def waited_for() -> T:
            return work(*args)

        return self.call(waited_for)

    def call(self, work: Callable[..., Awaitable[T]], *args: object) -> T:
        """Let the loop run an asynchronous function to its end; returns what it returns.

        Raises:
            TimeoutError: it takes longer than anything here may.
        """
        future: Future[T] = Future()
        self._token.run_sync_soon(
            self.nursery.start_soon, self._carry_out, future, partial(work, *args)
        )
        return future.result(_SECONDS)

    async def _main(self) -> None:
        async with trio.open_nursery() as nursery:
            self.nursery = nursery
            self._token = trio.lowlevel.current_trio_token()
            self._ready.set()
            await trio.sleep_forever()

    async def _carry_out(self, future: Future[T], work: Callable[[], Awaitable[T]]) -> None:
        try:
            result = await work()
        except Exception as error:  # noqa: BLE001 - it is raised again, where it was asked for
            future.set_exception(error)
        except BaseException:
            future.cancel()
            raise
        else:
            future.set_result(result)
