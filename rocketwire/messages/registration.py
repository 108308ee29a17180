"""Brokers at the name server: registration, heartbeats and leave.

Rules of this file: the packed form of a registration is recognised by its zlib stream whatever the
header's label says, because Java's brokers label it ``compressed=false``
(``BrokerOuterAPI.registerBroker``).  It carries neither ``topicSysFlag`` nor ``order`` nor
``mappingDataVersion``.  Two protocol versions matter: 37, below which the body is a bare
``TopicConfigSerializeWrapper``, and 413, from which on the packed form ends in static mappings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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
from rocketwire.messages.topic_config import stamped as stamped
from rocketwire.versions import CURRENT_VERSION, MQVersion
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.json.fastjson import DEFAULT_LIMITS, dumps
from rocketwire.wire.layouts.functions import (
    RegisterParts,
    build_register_body,
    parse_register_body,
)
from rocketwire.wire.values.frozen import dataclass
from rocketwire.wire.zlib_stream import deflate, inflate, looks_like_zlib

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.wire.json.fastjson import Dialect, JsonLimits, JsonValue

MAX_INFLATED: Final = 64 * 1024 * 1024
"""Most bytes that a packed registration may hold; at 60 a topic, a million topics."""
MAX_RATIO: Final = 200
"""Most bytes of a packed registration for each byte of its stream; real ones stay below 40."""

_FILTER_SERVERS = listing(STRING)
_EMPTY_VERSION: Final = DataVersion(counter=0, state_version=0, timestamp=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerRequestHeader:
    """A broker registers, with all its topics or with one (code 103).

    Java: ``remoting.protocol.header.namesrv.RegisterBrokerRequestHeader``.

    Attributes:
        broker_addr: ``host:port``, opaque to the name server.
        ha_server_addr: where slaves fetch from.
        broker_id: 0 is the master.
        heartbeat_timeout_millis: how long the name server believes in the broker without news.
        enable_acting_master: whether a slave may stand in; None from brokers that do not know.
        compressed: whether the body is packed; the body itself tells better.
        body_crc32: of the body as sent, 31 bits; 0 means that nothing is checked.
    """

    broker_name: str | None = ext(STRING, required=True)
    broker_addr: str | None = ext(STRING, required=True)
    cluster_name: str | None = ext(STRING, required=True)
    ha_server_addr: str | None = ext(STRING, required=True)
    broker_id: int | None = ext(BOXED_LONG, required=True)
    heartbeat_timeout_millis: int | None = ext(BOXED_LONG)
    enable_acting_master: bool | None = ext(BOXED_BOOLEAN)
    compressed: bool = ext(BOOLEAN)
    body_crc32: int | None = ext(INTEGER, default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerResponseHeader:
    """Tells a slave where its master is.

    Java: ``remoting.protocol.header.namesrv.RegisterBrokerResponseHeader``.
    """

    ha_server_addr: str | None = ext(STRING)
    master_addr: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnRegisterBrokerRequestHeader:
    """A broker leaves (code 104).

    Java: ``remoting.protocol.header.namesrv.UnRegisterBrokerRequestHeader``.
    """

    broker_name: str | None = ext(STRING, required=True)
    broker_addr: str | None = ext(STRING, required=True)
    cluster_name: str | None = ext(STRING, required=True)
    broker_id: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDataVersionRequestHeader:
    """Asks whether the name server knows the broker's present topics (code 322).

    Java: ``remoting.protocol.header.namesrv.QueryDataVersionRequestHeader``.
    """

    broker_name: str | None = ext(STRING, required=True)
    broker_addr: str | None = ext(STRING, required=True)
    cluster_name: str | None = ext(STRING, required=True)
    broker_id: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDataVersionResponseHeader:
    """Whether it does not.

    Java: ``remoting.protocol.header.namesrv.QueryDataVersionResponseHeader``.
    """

    changed: bool | None = ext(BOXED_BOOLEAN, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerHeartbeatRequestHeader:
    """A broker lives, and registers nothing (code 904).

    Java: ``remoting.protocol.header.namesrv.BrokerHeartbeatRequestHeader``.
    """

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
    """Tells a broker group that its lowest broker id changed (code 905).

    Java: ``remoting.protocol.header.NotifyMinBrokerIdChangeRequestHeader``.

    Attributes:
        min_broker_id: the lowest id that lives now.
        min_broker_addr: its address.
        offline_broker_addr: address of the broker that left, if one did.
        ha_broker_addr: where to fetch from, if the master is new.
    """

    min_broker_id: int | None = ext(BOXED_LONG)
    broker_name: str | None = ext(STRING)
    min_broker_addr: str | None = ext(STRING)
    offline_broker_addr: str | None = ext(STRING)
    ha_broker_addr: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerBody:
    """Body of a registration.

    Java: ``remoting.protocol.body.RegisterBrokerBody``.

    Attributes:
        filter_server_list: addresses; None leaves what the name server knows as it is.
        topic_config_serialize_wrapper: the topics.
    """

    filter_server_list: tuple[str, ...] | None = member(listing(STRING), default=())
    topic_config_serialize_wrapper: TopicConfigAndMappingSerializeWrapper | None = member(
        record(TopicConfigAndMappingSerializeWrapper), factory=TopicConfigAndMappingSerializeWrapper
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerResult:
    """What a broker keeps of the answer to its registration; never sent.

    Java: ``remoting.protocol.namesrv.RegisterBrokerResult``.
    """

    ha_server_addr: str | None = member(STRING)
    kv_table: KVTable | None = member(record(KVTable))
    master_addr: str | None = member(STRING)


# ---------------------------------------------------------------------------- the body


def decode_register_broker_body(
    body: bytes | None,
    *,
    compressed: bool,
    version: int,
    limits: JsonLimits = DEFAULT_LIMITS,
    dialect: Dialect | None = None,
    max_inflated: int = MAX_INFLATED,
) -> RegisterBrokerBody | None:
    """Reads the body of a registration in whichever form it has.

    Args:
        body: the bytes of the command's body, or None where it has none.
        compressed: what the request header says.
        version: protocol version of the command.
        limits: of every piece of JSON.
        dialect: of a body that is JSON; None reads what either release reads.
        max_inflated: most bytes that may come out of the zlib stream.

    Returns:
        The registration.  ``filter_server_list`` is None where the sender knows nothing about
        filter servers.  The whole is None for the JSON text null, over which Java's name server
        stumbles.

    Raises:
        DecodeError: the body cannot be read.
        LimitExceededError: it asks for more than a limit allows.
    """
    if version < MQVersion.V3_0_11:
        return _decode_old(body, limits, dialect)
    if not body:
        return _registration((), _EMPTY_VERSION, {}, {})
    if compressed or looks_like_zlib(body):
        plain = inflate(body, max_size=max_inflated, max_ratio=MAX_RATIO)
        with_mappings = version >= MQVersion.V5_0_0
        return body_from_parts(parse_register_body(plain, with_mappings=with_mappings), limits)
    return decode_body(RegisterBrokerBody, body, limits=limits, dialect=dialect)


def encode_register_broker_body(
    body: RegisterBrokerBody, *, compressed: bool, version: int = CURRENT_VERSION
) -> bytes:
    """Writes the body of a registration, as JSON or packed.

    Args:
        body: the registration.
        compressed: whether to pack it; this loses ``topicSysFlag``, ``order`` and
            ``mappingDataVersion``.
        version: protocol version that the command will carry.

    Raises:
        EncodeError: there is no wrapper to pack, or a number is out of the range of its Java type.
    """
    wrapper = body.topic_config_serialize_wrapper
    if not compressed:
        return encode_body(body if version >= MQVersion.V3_0_11 else _without_mappings(wrapper))
    if wrapper is None:
        raise EncodeError("a packed registration needs topics", path="RegisterBrokerBody")
    infos = [encode_body(info) for info in (wrapper.topic_queue_mapping_info_map or {}).values()]
    filter_servers = body.filter_server_list
    parts = RegisterParts(
        data_version=_json(wrapper.data_version),
        topics=[encode_topic(topic) for topic in (wrapper.topic_config_table or {}).values()],
        filter_servers=b"null" if filter_servers is None else dumps(list(filter_servers)),
        mappings=infos if version >= MQVersion.V5_0_0 else None,
    )
    return deflate(build_register_body(parts))


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
            data_version=data_version,
            topic_config_table=topics,
            topic_queue_mapping_info_map=infos,
        ),
    )


def _decode_old(
    body: bytes | None, limits: JsonLimits, dialect: Dialect | None
) -> RegisterBrokerBody | None:
    """Before V3_0_11 there were no filter servers: Java passes null for them."""
    if not body:
        return _registration(None, _EMPTY_VERSION, {}, {})
    wrapper = decode_body(TopicConfigSerializeWrapper, body, limits=limits, dialect=dialect)
    if wrapper is None:
        return None
    return _registration(None, wrapper.data_version, wrapper.topic_config_table, {})


def _without_mappings(wrapper: TopicConfigSerializeWrapper | None) -> TopicConfigSerializeWrapper:
    if wrapper is None:
        raise EncodeError(
            "a registration before version 37 is its topics", path="RegisterBrokerBody"
        )
    return TopicConfigSerializeWrapper(
        data_version=wrapper.data_version, topic_config_table=wrapper.topic_config_table
    )


def body_from_parts(
    parts: RegisterParts, limits: JsonLimits = DEFAULT_LIMITS
) -> RegisterBrokerBody:
    """Reads the parts of a packed registration.

    Raises:
        DecodeError: one of them cannot be read.
    """
    topics: dict[str, TopicConfig] = {}
    seen: dict[str, TopicConfig] = {}
    for item in parts.topics:
        topic = decode_topic(decode_utf8(item), limits=limits, seen=seen)
        topics[topic.topic_name or ""] = topic
    infos: dict[str, TopicQueueMappingInfo] = {}
    for item in parts.mappings or ():
        info = decode_body(TopicQueueMappingInfo, item, limits=limits)
        if info is None or info.topic is None:
            raise DecodeError("a static mapping without a topic", path="TopicQueueMappingInfo")
        infos[info.topic] = info
    data_version = decode_body(DataVersion, parts.data_version, limits=limits)
    return _registration(_filter_servers(parts, limits), data_version, topics, infos)


def _filter_servers(parts: RegisterParts, limits: JsonLimits) -> tuple[str, ...] | None:
    """An unreadable list is an empty one, as in Java, which logs it and goes on."""
    if not parts.filter_servers:
        return None
    try:
        return read_text(_read_filter_servers, parts.filter_servers, limits)
    except (DecodeError, Mismatch):
        return ()


def _read_filter_servers(value: JsonValue) -> tuple[str, ...] | None:
    """As 5.5.0 reads a document that is a list of texts: an object or a text may stand alone."""
    if isinstance(value, str | dict):
        return _FILTER_SERVERS.read([value] if value != "" else [])
    if not isinstance(value, list | None):
        raise Mismatch(f"no array: {kind(value)}")
    return _FILTER_SERVERS.read(value)


def _json(version: DataVersion | None) -> bytes:
    return b"null" if version is None else encode_body(version)
