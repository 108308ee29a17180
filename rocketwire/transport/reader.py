"""``StreamReader``: reads one stream, for the channel's reader task and for the fast path.

* The reader task reads while the connection is open.
* If requests are sent one at a time, the sole waiting task may read the response itself.  That
  saves two turns of trio's loop (``rocketwire.transport.fastpath``).  The reader task stays
  registered with the loop meanwhile, so unsolicited bytes are still received.
* Over TCP, bytes are read from the descriptor: the stream's own method costs two turns of the loop.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING, Final

import trio

if TYPE_CHECKING:
    from rocketwire.transport.fastpath.epoll_bypass import EpollBypass

# Maximum bytes of a read: several pull responses, which two reads would have to join
_READ_SIZE: Final = 262_144
_DIRECT_READ_SIZE: Final = 65_536  # maximum bytes of a read that expects one response
# Least missing bytes for which the system is asked to wait until all of them are there
_LOW_WATER: Final = 4096
# Reads of single responses in a row after which the waiting task may read directly
_SINGLE_RESPONSES: Final = 4


class StreamReader:
    def __init__(self, stream: trio.abc.Stream) -> None:
        # number of last reads that each brought the only awaited response; the caller counts them
        self.single_responses: int = 0
        self._stream = stream
        self._low_water: int = 1
        # descriptor of a plain TCP stream, or None
        self.descriptor: int | None = descriptor_of(stream)
        self.bypass: EpollBypass | None = None  # the fast path's wait for the descriptor, or None
        self.allows_bypass: bool = False  # whether the sole waiting task may read directly
        self.is_closed: bool = False  # whether the connection has ended
        # time of trio's clock at which bytes were received last, or of the creation
        self.received_at: float = trio.current_time()

    async def receive(self, missing: int = 1) -> bytes:
        """Return the next bytes; empty at the end of the stream.

        If many bytes are missing, the system waits for all of them, which saves turns of the loop.
        """
        descriptor = self.descriptor
        if descriptor is None:
            return bytes(await self._stream.receive_some(_READ_SIZE))
        low_water = min(missing, _READ_SIZE) if missing >= _LOW_WATER else 1
        if low_water != self._low_water and isinstance(self._stream, trio.SocketStream):
            self._low_water = low_water
            self._stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, low_water)
        is_sequential = self.single_responses >= _SINGLE_RESPONSES and self.bypass is not None
        while True:
            self.allows_bypass = is_sequential and low_water == 1
            try:
                await trio.lowlevel.wait_readable(descriptor)
            finally:
                self.allows_bypass = False
            if self.is_closed:  # another socket can have the descriptor
                raise trio.ClosedResourceError("the channel was closed")
            try:
                return os.read(descriptor, _READ_SIZE)
            except BlockingIOError:
                continue
            except OSError as error:
                raise trio.BrokenResourceError(str(error)) from error

    def receive_directly(self) -> bytes | None:
        # Only if ``allows_bypass``: None unless nothing else can happen before the next bytes come.
        # ``receive`` raises the errors of the connection.
        bypass, descriptor = self.bypass, self.descriptor
        if bypass is None or descriptor is None or not bypass.is_ready():
            return None
        try:
            return os.read(descriptor, _DIRECT_READ_SIZE) or None
        except OSError:
            return None

    def close(self) -> None:
        self.is_closed = True


def descriptor_of(stream: trio.abc.Stream) -> int | None:
    if isinstance(stream, trio.SocketStream) and sys.platform != "win32":
        return stream.socket.fileno()
    return None


def _raise_mmap_threshold() -> None:
    # Free a block that is larger than a read. Before that, glibc can map the memory of each read
    # anew, and the system clears its pages (mallopt(3), M_MMAP_THRESHOLD). The block itself is
    # never touched.
    block = bytes(2 * _READ_SIZE)
    del block


_raise_mmap_threshold()
