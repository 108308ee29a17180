"""``Outbox``: bytes on their way out over one stream, many senders, one writer.

Rules of this file:

* What was put goes out, in order, whatever becomes of whoever put it; so no frame is ever cut by a cancelled sender.
* A sender that is alone writes at once, without a task of its own; what several put in one turn of the loop goes out in one piece.
* Over TCP bytes are read and written with the descriptor itself: a stream's own methods cost two turns of the loop each.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING, Final

import trio

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_UNSENT: Final = 1 << 20
"""Bytes that wait to be written; whoever comes then waits first."""

_READ: Final = 65_536

_WORTH_WAITING: Final = 4096
"""Bytes from which on it pays to have the system wait until they are there."""


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


class Inlet:
    """Bytes that come in over one stream."""

    __slots__ = ("_descriptor", "_low_water", "_stream")

    def __init__(self, stream: trio.abc.Stream) -> None:
        """Args: stream: where to read; nobody else may."""
        self._stream = stream
        self._low_water = 1
        self._descriptor = descriptor_of(stream)

    async def receive(self, missing: int = 1) -> bytes:
        """The next bytes; empty at the end.

        Args:
            missing: bytes without which nothing can be done.  Where they are many the system is asked to wait for them: what
                comes in pieces otherwise costs a turn of the loop for each.

        Raises:
            trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError: as of the stream's ``receive_some``.
        """
        descriptor = self._descriptor
        if descriptor is None:
            return bytes(await self._stream.receive_some(_READ))
        low_water = min(missing, _READ) if missing >= _WORTH_WAITING else 1
        if low_water != self._low_water and isinstance(self._stream, trio.SocketStream):
            self._low_water = low_water
            self._stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, low_water)
        while True:
            await trio.lowlevel.wait_readable(descriptor)
            try:
                return os.read(descriptor, _READ)
            except BlockingIOError:
                continue
            except OSError as error:
                raise trio.BrokenResourceError(str(error)) from error


def descriptor_of(stream: trio.abc.Stream) -> int | None:
    """The descriptor of a plain TCP stream where bytes can be read and written with it; None for every other stream."""
    if isinstance(stream, trio.SocketStream) and sys.platform != "win32":
        return stream.socket.fileno()
    return None
