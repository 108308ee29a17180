"""A broker's topics with the version of that configuration, and the registrations that tell of them; pure.

Rules of this file: every change moves the version on, and so does every part of a registration that is sent in parts, because
a name server takes a body for what it knows already as long as the version is the same.

Java: ``TopicConfigManager`` (``buildSerializeWrapper``), ``BrokerController.registerBrokerAll``, ``BrokerOuterAPI``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rocketwire.errors import LocalProtocolError
from rocketwire.messages.registration import (
    BrokerHeartbeatRequestHeader,
    QueryDataVersionRequestHeader,
    RegisterBrokerBody,
    RegisterBrokerRequestHeader,
    UnRegisterBrokerRequestHeader,
    encode_register_broker_body,
)
from rocketwire.messages.topic_config import (
    DataVersion,
    TopicConfig,
    TopicConfigAndMappingSerializeWrapper,
)
from rocketwire.wire.checksum import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SPLIT_SIZE: Final = 800
"""Topics of one part, where registrations are sent in parts (Java: ``splitRegistrationSize``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerIdentity:
    """Who registers.

    Attributes:
        cluster_name: of its cluster.
        broker_name: of its group.
        broker_addr: ``host:port`` that clients are told.
        broker_id: 0 is the master.
        ha_server_addr: where slaves fetch from; None for the port after ``broker_addr``'s.
    """

    cluster_name: str
    broker_name: str
    broker_addr: str
    broker_id: int = 0
    ha_server_addr: str | None = None

    @property
    def ha_address(self) -> str:
        """Where slaves fetch from."""
        if self.ha_server_addr is not None:
            return self.ha_server_addr
        host, _, port = self.broker_addr.rpartition(":")
        return f"{host}:{int(port) + 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationSettings:
    """How a broker registers; the defaults are Java's.

    Attributes:
        register_interval: seconds between two full registrations; Java keeps them between 10 and 60.
        force_register: register without asking whether the name server knows the topics already.
        packed: deflate registrations.  Java's switch for it is broken: it labels the packed body as plain, which its own name
            server refuses; here the label is right.
        split_size: topics of one part; 0 to send all at once.
        enable_acting_master: whether a slave may stand in for the master; brokers that do send heartbeats.
        heartbeat_interval: seconds between two heartbeats.
        heartbeat_timeout: seconds without a heartbeat after which the broker is dead.
        old_name_servers: heartbeats are questions for the data version (322), which name servers of 4.x understand.
        register_timeout: seconds for one registration.
        call_timeout: seconds for anything else.
    """

    register_interval: float = 30.0
    force_register: bool = True
    packed: bool = False
    split_size: int = 0
    enable_acting_master: bool = False
    heartbeat_interval: float = 1.0
    heartbeat_timeout: float = 10.0
    old_name_servers: bool = True
    register_timeout: float = 24.0
    call_timeout: float = 3.0


class BrokerTopics:
    """Topics by name, and which version of them this is."""

    def __init__(self, topics: Iterable[TopicConfig], *, now_ms: int) -> None:
        """The first version.

        Args:
            topics: all of them, each with a name.
            now_ms: milliseconds since 1970.

        Raises:
            LocalProtocolError: a topic has no name.
        """
        self._topics = {_name(topic): topic for topic in topics}
        self.version = DataVersion(counter=0, state_version=0, timestamp=now_ms)

    @property
    def topics(self) -> Mapping[str, TopicConfig]:
        """The topics as they are now."""
        return self._topics

    def put(self, topics: Iterable[TopicConfig], *, now_ms: int) -> None:
        """Adds or changes topics.

        Raises:
            LocalProtocolError: a topic has no name; nothing has changed.
        """
        self._topics |= {_name(topic): topic for topic in topics}
        self._moved_on(now_ms)

    def remove(self, names: Iterable[str], *, now_ms: int) -> None:
        """Drops topics; name servers keep them unless they are told to delete them."""
        for name in names:
            self._topics.pop(name, None)
        self._moved_on(now_ms)

    def whole(self, split_size: int, *, now_ms: int) -> Iterator[RegisterBrokerBody]:
        """The registration of everything, in as many parts as that size asks for; 0 for one.

        A generator: each part has the version of the moment in which it is made.
        """
        names = list(self._topics)
        if not split_size or len(names) <= split_size:
            yield self.body_of(self._topics)
            return
        for start in range(0, len(names), split_size):
            self._moved_on(now_ms)
            yield self.body_of(
                {name: self._topics[name] for name in names[start : start + split_size]}
            )

    def body_of(self, topics: Mapping[str, TopicConfig]) -> RegisterBrokerBody:
        """The registration of these topics at the present version."""
        wrapper = TopicConfigAndMappingSerializeWrapper(
            data_version=self.version,
            topic_config_table=dict(topics),
            mapping_data_version=replace(self.version, counter=0),
        )
        return RegisterBrokerBody(topic_config_serialize_wrapper=wrapper)

    def _moved_on(self, now_ms: int) -> None:
        counter = (self.version.counter or 0) + 1
        self.version = replace(self.version, counter=counter, timestamp=now_ms)


def _name(topic: TopicConfig) -> str:
    if not topic.topic_name:
        raise LocalProtocolError("a topic without a name")
    return topic.topic_name


def registration_of(
    who: BrokerIdentity, settings: RegistrationSettings, body: RegisterBrokerBody, version: int
) -> tuple[RegisterBrokerRequestHeader, bytes]:
    """Header and body of a registration (code 103).

    Args:
        who: registers.
        settings: how.
        body: which topics.
        version: protocol version of the command.
    """
    data = encode_register_broker_body(body, compressed=settings.packed, version=version)
    acting = settings.enable_acting_master
    header = RegisterBrokerRequestHeader(
        broker_name=who.broker_name,
        broker_addr=who.broker_addr,
        cluster_name=who.cluster_name,
        ha_server_addr=who.ha_address,
        broker_id=who.broker_id,
        enable_acting_master=acting,
        heartbeat_timeout_millis=int(settings.heartbeat_timeout * 1000) if acting else None,
        compressed=settings.packed,
        body_crc32=crc32(data),
    )
    return header, data


def unregistration_of(who: BrokerIdentity) -> UnRegisterBrokerRequestHeader:
    """Header of a leave (code 104)."""
    return UnRegisterBrokerRequestHeader(
        broker_name=who.broker_name,
        broker_addr=who.broker_addr,
        cluster_name=who.cluster_name,
        broker_id=who.broker_id,
    )


def version_question_of(who: BrokerIdentity) -> QueryDataVersionRequestHeader:
    """Header of the question whether a name server knows the present topics (code 322)."""
    return QueryDataVersionRequestHeader(
        broker_name=who.broker_name,
        broker_addr=who.broker_addr,
        cluster_name=who.cluster_name,
        broker_id=who.broker_id,
    )


def heartbeat_header_of(who: BrokerIdentity) -> BrokerHeartbeatRequestHeader:
    """Header of a heartbeat (code 904)."""
    return BrokerHeartbeatRequestHeader(
        cluster_name=who.cluster_name, broker_addr=who.broker_addr, broker_name=who.broker_name
    )
