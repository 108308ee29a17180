"""What a broker does with messages, groups and offsets, as plain lists and dictionaries.

It knows nothing of frames, and shares no code with the broker. Messages are their bodies, which differ.
Each method says what a client must see then. Pops name what they took, because a broker may begin with
any queue; ``take`` checks that and takes the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

QUEUES = 2
"""Queues of a topic."""
SCAN_MS = 10_000
"""Old messages go every ten seconds after the start."""


class Copy(NamedTuple):
    """A stored message: its body and its earlier deliveries."""

    body: bytes
    deliveries: int = 0


@dataclass
class Queue:
    """The messages of a queue from offset 0 on; those before ``start`` have gone."""

    copies: list[Copy] = field(default_factory=list[Copy])
    start: int = 0
    is_deleted: bool = False

    @property
    def end(self) -> int:
        return len(self.copies)

    def bounded(self, offset: int | None) -> int:
        return min(max(offset or 0, self.start), self.end)


class Place(NamedTuple):
    """A place of a message for a group: topic that stores it, queue and offset."""

    group: str
    topic: str
    queue: int
    offset: int


class Hidden(NamedTuple):
    """A popped message: the end of its time, a number that orders equal ends, and its queue."""

    due: int
    number: int
    source: Queue


@dataclass
class Ordered:
    """The last pop in order of a group from a queue."""

    offsets: list[int]
    time: int
    ends: dict[int, int]
    acknowledged: set[int] = field(default_factory=set[int])

    def hides_at(self, now: int) -> bool:
        return any(
            now < self.ends[offset] for offset in self.offsets if offset not in self.acknowledged
        )


GroupQueue = tuple[str, str, int]


def retry_topic(group: str, topic: str) -> str:
    """The topic in which a group's messages of a topic come again."""
    return f"%RETRY%{group}_{topic}"


def _is_or_retries(name: str, topic: str) -> bool:
    return name == topic or (name.startswith("%RETRY%") and name.endswith(f"_{topic}"))


