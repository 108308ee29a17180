"""A broker's topics with their version, and the registrations that contain them; pure.

Every change gets a new version. So does every part of a split registration, because a name server
ignores a body whose version it already has.

Java: ``TopicConfigManager`` (``buildSerializeWrapper``), ``BrokerController.registerBrokerAll``,
``BrokerOuterAPI``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from rocketwire.errors import LocalProtocolError
from rocketwire.messages.registration import (
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
    from rocketwire.messages.route import TopicQueueMappingInfo

Header = TypeVar("Header", QueryDataVersionRequestHeader, UnRegisterBrokerRequestHeader)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerIdentity:
    """The identity of a broker."""

    cluster_name: str  #: name of the cluster
    broker_name: str  #: name of the broker group
    broker_addr: str  #: ``host:port`` for clients
    broker_id: int = 0  #: 0 is the master
    #: address for slaves; None for the port after ``broker_addr``'s
    ha_server_addr: str | None = None

    @property
    def ha_address(self) -> str:
        if self.ha_server_addr is not None:
            return self.ha_server_addr
        host, _, port = self.broker_addr.rpartition(":")
        return f"{host}:{int(port) + 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationSettings:
    """Settings of a registration; the defaults are Java's."""

    #: seconds between two full registrations; limited to 10 to 60, as in Java
    register_interval: float = 30.0
    #: register without a query whether the name server has the same topics
    force_register: bool = True
    #: compress registrations. In Java, this setting is broken: it marks the compressed body as
    #: plain, and its own name server rejects it. Here, the mark is right.
    packed: bool = False
    split_size: int = 0  #: topics in each part; 0 to send one registration
    #: let a slave act as master; the broker then sends heartbeats
    enable_acting_master: bool = False
    heartbeat_interval: float = 1.0  #: seconds between two heartbeats
    #: seconds without a heartbeat after which the name server removes the broker
    heartbeat_timeout: float = 10.0
    #: send heartbeats as data version queries (322), which name servers of 4.x support
    old_name_servers: bool = True
    register_timeout: float = 24.0  #: timeout of a registration in seconds
    call_timeout: float = 3.0  #: timeout of other requests in seconds


class BrokerTopics:
    def __init__(
        self,
        topics: Iterable[TopicConfig],
        mappings: Iterable[TopicQueueMappingInfo] = (),
        *,
        now_ms: int,
    ) -> None:
        """Start with version 0; ``mappings`` are the logical queues of static topics."""
        self._topics = {_require_name(topic): topic for topic in topics}
        self._mappings = {mapping.topic or "": mapping for mapping in mappings}
        self.version: DataVersion = DataVersion(counter=0, state_version=0, timestamp=now_ms)

    @property
    def topics(self) -> Mapping[str, TopicConfig]:
        return self._topics

    def put(
        self,
        topics: Iterable[TopicConfig],
        mappings: Iterable[TopicQueueMappingInfo] = (),
        *,
        now_ms: int,
    ) -> None:
        self._topics |= {_require_name(topic): topic for topic in topics}
        self._mappings |= {mapping.topic or "": mapping for mapping in mappings}
        self._advance_version(now_ms)

    def remove(self, names: Iterable[str], *, now_ms: int) -> None:
        for name in names:
            self._topics.pop(name, None)
            self._mappings.pop(name, None)
        self._advance_version(now_ms)

    def build_registrations(self, split_size: int, *, now_ms: int) -> Iterator[RegisterBrokerBody]:
        """Yield the registration of all topics; parts of a split one have versions of their own."""
        names = list(self._topics)
        if not split_size or len(names) <= split_size:
            yield self.build_body(self._topics)
            return
        for start in range(0, len(names), split_size):
            self._advance_version(now_ms)
            yield self.build_body(
                {name: self._topics[name] for name in names[start : start + split_size]}
            )

    def build_body(self, topics: Mapping[str, TopicConfig]) -> RegisterBrokerBody:
        wrapper = TopicConfigAndMappingSerializeWrapper(
            data_version=self.version,
            topic_config_table=dict(topics),
            mapping_data_version=replace(self.version, counter=0),
            topic_queue_mapping_info_map={
                name: mapping for name, mapping in self._mappings.items() if name in topics
            },
        )
        return RegisterBrokerBody(topic_config_serialize_wrapper=wrapper)

    def _advance_version(self, now_ms: int) -> None:
        counter = (self.version.counter or 0) + 1
        self.version = replace(self.version, counter=counter, timestamp=now_ms)


def _require_name(topic: TopicConfig) -> str:
    if not topic.topic_name:
        raise LocalProtocolError("a topic has no name")
    return topic.topic_name


def build_registration(
    identity: BrokerIdentity, settings: RegistrationSettings, body: RegisterBrokerBody, version: int
) -> tuple[RegisterBrokerRequestHeader, bytes]:
    data = encode_register_broker_body(body, compressed=settings.packed, version=version)
    timeout_ms = int(settings.heartbeat_timeout * 1000) if settings.enable_acting_master else None
    header = RegisterBrokerRequestHeader(
        broker_name=identity.broker_name,
        broker_addr=identity.broker_addr,
        cluster_name=identity.cluster_name,
        ha_server_addr=identity.ha_address,
        broker_id=identity.broker_id,
        enable_acting_master=settings.enable_acting_master,
        heartbeat_timeout_millis=timeout_ms,
        compressed=settings.packed,
        body_crc32=crc32(data),
    )
    return header, data


def identify(header_class: type[Header], identity: BrokerIdentity) -> Header:
    """Build the header of an unregistration (code 104), or of a query of the version (code 322)."""
    return header_class(
        broker_name=identity.broker_name,
        broker_addr=identity.broker_addr,
        cluster_name=identity.cluster_name,
        broker_id=identity.broker_id,
    )
