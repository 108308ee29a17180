"""All messages of a broker: queues by topic, and one log that orders the messages of all queues.

A message's position in the log, its *physical offset*, grows by the message's size, as in Java's
commit log. Kept bytes are bounded: the oldest messages go first, whatever their queue.

Java: ``DefaultMessageStore``, ``CommitLog``, ``ConsumeQueue``.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.messages.message_const import LITE_TOPIC
from rocketwire.policy.resource_names import LITE_PREFIX
from rocketwire_broker.storage.queue import Queue

if TYPE_CHECKING:
    from rocketwire.wire.message.host import Host
    from rocketwire_broker.storage.message import Message

_CUT: Final = 4_096  # least number of dropped messages before the log's lists are cut


class UnwritableError(Exception):
    """The disk is full or fails; nothing was stored."""


class StoredPosition(NamedTuple):
    queue_offset: int  # its offset in its queue
    physical_offset: int  # its position in the log
    size: int


class Store:
    is_durable: bool = False  # whether messages outlive the process

    def __init__(self, *, retain_bytes: int, retain_ms: float, store_host: Host) -> None:
        self.store_host = store_host
        self.size: int = 0
        self.next_physical: int = 0
        self.last_stored: int = 0  # time of the last message, in milliseconds; 0 before the first
        # queues with new messages since the owner of this set has emptied it
        self.arrivals: set[tuple[str, int]] = set()
        self.put_count: int = 0
        self.evicted_count: int = 0  # number of messages that were dropped because of the bounds
        # names of the LMQs of lite topics. Each is a topic with one queue, which has
        # messages of its parent topic.
        self.lmqs: dict[str, None] = {}
        # whether messages of lite topics are put into them (Java: ``enableLmq``)
        self.has_lmqs = True
        self._retain_bytes = retain_bytes
        self._retain_ms = retain_ms
        self._queues: dict[str, dict[int, Queue]] = {}
        self._physical = array("q")
        self._owners: list[Queue] = []
        self._begin = 0
        self._second: dict[int, Queue] = {}  # LMQ of the message at a physical offset

    def retain(self, retain_bytes: int, retain_ms: float) -> None:
        self._retain_bytes = retain_bytes
        self._retain_ms = retain_ms

    def put(self, message: Message, now: int) -> StoredPosition:
        """Store a message; ``arrivals`` gets its queue, for requests that wait."""
        topic, queue_id = message.topic, message.queue_id
        lmq = self._lmq(message) if LITE_TOPIC in message.properties else None
        queues = self._queues.get(topic)
        queue = None if queues is None else queues.get(queue_id)
        offset = 0 if queue is None else queue.max_offset
        physical = self.next_physical
        record = message.encode(offset, physical, self.store_host, now)
        if queue is None:
            queue = self._queues.setdefault(topic, {})[queue_id] = Queue(topic, queue_id)
        size = len(record)
        queue.append(record, message.tags_code, now, physical)
        self._physical.append(physical)
        self._owners.append(queue)
        if lmq is not None:
            second = self._queues.setdefault(lmq, {}).setdefault(0, Queue(lmq, 0))
            second.append(record, message.tags_code, now, physical)
            self._second[physical] = second
            self.lmqs[lmq] = None
            self.arrivals.add((lmq, 0))
        self.next_physical = physical + size
        self.size += size
        self.put_count += 1
        self.last_stored = now
        self.arrivals.add((topic, queue_id))
        if self.size > self._retain_bytes:
            self._evict(self._retain_bytes)
        return StoredPosition(offset, physical, size)

    def _lmq(self, message: Message) -> str | None:
        name = message.lmq() if self.has_lmqs else None
        if name is not None:
            message.set_lmq_offset(self.max_offset(name, 0))
        return name

    def put_all(self, messages: Sequence[Message], now: int) -> list[StoredPosition]:
        """Store messages of one queue; if one is invalid, those before it are stored."""
        return [self.put(message, now) for message in messages]

    def expire(self, now: int) -> None:
        oldest = now - self._retain_ms
        while self._begin < len(self._owners):
            queue = self._owners[self._begin]
            time = queue.store_time(queue.min_offset)
            if self._is_first(queue) and time is not None and time >= oldest:
                return
            self._drop_first()

    def _evict(self, limit: int) -> None:
        last = len(self._owners) - 1  # the newest message stays, whatever its size
        while self.size > limit and self._begin < last:
            self._drop_first()
            last = len(self._owners) - 1

    def _is_first(self, queue: Queue) -> bool:
        return queue.offset_of(self._physical[self._begin]) is not None

    def _drop_first(self) -> None:
        queue = self._owners[self._begin]
        if self._is_first(queue):
            self.size -= queue.drop_first()
            self.evicted_count += 1
        if self._second:
            physical = self._physical[self._begin]
            second = self._second.pop(physical, None)
            if second is not None and second.offset_of(physical) is not None:
                second.drop_first()
        self._begin += 1
        if self._begin >= _CUT and 2 * self._begin >= len(self._owners):
            del self._owners[: self._begin], self._physical[: self._begin]
            self._begin = 0

    def delete_topic(self, topic: str) -> None:
        """Drop a topic's messages; a later message begins at offset 0 again."""
        is_lmq = topic.startswith(LITE_PREFIX)
        self.lmqs.pop(topic, None)
        for queue in self._queues.pop(topic, {}).values():
            while queue.min_offset < queue.max_offset:
                size = queue.drop_first()
                self.size -= 0 if is_lmq else size

    @property
    def first_physical(self) -> int:
        """Physical offset of the oldest message, or of the next one if there is none."""
        if self._begin < len(self._physical):
            return self._physical[self._begin]
        return self.next_physical

    @property
    def earliest_store_time(self) -> int:
        if self._begin < len(self._owners):
            queue = self._owners[self._begin]
            time = queue.store_time(queue.min_offset)
            return -1 if time is None else time
        return -1

    def queue(self, topic: str, queue_id: int) -> Queue | None:
        """Return a queue; None while it has never had a message."""
        queues = self._queues.get(topic)
        return None if queues is None else queues.get(queue_id)

    def queues(self, topic: str) -> Iterator[Queue]:
        yield from self._queues.get(topic, {}).values()

    def min_offset(self, topic: str, queue_id: int) -> int:
        queue = self.queue(topic, queue_id)
        return 0 if queue is None else queue.min_offset

    def max_offset(self, topic: str, queue_id: int) -> int:
        queue = self.queue(topic, queue_id)
        return 0 if queue is None else queue.max_offset

    def record_at(self, physical: int) -> bytes | None:
        index = bisect_left(self._physical, physical, self._begin)
        if index >= len(self._physical) or self._physical[index] != physical:
            return None
        queue = self._owners[index]
        offset = queue.offset_of(physical)
        return None if offset is None else queue.record(offset)
