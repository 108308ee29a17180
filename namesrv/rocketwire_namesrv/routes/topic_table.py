"""``TopicTable``: which topics have queues at which brokers.

Rules of this file: those of ``route_table``, which owns the only instance. ``entries`` may be read
anywhere and is changed here only.

Java: ``topicQueueTable`` and ``topicQueueMappingInfoTable`` of ``RouteInfoManager``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Generator, Iterable, Mapping, Sequence
from itertools import compress, islice, repeat
from operator import getitem, is_, is_not
from typing import TYPE_CHECKING

from rocketwire.messages.route import QueueData, TopicQueueMappingInfo
from rocketwire_namesrv.events import TopicRouteRefused, TopicRouteRegistered, TopicsRegistered
from rocketwire_namesrv.routes.java_hashmap import (
    ConcurrentHashMap,
    HashMap,
    concurrent_order_in_steps,
)
from rocketwire_namesrv.routes.queue_layouts import QueueLayout, QueueLayouts, QueueSettings

if TYPE_CHECKING:
    from rocketwire.serving.events import Event
    from rocketwire_namesrv.routes.brokers import Registration

TOPICS_PER_STEP = 256

ORDERED_TOPICS = 4096
"""A registration with more topics is applied in the order of the body, not in the order of Java's
table."""

EXAMPLES = 5


class _Transition(dict[QueueLayout | None, QueueLayout]):
    """Layout before -> layout after, for all topics that have the same settings at one broker."""

    __slots__ = ("layouts", "queue", "results")

    def __init__(
        self, layouts: QueueLayouts, queue: QueueData, results: set[QueueLayout | None]
    ) -> None:
        super().__init__()
        self.layouts = layouts
        self.queue = queue
        self.results = results

    def __missing__(self, old: QueueLayout | None) -> QueueLayout:
        new = self[old] = self.layouts.with_queue(old, self.queue)
        self.results.add(new)
        return new


class _Transitions(dict[QueueSettings, _Transition]):
    """Settings at a broker -> transition, created when it is first needed.

    Args:
        layouts: of the table.
        name: of the broker.
        keep: mask for the permissions.
        results: layouts that the transitions lead to.
    """

    __slots__ = ("keep", "layouts", "name", "results")

    def __init__(
        self, layouts: QueueLayouts, name: str, keep: int, results: set[QueueLayout | None]
    ) -> None:
        super().__init__()
        self.layouts = layouts
        self.name = name
        self.keep = keep
        self.results = results

    def __missing__(self, settings: QueueSettings) -> _Transition:
        queue = QueueData(
            broker_name=self.name,
            read_queue_nums=settings.read_queue_nums,
            write_queue_nums=settings.write_queue_nums,
            perm=settings.perm & self.keep,
            topic_sys_flag=settings.topic_sys_flag,
        )
        transition = self[settings] = _Transition(self.layouts, queue, self.results)
        return transition


class _Application:
    """The application of one registration's topics to the table."""

    __slots__ = ("changed", "created", "everything", "name", "results", "table", "transitions")

    def __init__(self, table: TopicTable, name: str, *, everything: bool, keep: int) -> None:
        self.table = table
        self.name = name
        self.everything = everything
        self.results: set[QueueLayout | None] = set()
        self.transitions = _Transitions(table.layouts, name, keep, self.results)
        self.created: list[str] = []
        self.changed: list[str] = []

    def apply(self, topics: Sequence[tuple[str, QueueSettings]]) -> None:
        """Apply topics: all of them, or only those that have no queues at this broker."""
        if not self.everything:
            # between two steps an administrator may have given the topics other layouts
            self.results.update(self.table.layouts.of_broker(self.name))
            topics = self._missing(topics)
        if topics:
            self._apply_all(topics)

    def _missing(
        self, topics: Sequence[tuple[str, QueueSettings]]
    ) -> list[tuple[str, QueueSettings]]:
        entries, results = self.table.entries, self.results
        missing: dict[str, QueueSettings] = {}
        for name, settings in topics:
            if entries.get(name) not in results:
                missing.setdefault(name, settings)
        return list(missing.items())

    def _apply_all(self, topics: Sequence[tuple[str, QueueSettings]]) -> None:
        # works on whole columns: nearly always there are thousands of topics
        names, settings = zip(*topics, strict=True)
        entries = self.table.entries
        old = list(map(entries.get, names))
        new = list(map(getitem, map(self.transitions.__getitem__, settings), old))
        if old == new:  # which compares identities first, and layouts have no other equality
            return
        entries.insert_all(zip(names, new, strict=True))
        if None in old:
            self.created += compress(names, map(is_, old, repeat(None)))
            old = [
                next_layout if layout is None else layout
                for layout, next_layout in zip(old, new, strict=True)
            ]
        self.changed += compress(names, map(is_not, old, new))
        self.table.revision += 1

    def events(self) -> list[Event]:
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
    def __init__(self) -> None:
        self.entries: ConcurrentHashMap[QueueLayout] = ConcurrentHashMap(2048)  #: topic -> layout
        self.layouts = QueueLayouts()  #: all layouts in use
        #: topic -> broker name -> static mapping; stays after the topic is deleted, as in Java
        self.mappings: dict[str, HashMap[str, TopicQueueMappingInfo]] = {}
        self.revision = 0  #: grows whenever ``entries`` changes
        #: broker name -> number of the last event that took a topic from it
        self.losses: dict[str | None, int] = {}
        self.mapped = 0  #: size of ``mappings``, in queues
        self._last_loss = 0
        self._at_most: dict[str | None, int] = {}

    def at_most_at(self, broker_name: str) -> int:
        """Return an upper bound for the number of topics with queues at a broker."""
        return self._at_most.get(broker_name, 0)

    def count_at(self, broker_name: str) -> int:
        """Return the number of topics with queues at a broker; it looks at all topics."""
        layouts = frozenset(self.layouts.of_broker(broker_name))
        count = sum(map(layouts.__contains__, self.entries.values())) if layouts else 0
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
    ) -> Generator[None, None, list[Event]]:
        """Apply the topics of a registration, in steps; return the events.

        Args:
            registration: of a broker.
            everything: whether all topics are applied, or only those without queues at this broker.
            keep: mask for their permissions.
            is_current: called after each step; False ends the registration.
        """
        name = registration.broker_name
        work = _Application(self, name, everything=everything, keep=keep)
        try:
            arranged = yield from self._arrange(registration.topics)
            remaining = iter(arranged)
            topics = list(islice(remaining, TOPICS_PER_STEP))
            while topics and is_current():
                work.apply(topics)
                topics = list(islice(remaining, TOPICS_PER_STEP))
                if topics:
                    yield
        finally:
            if work.created or work.changed:
                self._more_at(name, len(work.created) + len(work.changed))
        return work.events()

    def _lose(self, broker_name: str | None) -> None:
        # the broker's next body is then registered in full
        self._last_loss += 1
        self.losses[broker_name] = self._last_loss

    def _arrange(
        self, topics: Collection[tuple[str, QueueSettings]]
    ) -> Generator[None, None, Collection[tuple[str, QueueSettings]]]:
        # the order matters for new topics only
        if len(topics) > ORDERED_TOPICS:
            return topics
        settings = dict(topics)
        if self.entries.keys() >= settings.keys():
            return topics
        order = yield from concurrent_order_in_steps(settings)
        return [(topic, settings[topic]) for topic in order]

    def map_statically(self, mappings: Mapping[str, TopicQueueMappingInfo]) -> None:
        for topic, info in mappings.items():
            mappings_of_topic = self.mappings.get(topic)
            self.mapped += self.growth_by((topic, info))
            if mappings_of_topic is None:
                mappings_of_topic = self.mappings[topic] = HashMap()
            mappings_of_topic[info.bname or ""] = info

    def growth_by(self, mapping: tuple[str, TopicQueueMappingInfo]) -> int:
        """Return by how much ``mapped`` grows with the static mapping of a topic."""
        topic, info = mapping
        mappings_of_topic = self.mappings.get(topic)
        previous = None if mappings_of_topic is None else mappings_of_topic.get(info.bname or "")
        return _weight(info) - (0 if previous is None else _weight(previous))

    def remove_others(self, broker_name: str, keys: Container[str]) -> list[Event]:
        changes = self._without(broker_name)
        absent = [
            topic
            for topic, layout in self.entries.items()
            if layout in changes and topic not in keys
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
        count = self._replace(self._without(broker_name))
        self.layouts.drop(broker_name)
        self.losses.pop(broker_name, None)
        self._at_most.pop(broker_name, None)
        return count

    def change_perm(self, broker_name: str, perm: Callable[[int], int]) -> int:
        """Change the permission of all topics of a broker until its data version changes; return
        their number."""
        return self._replace(
            {
                layout: self.layouts.with_perm(layout, broker_name, perm)
                for layout in self.layouts.of_broker(broker_name)
            }
        )

    def delete(self, topic: str) -> bool:
        if topic not in self.entries:
            return False
        for queue in self.entries[topic].queues:
            self._lose(queue.broker_name)
        self._place(topic, None)
        return True

    def delete_at(self, topic: str, broker_names: Iterable[str]) -> bool:
        """Remove brokers from a topic; return whether it had queues there."""
        previous = layout = self.entries.get(topic)
        for name in broker_names:
            layout = None if layout is None else self.layouts.without_broker(layout, name)
            self._lose(name)
        if layout is previous:
            return False
        self._place(topic, layout)
        return True

    def register_route(
        self, topic: str, queues: Sequence[QueueData], registered: Container[str | None]
    ) -> list[Event]:
        """Register the route of one topic.

        All brokers of a new topic must be registered. If the topic exists, the queues before the
        first unregistered broker are applied.
        """
        layout = self.entries.get(topic)
        unknown = next((queue for queue in queues if queue.broker_name not in registered), None)
        events: list[Event] = []
        if unknown is not None:
            events.append(TopicRouteRefused(topic=topic, broker_name=unknown.broker_name))
            queues = () if layout is None else queues[: queues.index(unknown)]
        for queue in queues:
            layout = self.layouts.with_queue(layout, queue)
            self._more_at(queue.broker_name, 1)
        if queues:
            self._place(topic, layout)
            names = _examples([queue.broker_name or "" for queue in queues[: EXAMPLES + 1]])
            events.append(TopicRouteRegistered(topic=topic, broker_names=names))
        return events

    def _without(self, broker_name: str) -> dict[QueueLayout, QueueLayout | None]:
        return {
            layout: self.layouts.without_broker(layout, broker_name)
            for layout in self.layouts.of_broker(broker_name)
        }

    def _replace(self, changes: Mapping[QueueLayout, QueueLayout | None]) -> int:
        hits = [(topic, layout) for topic, layout in self.entries.items() if layout in changes]
        for topic, layout in hits:
            self._place(topic, changes[layout])
        return len(hits)

    def _place(self, topic: str, layout: QueueLayout | None) -> None:
        self.revision += 1
        if layout is None:
            del self.entries[topic]
        else:
            self.entries[topic] = layout


def _examples(names: Sequence[str]) -> tuple[str, ...]:
    return (*names[:EXAMPLES], "...") if len(names) > EXAMPLES else tuple(names)


def _weight(info: TopicQueueMappingInfo) -> int:
    # a queue counts 1, as do 64 characters of text
    texts = len(info.bname or "") + len(info.scope or "") + len(info.topic or "")
    return 1 + len(info.curr_id_map or ()) + texts // 64
