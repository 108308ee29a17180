"""One accepted connection, as its driver and the sweeper see it: what it does, and since when.

No timer and no cancel scope per request: the driver notes the time, the sweeper compares, and ends
what is overdue.
"""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import trio

from rocketwire_namesrv.config.limits import ConnectionTooSlow, Limit
from rocketwire_namesrv.events import Reason

if TYPE_CHECKING:
    from rocketwire_namesrv.config.config import Config
    from rocketwire_namesrv.protocol.handlers import Peer
    from rocketwire_namesrv.protocol.session import Effects, Session

__all__ = ["Connection", "Deadlines", "ServerConnection"]

EXCERPT_LENGTH: Final = 256
"""First bytes of a frame that are kept until it is a command, to say what they look like."""


class Deadlines(NamedTuple):
    """For which the sweeper looks, in seconds; infinite where there is none.

    Attributes:
        frame: from a frame's first byte to its last.
        send: from the first byte of answers that the peer does not take to the last.
        first_frame: from the connection to the end of its first frame.
    """

    frame: float = math.inf
    send: float = math.inf
    first_frame: float = math.inf

    @classmethod
    def of(cls, config: Config) -> Self:
        """Those of the settings, of which 0 or less is none."""
        wanted = (
            config.frame_deadline_seconds,
            config.send_deadline_seconds,
            config.first_frame_deadline_seconds,
        )
        return cls(*(seconds if seconds > 0 else math.inf for seconds in wanted))


class ServerConnection(abc.ABC):
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
        "has_turn",
        "heard",
        "idle_limit",
        "opening",
        "peer",
        "reason",
        "sending",
        "session",
        "since",
        "stream",
    )

    def __init__(
        self, stream: trio.abc.Stream, session: Session, peer: Peer, idle_limit: float
    ) -> None:
        self.stream = stream
        self.session = session
        self.peer = peer
        self.idle_limit = idle_limit
        self.since = trio.current_time()
        self.heard = self.since  # when the last whole frame came or an answer went
        self.frame_since = math.inf  # when the unfinished frame began
        self.opening: bytes | None = b""  # first bytes of the unfinished frame, if they are known
        self.has_turn = False  # whether nobody else takes the steps of a request
        self.sending = False  # whether answers wait for the peer to take them, since ``heard``
        self.closing: str | None = None
        self.reason = Reason.CLOSED

    @abc.abstractmethod
    def close(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """End it, whatever it is doing."""

    @abc.abstractmethod
    def finish(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """End it as soon as the answers that are due have been sent."""

    def overdue(self, now: float, deadlines: Deadlines) -> ConnectionTooSlow | None:
        """Why its time is up, or None."""
        if now - self.heard >= self.idle_limit:
            return self._too_slow(Limit.IDLE_TIME, self.idle_limit, "idle for")
        if now - self.frame_since >= deadlines.frame:
            return self._too_slow(Limit.FRAME_DEADLINE, deadlines.frame, "a frame took longer than")
        if self.sending and now - self.heard >= deadlines.send:
            return self._too_slow(Limit.SEND_DEADLINE, deadlines.send, "answers were not taken for")
        if now - self.since >= deadlines.first_frame and self.heard == self.since:
            return self._too_slow(
                Limit.FIRST_FRAME_DEADLINE, deadlines.first_frame, "without a frame for"
            )
        return None

    def _too_slow(self, limit: Limit, seconds: float, what: str) -> ConnectionTooSlow:
        return ConnectionTooSlow(
            limit=limit,
            allowed=int(seconds),
            what=f"{what} {seconds:g} s",
            client=self.peer.address,
        )

    def note_progress(self, data: bytes, outcome: Effects, now: float) -> None:
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


class Connection(ServerConnection):
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
