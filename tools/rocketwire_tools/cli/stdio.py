"""Asynchronous lines of stdin, JSON lines of stdout, and signals as an event.

Standard files stay blocking, because other processes (a terminal, a shell) share them. Input is
read in a thread. Output is written in amounts that cannot block, unless it goes to a file.
"""

from __future__ import annotations

import os
import select
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import trio

from rocketwire_tools.cli.command import RefusedError, Value
from rocketwire_tools.cli.output import as_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

CHUNK: Final = 1 << 16
"""Bytes to read at once."""

MAX_LINE: Final = 8 << 20
"""Maximum bytes of an input line. The default limit of brokers is half of it."""

MAX_WRITE: Final = select.PIPE_BUF
"""Bytes that a writable pipe accepts without blocking (POSIX)."""

CHECK_SECONDS: Final = 0.5
"""Interval of checks for a closed reader, in seconds."""

_GONE: Final = select.POLLERR | select.POLLHUP | select.POLLNVAL


async def read_lines(descriptor: int) -> AsyncGenerator[list[bytes]]:
    """Yield lines without line ends, as many as are available; ``RefusedError`` for a long one."""
    incomplete = b""
    while True:
        chunk = await trio.to_thread.run_sync(os.read, descriptor, CHUNK, abandon_on_cancel=True)
        if not chunk:
            break
        *lines, incomplete = (incomplete + chunk).split(b"\n")
        if lines:
            yield lines
        if len(incomplete) > MAX_LINE:
            raise RefusedError(f"an input line is longer than {MAX_LINE} bytes")
    if incomplete:
        yield [incomplete]


class JsonLines:
    """Writes one object per line; one writer at a time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._lock = trio.Lock()

    async def write(self, members: Mapping[str, Value]) -> None:
        """Write an object.

        Raises:
            BrokenPipeError: the reader is gone.

        Cancellation: part of the line may have been written.
        """
        unsent = memoryview(as_json(dict(members)).encode("utf-8", "surrogatepass") + b"\n")
        async with self._lock:
            while unsent:
                if not self._poll.poll(0):
                    await trio.lowlevel.wait_writable(self._descriptor)
                try:
                    unsent = unsent[os.write(self._descriptor, unsent[:MAX_WRITE]) :]
                except BlockingIOError:  # another process has made the file non-blocking
                    await trio.lowlevel.wait_writable(self._descriptor)

    async def until_reader_closes(self) -> None:
        while True:
            if any(events & _GONE for _, events in self._poll.poll(0)):
                return
            await trio.sleep(CHECK_SECONDS)


class Stop:
    def __init__(self) -> None:
        self.requested = trio.Event()  # set when the program must stop
        self.signal = 0  # the signal that requested it; 0 for another reason

    @property
    def is_requested(self) -> bool:
        return self.requested.is_set()

    @asynccontextmanager
    async def cancel_when_stopped(self) -> AsyncGenerator[None]:
        async with trio.open_nursery() as nursery:

            async def cancel() -> None:
                await self.requested.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(cancel)
            yield
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def stopping() -> AsyncGenerator[Stop]:
    """The first signal requests a stop, the second raises ``KeyboardInterrupt`` in the block."""
    stop = Stop()
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:

            async def listen() -> None:
                async for number in signals:
                    if stop.is_requested and stop.signal:
                        nursery.cancel_scope.cancel()
                        raise KeyboardInterrupt
                    stop.signal = number
                    stop.requested.set()

            nursery.start_soon(listen)
            yield stop
            nursery.cancel_scope.cancel()
