"""Values of the route table: a registration, a group of brokers, a live entry.

Rules of this file: values and what follows from one of them; ``route_table`` relates them.

Java: ``BrokerData``, ``BrokerLiveInfo``, ``RegisterBrokerResult``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rocketwire.flags import Perm
from rocketwire_namesrv.events import MinBrokerIdChanged
from rocketwire_namesrv.routes.java_hashmap import HashMap

if TYPE_CHECKING:
    from rocketwire.messages.registration import DataVersion
    from rocketwire.messages.route import TopicQueueMappingInfo
    from rocketwire.serving.events import Event
    from rocketwire_namesrv.routes.queue_layouts import QueueSettings

ALL_PERMS = -1
MASTER_ID = 0
DEFAULT_TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 3_600_000
"""Maximum heartbeat timeout: a broker with a longer one would stay in the routes long after it
died."""

LiveKey = tuple[str, str]
"""Cluster name and broker address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """The registration of a broker, in whichever form it came."""

    cluster: str
    address: str
    broker_name: str
    broker_id: int
    data_version: DataVersion
    connection_id: int  #: the connection it came over
    ha_address: str | None = None
    zone_name: str | None = None
    timeout_ms: int | None = None  #: silence after which the broker expires; None for the default
    enable_acting_master: bool | None = None  #: None if the broker is too old to send it
    topics: Collection[tuple[str, QueueSettings]] = ()  #: name and settings of each topic
    #: the keys under which they came; they differ from the names only in crafted input
    topic_keys: Collection[str] = ()
    mappings: Mapping[str, TopicQueueMappingInfo]
    filter_servers: Sequence[str] | None = ()  #: None leaves the registered ones as they are
    #: of its body, kept to compare the next one with it; None if nothing is kept
    record: object = None
    version: int | None = None  #: of the protocol, as in the request
    #: number of topics in the request that are not in ``topics`` because of a limit
    left_out: int = 0

    @property
    def topic_count(self) -> int:
        return len(self.topics) + self.left_out

    @property
    def key(self) -> LiveKey:
        return self.cluster, self.address


class Registered(NamedTuple):
    """The result of a registration; ``accepted`` is False for one topic of a broker that is not
    registered yet."""

    accepted: bool
    ha_address: str | None
    master_address: str | None
    events: list[Event]


class RegisteredBody(NamedTuple):
    """The body that a broker registered last, and the conditions under which it still holds."""

    record: object  #: of the body
    broker_name: str  #: under which it was registered
    keep: int | None  #: mask of the permissions; None if the broker does not speak for its group
    losses: int  #: value of ``TopicTable.losses`` with which the broker has every topic of the body


class BrokerGroup:
    """The members that share a broker name (Java: ``BrokerData``)."""

    __slots__ = ("addresses", "cluster", "enable_acting_master", "name", "zone_name")

    def __init__(self, cluster: str, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.addresses: HashMap[int, str] = HashMap()
        self.zone_name: str | None = None
        self.enable_acting_master = False

    def is_prime_slave(self, registration: Registration) -> bool:
        """Return whether the registrant, already a member, is the slave that speaks for the
        group."""
        return (
            registration.enable_acting_master is not None
            and registration.broker_id != MASTER_ID
            and registration.broker_id == min(self.addresses)
        )

    def perms_of(self, registration: Registration) -> int | None:
        """Return the mask of the permissions that the registrant, already a member, gives to
        topics: all as a master, all but writing as an acting master; None if it does not speak for
        the group."""
        if registration.broker_id == MASTER_ID:
            return ALL_PERMS
        if not self.is_prime_slave(registration):
            return None
        return ~int(Perm.WRITE) if registration.enable_acting_master else ALL_PERMS

    def smallest_joined(self, ha_address: str | None) -> MinBrokerIdChanged:
        """Return the event that the new member has the smallest id, for all other members, or for
        itself if it is the only one."""
        smallest = min(self.addresses)
        members = tuple(
            self.addresses[number]
            for number in self.addresses.in_java_order()
            if number != smallest
        )
        address = self.addresses[smallest]
        return MinBrokerIdChanged(
            broker_id=smallest,
            address=address,
            targets=members or (address,),
            ha_address=ha_address,
        )

    def smallest_left(self, offline_address: str) -> MinBrokerIdChanged:
        """Return the event that the member with the smallest id has left, for all other
        members."""
        smallest = min(self.addresses)
        return MinBrokerIdChanged(
            broker_id=smallest,
            address=self.addresses[smallest],
            targets=tuple(self.addresses[number] for number in self.addresses.in_java_order()),
            offline_address=offline_address,
        )


class LiveEntry:
    """A live broker (Java: ``BrokerLiveInfo``), with the broker names it registered under."""

    __slots__ = (
        "body",
        "connection_id",
        "data_version",
        "ha_address",
        "last_update",
        "names",
        "timeout_ms",
        "version",
    )

    def __init__(self, registration: Registration, names: set[str], now: float) -> None:
        self.connection_id = registration.connection_id
        self.data_version = registration.data_version
        self.ha_address = registration.ha_address
        self.timeout_ms = clamp_timeout(registration.timeout_ms)
        self.last_update = now
        self.names = names
        self.body: RegisteredBody | None = None
        self.version = registration.version

    def expired(self, now: float) -> bool:
        return self.last_update + self.timeout_ms / 1000 < now


def clamp_timeout(timeout_ms: int | None) -> int:
    """Return a valid timeout: the default if it is not positive, and at most
    ``MAX_TIMEOUT_MS``."""
    if timeout_ms is None or timeout_ms <= 0:
        return DEFAULT_TIMEOUT_MS
    return min(timeout_ms, MAX_TIMEOUT_MS)
