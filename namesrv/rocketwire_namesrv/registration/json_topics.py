"""Reads topics from the JSON of a registration.

Brokers send thousands of topics with a handful of different settings, so that most topics share the
settings of another.

Rules of this file: the result is False or None if a topic is not ordinary; the caller then reads
the whole document.  No text is ordinary that JSON would read otherwise.

Java: ``TopicConfig``, as fastjson writes it.
"""

from __future__ import annotations

from collections.abc import Collection
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

_TEXT: Final = frozenset({str})
_INTEGER: Final = frozenset({int})
_FILTER_TYPES: Final = frozenset({"SINGLE_TAG", "MULTI_TAG"})


class JsonTopics:
    """The topics of a table, chunk by chunk.

    Attributes:
        by_key: settings by the keys of the table.
        settings: numbers of a topic -> settings.
        marks: what ``JsonLimits`` counts in the chunks.
    """

    __slots__ = ("_names", "by_key", "marks", "settings")

    def __init__(self) -> None:
        self.by_key: dict[str, QueueSettings] = {}
        self.settings: dict[tuple[Any, ...], QueueSettings] = {}
        self.marks = 0
        self._names: dict[str, str] = {}  # key -> name, if they differ

    def topics(self) -> Collection[tuple[str, QueueSettings]]:
        """Returns names and settings."""
        names = self._names
        if not names:
            return self.by_key.items()
        return [(names.get(key, key), settings) for key, settings in self.by_key.items()]

    def take(self, chunk: bytes) -> bool:
        """Reads a chunk; returns False if it is not members of an object, or if a topic is not
        ordinary."""
        if b"\\" in chunk or (b"$" in chunk and b"$ref" in chunk):
            return False
        self.marks += chunk.count(b",") + chunk.count(b"{") + chunk.count(b"[") + 1
        try:
            members: Any = strict_loads(b"{%b}" % chunk)
            for key, value in members.items():
                self._take(key, value)
        except (StrictError, KeyError, TypeError):
            return False
        return bool(members)

    def _take(self, key: str, value: Any) -> None:
        name, numbers = _ordinary(value)
        settings = self.settings.get(numbers)
        if settings is None:
            if not _INTEGER.issuperset(map(type, numbers)):
                raise TypeError
            settings = self.settings[numbers] = settings_of(_typed(value))
        self.by_key[key] = settings
        if key != name:
            self._names[key] = name
        elif self._names:
            self._names.pop(key, None)


# ---------------------------------------------------------------------------- the whole document


def table_of(document: JsonValue) -> dict[str, JsonValue] | None:
    """Removes the topic table from a parsed registration and returns it; None if the document or
    the table is not an object."""
    wrapper = document.get(WRAPPER) if isinstance(document, dict) else None
    table = wrapper.get(TABLE) if isinstance(wrapper, dict) else None
    if not isinstance(wrapper, dict) or not isinstance(table, dict):
        return None
    del wrapper[TABLE]
    return table


def topics_of_table(table: dict[str, JsonValue]) -> list[tuple[str, QueueSettings]]:
    """Returns the topics of a parsed table; topics that are not ordinary are read as
    ``TopicConfig``."""
    topics: list[tuple[str, QueueSettings]] = []
    by_numbers: dict[tuple[Any, ...], QueueSettings] = {}
    for value in table.values():
        try:
            name, numbers = _ordinary(value)
            settings = by_numbers.get(numbers)
            if settings is None:
                # whole floats and booleans have the settings of the number that they equal,
                # which is what the typed class makes of them
                settings = by_numbers[numbers] = settings_of(_typed(value))
            topics.append((name, settings))
        except (KeyError, TypeError):
            topics += topics_of([_typed(value)])
    return topics


def _ordinary(value: Any) -> tuple[str, tuple[Any, ...]]:
    """Returns name and numbers of a topic whose other members are certain to be valid.

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
        raise DecodeError("null has no place here", path=f"RegisterBrokerBody.{WRAPPER}.{TABLE}")
    return config
