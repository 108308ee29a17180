"""The names of the limits of a name server, and the events when one is exceeded.

Rules of this file: pure.  A limit is a setting; a larger amount is refused with one event that
names the setting; ``docs/limits.md`` has the table. The fast path of route requests checks no limit
per request: it is bounded by the bytes received at a time.

Java has only the limit of the frame's length.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from rocketwire.errors import DecodeError, FrameTooLargeError, HeaderTooLargeError, RocketWireError
from rocketwire_namesrv.events import Event, Level


class Limit(StrEnum):
    """The settings, as in log lines and counters."""

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


class LimitExceeded(Event):
    """A request or connection was refused because of a limit.

    Attributes:
        limit: name of the setting.
        what: the refused amount.
    """

    level = Level.WARNING
    limit: str
    allowed: int
    what: str
    template = "limit {limit}={allowed} exceeded: {what}"


class FrameRefused(LimitExceeded):
    """A frame is too large; another log line describes its bytes."""

    level = Level.DEBUG

    @classmethod
    def of(cls, error: DecodeError) -> tuple[FrameRefused, ...]:
        """Return the event if a frame was refused because of its size."""
        if isinstance(error, FrameTooLargeError):
            limit, what = Limit.FRAME_LENGTH, "frame"
        elif isinstance(error, HeaderTooLargeError):
            limit, what = Limit.HEADER_LENGTH, "header"
        else:
            return ()
        text = f"a {what} of {error.declared} bytes"
        return (cls(limit=limit, allowed=error.limit, what=text),)


class ConnectionTooSlow(LimitExceeded):
    """A connection is closed, because it exceeded a deadline.

    Attributes:
        client: address of the peer.
    """

    level = Level.INFO
    client: str
    template = "connection of {client} closed: {what}"


class ExceededAgain(LimitExceeded):
    """The limit was exceeded again shortly after a log line about it."""

    level = Level.DEBUG


class LimitReachedError(RocketWireError):
    """A request is refused because of a limit, and has changed nothing.

    Attributes:
        event: for the log; the remark of the response says the same.
    """

    def __init__(self, limit: Limit, allowed: int, what: str) -> None:
        super().__init__(f"{what}: this name server's {limit} is {allowed}")
        self.event = LimitExceeded(limit=limit, allowed=allowed, what=what)


def exceeds(amount: int, limit: int) -> bool:
    """Return whether an amount is above a limit; a limit of 0 or less is none."""
    return 0 < limit < amount


class Holdings:
    """Bytes held for all connections: of incomplete or waiting requests, or of unsent responses.

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
        """Set the bytes that a connection holds."""
        self.total += size - self._by_connection.get(connection_id, 0)
        if size:
            self._by_connection[connection_id] = size
        else:
            self._by_connection.pop(connection_id, None)

    def relieved(self, limit: int) -> Iterator[tuple[int, int]]:
        """Remove the connections with the most bytes until the total is within the limit; yield
        their ids and bytes. Among equals the oldest comes first."""
        while exceeds(self.total, limit):
            number = max(self._by_connection, key=self._by_connection.__getitem__)
            size = self._by_connection[number]
            self.note(number, 0)
            yield number, size
