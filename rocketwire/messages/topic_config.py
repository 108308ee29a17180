"""Topic configuration of a broker, and its version.

Rules of this file: an absent member differs from an explicit null.  An absent ``dataVersion`` is
``DataVersion()``, whose ``timestamp`` is None because Java uses its clock there (``with_timestamp``
takes a time instead); an explicit null is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rocketwire.errors import DecodeError, EncodeError
from rocketwire.messages._codec.fields import (
    BOOLEAN,
    BOXED_LONG,
    CLOCKED_LONG,
    INT,
    LONG,
    STRING,
    enumeration,
    mapping,
    member,
    record,
)
from rocketwire.messages._codec.java_numbers import Mismatch
from rocketwire.messages.enums import TopicFilterType
from rocketwire.messages.route import TopicQueueMappingInfo
from rocketwire.messages.static_topics import TopicQueueMappingDetail
from rocketwire.wire.java_utf8 import encode_utf8
from rocketwire.wire.json.fastjson import DEFAULT_LIMITS, JsonLimits, dumps, loads
from rocketwire.wire.values.frozen import dataclass

_ATTRIBUTES = mapping(STRING, STRING)
_print_number = INT.print or str
_parse_number = INT.parse or int


@dataclass(frozen=True, slots=True, kw_only=True)
class DataVersion:
    """Version of a broker's topics; two are equal if all three numbers are equal.
    Java: ``remoting.protocol.DataVersion``."""

    counter: int | None = member(BOXED_LONG, default=0)  #: increases with each change
    state_version: int = member(LONG)  #: increases when a controller elects a master
    #: of the last change, in milliseconds; None if it is absent, and then Java uses its clock
    timestamp: int | None = member(CLOCKED_LONG, clock=True)


def with_timestamp(version: DataVersion | None, now_ms: int) -> DataVersion | None:
    """The version with ``now_ms`` in place of an absent timestamp (Java: its constructor)."""
    if version is None or version.timestamp is not None:
        return version
    return replace(version, timestamp=now_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    """Configuration of a topic on a broker. Java: ``common.TopicConfig``."""

    #: such as ``message.type``
    attributes: Mapping[str, str] | None = member(mapping(STRING, STRING), default={})
    order: bool = member(BOOLEAN)
    perm: int = member(INT, default=6)  #: bits of ``Perm``
    read_queue_nums: int = member(INT, default=16)
    topic_filter_type: TopicFilterType | str | None = member(
        enumeration(TopicFilterType), default=TopicFilterType.SINGLE_TAG
    )
    topic_name: str | None = member(STRING)
    topic_sys_flag: int = member(INT)  #: bits of ``TopicSysFlag``
    write_queue_nums: int = member(INT, default=16)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfigSerializeWrapper:
    """All topics of a broker; the body of a registration before version 37."""

    data_version: DataVersion | None = member(record(DataVersion), factory=DataVersion)
    topic_config_table: Mapping[str, TopicConfig] | None = member(
        mapping(STRING, record(TopicConfig), concurrent=True), default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfigAndMappingSerializeWrapper(TopicConfigSerializeWrapper):
    """All topics of a broker, including static topics."""

    mapping_data_version: DataVersion | None = member(record(DataVersion), factory=DataVersion)
    topic_queue_mapping_detail_map: Mapping[str, TopicQueueMappingDetail] | None = member(
        mapping(STRING, record(TopicQueueMappingDetail)), default={}
    )
    topic_queue_mapping_info_map: Mapping[str, TopicQueueMappingInfo] | None = member(
        mapping(STRING, record(TopicQueueMappingInfo)), default={}
    )


# ---------------------------------------------------------------------------- topics as text


def decode_topic(
    text: str, *, limits: JsonLimits = DEFAULT_LIMITS, cache: dict[str, TopicConfig] | None = None
) -> TopicConfig:
    """Decode a topic of the packed form, six items separated by spaces (Java:
    ``TopicConfig.decode``).

    As in Java, invalid attributes count as no attributes.

    Args:
        text: the topic.
        limits: limits of its attributes.
        cache: topics by their text without the name; most topics of a broker differ in it alone.

    Raises:
        DecodeError: fewer than five items, an invalid number or an unknown filter type.
    """
    name, _, settings = text.partition(" ")
    topic = None if cache is None else cache.get(settings)
    if topic is None:
        topic = _decode_settings(settings.rstrip(" ").split(" "), limits)
        if cache is not None:
            cache[settings] = topic
    return replace(topic, topic_name=name)


def _decode_settings(items: list[str], limits: JsonLimits) -> TopicConfig:
    if len(items) < 4 or items[3] not in TopicFilterType.__members__:
        raise DecodeError("not a topic of a packed registration", path="TopicConfig")
    try:
        read_queues, write_queues, perm = map(_parse_number, items[:3])
    except ValueError as problem:
        raise DecodeError(str(problem), path="TopicConfig") from None
    return TopicConfig(
        read_queue_nums=read_queues,
        write_queue_nums=write_queues,
        perm=perm,
        topic_filter_type=TopicFilterType(items[3]),
        attributes=_attributes(items[4], limits) if len(items) > 4 else {},
    )


def _attributes(text: str, limits: JsonLimits) -> Mapping[str, str] | None:
    if text == "{}":
        return {}
    if not text:
        return None
    try:
        return _ATTRIBUTES.read(loads(encode_utf8(text), limits=limits))
    except (DecodeError, Mismatch):
        return {}


def encode_topic(topic: TopicConfig) -> bytes:
    """Encode a topic of the packed form (Java: ``TopicConfig.encode``).

    None becomes ``null``; absent attributes become an empty text.

    Raises:
        EncodeError: a number is outside the range of its Java type.
    """
    numbers = (topic.read_queue_nums, topic.write_queue_nums, topic.perm)
    try:
        printed = [_print_number(number) for number in numbers]
    except Mismatch as problem:
        raise EncodeError(problem.message, path="TopicConfig") from problem
    attributes = "" if topic.attributes is None else dumps(dict(topic.attributes)).decode()
    filter_type = topic.topic_filter_type
    items = (_text(topic.topic_name), *printed, _text(filter_type), attributes)
    return encode_utf8(" ".join(items))


def _text(value: str | None) -> str:
    return "null" if value is None else str(value)
