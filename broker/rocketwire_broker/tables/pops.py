"""Popped messages that are not acknowledged, and the last pop in order of each queue.

A pop hides its messages for a time. While a message of the last pop in order is hidden, other pops
of the group get nothing from its queue; its offset advances over the acknowledged messages at the
beginning.

Java: ``PopCheckPoint``, ``PopBufferMergeService``, ``ConsumerOrderInfoManager``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


T = TypeVar("T")


class HiddenMessage(NamedTuple):
    group: str
    topic: str  # topic that stores it; a retry topic for redeliveries
    queue_id: int
    queue_offset: int
    pop_time: int  # time of the pop in milliseconds, which its handle contains


class Origin(NamedTuple):
    start_offset: int  # first offset of the pop in its queue
    revive_queue_id: int  # queue of the log of pops that its handles name
    due: int  # when the message is delivered again, in milliseconds


class Pops(Generic[T]):
    """Hidden messages, each with what ends its time.

    The same message may be hidden more than once: by several groups, and by one group after its
    offset was reset.
    """

    def __init__(self, *, is_logged: bool = False) -> None:
        # hidden messages that are not in the log of pops yet
        self.unlogged: dict[HiddenMessage, Origin] = {}
        # messages that are in the log of pops as hidden, and are hidden no more
        self.ended: dict[HiddenMessage, Origin] = {}
        self._is_logged = is_logged
        self._logged: dict[HiddenMessage, Origin] = {}
        self._timers: dict[HiddenMessage, T] = {}

    def __len__(self) -> int:
        return len(self._timers)

    def __iter__(self) -> Iterator[HiddenMessage]:
        return iter(self._timers)

    def __contains__(self, message: object) -> bool:
        return message in self._timers

    def hide(self, message: HiddenMessage, timer: T, origin: Origin) -> None:
        self._timers[message] = timer
        if self._is_logged:
            self.unlogged[message] = origin

    def take(self, message: HiddenMessage) -> T | None:
        """Forget a message; return what would end its time, or None if it is not hidden."""
        timer = self._timers.pop(message, None)
        if timer is not None and self._is_logged:
            self.unlogged.pop(message, None)
            origin = self._logged.pop(message, None)
            if origin is not None:
                self.ended[message] = origin
        return timer

    def note_logged(self, messages: Iterable[HiddenMessage]) -> None:
        for message in messages:
            self._logged[message] = self.unlogged.pop(message)

    def discard(self, is_gone: Callable[[HiddenMessage], bool]) -> Iterator[T]:
        for message in [message for message in self._timers if is_gone(message)]:
            timer = self.take(message)
            if timer is not None:
                yield timer


GroupQueue = tuple[str, str, int]  # a group, a topic and a queue

STALE: Final = -2  # returned for an acknowledgement of an earlier pop

UNKNOWN: Final = -1  # returned for an acknowledgement of an offset that was not popped


@dataclass(slots=True)
class OrderedPop:
    offsets: Sequence[int]  # offsets of its messages, ascending
    pop_time: int  # time of the pop in milliseconds
    invisible_time: int  # milliseconds for which its messages are hidden
    attempt_id: str | None  # the consumer's name for its attempt, if it sent one
    counts: Mapping[int, int]  # earlier deliveries of a message by its offset
    acknowledged: set[int] = field(default_factory=set[int])  # offsets of acknowledged messages
    # when a message is visible again, by offset, if its time was changed
    visible_at: dict[int, int] = field(default_factory=dict[int, int])

    def visible_time(self) -> int:
        """When the last message without acknowledgement is visible again; 0 if there is none."""
        end = self.pop_time + self.invisible_time
        waiting = [offset for offset in self.offsets if offset not in self.acknowledged]
        return max((self.visible_at.get(offset, end) for offset in waiting), default=0)

    def next_offset(self) -> int:
        for offset in self.offsets:
            if offset not in self.acknowledged:
                return offset
        return self.offsets[-1] + 1


class PopOrders:
    def __init__(self) -> None:
        self.changes = 0
        self._pops: dict[GroupQueue, OrderedPop] = {}

    def __len__(self) -> int:
        return len(self._pops)

    def items(self) -> Iterable[tuple[GroupQueue, OrderedPop]]:
        return self._pops.items()

    def restore(self, pops: Mapping[GroupQueue, OrderedPop]) -> None:
        self._pops.update(pops)

    def is_blocked(self, queue: GroupQueue, attempt_id: str | None, now: int) -> bool:
        """Return whether an earlier pop hides messages of a queue from this attempt."""
        pop = self._pops.get(queue)
        if pop is None or (attempt_id and attempt_id == pop.attempt_id):
            return False
        return now < pop.visible_time()

    def record_pop(
        self,
        queue: GroupQueue,
        offsets: Sequence[int],
        pop_time: int,
        invisible_time: int,
        attempt_id: str | None,
    ) -> Mapping[int, int]:
        """Note a pop; return the number of earlier deliveries by offset, where there were any."""
        counts: Mapping[int, int] = {}
        last = self._pops.get(queue)
        if last is not None:
            if attempt_id and attempt_id == last.attempt_id:
                counts = last.counts
            else:
                again = set(last.offsets)
                counts = {
                    offset: last.counts.get(offset, 0) + 1 for offset in offsets if offset in again
                }
        self.changes += 1
        self._pops[queue] = OrderedPop(offsets, pop_time, invisible_time, attempt_id, counts)
        return counts

    def acknowledge(self, queue: GroupQueue, offset: int, pop_time: int) -> int:
        """Note an acknowledgement; return the group's new offset, ``STALE`` or ``UNKNOWN``."""
        pop = self._pops.get(queue)
        if pop is None:
            return offset + 1
        if pop_time != pop.pop_time:
            return STALE
        if offset not in pop.offsets:
            return UNKNOWN
        self.changes += 1
        pop.acknowledged.add(offset)
        return pop.next_offset()

    def change_time(self, queue: GroupQueue, offset: int, pop_time: int, visible_at: int) -> None:
        """Change when a message is visible again; an earlier pop's handle changes nothing."""
        pop = self._pops.get(queue)
        if pop is not None and pop.pop_time == pop_time and offset in pop.offsets:
            self.changes += 1
            pop.visible_at[offset] = visible_at

    def suspend(self, queue: GroupQueue, pop_time: int, visible_at: int) -> None:
        """Hide all messages of a pop until a time, and do not count their delivery.

        Java: ``MemoryConsumerOrderInfoManager.suspendQueue``.
        """
        pop = self._pops.get(queue)
        if pop is not None and pop.pop_time == pop_time:
            pop.counts = {offset: max(0, count - 1) for offset, count in pop.counts.items()}
            pop.visible_at.clear()
            pop.invisible_time = visible_at - pop_time

    def count(self, prefix: str) -> int:
        return sum(1 for _, topic, _ in self._pops if topic.startswith(prefix))

    def forget(self, queue: GroupQueue) -> None:
        self.changes += 1
        self._pops.pop(queue, None)

    def discard(self, group: str | None = None, topic: str | None = None) -> None:
        self.changes += 1
        for queue in [queue for queue in self._pops if group == queue[0] or topic == queue[1]]:
            del self._pops[queue]
