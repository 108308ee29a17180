"""An accepted connection, for its driver and the sweeper: its state, and the times of its changes.

There is no timer and no cancel scope per request: the driver stores times, and the sweeper closes
overdue connections.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.connection.guards import Activity
from rocketwire_namesrv.events import Reason

if TYPE_CHECKING:
    from rocketwire_namesrv.protocol.handlers import Peer
    from rocketwire_namesrv.protocol.session import Effects, Session

EXCERPT_LENGTH: Final = 256
"""First bytes of an incomplete frame that are kept for the log."""


class ServerConnection(Activity, abc.ABC):
    """An accepted connection of either driver."""

    __slots__ = (
        "closing",
        "has_turn",
        "opening",
        "peer",
        "reason",
        "session",
        "stream",
    )

    def __init__(self, stream: trio.abc.Stream, session: Session, peer: Peer) -> None:
        super().__init__(trio.current_time())
        self.stream = stream
        self.session = session
        self.peer = peer
        self.opening: bytes | None = b""  # first bytes of the incomplete frame, if they are kept
        self.has_turn = False  # whether only this connection may take steps of a request
        self.closing: str | None = None
        self.reason = Reason.CLOSED

    @abc.abstractmethod
    def close(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """Close it at once."""

    @abc.abstractmethod
    def finish(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """Close it after the pending responses have been sent."""

    def note_progress(self, data: bytes, effects: Effects, now: float) -> None:
        """Update the times for the sweeper, and the first bytes of an incomplete frame."""
        started = self.session.frame_started
        if effects.close is not None:
            self.opening = None if effects.commands else self._extend_opening(data)
            return
        is_complete = bool(effects.commands)
        self.note_frames(now, is_complete=is_complete, is_started=started)
        if is_complete or not started:
            self.opening = None if started else b""
        else:
            self.opening = self._extend_opening(data)

    def _extend_opening(self, data: bytes) -> bytes | None:
        if self.opening is None or len(self.opening) >= EXCERPT_LENGTH:
            return self.opening
        return self.opening + data[:EXCERPT_LENGTH]


class TaskConnection(ServerConnection):
    __slots__ = ("reading", "scope")

    def __init__(self, stream: trio.abc.Stream, session: Session, peer: Peer) -> None:
        super().__init__(stream, session, peer)
        self.scope = trio.CancelScope()
        self.reading = False

    def close(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        self.finish(why, reason)
        self.scope.cancel()

    def finish(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        if self.closing is None:
            self.closing = why
            self.reason = reason
        if self.reading:
            self.scope.cancel()
