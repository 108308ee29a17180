"""Topics out of the JSON of a registration: one by one, or all that differ in their name alone.

In a piece of a table most topics differ in nothing but their name.  What stands before the name,
between its two occurrences and behind them is understood once, with two names of which it is known
how they have to come out.  The names are then taken from the places where they have to be, and the
piece is what these names make of it, to the byte, or is read in another way.  Where the names are
known from the body before, they are not even looked for.

Rules of this file: whatever is not ordinary is None or an error here, and left to who reads the
whole; nothing is ordinary that JSON would take otherwise.

Java: ``TopicConfig``, as fastjson writes it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rocketwire.errors import DecodeError
from rocketwire.messages import from_json
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.wire.json.fastjson import StrictError, strict_loads
from rocketwire_namesrv.registration.chunks import Piece, digest_of
from rocketwire_namesrv.registration.parsed import settings_of, topics_of
from rocketwire_namesrv.routes.topic_batches import Run, TopicRuns
from rocketwire_namesrv.routes.topic_names import marks_in

if TYPE_CHECKING:
    from collections.abc import Collection, Generator

    from rocketwire.wire.json.fastjson import JsonValue
    from rocketwire_namesrv.routes.queue_layouts import QueueSettings
    from rocketwire_namesrv.routes.topic_names import KnownNames, NamesInUse

__all__ = ["WRAPPER", "TABLE", "JsonTopics", "table_of", "topics_of_table"]

WRAPPER: Final = "topicConfigSerializeWrapper"
"""Member of a body that has the table of topics and their version."""
TABLE: Final = "topicConfigTable"
"""Member of that with the topics by name."""

_TEXT: Final = frozenset({str})
_INTEGER: Final = frozenset({int})
_FILTER_TYPES: Final = frozenset({"SINGLE_TAG", "MULTI_TAG"})
_PROBES: Final = ("a", "b")
EACH_PER_STEP: Final = 128
"""Topics that are understood one by one in one step."""
AROUND_BYTES: Final = 4096
"""Within which a topic ends whose name is known."""
_PATTERNS: Final = 64
"""Patterns that are kept; there is one for each pair of lengths of what surrounds a name."""


class JsonTopics:
    """What has been read of a table.

    Args:
        in_use: takes the names of topics that differ in nothing else, for the next body; None where
            some of the body is not read, which may have the same names.

    Attributes:
        by_key: settings of all that was read, under the keys of the table.
        known: numbers of a topic -> settings.
    """

    __slots__ = ("_alike", "_in_use", "_names", "by_key", "known")

    def __init__(self, in_use: NamesInUse | None = None) -> None:
        self._in_use = in_use
        self.by_key = TopicRuns()
        self.known: dict[tuple[Any, ...], QueueSettings] = {}
        self._alike: dict[tuple[str, str], QueueSettings | None] = {}
        self._names: dict[str, str] = {}  # of a key that is another

    def topics(self) -> Collection[tuple[str, QueueSettings]]:
        """Names and settings of all that was read."""
        names = self._names
        if not names:
            return self.by_key
        return [(names.get(key, key), settings) for key, settings in self.by_key]

    def take(
        self, text: bytes, known: KnownNames | None = None
    ) -> Generator[None, None, Piece | None]:
        """Reads some topics, members of an object, in steps; None where this is not what it was, or
        one is not ordinary.

        Args:
            text: of the members.
            known: the names that stood there in the body before this one, if they are kept.
        """
        if b"\\" in text or (b"$" in text and b"$ref" in text):
            return None
        piece = self._take_alike(text)
        if piece is None:
            yield
            piece = yield from self._take_each(text, known)
        return piece

    def take_known(self, body: bytes, at: int, stop: int, known: KnownNames) -> Piece | None:
        """Reads the topics with these names, if a part of a body is what they make of it.

        Args:
            body: whole.
            at: where they begin.
            stop: where the table ends; before that a comma and more have to follow.
            known: kept from the body before this one; each at most once.
        """
        names = known.names
        around = _around(body, at, names[0]) if names and not self._names else None
        settings = None if around is None else self._settings(*around)
        if around is None or settings is None:
            return None
        text = _composed(names, *around).encode()
        end = at + len(text)
        if not body.startswith(text, at) or (
            end != stop and body[end : min(end + 1, stop - 1)] != b","
        ):
            return None
        self.by_key.add_known(Run(names, [settings], known))
        marks = _marks_of(names, *around) + 2 * known.marks
        return Piece(len(text), digest_of(text), len(names), marks, known)

    def _take_each(
        self, text: bytes, known: KnownNames | None
    ) -> Generator[None, None, Piece | None]:
        """Reads any topics, in steps; None where one is not ordinary."""
        topics: list[tuple[str, QueueSettings]] = []
        try:
            members: Any = strict_loads(b"{%b}" % text)
            values = iter(members.values())
            while some := [self._topic(value) for value in islice(values, EACH_PER_STEP)]:
                topics += some
                yield
        except (StrictError, KeyError, TypeError):
            return None
        if not topics:
            return None
        for key, (name, _) in zip(members, topics, strict=True):
            if key != name:
                self._names[key] = name
            elif self._names:
                self._names.pop(key, None)
        names = list(members)
        settings = [settings for _, settings in topics]
        if known is not None and known.names == names and not self._names:
            self.by_key.add_known(Run(known.names, settings, known))
        else:
            self.by_key.add(Run(names, settings))
            known = None
        marks = text.count(b",") + text.count(b"{") + text.count(b"[") + 1
        return Piece(len(text), digest_of(text), len(names), marks, known)

    def _topic(self, value: Any) -> tuple[str, QueueSettings]:
        name, numbers = _ordinary(value)
        settings = self.known.get(numbers)
        if settings is None:
            if not _INTEGER.issuperset(map(type, numbers)):
                raise TypeError
            settings = self.known[numbers] = settings_of(_typed(value))
        return name, settings

    def _take_alike(self, piece: bytes) -> Piece | None:
        """Reads topics that differ in their name alone; None where they do not."""
        try:
            text = piece.decode()
        except UnicodeDecodeError:
            return None
        # a topic is: "name" middle name" end
        first = text[1 : text.find('"', 1)]
        again = text.find(f'"{first}"', len(first) + 2)
        middle = text[len(first) + 1 : again + 1]
        end = text[again + 1 + len(first) : text.find("}", again) + 1]
        if again < 0 or not end or not text.endswith(end) or self._names:
            return None
        names: list[str] = _pattern(len(middle), len(end)).findall(text)
        together = "".join(names)
        size = 2 * len(together) + len(names) * (len(middle) + len(end) + 2) - 1
        if size != len(text) or not names:
            return None
        if _composed(names, middle, end) != text:
            return None
        in_names = marks_in(together)
        settings = self._settings(middle, end)
        if settings is None or in_names is None:
            return None
        known = None if self._in_use is None else self._in_use.shared(names, together, in_names)
        count = len(names)
        if (
            self.by_key.add(Run(names if known is None else known.names, [settings], known))
            != count
        ):
            known, count = None, len(set(names))
        marks = _marks_of(names, middle, end) + 2 * in_names
        return Piece(len(piece), digest_of(piece), count, marks, known)

    def _settings(self, middle: str, end: str) -> QueueSettings | None:
        """The settings of all topics that are written so; None where they are not ordinary."""
        if (middle, end) not in self._alike:
            self._alike[middle, end] = self._understood(middle, end)
        return self._alike[middle, end]

    def _understood(self, middle: str, end: str) -> QueueSettings | None:
        found: set[QueueSettings] = set()
        try:
            for probe in _PROBES:
                members: Any = strict_loads(f'{{"{probe}{middle}{probe}{end}}}'.encode())
                ((key, value),) = members.items()
                name, settings = self._topic(value)
                if not key == name == probe:
                    return None
                found.add(settings)
        except (StrictError, KeyError, TypeError, ValueError):
            return None
        return found.pop() if len(found) == 1 else None


@lru_cache(_PATTERNS)
def _pattern(middle: int, end: int) -> re.Pattern[str]:
    """Finds names by their places, with that many characters between the two occurrences and
    behind them.  Nothing in it is tried twice."""
    return re.compile(rf'(?s)"([^"]*+).{{{middle}}}\1.{{{end}}},?')


def _around(body: bytes, at: int, first: str) -> tuple[str, str] | None:
    """What stands between the two occurrences of the name of the topic that begins there, and what
    behind them, with the quotation marks; None where that name does not begin there."""
    name = b'"%b"' % first.encode()
    behind = at + len(name)
    again = body.find(name, behind, behind + AROUND_BYTES)
    close = body.find(b"}", again + len(name), behind + AROUND_BYTES)
    if not body.startswith(name, at) or again < 0 or close < 0:
        return None
    try:
        middle = body[behind - 1 : again + 1].decode()
        end = body[again + len(name) - 1 : close + 1].decode()
    except UnicodeDecodeError:
        return None
    both = middle + end
    return None if "\\" in both or "$ref" in both else (middle, end)


def _composed(names: list[str], middle: str, end: str) -> str:
    """The topics with these names that differ in nothing else."""
    twice = map(middle.join, zip(names, names, strict=True))
    return "".join(('"', f'{end},"'.join(twice), end))


def _marks_of(names: list[str], middle: str, end: str) -> int:
    """What ``JsonLimits`` counts in these topics beside their names."""
    text = middle + end
    return len(names) * (1 + text.count(",") + text.count("{") + text.count("["))


# ---------------------------------------------------------------------------- as a whole


def table_of(document: JsonValue) -> dict[str, JsonValue] | None:
    """Takes the topic table out of a parsed registration, if both are what they should be."""
    wrapper = document.get(WRAPPER) if isinstance(document, dict) else None
    table = wrapper.get(TABLE) if isinstance(wrapper, dict) else None
    if not isinstance(wrapper, dict) or not isinstance(table, dict):
        return None
    del wrapper[TABLE]
    return table


def topics_of_table(table: dict[str, JsonValue]) -> list[tuple[str, QueueSettings]]:
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
                settings = known[numbers] = settings_of(_typed(value))
            topics.append((name, settings))
        except (KeyError, TypeError):
            topics += topics_of([_typed(value)])
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
        raise DecodeError("null has no place here", path=f"RegisterBrokerBody.{WRAPPER}.{TABLE}")
    return config
