"""``Inlet``: bytes that come in over one stream, and which of several tasks waits for them.

Rules of this file:

* One task reads at a time.  As a rule that is a task of its own, which never ends; it stands *aside* while requests are made one
  after the other: then whoever waits for the only answer reads it himself, which saves a turn of the loop for each; and where no
  other task could run he waits for it without any (``rocketwire.shortcut``).
* Who stands aside looks up when nobody has read for ``PAUSE`` seconds or a little more, so that what comes unasked for waits no
  longer than twice that.
* Over TCP bytes are read with the descriptor itself: a stream's own methods cost two turns of the loop each.  All that is said of
  standing aside holds for TCP alone.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Final

import trio

from rocketwire.shortcut import shortcut_to

PAUSE: Final = 0.05
"""Seconds after which the task that reads looks whether anybody else still does."""

_SHORT: Final = PAUSE / 2
"""Seconds before he looks from which on whoever reads in his place has him look later."""

_READ: Final = 262_144
"""Bytes that are read at most at once: the answers to several pulls, which have to be put together where they come in two pieces."""

_READ_SOON: Final = 65_536
"""The same where it is one answer that is waited for."""

_WORTH_WAITING: Final = 4096
"""Bytes from which on it pays to have the system wait until they are there."""

_LONE_READS: Final = 4
"""So many reads in a row that brought the only answer that was waited for, and the reader stands aside."""


class Inlet:
    """Bytes that come in over one stream.

    Attributes:
        lone_reads: how many reads in a row brought the only answer that was waited for; counted by whoever takes them.
        is_free: whether whoever waits for an answer may read it himself.
    """

    __slots__ = (
        "_aside",
        "_break",
        "_descriptor",
        "_interrupted",
        "_low_water",
        "_over",
        "_shortcut",
        "_stands_aside",
        "_stream",
        "_taken",
        "_used",
        "_waits",
        "is_free",
        "lone_reads",
    )

    def __init__(self, stream: trio.abc.Stream) -> None:
        """Args: stream: where to read; nobody else may."""
        self.lone_reads = 0
        self.is_free = False
        self._stream = stream
        self._low_water = 1
        self._descriptor = descriptor_of(stream)
        self._shortcut = None if self._descriptor is None else shortcut_to(self._descriptor)
        self._aside: trio.lowlevel.Task | None = None
        self._break = trio.CancelScope()  # of the one who stands aside, until he looks
        self._stands_aside = False
        self._taken = False
        self._used = False  # since the one who stands aside looked
        self._waits = False
        self._interrupted = False
        self._over = False

    async def receive(self, missing: int = 1) -> bytes | None:
        """The next bytes; empty at the end, None when interrupted.

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
        self._interrupted = False
        while True:
            self._waits = True
            try:
                await trio.lowlevel.wait_readable(descriptor)
            except trio.ClosedResourceError:
                if self._over or not self._interrupted:
                    raise
                return None
            finally:
                self._waits = False
            if self._over:  # the number may be another one's by now
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
        self._used = True
        shortcut, descriptor = self._shortcut, self._descriptor
        if shortcut is None or descriptor is None or self._low_water != 1:
            return None
        if not shortcut.is_ready():
            return None
        try:
            return os.read(descriptor, _READ_SOON) or None
        except OSError:
            return None

    def deadline(self, now: float) -> float | None:
        """The time of trio's clock until which ``receive_within`` may wait; None where it may not be asked.

        Whoever asks is about to read.  So who stands aside need not look up until later: that would cost a turn of the loop.

        Args:
            now: the time of that clock.
        """
        shortcut = self._shortcut
        if shortcut is None or self._low_water != 1 or not self.is_free:
            return None
        self._used = True
        deadline = shortcut.deadline()
        if deadline is None or deadline - now > _SHORT or deadline != self._break.deadline:
            return deadline
        self._break.deadline = now + PAUSE
        return shortcut.deadline()

    def receive_within(self, seconds: float) -> bytes | None:
        """As ``receive_soon``, for no longer than that, and not beyond what ``deadline`` has just said."""
        shortcut, descriptor = self._shortcut, self._descriptor
        if shortcut is None or descriptor is None or not shortcut.is_ready_within(seconds):
            return None
        try:
            return os.read(descriptor, _READ_SOON) or None
        except OSError:
            return None

    def interrupt(self) -> None:
        """Have whoever waits in ``receive`` go on without bytes; nothing happens where nobody waits."""
        if self._waits and self._descriptor is not None:
            self._interrupted = True
            trio.lowlevel.notify_closing(self._descriptor)

    def over(self) -> None:
        """The connection has ended: nothing more is read."""
        self._over = True
        self.interrupt()

    # ------------------------------------------------------------------ who reads

    async def my_turn(self) -> None:
        """For the task whose business reading is: stand aside for as long as others do it."""
        if self.lone_reads < _LONE_READS or self._descriptor is None:
            return
        self._stands_aside = self.is_free = self._used = True
        while self._stands_aside and self._used:
            self._used = self._taken
            self._break = trio.CancelScope(deadline=trio.current_time() + PAUSE)
            with self._break:
                await self._recalled()
        self._stands_aside = self.is_free = False
        self.lone_reads = 0

    def take(self) -> None:
        """Read in the place of who stands aside, until ``give_back``; only while ``is_free``."""
        self.is_free = False
        self._taken = self._used = True

    def give_back(self, *, recall: bool) -> None:
        """Read no longer.

        Args:
            recall: others wait for answers, so that the task whose business it is has to read at once.
        """
        self._taken = False
        if not recall:
            self.is_free = self._stands_aside
            return
        self._stands_aside = False
        if self._aside is not None:
            task, self._aside = self._aside, None
            trio.lowlevel.reschedule(task)

    def recall(self) -> None:
        """Have the task whose business it is read at once; only while ``is_free``."""
        self.is_free = False
        self.give_back(recall=True)

    async def _recalled(self) -> None:
        def abort(_: object) -> trio.lowlevel.Abort:
            self._aside = None
            return trio.lowlevel.Abort.SUCCEEDED

        self._aside = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(abort)


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
