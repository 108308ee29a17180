"""``StreamWriter``: writes the frames of many tasks to one stream.

* Bytes that were put are written in order, even if the sender is cancelled.  So a frame is never
  cut.
* ``put`` writes directly if nothing else is unsent.  Frames of several senders in one turn of the
  loop are joined.
* Over TCP, bytes are written to the descriptor: the stream's own method costs two turns of the
  loop.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.transport.reader import descriptor_of

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_UNSENT: Final = 1 << 20  # maximum unsent bytes; further senders wait


class StreamWriter:
    def __init__(self, stream: trio.abc.Stream) -> None:
        self.unsent: int = 0  # number of bytes that have not been written yet
        self._stream = stream
        self._descriptor = descriptor_of(stream)
        self._queue: list[bytes] = []
        self._put = 0
        self._written = 0
        self._idle: trio.lowlevel.Task | None = None
        self._closed = False
        self._moved = trio.Event()

    def put(self, data: bytes, *, immediately: bool) -> bool:
        """Send whole frames after all earlier ones, without blocking; returns whether they are.

        ``immediately``: not if other senders will put data in the same turn of the loop.
        """
        if immediately and not self.unsent and self._descriptor is not None:
            try:
                written = os.write(self._descriptor, data)
            except OSError:  # full or broken: the writer task handles it
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

    async def wait_for_room(self, is_open: Callable[[], bool]) -> None:
        while self.unsent > MAX_UNSENT and is_open():
            await self._moved.wait()

    async def flush(self, is_open: Callable[[], bool]) -> None:
        """Wait until all bytes put so far are written, or the connection has ended."""
        end = self._put
        while self._written < end and is_open():
            await self._moved.wait()

    def close(self) -> None:
        self._closed = True
        self._moved.set()

    async def run(self) -> None:
        while True:
            if not self._queue:
                await self._wait_for_data()
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
        view = memoryview(data)
        while view and not self._closed:  # later, another socket can have the descriptor
            try:
                view = view[os.write(descriptor, view) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(descriptor)
            except OSError as error:
                raise trio.BrokenResourceError(str(error)) from error

    async def _wait_for_data(self) -> None:
        def abort(_: object) -> trio.lowlevel.Abort:
            self._idle = None
            return trio.lowlevel.Abort.SUCCEEDED

        self._idle = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(abort)
