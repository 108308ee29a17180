"""``Inlet``: bytes that come in over one stream, for the task that reads and for who waits for the only answer.

Rules of this file:

* One task reads, as long as the stream is open, and waits in trio's loop for what comes next.
* Where requests are made one after the other, whoever waits for the only answer reads it himself if no other task could run: that
  saves two turns of the loop for each (``rocketwire.transport.fastpath.epoll_bypass``).  The task that reads goes on waiting meanwhile; so what comes
  unasked for, then or later, waits for nobody.
* Over TCP bytes are read with the descriptor itself: a stream's own methods cost two turns of the loop each.  All that is said of
  reading for oneself holds for TCP alone.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Final

import trio

from rocketwire.transport.fastpath.epoll_bypass import shortcut_to

_READ: Final = 262_144
"""Bytes that are read at most at once: the answers to several pulls, which have to be put together where they come in two pieces."""

_READ_SOON: Final = 65_536
"""The same where it is one answer that is waited for."""

_WORTH_WAITING: Final = 4096
"""Bytes from which on it pays to have the system wait until they are there."""

_LONE_READS: Final = 4
"""So many reads in a row that brought the only answer that was waited for, and who waits for the next may read for himself."""


class Inlet:
    """Bytes that come in over one stream.

    Attributes:
        lone_reads: how many reads in a row brought the only answer that was waited for; counted by whoever takes them.
        is_free: whether whoever waits for the only answer may read it himself, if nothing else can happen meanwhile.
        is_over: whether the connection has ended.
        descriptor: of a plain TCP stream; None for every other one.
        shortcut: to the descriptor; None where there is none.
    """

    __slots__ = (
        "_low_water",
        "_stream",
        "descriptor",
        "is_free",
        "is_over",
        "lone_reads",
        "shortcut",
    )

    def __init__(self, stream: trio.abc.Stream) -> None:
        """Args: stream: where to read; nobody else may."""
        self.lone_reads = 0
        self._stream = stream
        self._low_water: int = 1
        self.descriptor = descriptor_of(stream)
        self.shortcut = None if self.descriptor is None else shortcut_to(self.descriptor)
        self.is_free = False
        self.is_over = False

    async def receive(self, missing: int = 1) -> bytes:
        """The next bytes; empty at the end.

        Args:
            missing: bytes without which nothing can be done.  Where they are many the system is asked to wait for them: what
                comes in pieces otherwise costs a turn of the loop for each.

        Raises:
            trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError: as of the stream's ``receive_some``.
        """
        descriptor = self.descriptor
        if descriptor is None:
            return bytes(await self._stream.receive_some(_READ))
        low_water = min(missing, _READ) if missing >= _WORTH_WAITING else 1
        if low_water != self._low_water and isinstance(self._stream, trio.SocketStream):
            self._low_water = low_water
            self._stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, low_water)
        lone = self.lone_reads >= _LONE_READS and self.shortcut is not None
        while True:
            self.is_free = lone and low_water == 1
            try:
                await trio.lowlevel.wait_readable(descriptor)
            finally:
                self.is_free = False
            if self.is_over:  # the number may be another one's by now
                raise trio.ClosedResourceError("the channel was closed")
            try:
                return os.read(descriptor, _READ)
            except BlockingIOError:
                continue
            except OSError as error:
                raise trio.BrokenResourceError(str(error)) from error

    def receive_soon(self) -> bytes | None:
        """The next bytes, where nothing else can happen before they come, without a turn of the loop; else None.

        Only while ``is_free``; whatever is wrong with the connection is told by ``receive``.
        """
        shortcut, descriptor = self.shortcut, self.descriptor
        if shortcut is None or descriptor is None or not shortcut.is_ready():
            return None
        try:
            return os.read(descriptor, _READ_SOON) or None
        except OSError:
            return None

    def over(self) -> None:
        """The connection has ended: nothing more is read, whoever waits for it is cancelled."""
        self.is_over = True


def descriptor_of(stream: trio.abc.Stream) -> int | None:
    """The descriptor of a plain TCP stream where bytes can be read and written with it; None for every other stream."""
    if isinstance(stream, trio.SocketStream) and sys.platform != "win32":
        return stream.socket.fileno()
    return None


def _keep_what_is_freed() -> None:
    """Free something larger than what is read at once: until then glibc may take the room for each read from the system anew, which
    has to clear every page of it (mallopt(3), M_MMAP_THRESHOLD).  Nothing of it is ever touched."""
    larger = bytes(2 * _READ)
    del larger


_keep_what_is_freed()
