"""One accepted connection, as its driver and the sweeper see it: what it does, and since when.

No timer and no cancel scope per request: the driver notes the time, the sweeper compares, and ends
what is overdue.
"""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, Final

import trio

from rocketwire_namesrv.occurrences import Reason

if TYPE_CHECKING:
    from rocketwire_namesrv.handlers import Peer
    from rocketwire_namesrv.session import Outcome, Session

__all__ = ["Connection", "Served"]

EXCERPT_LENGTH: Final = 256
"""First bytes of a frame that are kept until it is a command, to say what they look like."""


class Served(abc.ABC):
    """One accepted connection, whichever driver serves it.

    Args:
        stream: its bytes; closed by the server.
        session: its brain.
        peer: who is on the other side.
        idle_limit: seconds without a command or an answer after which it ends.
    """

    __slots__ = (
        "closing",
        "frame_since",
        "heard",
        "idle_limit",
        "opening",
        "peer",
        "reason",
        "session",
        "stream",
    )

    def __init__(
        self, stream: trio.abc.Stream, session: Session, peer: Peer, idle_limit: float
    ) -> None:
        self.stream = stream
        self.session = session
        self.peer = peer
        self.idle_limit = idle_limit
        self.heard = trio.current_time()  # when the last whole frame came or an answer went
        self.frame_since = math.inf  # when the unfinished frame began
        self.opening: bytes | None = b""  # first bytes of the unfinished frame, if they are known
        self.closing: str | None = None
        self.reason = Reason.CLOSED

    @abc.abstractmethod
    def close(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """End it, whatever it is doing."""

    @abc.abstractmethod
    def finish(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """End it as soon as the answers that are due have been sent."""

    def overdue(self, now: float, frame_limit: float) -> str | None:
        """Why its time is up, or None."""
        if now - self.heard >= self.idle_limit:
            return f"idle for {self.idle_limit:g} s"
        if now - self.frame_since >= frame_limit:
            return f"a frame took longer than {frame_limit:g} s"
        return None

    def note_progress(self, data: bytes, outcome: Outcome, now: float) -> None:
        """Keep what the sweeper goes by: a part of a frame is no sign of life, as in Java.

        Args:
            data: bytes received.
            outcome: what came of them.
            now: seconds.
        """
        started = self.session.frame_started
        if outcome.close is not None:
            self.opening = None if outcome.commands else self._opened_with(data)
        elif outcome.commands or not started:
            self.heard = now
            self.frame_since = now if started else math.inf
            self.opening = None if started else b""
        else:
            self.frame_since = min(self.frame_since, now)
            self.opening = self._opened_with(data)

    def _opened_with(self, data: bytes) -> bytes | None:
        if self.opening is None or len(self.opening) >= EXCERPT_LENGTH:
            return self.opening
        return self.opening + data[:EXCERPT_LENGTH]


class Connection(Served):
    """A connection with a task of its own, which reads, works and writes."""

    __slots__ = ("reading", "scope")

    def __init__(
        self, stream: trio.abc.Stream, session: Session, peer: Peer, idle_limit: float
    ) -> None:
        super().__init__(stream, session, peer, idle_limit)
        self.scope = trio.CancelScope()
        self.reading = False

    def close(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """End it, whatever it is doing."""
        self.finish(why, reason)
        self.scope.cancel()

    def finish(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """End it as soon as the answers that are due have been sent."""
        if self.closing is None:
            self.closing = why
            self.reason = reason
        if self.reading:
            self.scope.cancel()
