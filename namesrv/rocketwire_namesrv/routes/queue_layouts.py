"""Queue layouts: the queues that topics have at brokers, stored once for all topics with the same
queues.

A large cluster has many topics and few different layouts.  A topic of the route table therefore
points to a shared, immutable ``QueueLayout``, and a route response, which does not contain the
topic's name, is encoded once per layout.

Rules of this file: the queues of a layout never change. An encoded response is dropped
(``QueueLayouts.forget``) if a broker in it changes its addresses, zone, acting flag or filter
servers. ``topic -> QueueLayout`` is the only strong reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakSet, WeakValueDictionary

from rocketwire_namesrv.routes.java_hashmap import DEFAULT_CAPACITY, spread

if TYPE_CHECKING:
    from rocketwire.messages.route import QueueData


class QueueSettings(NamedTuple):
    """The settings of a topic at a broker, without their names."""

    read_queue_nums: int
    write_queue_nums: int
    perm: int
    topic_sys_flag: int


class EncodedRoute:
    __slots__ = ("body", "heads")

    def __init__(self, body: bytes) -> None:
        self.body = body  #: of the response
        #: size of the opaque in bytes -> length of a frame with this body, and the bytes before the
        #: opaque; filled by ``RouteResponseTemplate.head``
        self.heads: dict[int, tuple[int, bytes]] = {}


class QueueLayout:
    """The queues of a topic, one ``QueueData`` per broker name."""

    __slots__ = ("__weakref__", "capacity", "dialect", "queues", "standard")

    def __init__(self, queues: tuple[QueueData, ...], capacity: int) -> None:
        self.queues = queues  #: in the order of Java's ``HashMap`` by broker name
        self.capacity = capacity  #: buckets of Java's map
        #: route response in standard JSON, or None if it is not encoded yet
        self.standard: EncodedRoute | None = None
        self.dialect: EncodedRoute | None = None  #: the same in fastjson's dialect

    def queue_of(self, broker_name: str) -> QueueData | None:
        return next((queue for queue in self.queues if queue.broker_name == broker_name), None)


class QueueLayouts:
    """Every layout in use, and the way from one to the next."""

    def __init__(self) -> None:
        self._shapes: WeakValueDictionary[tuple[tuple[QueueData, ...], int], QueueLayout] = (
            WeakValueDictionary()
        )
        self._by_broker: dict[str | None, WeakSet[QueueLayout]] = {}

    def __len__(self) -> int:
        return len(self._shapes)

    def with_queue(self, old: QueueLayout | None, queue: QueueData) -> QueueLayout:
        """Return the layout ``old`` (None for a new topic) with ``queue`` added, or in place of
        the broker's previous one."""
        if old is None:
            return self._intern((queue,), DEFAULT_CAPACITY)
        queues = tuple(
            queue if present.broker_name == queue.broker_name else present for present in old.queues
        )
        if queues == old.queues and queue not in queues:
            return self._grow(queues, queue, old.capacity)
        return self._intern(queues, old.capacity)

    def without_broker(self, old: QueueLayout, broker_name: str) -> QueueLayout | None:
        """Return the layout without that broker; None if no queue is left."""
        queues = tuple(queue for queue in old.queues if queue.broker_name != broker_name)
        return self._intern(queues, old.capacity) if queues else None

    def with_perm(
        self, old: QueueLayout, broker_name: str, perm: Callable[[int], int]
    ) -> QueueLayout:
        """Return the layout with another permission at that broker, computed from the previous
        one."""
        queues = tuple(
            replace(queue, perm=perm(queue.perm)) if queue.broker_name == broker_name else queue
            for queue in old.queues
        )
        return self._intern(queues, old.capacity)

    def of_broker(self, broker_name: str) -> list[QueueLayout]:
        return list(self._by_broker.get(broker_name, ()))

    def forget(self, broker_name: str) -> None:
        """Drop the encoded responses with that broker."""
        for layout in self._by_broker.get(broker_name, ()):
            layout.standard = layout.dialect = None

    def forget_all(self) -> None:
        for layout in self._shapes.values():
            layout.standard = layout.dialect = None

    def drop(self, broker_name: str) -> None:
        """Forget a broker at which no topic has queues any more."""
        self._by_broker.pop(broker_name, None)

    def _grow(self, queues: tuple[QueueData, ...], queue: QueueData, capacity: int) -> QueueLayout:
        if len(queues) + 1 > capacity * 3 // 4:
            capacity *= 2
        mask = capacity - 1
        ordered = sorted((*queues, queue), key=lambda data: spread(data.broker_name or "") & mask)
        return self._intern(tuple(ordered), capacity)

    def _intern(self, queues: tuple[QueueData, ...], capacity: int) -> QueueLayout:
        layout = self._shapes.get((queues, capacity))
        if layout is None:
            layout = self._shapes[queues, capacity] = QueueLayout(queues, capacity)
            for queue in queues:
                self._by_broker.setdefault(queue.broker_name, WeakSet()).add(layout)
        return layout
