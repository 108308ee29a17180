"""``TopicTable``: which topics have queues at which brokers.

Rules of this file: as in ``table``, which owns the one instance and knows the brokers.  ``entries``
is read freely and changed here only.

Java: ``topicQueueTable`` and ``topicQueueMappingInfoTable`` of ``RouteInfoManager``.
"""

from __future__ import annotations

from itertools import compress, repeat
from operator import getitem, is_, is_not
from typing import TYPE_CHECKING

from rocketwire.messages.route import QueueData
from rocketwire_namesrv.events import (
    Occurrence,
    TopicRouteRefused,
    TopicRouteRegistered,
    TopicsRegistered,
)
from rocketwire_namesrv.routes.java_hashmap import (
    ConcurrentHashMap,
    HashMap,
    concurrent_order_in_steps,
)
from rocketwire_namesrv.routes.queue_layouts import QueueSettings, Shape, Shapes
from rocketwire_namesrv.routes.topic_batches import TopicBatch, batches_of, shared_names_of
from rocketwire_namesrv.routes.topic_names import SharedNames, use_keys

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Container,
        Generator,
        Iterable,
        Mapping,
        Sequence,
    )

    from rocketwire.messages.route import TopicQueueMappingInfo
    from rocketwire_namesrv.routes.brokers import Registration

TOPICS_PER_STEP = 256

ORDERED_TOPICS = 4096
"""A registration with more topics is applied as it came, not in the order of Java's table of
them."""

EXAMPLES = 5


class _Transition(dict[Shape | None, Shape]):
    """Shape before -> shape after, for all topics that have the same settings at one broker."""

    __slots__ = ("queue", "seen", "shapes")

    def __init__(self, shapes: Shapes, queue: QueueData, seen: set[Shape | None]) -> None:
        super().__init__()
        self.shapes = shapes
        self.queue = queue
        self.seen = seen

    def __missing__(self, old: Shape | None) -> Shape:
        new = self[old] = self.shapes.joined(old, self.queue)
        self.seen.add(new)
        return new


class _Transitions(dict[QueueSettings, _Transition]):
    """Settings at a broker -> transition, each made when it is first needed.

    Args:
        shapes: of the table.
        name: of the broker.
        keep: mask for the permissions.
        seen: shapes that the transitions lead to.
    """

    __slots__ = ("keep", "name", "seen", "shapes")

    def __init__(self, shapes: Shapes, name: str, keep: int, seen: set[Shape | None]) -> None:
        super().__init__()
        self.shapes = shapes
        self.name = name
        self.keep = keep
        self.seen = seen

    def __missing__(self, settings: QueueSettings) -> _Transition:
        queue = QueueData(
            broker_name=self.name,
            read_queue_nums=settings.read_queue_nums,
            write_queue_nums=settings.write_queue_nums,
            perm=settings.perm & self.keep,
            topic_sys_flag=settings.topic_sys_flag,
        )
        made = self[settings] = _Transition(self.shapes, queue, self.seen)
        return made


class _Application:
    """One registration's topics on their way into the table."""

    __slots__ = ("changed", "created", "everything", "name", "seen", "table", "transitions")

    def __init__(self, table: TopicTable, name: str, *, everything: bool, keep: int) -> None:
        self.table = table
        self.name = name
        self.everything = everything
        self.seen: set[Shape | None] = set()
        self.transitions = _Transitions(table.shapes, name, keep, self.seen)
        self.created: list[str] = []
        self.changed: list[str] = []

    def apply(self, batch: TopicBatch) -> None:
        """Applies a batch: all of it, or only the topics that have no queues at this broker."""
        if self.everything:
            self._apply_all(batch)
            return
        # between two steps an administrator may have given the topics other shapes
        self.seen.update(self.table.shapes.of_broker(self.name))
        missing = self._missing(batch)
        if missing:
            self._apply_all(TopicBatch(list(missing), list(missing.values())))

    def _missing(self, batch: TopicBatch) -> dict[str, QueueSettings]:
        """Returns the topics without queues at the broker; of two with one name the first."""
        entries, seen = self.table.entries, self.seen
        missing: dict[str, QueueSettings] = {}
        for name, settings in zip(batch.names, batch.settings_of_each(), strict=True):
            if entries.get(name) not in seen:
                missing.setdefault(name, settings)
        return missing

    def _apply_all(self, batch: TopicBatch) -> None:
        """Applies topics, without a line of Python for each: nearly always there are thousands."""
        names = batch.names
        entries = self.table.entries
        old = list(map(entries.get, names))
        if len(batch.settings) == 1 and old.count(old[0]) == len(old):
            self._apply_alike(batch, old[0], self.transitions[batch.settings[0]][old[0]])
            return
        transitions = map(self.transitions.__getitem__, batch.settings_of_each())
        new = list(map(getitem, transitions, old))
        if old == new:  # which asks for identity first, and shapes have no other equality
            return
        entries.insert_all(zip(names, new, strict=True))
        if None in old:
            self.created += compress(names, map(is_, old, repeat(None)))
            old = [
                after if before is None else before for before, after in zip(old, new, strict=True)
            ]
        self.changed += compress(names, map(is_not, old, new))
        self.table.revision += 1

    def _apply_alike(self, batch: TopicBatch, before: Shape | None, after: Shape) -> None:
        """Applies topics that all had one shape and will all have another."""
        if before is after:
            return
        self.table.entries.insert_all(zip(batch.names, repeat(after), strict=False))
        if before is not None:
            self.changed += batch.names
        else:
            self.created += batch.names
            if batch.shared is not None:
                batch.shared.are_keys = True
        self.table.revision += 1

    def occurrences(self) -> list[Occurrence]:
        """What came of it."""
        if not self.created and not self.changed:
            return []
        return [
            TopicsRegistered(
                broker_name=self.name,
                created=len(self.created),
                changed=len(self.changed),
                removed=0,
                examples=_examples([*self.created[: EXAMPLES + 1], *self.changed[: EXAMPLES + 1]]),
            )
        ]


