"""Topics in runs: those that stand one behind another in a body and have the same settings.

A broker has thousands of topics and few ways of laying them out, so what is to be done with a topic
is mostly what has just been done with the one before it.  Who works on a run does it once for all.

Rules of this file: of a name that occurs twice the last settings count, at the place of the first.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocketwire_namesrv.routes.queue_layouts import QueueSettings
    from rocketwire_namesrv.routes.topic_names import KnownNames

Topic = tuple[str, "QueueSettings"]
"""Name and settings."""

MANY: Final = 256
"""A run of so many topics is not made longer."""


class Run(NamedTuple):
    """Some topics, at least one.

    Attributes:
        names: of each.
        settings: of each; a single one is that of all.
        known: keeps the names for the next body; such a run is left as it is.
    """

    names: list[str]
    settings: list[QueueSettings]
    known: KnownNames | None = None

    def each(self) -> Iterable[QueueSettings]:
        """The settings, as often as there are names."""
        settings = self.settings
        return repeat(settings[0], len(self.names)) if len(settings) == 1 else settings

    def is_alike(self, other: Run) -> bool:
        """Whether all topics of both have the same settings."""
        return len(self.settings) == 1 and self.settings == other.settings


class TopicRuns(Collection[Topic]):
    """Topics, as pairs of name and settings and in runs.

    Attributes:
        runs: all that was added, in that order.
    """

    __slots__ = ("_added", "_named", "_names", "runs")

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self._added = 0
        self._names: set[str] = set()
        self._named = 0  # runs whose names are in ``_names``

    def add(self, run: Run) -> int:
        """Adds some topics; the run belongs to this object from now on.

        Returns:
            How many of their names are new.
        """
        names = self.names
        before = len(names)
        names.update(run.names)
        self._added += len(run.names)
        last = self.runs[-1] if self.runs else None
        if last is None or last.known or not last.is_alike(run) or len(last.names) >= MANY:
            self.runs.append(run)
        else:
            last.names.extend(run.names)
        self._named = len(self.runs)
        return len(names) - before

    def add_known(self, run: Run) -> None:
        """Adds topics whose names are kept from a body that had none of them twice; of that body
        nothing is added but once."""
        self._added += len(run.names)
        self.runs.append(run)

    @property
    def names(self) -> set[str]:
        """Of all; not to be changed."""
        for run in self.runs[self._named :]:
            self._names.update(run.names)
        self._named = len(self.runs)
        return self._names

    @property
    def each_name(self) -> Collection[str]:
        """The names, for who may not want to know them."""
        return self._names if self._named == len(self.runs) else _Names(self)

    def has_repeated(self) -> bool:
        """Whether a name is in the runs more than once."""
        return self._added != len(self)

    def __len__(self) -> int:
        # where all names are kept ones there is none twice
        return len(self.names) if self._named else self._added

    def __iter__(self) -> Iterator[Topic]:
        pairs = chain.from_iterable(zip(run.names, run.each(), strict=True) for run in self.runs)
        return iter(dict(pairs).items()) if self.has_repeated() else pairs

    def __contains__(self, topic: object) -> bool:
        return any(each == topic for each in self)


def take_over(topics: Collection[Topic]) -> None:
    """Notes that the names of all topics are the route table's own from now on."""
    for known in _known(topics):
        known.are_keys = True


def strange(topics: Collection[Topic]) -> list[KnownNames]:
    """The names that are to be kept and are not the route table's own."""
    return [known for known in _known(topics) if not known.are_keys]


def settle(topics: Collection[Topic]) -> None:
    """Keeps no names for the next body but those that the route table has taken over."""
    for known in _known(topics):
        known.settle()


def _known(topics: Collection[Topic]) -> list[KnownNames]:
    runs = topics.runs if isinstance(topics, TopicRuns) else []
    return [run.known for run in runs if run.known is not None]


class _Names(Collection[str]):
    """The names of topics, gathered when somebody asks for them."""

    __slots__ = ("_topics",)

    def __init__(self, topics: TopicRuns) -> None:
        self._topics = topics

    def __len__(self) -> int:
        return len(self._topics)

    def __iter__(self) -> Iterator[str]:
        return iter(self._topics.names)

    def __contains__(self, name: object) -> bool:
        return name in self._topics.names


def runs_of(topics: Collection[Topic], most: int) -> Iterator[Run]:
    """Any topics in runs, no name in more than one if none is in ``topics`` twice.

    Args:
        topics: as they came.
        most: topics in a run, where they do not come in runs.
    """
    if isinstance(topics, TopicRuns) and not topics.has_repeated():
        yield from topics.runs
        return
    rest = iter(topics)
    while some := list(islice(rest, most)):
        yield Run([name for name, _ in some], [settings for _, settings in some])
