"""Reads topics from the JSON of a registration: one by one, or all that differ in their name only.

Most topics of a chunk have the same settings.  The text between the two occurrences of the name,
and the text after the second, are then equal for all of them, and are read once.  The names are
taken from the places where they have to be.  Finally the text that these names produce is compared
with the chunk, byte by byte.  If the broker's previous body had the same names, they are not even
searched for.

Rules of this file: the result is False or None if a topic is not ordinary; the caller then reads
the whole document.  No text is ordinary that JSON would read otherwise.

Java: ``TopicConfig``, as fastjson writes it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rocketwire.errors import DecodeError
from rocketwire.messages import from_json
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.wire.json.fastjson import JsonValue, StrictError, strict_loads
from rocketwire_namesrv.registration.parsed import settings_of, topics_of
from rocketwire_namesrv.routes.topic_batches import TopicBatch, TopicBatches
from rocketwire_namesrv.routes.topic_names import SharedNames, TopicNames, is_plain

if TYPE_CHECKING:
    from rocketwire_namesrv.routes.queue_layouts import QueueSettings

WRAPPER: Final = "topicConfigSerializeWrapper"
"""Member of a body that contains the table of topics and their version."""
TABLE: Final = "topicConfigTable"
"""Member of the wrapper that contains the topics by name."""

_TEXT: Final = frozenset({str})
_INTEGER: Final = frozenset({int})
_FILTER_TYPES: Final = frozenset({"SINGLE_TAG", "MULTI_TAG"})
_PROBES: Final = ("a", "b")
TOPICS_PER_STEP: Final = 128
"""Topics that one step reads one by one."""
MAX_TOPIC_BYTES: Final = 4096
"""Maximum length of a topic after its first name, if that name is known."""
_PATTERNS: Final = 64
"""Cached patterns; there is one for each pair of lengths of the texts around a name."""


class JsonTopics:
    """The topics of a table, chunk by chunk.

    Args:
        shared_names: see ``read_registered_topics``.

    Attributes:
        by_key: settings by the keys of the table.
        settings: numbers of a topic -> settings.
        marks: what ``JsonLimits`` counts in the chunks.
    """

    __slots__ = ("_alike", "_chunks", "_names", "_shared_names", "by_key", "marks", "settings")

    def __init__(self, shared_names: SharedNames) -> None:
        self._shared_names = shared_names
        self._chunks: list[TopicNames | None] = []
        self.by_key = TopicBatches()
        self.settings: dict[tuple[Any, ...], QueueSettings] = {}
        self.marks = 0
        self._alike: dict[tuple[str, str], QueueSettings | None] = {}
        self._names: dict[str, str] = {}  # key -> name, if they differ

    def topics(self) -> Collection[tuple[str, QueueSettings]]:
        """Returns names and settings."""
        names = self._names
        if not names:
            return self.by_key
        return [(names.get(key, key), settings) for key, settings in self.by_key]

    def kept_names(self) -> tuple[TopicNames | None, ...]:
        """Returns the names of each chunk, for the broker's next body."""
        return () if self._names or self.by_key.has_repeated() else tuple(self._chunks)

    def take(self, chunk: bytes, names: TopicNames | None = None) -> Generator[None, None, bool]:
        """Reads a chunk, in steps; returns False if it is not members of an object, or if a topic
        is not ordinary.

        Args:
            chunk: members of an object.
            names: the names that the broker's previous body had there.
        """
        if b"\\" in chunk or (b"$" in chunk and b"$ref" in chunk):
            return False
        if self._take_alike(chunk):
            return True
        yield
        return (yield from self._take_each(chunk, names))

    def take_named(self, body: bytes, start: int, names: TopicNames | None) -> int | None:
        """Reads the topics with these names, if the body contains them, all with the same settings.

        Args:
            body: the whole body.
            start: position of the first topic.
            names: from the broker's previous body.

        Returns:
            The position of the comma or brace after the topics; None if it read nothing.
        """
        if names is None or not names.names or self._names:
            return None
        texts = _texts_around(body, start, names.names[0])
        settings = None if texts is None else self._settings_of(*texts)
        if texts is None or settings is None:
            return None
        text = _written(names.names, *texts).encode()
        end = start + len(text)
        if not body.startswith(text, start) or body[end : end + 1] not in (b",", b"}"):
            return None
        self.by_key.add_unique(TopicBatch(names.names, [settings], names))
        self._count(names, *texts)
        return end

    def _count(self, names: TopicNames, middle: str, end: str) -> None:
        text = middle + end
        marks = 1 + text.count(",") + text.count("{") + text.count("[")
        self.marks += len(names.names) * marks
        self._chunks.append(names)

    def _take_each(self, chunk: bytes, names: TopicNames | None) -> Generator[None, None, bool]:
        """Reads any ordinary topics, in steps."""
        topics: list[tuple[str, QueueSettings]] = []
        try:
            members: Any = strict_loads(b"{%b}" % chunk)
            values = iter(members.values())
            while step := [self._topic(value) for value in islice(values, TOPICS_PER_STEP)]:
                topics += step
                yield
        except (StrictError, KeyError, TypeError):
            return False
        if not topics:
            return False
        for key, (name, _) in zip(members, topics, strict=True):
            if key != name:
                self._names[key] = name
            elif self._names:
                self._names.pop(key, None)
        keys = list(members)
        settings = [settings for _, settings in topics]
        if names is None or names.names != keys or self._names:
            names = None
            self.by_key.add(TopicBatch(keys, settings))
        else:
            self.by_key.add_unique(TopicBatch(names.names, settings, names))
        self.marks += chunk.count(b",") + chunk.count(b"{") + chunk.count(b"[") + 1
        self._chunks.append(names)
        return True

    def _topic(self, value: Any) -> tuple[str, QueueSettings]:
        name, numbers = _ordinary(value)
        settings = self.settings.get(numbers)
        if settings is None:
            if not _INTEGER.issuperset(map(type, numbers)):
                raise TypeError
            settings = self.settings[numbers] = settings_of(_typed(value))
        return name, settings

    def _take_alike(self, chunk: bytes) -> bool:
        """Reads topics that differ in their name only."""
        try:
            text = chunk.decode()
        except UnicodeDecodeError:
            return False
        # a topic is: "name" middle name" end
        first = text[1 : text.find('"', 1)]
        second = text.find(f'"{first}"', len(first) + 2)
        middle = text[len(first) + 1 : second + 1]
        end = text[second + 1 + len(first) : text.find("}", second) + 1]
        if second < 0 or not end or not text.endswith(end) or self._names:
            return False
        names: list[str] = _pattern(len(middle), len(end)).findall(text)
        joined = "".join(names)
        size = 2 * len(joined) + len(names) * (len(middle) + len(end) + 2) - 1
        if size != len(text) or not names or not is_plain(joined):
            return False
        if _written(names, middle, end) != text:
            return False
        settings = self._settings_of(middle, end)
        if settings is None:
            return False
        shared = self._shared_names.shared(names, joined)
        self.by_key.add(TopicBatch(shared.names, [settings], shared))
        self._count(shared, middle, end)
        return True

    def _settings_of(self, middle: str, end: str) -> QueueSettings | None:
        """Returns the settings of a topic with these texts around its name; None if they are not
        ordinary."""
        if (middle, end) not in self._alike:
            self._alike[middle, end] = self._read_settings(middle, end)
        return self._alike[middle, end]

    def _read_settings(self, middle: str, end: str) -> QueueSettings | None:
        distinct: set[QueueSettings] = set()
        try:
            for probe in _PROBES:
                members: Any = strict_loads(f'{{"{probe}{middle}{probe}{end}}}'.encode())
                ((key, value),) = members.items()
                name, settings = self._topic(value)
                if not key == name == probe:
                    return None
                distinct.add(settings)
        except (StrictError, KeyError, TypeError, ValueError):
            return None
        return distinct.pop() if len(distinct) == 1 else None


