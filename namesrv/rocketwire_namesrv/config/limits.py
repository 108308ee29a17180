"""The names of a name server's own limits; ``rocketwire.connection.guards`` has the others.

Rules of this file: pure.  A limit is a setting; a larger amount is refused with one event that
names the setting; ``docs/limits.md`` has the table. The fast path of route requests checks no limit
per request: it is bounded by the bytes received at a time.

Java has none of them.
"""

from __future__ import annotations

from enum import StrEnum

from rocketwire.errors import RocketWireError
from rocketwire.serving.events import LimitExceeded


class Limit(StrEnum):
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
    REQUESTS_IN_FLIGHT = "rocketwire.maxRequestsInFlight"
    NOTIFICATIONS = "rocketwire.maxNotifications"


class LimitReachedError(RocketWireError):
    """A request is refused because of a limit, and has changed nothing."""

    def __init__(self, limit: Limit, allowed: int, what: str) -> None:
        super().__init__(f"{what}: this name server's {limit} is {allowed}")
        #: for the log; the remark of the response says the same
        self.event = LimitExceeded(limit=limit, allowed=allowed, what=what)
