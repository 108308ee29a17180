"""Registration, heartbeats and unregistration of brokers at name servers.

Rules of this file: a packed registration is recognised by its zlib stream and not by the header,
because Java's brokers send ``compressed=false`` with it (``BrokerOuterAPI.registerBroker``).  The
packed form has no ``topicSysFlag``, ``order`` and ``mappingDataVersion``.  Two protocol versions
matter: before 37 the body is a bare ``TopicConfigSerializeWrapper``, and from 413 on the packed
form ends with static mappings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from rocketwire.errors import DecodeError, EncodeError
from rocketwire.messages._codec.fields import (
    BOOLEAN,
    BOXED_BOOLEAN,
    BOXED_LONG,
    INTEGER,
    STRING,
    decode_body,
    encode_body,
    ext,
    listing,
    member,
    read_text,
    record,
)
from rocketwire.messages._codec.java_numbers import Mismatch, kind
from rocketwire.messages.kvconfig import KVTable
from rocketwire.messages.route import TopicQueueMappingInfo
from rocketwire.messages.topic_config import DataVersion as DataVersion
from rocketwire.messages.topic_config import TopicConfig as TopicConfig
from rocketwire.messages.topic_config import (
    TopicConfigAndMappingSerializeWrapper as TopicConfigAndMappingSerializeWrapper,
)
from rocketwire.messages.topic_config import (
    TopicConfigSerializeWrapper as TopicConfigSerializeWrapper,
)
from rocketwire.messages.topic_config import decode_topic, encode_topic
from rocketwire.messages.topic_config import with_timestamp as with_timestamp
from rocketwire.versions import CURRENT_VERSION, MQVersion
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.json.fastjson import DEFAULT_LIMITS, JsonLimits, JsonValue, dumps
from rocketwire.wire.layouts.fused import (
    build_register_body,
    build_register_body_with_mappings,
    parse_register_body,
    parse_register_body_with_mappings,
)
from rocketwire.wire.values.frozen import dataclass
from rocketwire.wire.zlib_stream import deflate, inflate, looks_like_zlib

# Maximum size of an inflated registration in bytes: a million topics of 60 bytes
MAX_INFLATED: Final = 64 * 1024 * 1024
# Maximum inflated bytes for each byte of the stream; real registrations stay below 40
MAX_RATIO: Final = 200

_FILTER_SERVERS = listing(STRING)
_EMPTY_VERSION: Final = DataVersion(counter=0, state_version=0, timestamp=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerRequestHeader:
    """Registers a broker, with all its topics or with one (code 103).
    Java: ``remoting.protocol.header.namesrv.RegisterBrokerRequestHeader``."""

    broker_name: str | None = ext(STRING, required=True)
    #: ``host:port``, opaque to the name server
    broker_addr: str | None = ext(STRING, required=True)
    cluster_name: str | None = ext(STRING, required=True)
    ha_server_addr: str | None = ext(STRING, required=True)  #: where slaves replicate from
    broker_id: int | None = ext(BOXED_LONG, required=True)  #: 0 is the master
    #: after this time without a heartbeat the name server removes the broker
    heartbeat_timeout_millis: int | None = ext(BOXED_LONG)
    #: whether a slave may act as master; None from brokers without this field
    enable_acting_master: bool | None = ext(BOXED_BOOLEAN)
    #: whether the body is packed; often wrong, so look at the body instead
    compressed: bool = ext(BOOLEAN)
    #: checksum of the body as sent, 31 bits; 0 disables the check
    body_crc32: int | None = ext(INTEGER, default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerResponseHeader:
    """Addresses that the name server returns to a broker.
    Java: ``remoting.protocol.header.namesrv.RegisterBrokerResponseHeader``."""

    ha_server_addr: str | None = ext(STRING)
    master_addr: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnRegisterBrokerRequestHeader:
    """Unregisters a broker (code 104).
    Java: ``remoting.protocol.header.namesrv.UnRegisterBrokerRequestHeader``."""

    broker_name: str | None = ext(STRING, required=True)
    broker_addr: str | None = ext(STRING, required=True)
    cluster_name: str | None = ext(STRING, required=True)
    broker_id: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDataVersionRequestHeader:
    """Asks whether the name server has the broker's current topics (code 322).
    Java: ``remoting.protocol.header.namesrv.QueryDataVersionRequestHeader``."""

    broker_name: str | None = ext(STRING, required=True)
    broker_addr: str | None = ext(STRING, required=True)
    cluster_name: str | None = ext(STRING, required=True)
    broker_id: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDataVersionResponseHeader:
    """Whether the broker's topics differ from those of the name server.
    Java: ``remoting.protocol.header.namesrv.QueryDataVersionResponseHeader``."""

    changed: bool | None = ext(BOXED_BOOLEAN, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerHeartbeatRequestHeader:
    """Heartbeat of a broker without a registration (code 904).
    Java: ``remoting.protocol.header.namesrv.BrokerHeartbeatRequestHeader``."""

    cluster_name: str | None = ext(STRING, required=True)
    broker_addr: str | None = ext(STRING, required=True)
    broker_name: str | None = ext(STRING, required=True)
    broker_id: int | None = ext(BOXED_LONG)
    epoch: int | None = ext(INTEGER)
    max_offset: int | None = ext(BOXED_LONG)
    confirm_offset: int | None = ext(BOXED_LONG)
    heartbeat_timeout_mills: int | None = ext(BOXED_LONG)
    election_priority: int | None = ext(INTEGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyMinBrokerIdChangeRequestHeader:
    """Notifies a broker group that its lowest broker id changed (code 905)."""

    min_broker_id: int | None = ext(BOXED_LONG)  #: the lowest id of a registered broker
    broker_name: str | None = ext(STRING)
    min_broker_addr: str | None = ext(STRING)  #: its address
    offline_broker_addr: str | None = ext(STRING)  #: address of the broker that left, or empty
    ha_broker_addr: str | None = ext(STRING)  #: where to replicate from, if the master is new


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerBody:
    """Body of a registration."""

    #: addresses; None leaves those of the name server unchanged
    filter_server_list: tuple[str, ...] | None = member(listing(STRING), default=())
    #: the topics
    topic_config_serialize_wrapper: TopicConfigAndMappingSerializeWrapper | None = member(
        record(TopicConfigAndMappingSerializeWrapper), factory=TopicConfigAndMappingSerializeWrapper
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerResult:
    """The response to a registration as a Java broker keeps it; never sent.
    Java: ``remoting.protocol.namesrv.RegisterBrokerResult``."""

    ha_server_addr: str | None = member(STRING)
    kv_table: KVTable | None = member(record(KVTable))
    master_addr: str | None = member(STRING)


class RegisterParts(NamedTuple):
    """The undecoded parts of an inflated registration."""

    data_version: bytes  #: JSON of DataVersion
    topics: list[bytes]  #: topic strings, six items separated by spaces
    filter_servers: bytes  #: JSON array of addresses
    #: JSON of each TopicQueueMappingInfo, from protocol version 413 on
    mappings: Sequence[bytes] = ()


# ---------------------------------------------------------------------------- the body


def decode_register_broker_body(
    body: bytes | None,
    *,
    compressed: bool,
    version: int,
    limits: JsonLimits = DEFAULT_LIMITS,
    max_inflated: int = MAX_INFLATED,
) -> RegisterBrokerBody | None:
    """Decode the body of a registration, JSON or packed.

    Args:
        body: the command's body, or None.
        compressed: the value in the request header.
        version: protocol version of the command.
        limits: limits of each JSON text.
        max_inflated: maximum inflated size in bytes.

    Returns:
        The registration; its ``filter_server_list`` is None if the sender's release has no filter
        servers.  None for the JSON text null, which Java's name server cannot
        process.

    Raises:
        DecodeError: the body is invalid.
        LimitExceededError: a limit is exceeded.
    """
    if version < MQVersion.V3_0_11:
        return _decode_old(body, limits)
    if not body:
        return _registration((), _EMPTY_VERSION, {}, {})
    if compressed or looks_like_zlib(body):
        inflated = inflate(body, max_size=max_inflated, max_ratio=MAX_RATIO)
        if version >= MQVersion.V5_0_0:
            parts = RegisterParts(*parse_register_body_with_mappings(inflated)[0])
        else:
            parts = RegisterParts(*parse_register_body(inflated)[0])
        return body_from_parts(parts, limits)
    return decode_body(RegisterBrokerBody, body, limits=limits)


def encode_register_broker_body(
    body: RegisterBrokerBody, *, compressed: bool, version: int = CURRENT_VERSION
) -> bytes:
    """Encode the body of a registration, as JSON or packed.

    Args:
        body: the registration.
        compressed: whether to use the packed form, which has no ``topicSysFlag``, ``order`` and
            ``mappingDataVersion``.
        version: protocol version of the command.

    Raises:
        EncodeError: a packed registration without a wrapper, or a number outside the range of its
            Java type.
    """
    wrapper = body.topic_config_serialize_wrapper
    if not compressed:
        return encode_body(body if version >= MQVersion.V3_0_11 else _without_mappings(wrapper))
    if wrapper is None:
        raise EncodeError("a packed registration needs a topic wrapper", path="RegisterBrokerBody")
    filter_servers = body.filter_server_list
    parts = (
        _json(wrapper.data_version),
        [encode_topic(topic) for topic in (wrapper.topic_config_table or {}).values()],
        b"null" if filter_servers is None else dumps(list(filter_servers)),
    )
    if version < MQVersion.V5_0_0:
        return deflate(build_register_body(*parts))
    infos = [encode_body(info) for info in (wrapper.topic_queue_mapping_info_map or {}).values()]
    return deflate(build_register_body_with_mappings(*parts, infos))


# ---------------------------------------------------------------------------- parts


def _registration(
    filter_servers: tuple[str, ...] | None,
    data_version: DataVersion | None,
    topics: Mapping[str, TopicConfig] | None,
    infos: Mapping[str, TopicQueueMappingInfo],
) -> RegisterBrokerBody:
    return RegisterBrokerBody(
        filter_server_list=filter_servers,
        topic_config_serialize_wrapper=TopicConfigAndMappingSerializeWrapper(
            data_version=data_version, topic_config_table=topics, topic_queue_mapping_info_map=infos
        ),
    )


def _decode_old(body: bytes | None, limits: JsonLimits) -> RegisterBrokerBody | None:
    # Java has no filter servers before V3_0_11, and passes null.
    if not body:
        return _registration(None, _EMPTY_VERSION, {}, {})
    wrapper = decode_body(TopicConfigSerializeWrapper, body, limits=limits)
    if wrapper is None:
        return None
    return _registration(None, wrapper.data_version, wrapper.topic_config_table, {})


def _without_mappings(wrapper: TopicConfigSerializeWrapper | None) -> TopicConfigSerializeWrapper:
    if wrapper is None:
        raise EncodeError(
            "a registration before version 37 needs a topic wrapper", path="RegisterBrokerBody"
        )
    return TopicConfigSerializeWrapper(
        data_version=wrapper.data_version, topic_config_table=wrapper.topic_config_table
    )


def body_from_parts(
    parts: RegisterParts, limits: JsonLimits = DEFAULT_LIMITS
) -> RegisterBrokerBody:
    """Decode the parts of a packed registration.

    Raises:
        DecodeError: a part is invalid.
    """
    topics: dict[str, TopicConfig] = {}
    cache: dict[str, TopicConfig] = {}
    for item in parts.topics:
        topic = decode_topic(decode_utf8(item), limits=limits, cache=cache)
        topics[topic.topic_name or ""] = topic
    infos: dict[str, TopicQueueMappingInfo] = {}
    for item in parts.mappings:
        info = decode_body(TopicQueueMappingInfo, item, limits=limits)
        if info is None or info.topic is None:
            raise DecodeError("a static mapping without a topic name", path="TopicQueueMappingInfo")
        infos[info.topic] = info
    data_version = decode_body(DataVersion, parts.data_version, limits=limits)
    return _registration(_filter_servers(parts, limits), data_version, topics, infos)


def _filter_servers(parts: RegisterParts, limits: JsonLimits) -> tuple[str, ...] | None:
    # Java logs an invalid list and uses an empty one.
    if not parts.filter_servers:
        return None
    try:
        return read_text(_read_filter_servers, parts.filter_servers, limits)
    except (DecodeError, Mismatch):
        return ()


def _read_filter_servers(value: JsonValue) -> tuple[str, ...] | None:
    # Java 5.5.0 accepts an object or a text in place of an array.
    if isinstance(value, str | dict):
        return _FILTER_SERVERS.read([value] if value != "" else [])
    if not isinstance(value, list | None):
        raise Mismatch(f"expected an array, got {kind(value)}")
    return _FILTER_SERVERS.read(value)


def _json(version: DataVersion | None) -> bytes:
    return b"null" if version is None else encode_body(version)
