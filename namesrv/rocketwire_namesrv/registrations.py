"""What a registration request says, in the light form that the route table takes.

Ten thousand topics come at once, every thirty seconds, from every broker, and nearly all of them
are ordinary: whole numbers where numbers belong.  Those are taken straight out of the parsed JSON;
whatever is not ordinary goes through the typed classes, which decide what it means.

Rules of this file: one meaning, two speeds.  Nothing here is applied; a body is read to its end or
refused.

Java: ``RegisterBrokerBody``, ``DefaultRequestProcessor.registerBroker``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rocketwire.errors import DecodeError
from rocketwire.messages import from_json
from rocketwire.messages.registration import (
    RegisterBrokerBody,
    decode_register_broker_body,
    stamped,
)
from rocketwire.messages.topic_config import DataVersion, TopicConfig
from rocketwire.versions import MQVersion
from rocketwire.wire.compression import looks_like_zlib
from rocketwire.wire.fastjson import loads
from rocketwire_namesrv.shapes import QueueSettings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rocketwire.messages.route import TopicQueueMappingInfo
    from rocketwire.wire.fastjson import JsonValue

MANY_BYTES: Final = 4096
"""A shorter body is not worth the second way."""

_WRAPPER: Final = "topicConfigSerializeWrapper"
_TABLE: Final = "topicConfigTable"
_TEXT: Final = frozenset({str})
_FILTER_TYPES: Final = frozenset({"SINGLE_TAG", "MULTI_TAG"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredTopics:
    """The body of a registration.

    Attributes:
        topics: name and settings of each topic.
        keys: under which they came; other than the names only in crafted input.
        data_version: as sent, or of this moment where the broker does not say.
        mappings: static mappings by topic.
        filter_servers: None where the body says nothing of them.
    """

    topics: Sequence[tuple[str, QueueSettings]]
    keys: Collection[str]
    data_version: DataVersion
    mappings: Mapping[str, TopicQueueMappingInfo]
    filter_servers: Sequence[str] | None


def read_registered_topics(
    body: bytes | None, *, compressed: bool, version: int, wall_ms: int
) -> RegisteredTopics:
    """Reads the body of a registration.

    Args:
        body: as sent; None registers no topics.
        compressed: what the header says of it.  A zlib stream is known by itself: Java's brokers
            send it under the wrong label when ``compressedRegister`` is on.
        version: of the sender; brokers before 3.0.11 send the bare topic table.
        wall_ms: wall-clock milliseconds.

    Raises:
        DecodeError: it cannot be read, or says null.
    """
    packed = compressed or (body is not None and looks_like_zlib(body))
    if body is None or packed or version < MQVersion.V3_0_11 or len(body) < MANY_BYTES:
        typed = decode_register_broker_body(body, compressed=compressed, version=version)
        return _registered(typed, wall_ms)
    # a reference needs the whole document, which only the typed way looks at
    document = None if b"$ref" in body else loads(body)
    table = _table_of(document)
    if table is None:
        typed = decode_register_broker_body(body, compressed=compressed, version=version)
        return _registered(typed, wall_ms)
    return _registered(from_json(RegisterBrokerBody, document), wall_ms, table)


def _table_of(document: JsonValue) -> dict[str, JsonValue] | None:
    """Takes the topic table out of a parsed registration, if both are what they should be."""
    wrapper = document.get(_WRAPPER) if isinstance(document, dict) else None
    table = wrapper.get(_TABLE) if isinstance(wrapper, dict) else None
    if not isinstance(wrapper, dict) or not isinstance(table, dict):
        return None
    del wrapper[_TABLE]
    return table


def _registered(
    body: RegisterBrokerBody | None, wall_ms: int, table: dict[str, JsonValue] | None = None
) -> RegisteredTopics:
    wrapper = None if body is None else body.topic_config_serialize_wrapper
    if body is None or wrapper is None:
        raise DecodeError("null is no registration")
    configs = wrapper.topic_config_table or {}
    version = wrapper.data_version or DataVersion()
    return RegisteredTopics(
        topics=_topics(configs.values()) if table is None else _topics_of_json(table),
        keys=configs.keys() if table is None else table.keys(),
        data_version=stamped(version, wall_ms) or version,
        mappings=wrapper.topic_queue_mapping_info_map or {},
        filter_servers=body.filter_server_list,
    )


def _topics(configs: Iterable[TopicConfig]) -> list[tuple[str, QueueSettings]]:
    return [(name, _settings(one)) for one in configs if (name := one.topic_name) is not None]


def _settings(one: TopicConfig) -> QueueSettings:
    return QueueSettings(one.read_queue_nums, one.write_queue_nums, one.perm, one.topic_sys_flag)


def _topics_of_json(table: dict[str, JsonValue]) -> list[tuple[str, QueueSettings]]:
    """The topics of a parsed table; what is not ordinary is read as ``TopicConfig``."""
    topics: list[tuple[str, QueueSettings]] = []
    known: dict[tuple[Any, ...], QueueSettings] = {}
    for value in table.values():
        try:
            name, numbers = _ordinary(value)
            settings = known.get(numbers)
            if settings is None:
                # whole floats and booleans find the settings of the number they are equal to,
                # which is what the typed class makes of them
                settings = known[numbers] = _settings(_typed(value))
            topics.append((name, settings))
        except (KeyError, TypeError):
            topics += _topics([_typed(value)])
    return topics


def _ordinary(value: Any) -> tuple[str, tuple[Any, ...]]:
    """Name and numbers of a topic whose other members are certain to be read without a complaint.

    Raises:
        KeyError, TypeError: it is not such a topic.
    """
    name: Any = value["topicName"]
    attributes: dict[str, Any] = value["attributes"]
    numbers = (
        value["readQueueNums"],
        value["writeQueueNums"],
        value["perm"],
        value["topicSysFlag"],
    )
    if (
        type(name) is not str
        or type(attributes) is not dict
        or type(value["order"]) is not bool
        or value["topicFilterType"] not in _FILTER_TYPES
        or not _TEXT.issuperset(map(type, attributes.values()))
    ):
        raise TypeError
    return name, numbers


def _typed(value: JsonValue) -> TopicConfig:
    config = from_json(TopicConfig, value)
    if config is None:
        raise DecodeError("null has no place here", path=f"RegisterBrokerBody.{_WRAPPER}.{_TABLE}")
    return config
