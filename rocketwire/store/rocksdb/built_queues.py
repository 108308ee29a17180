"""Queues in RocksDB as a start of a broker changes them.

A RocksDB has one table of units, and one of bounds: the newest and the oldest unit of each queue,
and the end of the last message that was put into queues.  A start does not remove units.  It lowers
the newest units of queues that lead behind the end of the log, and puts messages into queues again.

Java: ``RocksDBConsumeQueueStore``, ``RocksDBConsumeQueueOffsetTable``.
"""

from __future__ import annotations

from heapq import merge
from itertools import chain
from typing import TYPE_CHECKING, Final, Protocol

from rocketwire.store.built_queues import RecoveredQueue
from rocketwire.store.rocksdb.records import QueueBound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rocketwire.store.built_queues import Topic
    from rocketwire.store.java_records import JavaRecord

MAX_UNSERVED: Final = 1_000_000
"""Damage can make a queue of a few units look endless."""

_NONE: Final = QueueBound(-1, -1)


class RocksQueuesImage(Protocol):
    """What a broker finds in the RocksDB of its queues."""

    @property
    def end(self) -> int:
        """Physical offset after the last message that was put into queues; 0 without one."""
        ...

    @property
    def newest(self) -> Mapping[Topic, QueueBound]:
        """The newest unit of each queue."""
        ...

    @property
    def oldest(self) -> Mapping[Topic, QueueBound]:
        """The oldest unit of queues whose first messages were deleted, as the broker noted it."""
        ...

    def place(self, queue: Topic, number: int, /) -> tuple[int, int] | None:
        """Physical offset and size of the message of a unit; None without a unit."""
        ...

    def places(self, queue: Topic, first: int, end: int, /) -> Iterator[tuple[int, int, int]]:
        """Number, physical offset and size of each unit of a part of a queue, in order."""
        ...


class NoRocksQueues:
    """A RocksDB without queues, which a broker creates when it finds none."""

    end = 0

    def __init__(self) -> None:
        self.newest: dict[Topic, QueueBound] = {}
        self.oldest: dict[Topic, QueueBound] = {}

    def place(self, _queue: Topic, _number: int) -> None:
        """No unit."""

    def places(self, _queue: Topic, _first: int, _end: int) -> Iterator[tuple[int, int, int]]:
        """No units."""
        return iter(())


