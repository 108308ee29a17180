"""What the limits of a name server are called, and what happens at one of them.

Rules of this file: pure.  A limit is a setting, an amount beyond it is refused with one occurrence
that names the setting; ``docs/limits.md`` has the table.  Nothing here is asked per request on the
short way of route requests: those are bounded by the bytes received at a time.

Java has none of these but the frame's length.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rocketwire.errors import FrameTooLargeError, HeaderTooLargeError, RocketWireError
from rocketwire_namesrv.events import Event, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.errors import DecodeError

__all__ = [
    "ConnectionTooSlow",
    "ExceededAgain",
    "FrameRefused",
    "Holdings",
    "Limit",
    "LimitExceeded",
    "LimitReachedError",
    "exceeds",
]


class Limit(StrEnum):
    """Settings, by which log lines and counters name them."""

    FRAME_LENGTH = "rocketwire.frameMaxLength"
    HEADER_LENGTH = "rocketwire.headerMaxLength"
    BODY_LENGTH = "rocketwire.bodyMaxLength"
    INFLATED_LENGTH = "rocketwire.inflatedMaxLength"
    NAME_LENGTH = "rocketwire.maxNameLength"
    TOPICS_PER_REGISTRATION = "rocketwire.maxTopicsPerRegistration"
    TOPICS_PER_BROKER = "rocketwire.maxTopicsPerBroker"
    TOPICS = "rocketwire.maxTopics"
    QUEUES = "rocketwire.maxQueuesPerTopic"
    MAPPED_QUEUES = "rocketwire.maxMappedQueues"
    BROKERS = "rocketwire.maxBrokers"
    FILTER_SERVERS = "rocketwire.maxFilterServers"
    KV_NAMESPACES = "rocketwire.maxKvNamespaces"
    KV_ENTRIES = "rocketwire.maxKvEntries"
    KV_VALUE_LENGTH = "rocketwire.maxKvValueLength"
    KV_LENGTH = "rocketwire.maxKvLength"
    CONNECTIONS = "rocketwire.maxConnections"
    CONNECTIONS_PER_ADDRESS = "rocketwire.maxConnectionsPerAddress"
    IDLE_TIME = "serverChannelMaxIdleTimeSeconds"
    FRAME_DEADLINE = "rocketwire.frameDeadlineSeconds"
    FIRST_FRAME_DEADLINE = "rocketwire.firstFrameDeadlineSeconds"
    SEND_DEADLINE = "rocketwire.sendDeadlineSeconds"
    REQUESTS_IN_FLIGHT = "rocketwire.maxRequestsInFlight"
    UNSENT_BYTES = "rocketwire.maxUnsentBytes"
    ALL_UNSENT_BYTES = "rocketwire.maxAllUnsentBytes"
    BUFFERED_BYTES = "rocketwire.maxBufferedBytes"
    NOTIFICATIONS = "rocketwire.maxNotifications"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitExceeded(Event):
    """Somebody asked for more than a limit allows, and did not get it.

    Attributes:
        limit: name of the setting.
        allowed: its value.
        what: what there was too much of.
    """

    level = Level.WARNING
    limit: str
    allowed: int
    what: str
    template = "limit {limit}={allowed} exceeded: {what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRefused(LimitExceeded):
    """A frame is too large; the log has its line already, with what its bytes look like."""

    level = Level.DEBUG

    @classmethod
    def of(cls, error: DecodeError) -> tuple[FrameRefused, ...]:
        """What a frame was refused for, if it was its size."""
        if isinstance(error, FrameTooLargeError):
            limit, what = Limit.FRAME_LENGTH, "frame"
        elif isinstance(error, HeaderTooLargeError):
            limit, what = Limit.HEADER_LENGTH, "header"
        else:
            return ()
        text = f"a {what} of {error.declared} bytes"
        return (cls(limit=limit, allowed=error.limit, what=text),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionTooSlow(LimitExceeded):
    """A connection is closed, because its time is up.

    Attributes:
        client: who was connected.
    """

    level = Level.INFO
    client: str
    template = "connection of {client} closed: {what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceededAgain(LimitExceeded):
    """The same as before; the log has had its line not long ago."""

    level = Level.DEBUG


class LimitReachedError(RocketWireError):
    """A request is refused because of a limit, and has changed nothing.

    Attributes:
        occurrence: for the log; the peer is told the same.
    """

    def __init__(self, limit: Limit, allowed: int, what: str) -> None:
        super().__init__(f"{what}: this name server's {limit} is {allowed}")
        self.event = LimitExceeded(limit=limit, allowed=allowed, what=what)


def exceeds(amount: int, limit: int) -> bool:
    """Whether an amount is beyond a limit, of which 0 or less is none."""
    return 0 < limit < amount


class Holdings:
    """What is held for connections, over all of them: of requests that are not whole yet or wait for
    their turn; of answers that are not taken.

    Attributes:
        total: in bytes.
    """

    __slots__ = ("_by_connection", "total")

    def __init__(self) -> None:
        self.total = 0
        self._by_connection: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._by_connection)

    def note(self, connection_id: int, size: int) -> None:
        """A connection holds so many bytes now."""
        self.total += size - self._by_connection.get(connection_id, 0)
        if size:
            self._by_connection[connection_id] = size
        else:
            self._by_connection.pop(connection_id, None)

    def relieved(self, limit: int) -> Iterator[tuple[int, int]]:
        """Takes away who holds most, as long as the total is beyond the limit: connections to be
        closed, each with its bytes.  Whoever began earlier goes first among equals."""
        while exceeds(self.total, limit):
            number = max(self._by_connection, key=self._by_connection.__getitem__)
            size = self._by_connection[number]
            self.note(number, 0)
            yield number, size
