"""An accepted connection, for its driver and the sweeper: its state, and the times of its changes.

There is no timer and no cancel scope per request: the driver stores times, and the sweeper closes
overdue connections.
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

EXCERPT_LENGTH: Final = 256
"""First bytes of an incomplete frame that are kept for the log."""


class Deadlines(NamedTuple):
    """The deadlines of the sweeper, in seconds; infinite if there is none.

    Attributes:
        frame: from a frame's first byte to its last.
        send: from the first to the last byte of responses that the peer does not read.
        first_frame: from the connection to the end of its first frame.
    """

    frame: float = math.inf
    send: float = math.inf
    first_frame: float = math.inf

    @classmethod
    def of(cls, config: Config) -> Self:
        """Return the deadlines of the settings; 0 or less is none."""
        values = (
            config.frame_deadline_seconds,
            config.send_deadline_seconds,
            config.first_frame_deadline_seconds,
        )
        return cls(*(seconds if seconds > 0 else math.inf for seconds in values))


class ServerConnection(abc.ABC):
    """An accepted connection of either driver.

    Args:
        stream: its bytes; closed by the server.
        idle_limit: seconds without a command or a response after which it ends.
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
        self.heard = self.since  # time of the last complete frame or sent response
        self.frame_since = math.inf  # start of the incomplete frame
        self.opening: bytes | None = b""  # first bytes of the incomplete frame, if they are kept
        self.has_turn = False  # whether only this connection may take steps of a request
        self.sending = False  # whether responses are unsent since ``heard``
        self.closing: str | None = None
        self.reason = Reason.CLOSED

    @abc.abstractmethod
    def close(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """Close it at once."""

    @abc.abstractmethod
    def finish(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """Close it after the pending responses have been sent."""

    def overdue(self, now: float, deadlines: Deadlines) -> ConnectionTooSlow | None:
        """Return the event for an exceeded deadline, or None."""
        if now - self.heard >= self.idle_limit:
            return self._too_slow(Limit.IDLE_TIME, self.idle_limit, "idle for")
        if now - self.frame_since >= deadlines.frame:
            return self._too_slow(Limit.FRAME_DEADLINE, deadlines.frame, "a frame took longer than")
        if self.sending and now - self.heard >= deadlines.send:
            return self._too_slow(
                Limit.SEND_DEADLINE, deadlines.send, "responses were not read for"
            )
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

    def note_progress(self, data: bytes, effects: Effects, now: float) -> None:
        """Update the times for the sweeper: a part of a frame does not count as activity, as in
        Java.

        Args:
            effects: of them.
        """
        started = self.session.frame_started
        if effects.close is not None:
            self.opening = None if effects.commands else self._opened_with(data)
        elif effects.commands or not started:
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


class TaskConnection(ServerConnection):
    """A connection with its own task."""

    __slots__ = ("reading", "scope")

    def __init__(
        self, stream: trio.abc.Stream, session: Session, peer: Peer, idle_limit: float
    ) -> None:
        super().__init__(stream, session, peer, idle_limit)
        self.scope = trio.CancelScope()
        self.reading = False

    def close(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """Close it at once."""
        self.finish(why, reason)
        self.scope.cancel()

    def finish(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """Close it after the pending responses have been sent."""
        if self.closing is None:
            self.closing = why
            self.reason = reason
        if self.reading:
            self.scope.cancel()