class Messages:
    """A broker's messages at a time."""

    def __init__(self, start: int, retain_ms: int) -> None:
        self.now = start
        self._next_scan = start + SCAN_MS
        self._retain_ms = retain_ms
        self._number = 0
        self.queues: dict[tuple[str, int], Queue] = {}
        self.log: list[tuple[Queue, int]] = []
        self.offsets: dict[GroupQueue, int] = {}
        self.resets: dict[GroupQueue, int] = {}
        self.hidden: dict[tuple[Place, int], Hidden] = {}
        self.ordered: dict[GroupQueue, Ordered] = {}

    # ------------------------------------------------------------------ storing

    def send(self, topic: str, queue: int, bodies: list[bytes]) -> int:
        """Store messages; the offset of the first."""
        offsets = [self._put(topic, queue, Copy(body)) for body in bodies]
        return offsets[0]

    def _put(self, topic: str, number: int, copy: Copy) -> int:
        queue = self.queues.setdefault((topic, number), Queue())
        queue.copies.append(copy)
        self.log.append((queue, self.now))
        return queue.end - 1

    def delete_topic(self, topic: str) -> None:
        """Forget a topic and what groups did with it."""
        for key in [key for key in self.queues if _is_or_retries(key[0], topic)]:
            self.queues.pop(key).is_deleted = True
        self._forget(lambda _, name: _is_or_retries(name, topic))

    def delete_group(self, group: str) -> None:
        """Forget what a group did."""
        self._forget(lambda name, _: name == group)

    def _forget(self, is_gone: Callable[[str, str], bool]) -> None:
        self.offsets = {key: of for key, of in self.offsets.items() if not is_gone(*key[:2])}
        self.resets = {key: of for key, of in self.resets.items() if not is_gone(*key[:2])}
        self.ordered = {key: of for key, of in self.ordered.items() if not is_gone(*key[:2])}
        self.hidden = {
            key: of for key, of in self.hidden.items() if not is_gone(key[0].group, key[0].topic)
        }

    # ------------------------------------------------------------------ time

    def pass_time(self, milliseconds: int) -> None:
        """Let old messages go and hidden messages come again, each at its time."""
        end = self.now + milliseconds
        while True:
            first = min(self.hidden.items(), key=lambda item: item[1][:2], default=None)
            due = end + 1 if first is None else first[1].due
            if min(due, self._next_scan) > end:
                break
            if self._next_scan <= due:
                self.now = self._next_scan
                self._next_scan += SCAN_MS
                self._expire()
            elif first is not None:
                self.now = due
                del self.hidden[first[0]]
                self._return(first[0][0], first[1].source)
        self.now = end

    def _expire(self) -> None:
        while self.log:
            queue, time = self.log[0]
            if not queue.is_deleted:
                if time >= self.now - self._retain_ms:
                    return
                queue.start += 1
            del self.log[0]

    def _return(self, place: Place, source: Queue) -> None:
        if source.is_deleted or place.offset < source.start:
            return
        body, deliveries = source.copies[place.offset]
        is_retry = place.topic.startswith("%RETRY%")
        topic = place.topic if is_retry else retry_topic(place.group, place.topic)
        self._put(topic, 0, Copy(body, deliveries + 1))

    # ------------------------------------------------------------------ pulls and offsets

    def pull(
        self, topic: str, number: int, offset: int, count: int
    ) -> tuple[int, int, list[bytes]]:
        """Code, next offset and bodies of a pull."""
        queue = self.queues.get((topic, number))
        if queue is None or not queue.end:
            return (19 if offset == 0 else 21), 0, []
        if offset < queue.start:
            return 21, queue.start, []
        if offset >= queue.end:
            return (19 if offset == queue.end else 21), queue.end, []
        bodies = [copy.body for copy in queue.copies[offset : offset + count]]
        return 0, offset + len(bodies), bodies

    def commit(self, key: GroupQueue, offset: int) -> None:
        """Commit an offset; a reset that its consumer has not seen wins."""
        if key not in self.resets:
            self.offsets[key] = offset

    def reset(self, key: GroupQueue, offset: int) -> None:
        """Move a group's queue."""
        self.offsets[key] = self.resets[key] = offset

    def committed(self, key: GroupQueue) -> int | None:
        """The answer to a question for a group's offset; None for 'not found'."""
        if key in self.offsets:
            return self.offsets[key]
        queue = self.queues.get(key[1:])
        return 0 if queue is not None and queue.start == 0 and queue.end else None

    # ------------------------------------------------------------------ pops

    def sources(self, group: str, topic: str, number: int) -> dict[tuple[str, int], Queue]:
        """The queues of a pop: one or all of the topic, and the retry topic's."""
        numbers = range(QUEUES) if number < 0 else [number]
        keys = [(topic, number) for number in numbers] + [(retry_topic(group, topic), 0)]
        return {key: self.queues[key] for key in keys if key in self.queues}

    def open_pop(self, group: str, topic: str, number: int) -> int:
        """Begin a pop: resets take effect. Returns the number of messages that it may take."""
        waiting = 0
        for key, queue in self.sources(group, topic, number).items():
            waiting += queue.end - self._begin((group, *key), queue)
        return waiting

    def _begin(self, key: GroupQueue, queue: Queue) -> int:
        if self.resets.pop(key, None) is not None:
            self.ordered.pop(key, None)
        self.offsets[key] = queue.bounded(self.offsets.get(key))
        return self.offsets[key]

    def take(self, place: Place, body: bytes, deliveries: int, invisible: int) -> None:
        """Take one message of a pop, which must be the next of its queue, and hide it."""
        key = (place.group, place.topic, place.queue)
        queue = self.queues[key[1:]]
        assert place.offset == self.offsets[key]
        assert queue.copies[place.offset] == (body, deliveries)
        self.offsets[key] += 1
        self._hide(place, self.now + invisible, queue)

    def _hide(self, place: Place, due: int, source: Queue) -> None:
        self._number += 1
        self.hidden[place, self.now] = Hidden(due, self._number, source)

    def acknowledge(self, place: Place, pop_time: int) -> None:
        """End the time of a popped message, if it is still hidden by that pop."""
        self.hidden.pop((place, pop_time), None)

    def change(self, place: Place, pop_time: int, invisible: int) -> bool:
        """Hide a message for another time; False if it is no longer stored."""
        queue = self.queues[place.topic, place.queue]
        if not queue.start <= place.offset < queue.end:
            return False
        self.acknowledge(place, pop_time)
        self._hide(place, self.now + invisible, queue)
        return True

    # ------------------------------------------------------------------ pops in order

    def pop_in_order(self, key: GroupQueue, count: int, invisible: int) -> list[tuple[int, bytes]]:
        """Offsets and bodies of a pop in order; nothing while the last pop's are hidden."""
        queue = self.queues.get(key[1:])
        if queue is None:
            return []
        begin = self._begin(key, queue)
        last = self.ordered.get(key)
        offsets = list(range(begin, min(begin + count, queue.end)))
        if not offsets or (last is not None and last.hides_at(self.now)):
            return []
        ends = dict.fromkeys(offsets, self.now + invisible)
        self.ordered[key] = Ordered(offsets, self.now, ends)
        return [(offset, queue.copies[offset].body) for offset in offsets]

    def acknowledge_in_order(self, key: GroupQueue, offset: int, pop_time: int) -> None:
        """Acknowledge a message of the last pop in order; the offset moves over the first ones."""
        last = self.ordered.get(key)
        committed = self.offsets.get(key)
        if last is None or last.time != pop_time or (committed is not None and offset < committed):
            return
        last.acknowledged.add(offset)
        waiting = [offset for offset in last.offsets if offset not in last.acknowledged]
        self.commit(key, waiting[0] if waiting else last.offsets[-1] + 1)
