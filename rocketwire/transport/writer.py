"""``Outbox``: bytes on their way out over one stream, many senders, one writer.

Rules of this file:

* What was put goes out, in order, whatever becomes of whoever put it; so no frame is ever cut by a cancelled sender.
* A sender that is alone writes at once, without a task of its own; what several put in one turn of the loop goes out in one piece.
* Over TCP bytes are written with the descriptor itself: a stream's own methods cost two turns of the loop each.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.transport.reader import descriptor_of

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_UNSENT: Final = 1 << 20
"""Bytes that wait to be written; whoever comes then waits first."""


class Outbox:
    """What is to be written to one stream, by ``run``.

    Attributes:
        unsent: bytes that wait to be written, or are being written.
    """

    __slots__ = (
        "_descriptor",
        "_idle",
        "_moved",
        "_over",
        "_put",
        "_queue",
        "_stream",
        "_written",
        "unsent",
    )

    def __init__(self, stream: trio.abc.Stream) -> None:
        """An empty one.

        Args:
            stream: where to write; nobody else may.
        """
        self.unsent = 0
        self._stream = stream
        self._descriptor = descriptor_of(stream)
        self._queue: list[bytes] = []
        self._put = 0
        self._written = 0
        self._idle: trio.lowlevel.Task | None = None
        self._over = False
        self._moved = trio.Event()

    def put(self, data: bytes, *, at_once: bool) -> bool:
        """Sends bytes after all that were put before; never waits.

        Args:
            data: whole frames.
            at_once: try to write them now; False when others will put something in the same turn of the loop.

        Returns:
            Whether all of it was written already.
        """
        if at_once and not self.unsent and self._descriptor is not None:
            try:
                written = os.write(self._descriptor, data)
            except OSError:  # full, or broken: then the writer finds that out
                written = 0
            if written == len(data):
                return True
            data = data[written:]
        self._queue.append(data)
        self._put += len(data)
        self.unsent += len(data)
        if self._idle is not None:
            task, self._idle = self._idle, None
            trio.lowlevel.reschedule(task)
        return False

    async def room(self, is_open: Callable[[], bool]) -> None:
        """Wait while too much is unsent and the connection is open."""
        while self.unsent > MAX_UNSENT and is_open():
            await self._moved.wait()

    async def flushed(self, is_open: Callable[[], bool]) -> None:
        """Wait until everything that was put by now is written, or the connection is over."""
        mark = self._put
        while self._written < mark and is_open():
            await self._moved.wait()

    def over(self) -> None:
        """The connection has ended: wake those who wait, and write nothing more."""
        self._over = True
        self._moved.set()

    async def run(self) -> None:
        """Write what is put, until cancelled.

        Raises:
            trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError: as of the stream's ``send_all``.
        """
        while True:
            if not self._queue:
                await self._something()
            data = self._queue[0] if len(self._queue) == 1 else b"".join(self._queue)
            self._queue.clear()
            await self._write(data)
            self._written += len(data)
            self.unsent -= len(data)
            moved, self._moved = self._moved, trio.Event()
            moved.set()

    async def _write(self, data: bytes) -> None:
        descriptor = self._descriptor
        if descriptor is None:
            await self._stream.send_all(data)
            return
        left = memoryview(data)
        while left and not self._over:  # once it is over, the number may be another one's
            try:
                left = left[os.write(descriptor, left) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(descriptor)
            except OSError as error:
                raise trio.BrokenResourceError(str(error)) from error

    async def _something(self) -> None:
        def abort(_: object) -> trio.lowlevel.Abort:
            self._idle = None
            return trio.lowlevel.Abort.SUCCEEDED

        self._idle = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(abort)