class TopicTable:
    """Topics, and where their queues are.

    Attributes:
        entries: topic -> shape.
        shapes: all shapes in use.
        mappings: topic -> broker name -> static mapping; survives the topic, as in Java.
        revision: grows whenever ``entries`` changes.
        losses: broker name -> number of the last event that took a topic from it.
        mapped: what ``mappings`` takes, in queues.
        shared_names: the names that are kept for the next body of each broker.
    """

    def __init__(self) -> None:
        self.entries: ConcurrentHashMap[Shape] = ConcurrentHashMap(2048)
        self.shapes = Shapes()
        self.mappings: dict[str, HashMap[str, TopicQueueMappingInfo]] = {}
        self.revision = 0
        self.losses: dict[str | None, int] = {}
        self.mapped = 0
        self.shared_names = SharedNames()
        self._last_loss = 0
        self._at_most: dict[str | None, int] = {}

    def at_most_at(self, broker_name: str) -> int:
        """A bound for the number of topics with queues at a broker, cheaply."""
        return self._at_most.get(broker_name, 0)

    def count_at(self, broker_name: str) -> int:
        """The number of topics with queues at a broker; looks at all topics."""
        shapes = frozenset(self.shapes.of_broker(broker_name))
        count = sum(map(shapes.__contains__, self.entries.values())) if shapes else 0
        self._at_most[broker_name] = count
        return count

    def _more_at(self, broker_name: str | None, count: int) -> None:
        self._at_most[broker_name] = self._at_most.get(broker_name, 0) + count

    def register(
        self,
        registration: Registration,
        *,
        everything: bool,
        keep: int,
        is_current: Callable[[], bool],
    ) -> Generator[None, None, list[Occurrence]]:
        """Takes the topics of a registration, in steps; returns what came of it.

        Args:
            registration: whose.
            everything: whether all topics are taken, or only those not known of this broker.
            keep: mask for their permissions.
            is_current: asked after each step; False ends it.
        """
        name = registration.broker_name
        work = _Application(self, name, everything=everything, keep=keep)
        try:
            arranged = yield from self._arranged(registration.topics)
            batches = batches_of(arranged, TOPICS_PER_STEP)
            batch = next(batches, None)
            while batch is not None and is_current():
                work.apply(batch)
                batch = next(batches, None)
                if batch is not None:
                    yield
        finally:
            if work.created or work.changed:
                self._more_at(name, len(work.created) + len(work.changed))
        shared_names = shared_names_of(registration.topics)
        if len(work.created) == len(registration.topics):
            for names in shared_names:
                names.are_keys = True
        if foreign := [names for names in shared_names if not names.are_keys]:
            yield from use_keys(foreign, self.entries)
        return work.occurrences()

    def _lose(self, broker_name: str | None) -> None:
        """Notes that a broker has lost a topic, so that its next body is registered in full."""
        self._last_loss += 1
        self.losses[broker_name] = self._last_loss

    def _arranged(
        self, topics: Collection[tuple[str, QueueSettings]]
    ) -> Generator[None, None, Collection[tuple[str, QueueSettings]]]:
        """The topics in the order of Java's table of them, where it matters: when some are new."""
        if len(topics) > ORDERED_TOPICS:
            return topics
        settings = dict(topics)
        if self.entries.keys() >= settings.keys():
            return topics
        order = yield from concurrent_order_in_steps(settings)
        return [(topic, settings[topic]) for topic in order]

    def map_statically(self, mappings: Mapping[str, TopicQueueMappingInfo]) -> None:
        """Takes the static mappings of a registration."""
        for topic, info in mappings.items():
            known = self.mappings.get(topic)
            self.mapped += self.growth_by((topic, info))
            if known is None:
                known = self.mappings[topic] = HashMap()
            known[info.bname or ""] = info

    def growth_by(self, mapping: tuple[str, TopicQueueMappingInfo]) -> int:
        """By how much ``mapped`` grows with the static mapping of a topic."""
        topic, info = mapping
        known = self.mappings.get(topic)
        former = None if known is None else known.get(info.bname or "")
        return _weight(info) - (0 if former is None else _weight(former))

    def remove_others(self, broker_name: str, keys: Container[str]) -> list[Occurrence]:
        """Takes a broker from all topics that are not among ``keys``."""
        changes = self._without(broker_name)
        absent = [
            topic for topic, shape in self.entries.items() if shape in changes and topic not in keys
        ]
        for topic in absent:
            self._place(topic, changes[self.entries[topic]])
        if not absent:
            return []
        self._lose(broker_name)
        return [
            TopicsRegistered(
                broker_name=broker_name,
                created=0,
                changed=0,
                removed=len(absent),
                examples=_examples(absent),
            )
        ]

    def remove_broker(self, broker_name: str) -> int:
        """Takes a broker from all topics; counts them."""
        count = self._replace(self._without(broker_name))
        self.shapes.drop(broker_name)
        self.losses.pop(broker_name, None)
        self._at_most.pop(broker_name, None)
        return count

    def change_perm(self, broker_name: str, perm: Callable[[int], int]) -> int:
        """Changes the permission of all topics of a broker until its data version changes; counts
        them."""
        return self._replace(
            {
                shape: self.shapes.permitted(shape, broker_name, perm)
                for shape in self.shapes.of_broker(broker_name)
            }
        )

    def delete(self, topic: str) -> bool:
        """Deletes a topic everywhere."""
        if topic not in self.entries:
            return False
        for queue in self.entries[topic].queues:
            self._lose(queue.broker_name)
        self._place(topic, None)
        return True

    def delete_at(self, topic: str, broker_names: Iterable[str]) -> bool:
        """Takes some brokers from a topic."""
        before = shape = self.entries.get(topic)
        for name in broker_names:
            shape = None if shape is None else self.shapes.left(shape, name)
            self._lose(name)
        if shape is before:
            return False
        self._place(topic, shape)
        return True

    def register_route(
        self, topic: str, queues: Sequence[QueueData], known: Container[str | None]
    ) -> list[Occurrence]:
        """Registers the route of one topic.

        A new topic needs all its brokers known; of a known topic the queues up to the first unknown
        broker are taken.
        """
        shape = self.entries.get(topic)
        unknown = next((queue for queue in queues if queue.broker_name not in known), None)
        happened: list[Occurrence] = []
        if unknown is not None:
            happened.append(TopicRouteRefused(topic=topic, broker_name=unknown.broker_name))
            queues = () if shape is None else queues[: queues.index(unknown)]
        for queue in queues:
            shape = self.shapes.joined(shape, queue)
            self._more_at(queue.broker_name, 1)
        if queues:
            self._place(topic, shape)
            names = _examples([queue.broker_name or "" for queue in queues[: EXAMPLES + 1]])
            happened.append(TopicRouteRegistered(topic=topic, broker_names=names))
        return happened

    def _without(self, broker_name: str) -> dict[Shape, Shape | None]:
        return {
            shape: self.shapes.left(shape, broker_name)
            for shape in self.shapes.of_broker(broker_name)
        }

    def _replace(self, changes: Mapping[Shape, Shape | None]) -> int:
        hits = [(topic, shape) for topic, shape in self.entries.items() if shape in changes]
        for topic, shape in hits:
            self._place(topic, changes[shape])
        return len(hits)

    def _place(self, topic: str, shape: Shape | None) -> None:
        self.revision += 1
        if shape is None:
            del self.entries[topic]
        else:
            self.entries[topic] = shape


def _examples(names: Sequence[str]) -> tuple[str, ...]:
    """The first few names, and ``...`` if there are more."""
    return (*names[:EXAMPLES], "...") if len(names) > EXAMPLES else tuple(names)


def _weight(info: TopicQueueMappingInfo) -> int:
    """What a static mapping takes: its queues, and its texts at the price of one for 64
    characters."""
    texts = len(info.bname or "") + len(info.scope or "") + len(info.topic or "")
    return 1 + len(info.curr_id_map or ()) + texts // 64