@lru_cache(_PATTERNS)
def _pattern(middle: int, end: int) -> re.Pattern[str]:
    """Returns a pattern that finds names by their places.

    It cannot backtrack: every part of it is possessive or has a fixed length.

    Args:
        middle: characters between the two occurrences of a name.
        end: characters after the second one.
    """
    return re.compile(rf'(?s)"([^"]*+).{{{middle}}}\1.{{{end}}},?')


def _texts_around(body: bytes, start: int, name: str) -> tuple[str, str] | None:
    """Returns the text between the two occurrences of the name of the topic at ``start``, and the
    text after the second one, with the quotation marks; None if there is no topic of that name."""
    quoted = b'"%b"' % name.encode()
    first_end = start + len(quoted)
    second = body.find(quoted, first_end, first_end + MAX_TOPIC_BYTES)
    close = body.find(b"}", second + len(quoted), first_end + MAX_TOPIC_BYTES)
    if not body.startswith(quoted, start) or second < 0 or close < 0:
        return None
    try:
        middle = body[first_end - 1 : second + 1].decode()
        end = body[second + len(quoted) - 1 : close + 1].decode()
    except UnicodeDecodeError:
        return None
    both = middle + end
    return None if "\\" in both or "$ref" in both else (middle, end)


def _written(names: list[str], middle: str, end: str) -> str:
    """Returns the topics with these names and these texts around them."""
    pairs = map(middle.join, zip(names, names, strict=True))
    return "".join(('"', f'{end},"'.join(pairs), end))


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
