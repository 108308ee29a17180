"""A broker's topics as it has configured them, and the version of that configuration.

Rules of this file: what a text leaves out stays told apart from what it says is null.  An absent
``dataVersion`` is ``DataVersion()``, whose ``timestamp`` is None because Java takes its clock there
(``stamped`` does the same with a clock that is given); an explicit null is None.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

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
from rocketwire.wire.json.fastjson import DEFAULT_LIMITS, dumps, loads
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.wire.json.fastjson import JsonLimits

_ATTRIBUTES = mapping(STRING, STRING)
_print_number = INT.print or str
_parse_number = INT.parse or int


@dataclass(frozen=True, slots=True, kw_only=True)
class DataVersion:
    """Which state of its topics a broker is in; two are equal when all three numbers are.

    Java: ``remoting.protocol.DataVersion``.

    Attributes:
        counter: grows with each change.
        state_version: grows when a controller elects a master.
        timestamp: of the last change, in milliseconds; None where the text does not say, and
            then Java takes its clock.
    """

    counter: int | None = member(BOXED_LONG, default=0)
    state_version: int = member(LONG)
    timestamp: int | None = member(CLOCKED_LONG, clock=True)


def stamped(version: DataVersion | None, now_ms: int) -> DataVersion | None:
    """The version with ``now_ms`` in the place of an absent timestamp (Java: its constructor)."""
    if version is None or version.timestamp is not None:
        return version
    return replace(version, timestamp=now_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    """One topic as its broker has configured it.

    Java: ``common.TopicConfig``.

    Attributes:
        attributes: such as ``message.type``.
        perm: bits of ``Perm``.
        topic_sys_flag: bits of ``TopicSysFlag``.
    """

    attributes: Mapping[str, str] | None = member(mapping(STRING, STRING), default={})
    order: bool = member(BOOLEAN)
    perm: int = member(INT, default=6)
    read_queue_nums: int = member(INT, default=16)
    topic_filter_type: TopicFilterType | str | None = member(
        enumeration(TopicFilterType), default=TopicFilterType.SINGLE_TAG
    )
    topic_name: str | None = member(STRING)
    topic_sys_flag: int = member(INT)
    write_queue_nums: int = member(INT, default=16)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfigSerializeWrapper:
    """All topics of a broker; the whole registration before version 37.

    Java: ``remoting.protocol.body.TopicConfigSerializeWrapper``.
    """

    data_version: DataVersion | None = member(record(DataVersion), factory=DataVersion)
    topic_config_table: Mapping[str, TopicConfig] | None = member(
        mapping(STRING, record(TopicConfig), concurrent=True), default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfigAndMappingSerializeWrapper(TopicConfigSerializeWrapper):
    """All topics of a broker, static ones included.

    Java: ``remoting.protocol.body.TopicConfigAndMappingSerializeWrapper``.
    """

    mapping_data_version: DataVersion | None = member(record(DataVersion), factory=DataVersion)
    topic_queue_mapping_detail_map: Mapping[str, TopicQueueMappingDetail] | None = member(
        mapping(STRING, record(TopicQueueMappingDetail)), default={}
    )
    topic_queue_mapping_info_map: Mapping[str, TopicQueueMappingInfo] | None = member(
        mapping(STRING, record(TopicQueueMappingInfo)), default={}
    )


# ---------------------------------------------------------------------------- topics as text


def decode_topic(
    text: str,
    *,
    limits: JsonLimits = DEFAULT_LIMITS,
    seen: dict[str, TopicConfig] | None = None,
) -> TopicConfig:
    """Reads a topic of the packed form, six items separated by blanks (Java:
    ``TopicConfig.decode``).

    Attributes that cannot be read are taken for none, as Java does.

    Args:
        text: the topic.
        limits: of its attributes.
        seen: topics by everything but their name; brokers configure most of theirs alike.

    Raises:
        DecodeError: fewer than five items, a bad number or an unknown filter type.
    """
    name, _, rest = text.partition(" ")
    alike = None if seen is None else seen.get(rest)
    if alike is None:
        alike = _decode_rest(rest.rstrip(" ").split(" "), limits)
        if seen is not None:
            seen[rest] = alike
    return replace(alike, topic_name=name)


def _decode_rest(items: list[str], limits: JsonLimits) -> TopicConfig:
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
    """Writes a topic of the packed form (Java: ``TopicConfig.encode``); None prints as ``null``, no
    attributes as nothing.

    Raises:
        EncodeError: a number is out of the range of its Java type.
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
