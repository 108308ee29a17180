"""Topics in batches: neighbours in a body, often with the same settings.

A broker has thousands of topics and few different settings, so that most topics are handled like
the one before.  With batches this is done once for all of them.

Rules of this file: if a name occurs twice, the last settings count, at the place of the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from rocketwire_namesrv.routes.queue_layouts import QueueSettings
    from rocketwire_namesrv.routes.topic_names import TopicNames

Topic = tuple[str, "QueueSettings"]
"""Name and settings."""

MAX_JOINED: Final = 256
"""Maximum number of topics in batches that are joined."""


class TopicBatch(NamedTuple):
    """Topics, at least one.

    Attributes:
        names: one for each topic.
        settings: one for each topic, or a single one for all.
        shared: keeps the names for the next body; such a batch is never extended.
    """

    names: list[str]
    settings: list[QueueSettings]
    shared: TopicNames | None = None

    def settings_of_each(self) -> Iterable[QueueSettings]:
        """Returns the settings of each topic, in the order of the names."""
        settings = self.settings
        return repeat(settings[0], len(self.names)) if len(settings) == 1 else settings

    def is_alike(self, other: TopicBatch) -> bool:
        """Returns whether all topics of both batches have the same settings."""
        return len(self.settings) == 1 and self.settings == other.settings


class TopicBatches(Collection[Topic]):
    """Topics, as pairs of name and settings and as batches.

    Attributes:
        batches: in the order in which they were added.
    """

    __slots__ = ("_added", "_named", "_names", "batches")

    def __init__(self) -> None:
        self.batches: list[TopicBatch] = []
        self._added = 0
        self._names: set[str] = set()
        self._named = 0  # batches whose names are in ``_names``

    def add(self, batch: TopicBatch) -> None:
        """Adds a batch, which belongs to this object from now on."""
        self.names.update(batch.names)
        self._added += len(batch.names)
        last = self.batches[-1] if self.batches else None
        if (
            last is None
            or last.shared
            or batch.shared
            or not last.is_alike(batch)
            or len(last.names) >= MAX_JOINED
        ):
            self.batches.append(batch)
        else:
            last.names.extend(batch.names)
        self._named = len(self.batches)

    def add_unique(self, batch: TopicBatch) -> None:
        """Adds a batch whose names occur once in it and in no other batch added in this way."""
        self._added += len(batch.names)
        self.batches.append(batch)

    @property
    def names(self) -> set[str]:
        """All names; not to be changed."""
        for batch in self.batches[self._named :]:
            self._names.update(batch.names)
        self._named = len(self.batches)
        return self._names

    @property
    def lazy_names(self) -> Collection[str]:
        """All names, collected when they are first used."""
        return self._names if self._named == len(self.batches) else _LazyNames(self)

    def has_repeated(self) -> bool:
        """Returns whether a name occurs more than once."""
        return self._added != len(self)

    def __len__(self) -> int:
        # if all batches were added as unique, no name occurs twice
        return len(self.names) if self._named else self._added

    def __iter__(self) -> Iterator[Topic]:
        pairs = chain.from_iterable(
            zip(batch.names, batch.settings_of_each(), strict=True) for batch in self.batches
        )
        return iter(dict(pairs).items()) if self.has_repeated() else pairs

    def __contains__(self, topic: object) -> bool:
        return any(pair == topic for pair in self)


def shared_names_of(topics: Collection[Topic]) -> list[TopicNames]:
    """Returns the names that are kept for the next body."""
    batches = topics.batches if isinstance(topics, TopicBatches) else []
    return [batch.shared for batch in batches if batch.shared is not None]


def drop_foreign_names(topics: Collection[Topic]) -> None:
    """Keeps no names for the next body but the keys of the route table."""
    for names in shared_names_of(topics):
        names.drop_foreign()


class _LazyNames(Collection[str]):
    """The names of topics, collected when they are first used."""

    __slots__ = ("_topics",)

    def __init__(self, topics: TopicBatches) -> None:
        self._topics = topics

    def __len__(self) -> int:
        return len(self._topics)

    def __iter__(self) -> Iterator[str]:
        return iter(self._topics.names)

    def __contains__(self, name: object) -> bool:
        return name in self._topics.names


def batches_of(topics: Collection[Topic], size: int) -> Iterator[TopicBatch]:
    """Returns topics in batches.  If no name occurs twice in ``topics``, none is in two batches.

    Args:
        topics: in any form.
        size: maximum number of topics in a batch, if ``topics`` has no batches.
    """
    if isinstance(topics, TopicBatches) and not topics.has_repeated():
        yield from topics.batches
        return
    remaining = iter(topics)
    while batch := list(islice(remaining, size)):
        yield TopicBatch([name for name, _ in batch], [settings for _, settings in batch])
