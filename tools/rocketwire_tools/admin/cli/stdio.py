"""Lines in from stdin and out to stdout, while everything else goes on.

Rules of this file: no file of the process is made non-blocking, because others (a terminal, a shell) share it.  Input is read in
a thread; output is written only as much as is certain not to wait, unless it goes to a file.
"""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING, Final

import trio

from rocketwire_tools.admin.cli.output import as_json
from rocketwire_tools.admin.command import RefusedError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from rocketwire_tools.admin.command import Value

PIECE: Final = 1 << 16
"""Bytes to read at once."""

MAX_LINE: Final = 8 << 20
"""Bytes of a line of input; brokers take half of that unless they are told otherwise."""

CERTAIN: Final = select.PIPE_BUF
"""Bytes that a pipe takes without waiting if it takes any (POSIX)."""

LOOK_SECONDS: Final = 0.5
"""How often to look whether anybody still reads the output."""

_GONE: Final = select.POLLERR | select.POLLHUP | select.POLLNVAL


async def read_lines(descriptor: int) -> AsyncGenerator[list[bytes]]:
    """The lines of a file, without their ends: as many at once as have come.  The last one need not have an end.

    Raises:
        RefusedError: a line is longer than ``MAX_LINE``.

    Cancellation: what was read and not handed out is lost.
    """
    rest = b""
    while True:
        piece = await trio.to_thread.run_sync(os.read, descriptor, PIECE, abandon_on_cancel=True)
        if not piece:
            break
        *lines, rest = (rest + piece).split(b"\n")
        if lines:
            yield lines
        if len(rest) > MAX_LINE:
            raise RefusedError(f"a line of the input has more than {MAX_LINE} bytes")
    if rest:
        yield [rest]


class JsonLines:
    """Writes one object to a line; one writer at a time."""

    def __init__(self, descriptor: int) -> None:
        """Args: descriptor: of the file, which stays open."""
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._lock = trio.Lock()

    async def write(self, members: Mapping[str, Value]) -> None:
        """Write an object.

        Raises:
            BrokenPipeError: nobody reads any more.

        Cancellation: a part of the line may have been written.
        """
        rest = memoryview(as_json(dict(members)).encode("utf-8", "surrogatepass") + b"\n")
        async with self._lock:
            while rest:
                if not self._poll.poll(0):
                    await trio.lowlevel.wait_writable(self._descriptor)
                try:
                    rest = rest[os.write(self._descriptor, rest[:CERTAIN]) :]
                except BlockingIOError:  # somebody else has made the file non-blocking
                    await trio.lowlevel.wait_writable(self._descriptor)

    async def until_nobody_reads(self) -> None:
        """Wait until the reader of a pipe has gone."""
        while True:
            if any(events & _GONE for _, events in self._poll.poll(0)):
                return
            await trio.sleep(LOOK_SECONDS)
