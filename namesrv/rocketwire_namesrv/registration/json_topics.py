"""Reads topics from the JSON of a registration.

Brokers send thousands of topics with a handful of different settings, so that most topics share the
settings of another.

Rules of this file: the result is False or None if a topic is not ordinary; the caller then reads
the whole document.  No text is ordinary that JSON would read otherwise.

Java: ``TopicConfig``, as fastjson writes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from operator import itemgetter, methodcaller
from typing import TYPE_CHECKING, Any, Final

from rocketwire.errors import DecodeError
from rocketwire.messages import from_json
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.wire.json.fastjson import JsonValue, StrictError, strict_loads
from rocketwire_namesrv.registration.parsed import settings_of, topics_of

if TYPE_CHECKING:
    from rocketwire_namesrv.routes.queue_layouts import QueueSettings

WRAPPER: Final = "topicConfigSerializeWrapper"
"""Member of a body that contains the table of topics and their version."""
TABLE: Final = "topicConfigTable"
"""Member of the wrapper that contains the topics by name."""

_NUMBERS: Final = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
_name_of: Final = itemgetter("topicName")
_attributes_of: Final = itemgetter("attributes")
_texts_of: Final = methodcaller("values")
_values_of: Final = itemgetter(*_NUMBERS, "order", "topicFilterType")
_MEMBERS: Final = 8
"""Members of an ordinary topic: those above and no others."""
_FILTER_TYPES: Final = frozenset({"SINGLE_TAG", "MULTI_TAG"})


class _Settings(dict[tuple[Any, ...], "QueueSettings"]):
    def __missing__(self, values: tuple[Any, ...]) -> QueueSettings:
        *numbers, order, filter_type = values
        if not _are(int, numbers) or type(order) is not bool or filter_type not in _FILTER_TYPES:
            raise TypeError
        topic: dict[str, JsonValue] = dict(zip(_NUMBERS, numbers, strict=True))
        settings = self[values] = settings_of(_decode_topic(topic))
        return settings


class JsonTopics:
    """The topics of a table, chunk by chunk."""

    __slots__ = ("by_name", "longest_name", "marks", "settings")

    def __init__(self) -> None:
        self.by_name: dict[str, QueueSettings] = {}  #: settings by the names of the topics
        self.settings = _Settings()  #: values of a topic -> settings
        self.longest_name = 0  #: length of the longest name
        self.marks = 0  #: what ``JsonLimits`` counts in the chunks

    def take(self, chunk: bytes) -> bool:
        """Read a chunk; return False if it is not members of an object, or if a topic is not
        ordinary."""
        if b"\\" in chunk or (b"$" in chunk and b"$ref" in chunk):
            return False
        try:
            members: Any = strict_loads(b"{%b}" % chunk)
            commas = _take(members, self.settings, self.by_name)
        except (StrictError, KeyError, TypeError):
            return False
        self.longest_name = max(self.longest_name, max(map(len, members), default=0))
        self.marks += commas + 2 * len(members) + 1
        return commas == chunk.count(b",")  # others stand in texts or between repeated members


# ---------------------------------------------------------------------------- the whole document


def table_of(document: JsonValue) -> dict[str, JsonValue] | None:
    """Remove the topic table from a parsed registration and return it; None if the document or
    the table is not an object."""
    wrapper = document.get(WRAPPER) if isinstance(document, dict) else None
    table = wrapper.get(TABLE) if isinstance(wrapper, dict) else None
    if not isinstance(wrapper, dict) or not isinstance(table, dict):
        return None
    del wrapper[TABLE]
    return table


def topics_of_table(table: dict[str, JsonValue]) -> Collection[tuple[str, QueueSettings]]:
    """Return the topics of a parsed table; if one is not ordinary, all are read as
    ``TopicConfig``."""
    topics: dict[str, QueueSettings] = {}
    try:
        _take(table, _Settings(), topics)
    except (KeyError, TypeError):
        return topics_of(map(_decode_topic, table.values()))
    return topics.items()


def _take(table: dict[str, Any], by_values: _Settings, topics: dict[str, QueueSettings]) -> int:
    # Works on whole columns, as a body has thousands of topics. Returns the number of commas
    # between them. KeyError and TypeError: one is not such a topic, or its key is not its name.
    configs = table.values()
    attributes = list(map(_attributes_of, configs))
    filled = len(attributes) - attributes.count({})
    if (
        (filled and not _are(dict, attributes))
        or (filled and not _are(str, chain.from_iterable(map(_texts_of, attributes))))
        or not {_MEMBERS}.issuperset(map(len, configs))
        or list(map(_name_of, configs)) != list(table)
    ):
        raise TypeError
    settings = list(map(by_values.__getitem__, map(_values_of, configs)))
    topics.update(zip(table, settings, strict=True))
    return _MEMBERS * len(table) - 1 + sum(map(len, attributes)) - filled


def _are(kind: type, values: Iterable[Any]) -> bool:
    return {kind}.issuperset(map(type, values))


def _decode_topic(value: JsonValue) -> TopicConfig:
    config = from_json(TopicConfig, value)
    if config is None:
        raise DecodeError("null has no place here", path=f"RegisterBrokerBody.{WRAPPER}.{TABLE}")
    return config
