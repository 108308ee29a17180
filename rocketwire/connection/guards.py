"""What a server allows a connection: its time, and its part of the memory.

Rules of this file: no I/O and no clock.  ``now`` is the time in seconds of any monotonic clock.
There is no timer per connection or request: a driver notes times, and asks each connection once in
a while whether it is overdue.

Java has the limit of the frame's length and the idle time only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple, Protocol, Self


class Guard(StrEnum):
    """The settings of a server's guards, as in configuration files, log lines and counters."""

    FRAME_LENGTH = "rocketwire.frameMaxLength"
    HEADER_LENGTH = "rocketwire.headerMaxLength"
    CONNECTIONS = "rocketwire.maxConnections"
    CONNECTIONS_PER_ADDRESS = "rocketwire.maxConnectionsPerAddress"
    IDLE_TIME = "serverChannelMaxIdleTimeSeconds"
    FRAME_DEADLINE = "rocketwire.frameDeadlineSeconds"
    FIRST_FRAME_DEADLINE = "rocketwire.firstFrameDeadlineSeconds"
    SEND_DEADLINE = "rocketwire.sendDeadlineSeconds"
    UNSENT_BYTES = "rocketwire.maxUnsentBytes"
    ALL_UNSENT_BYTES = "rocketwire.maxAllUnsentBytes"
    BUFFERED_BYTES = "rocketwire.maxBufferedBytes"


def exceeds(amount: int, limit: int) -> bool:
    return 0 < limit < amount


class GuardSettings(Protocol):
    """The settings of the deadlines, in seconds; 0 or less is none."""

    @property
    def server_channel_max_idle_time_seconds(self) -> int: ...

    @property
    def frame_deadline_seconds(self) -> int: ...

    @property
    def send_deadline_seconds(self) -> int: ...

    @property
    def first_frame_deadline_seconds(self) -> int: ...


class Deadlines(NamedTuple):
    idle: float = math.inf  #: without a complete frame or a sent response
    frame: float = math.inf  #: from a frame's first byte to its last
    #: from the first to the last byte of responses that the peer does not read
    send: float = math.inf
    first_frame: float = math.inf  #: from the connection to the end of its first frame

    @classmethod
    def of(cls, settings: GuardSettings) -> Self:
        values = (
            settings.server_channel_max_idle_time_seconds,
            settings.frame_deadline_seconds,
            settings.send_deadline_seconds,
            settings.first_frame_deadline_seconds,
        )
        return cls(*(seconds if seconds > 0 else math.inf for seconds in values))


class Overdue(NamedTuple):
    guard: Guard  #: its setting
    seconds: float  #: its value
    text: str  #: what happened


class Activity:
    __slots__ = ("frame_since", "heard", "is_active", "sending", "since")

    def __init__(self, now: float) -> None:
        self.since: float = now  #: when it was accepted
        self.heard: float = now  #: time of its last complete frame or sent response
        #: start of the incomplete frame; infinite if there is none
        self.frame_since: float = math.inf
        self.sending: bool = False  #: whether responses are unsent since ``heard``
        #: whether there was a complete frame or a sent response since the last call of ``overdue``;
        #: a driver sets it in the place of ``heard`` where reading a clock costs too much
        self.is_active: bool = False

    def note_frames(self, now: float, *, is_complete: bool, is_started: bool) -> None:
        # a part of a frame does not count as activity, as in Java
        if is_complete or not is_started:
            self.heard = now
            self.frame_since = now if is_started else math.inf
        else:
            self.frame_since = min(self.frame_since, now)

    def overdue(self, now: float, deadlines: Deadlines) -> Overdue | None:
        if self.is_active:
            self.is_active, self.heard = False, now
        silence = now - self.heard
        if silence >= deadlines.idle:
            return _overdue(Guard.IDLE_TIME, deadlines.idle, "idle for")
        if now - self.frame_since >= deadlines.frame:
            return _overdue(Guard.FRAME_DEADLINE, deadlines.frame, "a frame took longer than")
        if self.sending and silence >= deadlines.send:
            return _overdue(Guard.SEND_DEADLINE, deadlines.send, "responses were not read for")
        if now - self.since >= deadlines.first_frame and self.heard == self.since:
            seconds = deadlines.first_frame
            return _overdue(Guard.FIRST_FRAME_DEADLINE, seconds, "without a frame for")
        return None


def _overdue(guard: Guard, seconds: float, text: str) -> Overdue:
    return Overdue(guard, seconds, f"{text} {seconds:g} s")


class Holdings:
    """Bytes held for all connections: of incomplete or waiting requests, or of unsent responses."""

    __slots__ = ("_by_connection", "total")

    def __init__(self) -> None:
        self.total: int = 0  #: in bytes
        self._by_connection: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._by_connection)

    def note(self, connection_id: int, size: int) -> None:
        self.total += size - self._by_connection.get(connection_id, 0)
        if size:
            self._by_connection[connection_id] = size
        else:
            self._by_connection.pop(connection_id, None)

    def remove_largest(self, limit: int) -> Iterator[tuple[int, int]]:
        """Remove the connections with the most bytes until the total is within the limit; yield
        their ids and bytes. Among equals the oldest comes first."""
        while exceeds(self.total, limit):
            number = max(self._by_connection, key=self._by_connection.__getitem__)
            size = self._by_connection[number]
            self.note(number, 0)
            yield number, size