class BuiltRocksQueues:
    """All queues of a RocksDB.

    Args:
        image: the RocksDB.
        reads_ahead: whether the broker reads one unit more than it sends (5.5).

    Attributes:
        reads_ahead: as above.
        end: physical offset after the last message that was put into queues.
        added: units that were put into queues, and that no queue had before.
        is_doubtful: whether two threads of Java race: it could cut queues or not, or take either of
            two messages with one queue offset.
    """

    def __init__(self, image: RocksQueuesImage, *, reads_ahead: bool = False) -> None:
        self.reads_ahead = reads_ahead
        self.end = image.end
        self.added = 0
        self.is_doubtful = False
        self._image = image
        self._newest = dict(image.newest)
        self._before = dict(image.newest)
        self._oldest = dict(image.oldest)
        self._noted: dict[Topic, QueueBound] = {}  # Java: topicQueueMinOffset
        self._changed: dict[Topic, dict[int, tuple[int, int]]] = {}
        self._log_start = -1
        self._first_put = -1
        self._is_destroyed = False

    @property
    def names(self) -> list[Topic]:
        """Topic and queue of each queue."""
        return list(self._newest)

    def put(self, queue: Topic, record: JavaRecord, number: int) -> None:
        """Put a message into a queue; what stands there is overwritten.

        Args:
            queue: topic and queue id.
            record: the message.
            number: its queue offset.
        """
        place = record.physical_offset, record.size
        if self._first_put < 0:
            self._first_put = record.physical_offset
        before = self.place(queue, number)
        if before != place:
            # an earlier message of this start: Java 5.5.0 kept it in some starts, and not in others
            self.is_doubtful |= before is not None and (
                self.reads_ahead and self._first_put <= before[0] < record.physical_offset
            )
            self._changed.setdefault(queue, {})[number] = place
            self.added += 1
        self._newest[queue] = QueueBound(record.physical_offset, number)
        self.end = record.physical_offset + record.size

    def cut_to(self, log_end: int, *, was_end: int, log_start: int) -> None:
        """Lower the newest units that lead behind the end of the log.

        Java compares ``log_end`` with ``end`` while another thread still puts messages into queues
        and so lowers ``end``.  That thread is taken for the faster one: then no queue is cut.

        Args:
            log_end: offset of the log at which it is cut.
            was_end: ``end`` before messages were put into queues.
            log_start: offset of the log's first file.
        """
        self._log_start = log_start
        if log_end >= was_end:
            return
        behind = [name for name, bound in self._newest.items() if bound.physical_offset >= log_end]
        if self.end <= log_end:
            self.is_doubtful = bool(behind)
            return
        self.end = log_end
        for queue in behind:
            self._lower(queue, log_end)

    def destroy(self) -> None:
        """Delete the RocksDB.  The broker keeps the newest units in memory until it ends."""
        self._oldest.clear()
        self._changed.clear()
        self.end = 0
        self._is_destroyed = True

    def correct_oldest(self, log_start: int) -> None:
        """Find the oldest units that lead into the log, as a broker does when it is asked.

        It is asked more than once: the second answer can differ from the first.

        Args:
            log_start: offset of the log's first file; -1 without one.
        """
        self._log_start = log_start
        for queue in self._newest:
            self._first(queue)
            self._first(queue)

    def place(self, queue: Topic, number: int) -> tuple[int, int] | None:
        """Physical offset and size of the message of a unit; None without a unit."""
        changed = self._changed.get(queue)
        if changed and number in changed:
            return changed[number]
        return None if self._is_destroyed else self._image.place(queue, number)

    def places(self, queue: Topic, first: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Number, physical offset and size of each unit of a part of a queue, in order."""
        changed = self._changed.get(queue, {})
        stored = iter(()) if self._is_destroyed else self._image.places(queue, first, end)
        added = ((number, *changed[number]) for number in sorted(changed) if first <= number < end)
        kept = (unit for unit in stored if unit[0] not in changed)
        return merge(kept, added)

    def queue(self, name: Topic) -> BuiltRocksQueue:
        """One queue after the start."""
        return BuiltRocksQueue(self, name)

    def bounds(self, name: Topic) -> tuple[int, int]:
        """First queue offset of a queue, and the one after the last."""
        return self._first(name), self._newest[name].queue_offset + 1

    def counts(self, name: Topic) -> tuple[int, int]:
        """Units that the start takes from a queue, and that it puts into it."""
        before = self._before.get(name, _NONE).queue_offset
        if self._is_destroyed:
            return before + 1, 0
        cut = max(0, before - self._newest[name].queue_offset)
        return cut, len(self._changed.get(name, ()))

    # -------------------------------------------------------------- the rules of Java

    def _lower(self, queue: Topic, log_end: int) -> None:
        """Java: ``correctMaxCqOffset``."""
        newest = self._newest[queue]
        first = self._first(queue)
        noted = self._noted.get(queue)
        if noted is None or noted.queue_offset != first or noted.physical_offset > log_end:
            return  # Java fails here, logs that, and leaves the queue as it is
        found = self._search(queue, first, newest.queue_offset, log_end, is_oldest=False)
        if found is not None:
            self._newest[queue] = found
        elif newest.queue_offset != first:
            self._newest[queue] = QueueBound(noted.physical_offset, first)

    def _first(self, queue: Topic) -> int:
        """Java: ``getMinCqOffset``."""
        limit = self._log_start
        oldest = self._noted.get(queue)
        if oldest is None:
            oldest = self._oldest.get(queue)
            if oldest is not None and oldest.physical_offset >= limit:
                self._noted[queue] = oldest
        if oldest is not None and oldest.physical_offset >= limit:
            return oldest.queue_offset
        first = 0 if oldest is None else oldest.queue_offset
        return self._new_first(queue, first) if self._correct(queue, first) else first

    def _new_first(self, queue: Topic, first: int) -> int:
        noted = self._noted.get(queue)
        return first if noted is None else noted.queue_offset

    def _correct(self, queue: Topic, first: int) -> bool:
        """Java: ``correctMinCqOffset``; whether the broker uses the result at once."""
        limit = self._log_start
        newest = None if self._is_destroyed else self._newest.get(queue)
        if newest is None:
            self._noted[queue] = QueueBound(limit, 0)
            return True
        if newest.physical_offset < limit:
            self._noted[queue] = QueueBound(limit, newest.queue_offset + 1)
            return True
        found = self._search(queue, first, newest.queue_offset, limit, is_oldest=True)
        if found is not None:
            self._noted[queue] = found
            return True
        if newest.queue_offset != first:
            self._noted[queue] = newest
        return False

    def _search(
        self, queue: Topic, low: int, high: int, target: int, *, is_oldest: bool
    ) -> QueueBound | None:
        """Java: ``binarySearchInCQ``, which ends at the place itself without taking it."""
        found: QueueBound | None = None
        while high >= low:
            middle = low + (high - low) // 2
            place = self.place(queue, middle)
            if place is None:
                low = middle + 1
                continue
            offset = place[0]
            if offset == target:
                return QueueBound(offset, middle) if is_oldest else found
            if offset > target:
                high = middle - 1
                if is_oldest:
                    found = QueueBound(offset, middle)
            else:
                low = middle + 1
                if not is_oldest:
                    found = QueueBound(offset, middle)
        return found


class BuiltRocksQueue:
    """A queue of a RocksDB after the start.

    Args:
        queues: all queues.
        name: topic and queue id.
    """

    def __init__(self, queues: BuiltRocksQueues, name: Topic) -> None:
        self._queues = queues
        self._name = name

    def units_served(self) -> Iterator[tuple[int, int, int]]:
        """Numbers, physical offsets and sizes of the units that pulls reach.

        A pull does not get over a number without a unit.  In 5.5.0 it also fails one before that:
        the broker reads one unit more than it sends.
        """
        first, end = self._queues.bounds(self._name)
        last: tuple[int, int, int] | None = None
        for unit in self._queues.places(self._name, first, end):
            if last is not None and (unit[0] == last[0] + 1 or not self._queues.reads_ahead):
                yield last
            last = unit
        if last is not None and (last[0] == end - 1 or not self._queues.reads_ahead):
            yield last

    def unserved(self) -> set[int]:
        """Numbers between both ends at which a pull fails; the first ``MAX_UNSERVED`` of them."""
        first, end = self._queues.bounds(self._name)
        numbers: set[int] = set()
        for served in chain((unit[0] for unit in self.units_served()), (end,)):
            numbers.update(range(first, min(served, first + MAX_UNSERVED - len(numbers))))
            first = served + 1
        return numbers

    def result(self) -> RecoveredQueue:
        """The queue after the start."""
        first, end = self._queues.bounds(self._name)
        cut, added = self._queues.counts(self._name)
        return RecoveredQueue(min_offset=first, max_offset=end, cut_units=cut, added_units=added)
