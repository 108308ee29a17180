"""A thread that runs trio for fixtures, whatever the test itself runs on.

Rules of this file: calls of a test block for the short time that the thread needs; so synchronous
tests and tests under any event loop use the same fixtures.
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

__tracebackhide__ = True  # pytest shows the line of the test instead of this file

T = TypeVar("T")
_SECONDS: Final = 30.0  # timeout of a call in the thread


def host_and_port(address: str) -> tuple[str, int]:
    host, _, port = str(address).rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        raise ValueError(f"not host:port: {address!r}")
    return host, int(port)


class Backstage:
    """A trio loop in a thread; a context manager."""

    nursery: trio.Nursery  #: for tasks in that loop; they are cancelled at the end
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
        async def wait_for() -> T:
            return work(*args)

        return self.call(wait_for)

    def call(self, work: Callable[..., Awaitable[T]], *args: object) -> T:
        # Raises TimeoutError if the loop does not answer
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
        except Exception as error:  # noqa: BLE001 - it is raised again in the caller
            future.set_exception(error)
        except BaseException:
            future.cancel()
            raise
        else:
            future.set_result(result)
