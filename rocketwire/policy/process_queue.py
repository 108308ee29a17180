"""What a consumer holds of one queue: messages in flight, what may be committed, and when to stop asking for more.

Rules of this file: ``now`` is in seconds of any clock that never goes back; offsets are of the queue.  Nothing is committed beyond
the oldest message that is still in flight.  What a pull brought is kept as it came, and mostly leaves so; message by message it is
looked at from when one of them is on.

Java: ``ProcessQueue``, ``PopProcessQueue``, ``DefaultMQPushConsumerImpl.pullMessage``, ``RebalancePushImpl.messageQueueChanged``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from enum import Enum, auto
from operator import is_, lt
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from rocketwire.messages.callbacks import PopProcessQueueInfo, ProcessQueueInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

LOCK_MAX_LIVE_TIME: Final = 30.0
"""Seconds for which an orderly consumer trusts a lock that it could not renew; the broker keeps it for 60."""

PULL_MAX_IDLE_TIME: Final = 120.0
"""Seconds without a pull after which a queue is given up and taken anew."""

_MIB: Final = 1 << 20


class Queued(Protocol):
    """A message that waits in a queue."""

    @property
    def queue_offset(self) -> int:
        """Its position."""
        ...

    @property
    def body(self) -> bytes | None:
        """Its body; its length counts."""
        ...


M = TypeVar("M", bound=Queued)


class FlowControl(Enum):
    """Why no more is asked for now (Java waits 50 ms and looks again)."""

    COUNT = auto()
    SIZE = auto()
    SPAN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """How much of a queue may be held; only *more* than that stops the pulling.

    Attributes:
        count: messages of a queue (``pullThresholdForQueue``).
        mebibytes: of their bodies, rounded down (``pullThresholdSizeForQueue``).
        span: from the oldest to the newest offset (``consumeConcurrentlyMaxSpan``); None where order is kept.
        count_of_topic: messages of all queues of a topic, shared by the queues; None for no such limit.
        mebibytes_of_topic: of all queues of a topic, likewise.
    """

    count: int = 1000
    mebibytes: int = 100
    span: int | None = 2000
    count_of_topic: int | None = None
    mebibytes_of_topic: int | None = None

    def for_queues(self, queues: int) -> Thresholds:
        """The thresholds when that many queues are held; each gets an equal share of the topic's, at least 1."""
        if not queues:
            return self
        count, mebibytes = self.count, self.mebibytes
        if self.count_of_topic is not None:
            count = max(1, self.count_of_topic // queues)
        if self.mebibytes_of_topic is not None:
            mebibytes = max(1, self.mebibytes_of_topic // queues)
        return replace(self, count=count, mebibytes=mebibytes)


def _ascend(messages: Sequence[Queued]) -> bool:
    """Whether each offset is larger than the one before."""
    offsets = [message.queue_offset for message in messages]
    return all(map(lt, offsets, offsets[1:]))


class _Block(NamedTuple, Generic[M]):
    """What a pull brought, in ascending order, of which nothing is done with or taken.

    Attributes:
        messages: at least one.
        first: the oldest offset.
        last: the newest.
        size: bytes of the bodies.
    """

    messages: Sequence[M]
    first: int
    last: int
    size: int


class ProcessQueue(Generic[M]):
    """The messages of one queue between the pull and the commit (Java: ``ProcessQueue``).

    Concurrent consumption uses ``put`` and ``remove``; orderly consumption ``put``, ``take`` and then ``commit``, ``rollback`` or
    ``consume_again``.

    Attributes:
        dropped: the queue belongs to somebody else now; nothing of it may be committed.
        retiring: it soon will; nothing more of it may be begun, but what was begun still counts.
        locked: the broker gave the lock of an orderly queue.
        last_lock: when it did, or when the queue was made.
        last_pull: when the last pull was sent, likewise.
        last_consume: when messages were last taken or finished, likewise.
        try_unlock_times: how often giving it up had to wait.
        backlog: messages behind the last one that was put, as far as known.
    """

    __slots__ = (
        "_blocked",
        "_blocks",
        "_consuming",
        "_messages",
        "_newest",
        "_order",
        "_size",
        "_started",
        "_taken",
        "backlog",
        "dropped",
        "last_consume",
        "last_lock",
        "last_pull",
        "locked",
        "retiring",
        "try_unlock_times",
    )

    def __init__(self, *, now: float) -> None:
        """An empty one.

        Args:
            now: the time now.
        """
        self.dropped = False
        self.retiring = False
        self.locked = False
        self.last_lock = now
        self.last_pull = now
        self.last_consume = now
        self.try_unlock_times = 0
        self.backlog = 0
        self._consuming = False
        self._newest = 0
        self._size = 0
        self._messages: dict[int, M] = {}
        self._order: deque[int] = deque()  # ascending; may hold offsets that are gone
        self._blocks: deque[_Block[M]] = deque()  # all behind those of ``_messages``
        self._blocked = 0  # messages in them
        self._taken: dict[int, M] = {}
        self._started: dict[int, float] = {}

    # ------------------------------------------------------------------ state

    @property
    def count(self) -> int:
        """Messages in flight, those that were taken included."""
        return len(self._messages) + self._blocked + len(self._taken)

    @property
    def size(self) -> int:
        """Bytes of their bodies."""
        return self._size

    @property
    def has_messages(self) -> bool:
        """Whether any waits that was not taken."""
        return bool(self._messages or self._blocks)

    @property
    def first_offset(self) -> int | None:
        """The oldest that was not taken."""
        order = self._order
        while order:
            if order[0] in self._messages:
                return order[0]
            order.popleft()
        return self._blocks[0].first if self._blocks else None

    @property
    def last_offset(self) -> int | None:
        """The newest that was not taken."""
        if self._blocks:
            return self._blocks[-1].last
        order = self._order
        while order:
            if order[-1] in self._messages:
                return order[-1]
            order.pop()
        return None

    @property
    def span(self) -> int:
        """How far the newest is from the oldest; 0 for none or one."""
        first, last = self.first_offset, self.last_offset
        return 0 if first is None or last is None else last - first

    def __contains__(self, offset: int) -> bool:
        """Whether the message at an offset waits and was not taken."""
        self._spread()
        return offset in self._messages

    def is_lock_expired(self, now: float) -> bool:
        """Whether the lock is too old to be trusted."""
        return now - self.last_lock > LOCK_MAX_LIVE_TIME

    def is_pull_expired(self, now: float) -> bool:
        """Whether nothing was pulled for so long that the queue had better be given up."""
        return now - self.last_pull > PULL_MAX_IDLE_TIME

    def flow_control(self, thresholds: Thresholds) -> FlowControl | None:
        """Why not to pull now; None to go on.  Looked at in this order, as in Java."""
        if self.count > thresholds.count:
            return FlowControl.COUNT
        if self._size // _MIB > thresholds.mebibytes:
            return FlowControl.SIZE
        if thresholds.span is not None and self.span > thresholds.span:
            return FlowControl.SPAN
        return None

    # ------------------------------------------------------------------ both ways of consuming

    def put(
        self,
        messages: Sequence[M],
        *,
        max_offset: int | None = None,
        body_size: int | None = None,
    ) -> bool:
        """Takes what a pull brought.

        Args:
            messages: mostly in ascending order of their offsets.
            max_offset: end of the queue, as the answer said.
            body_size: bytes of their bodies, if that is known, and that the offsets do ascend.

        Returns:
            Whether an orderly consumer has to be woken: messages wait, and nobody works on them.
        """
        if messages:
            before = (
                self._blocks[-1].last if self._blocks else self._order[-1] if self._order else None
            )
            first, last = messages[0].queue_offset, messages[-1].queue_offset
            if (before is None or first > before) and (body_size is not None or _ascend(messages)):
                if body_size is None:
                    body_size = sum([len(message.body or b"") for message in messages])
                self._blocks.append(_Block(messages, first, last, body_size))
                self._blocked += len(messages)
                self._newest = last
                self._size += body_size
            else:
                self._put_among(messages)
            if max_offset is not None and max_offset > last:
                self.backlog = max_offset - last
        if not self._consuming and self.has_messages:
            self._consuming = True
            return True
        return False

    def _put_among(self, messages: Sequence[M]) -> None:
        """Takes messages of which some may be here already, or be older than others that are."""
        self._spread()
        held, order = self._messages, self._order
        for message in messages:
            offset = message.queue_offset
            if offset not in held:
                self._newest = offset
                self._size += len(message.body or b"")
                if order and offset <= order[-1]:
                    order = self._order = deque(sorted({*held, offset}))
                else:
                    order.append(offset)
            held[offset] = message

    def _spread(self) -> None:
        """Has messages that were kept as they came looked at one by one."""
        for block in self._blocks:
            offsets = [message.queue_offset for message in block.messages]
            self._messages.update(zip(offsets, block.messages, strict=True))
            self._order.extend(offsets)
        self._blocks.clear()
        self._blocked = 0

    def clear(self) -> None:
        """Forgets every message; the flags stay."""
        self._blocks.clear()
        self._blocked = 0
        self._messages.clear()
        self._taken.clear()
        self._started.clear()
        self._order.clear()
        self._size = 0
        self._newest = 0

    # ------------------------------------------------------------------ concurrent

    def remove(self, messages: Sequence[M], *, now: float) -> int | None:
        """Messages are done with; returns what may be committed now.

        That is the oldest offset still in flight, or the one behind the newest ever put.  None when nothing was in flight at all:
        the queue was cleared meanwhile.
        """
        self.last_consume = now
        if not self.has_messages:
            return None
        if not self._removed_whole(messages):
            self._spread()
            self._remove_each(messages)
        oldest = self.first_offset
        return self._newest + 1 if oldest is None else oldest

    def _removed_whole(self, messages: Sequence[M]) -> bool:
        """Removes the oldest that came together if it is these that are done with, and only they."""
        if self._messages or len(messages) != len(self._blocks[0].messages):
            return False
        oldest = self._blocks[0]
        if messages is not oldest.messages and not all(map(is_, messages, oldest.messages)):
            return False
        self._blocks.popleft()
        self._blocked -= len(messages)
        self._size -= oldest.size
        return True

    def _remove_each(self, messages: Sequence[M]) -> None:
        held, started, size = self._messages, self._started, self._size
        for message in messages:
            gone = held.pop(message.queue_offset, None)
            if gone is not None:
                size -= len(gone.body or b"")
        for message in messages if started else ():
            started.pop(message.queue_offset, None)
        self._size = size

    def mark_started(self, messages: Iterable[M], *, now: float) -> None:
        """Messages are given to the application now; ``oldest_expired`` counts from here."""
        self._spread()
        for message in messages:
            if message.queue_offset in self._messages:
                self._started[message.queue_offset] = now

    def oldest_expired(self, *, now: float, timeout: float) -> M | None:
        """The oldest message, if it has been worked on for more than ``timeout`` seconds.

        Whoever asks sends it back, removes it and asks again, 16 times at most (``cleanExpiredMsg``).
        """
        first = self.first_offset
        if first is None:
            return None
        started = self._started.get(first)
        if started is None or now - started <= timeout:
            return None
        return self._messages[first]

    # ------------------------------------------------------------------ orderly

    def take(self, most: int, *, now: float) -> list[M]:
        """The oldest messages, which now are neither waiting nor done.  None left: the next ``put`` wakes again."""
        self.last_consume = now
        self._spread()
        taken: list[M] = []
        while len(taken) < most and (offset := self.first_offset) is not None:
            message = self._messages.pop(offset)
            self._taken[offset] = message
            taken.append(message)
        if not taken:
            self._consuming = False
        return taken

    def commit(self) -> int | None:
        """All that were taken are done with; returns what may be committed, None where none was taken."""
        if not self._taken:
            return None
        last = max(self._taken)
        for message in self._taken.values():
            self._size -= len(message.body or b"")
        self._taken.clear()
        return last + 1

    def rollback(self) -> None:
        """All that were taken wait again."""
        self.consume_again(tuple(self._taken.values()))

    def consume_again(self, messages: Iterable[M]) -> None:
        """These that were taken wait again, first in line (Java: ``makeMessageToConsumeAgain``)."""
        self._spread()
        for message in messages:
            self._taken.pop(message.queue_offset, None)
            self._messages[message.queue_offset] = message
        self._order = deque(sorted(self._messages))

    # ------------------------------------------------------------------ telling operators

    def info(self, commit_offset: int, to_millis: Callable[[float], int]) -> ProcessQueueInfo:
        """What code 307 tells of the queue.

        Args:
            commit_offset: what was committed.
            to_millis: turns a ``now`` into milliseconds since 1970.
        """
        return ProcessQueueInfo(
            commit_offset=commit_offset,
            cached_msg_min_offset=self.first_offset or 0,
            cached_msg_max_offset=self.last_offset or 0,
            cached_msg_count=len(self._messages) + self._blocked,
            cached_msg_size_in_mi_b=self._size // _MIB,
            transaction_msg_min_offset=min(self._taken, default=0),
            transaction_msg_max_offset=max(self._taken, default=0),
            transaction_msg_count=len(self._taken),
            locked=self.locked,
            try_unlock_times=self.try_unlock_times,
            last_lock_timestamp=to_millis(self.last_lock),
            droped=self.dropped,
            last_pull_timestamp=to_millis(self.last_pull),
            last_consume_timestamp=to_millis(self.last_consume),
        )


class PopProcessQueue:
    """What a consumer that pops holds of one queue: messages that are not acknowledged (Java: ``PopProcessQueue``).

    Attributes:
        dropped: the queue belongs to somebody else now.
        last_pop: when the last pop was sent, or when this was made.
        wait_ack: messages that wait for their acknowledgement.
    """

    __slots__ = ("dropped", "last_pop", "wait_ack")

    def __init__(self, *, now: float) -> None:
        """An empty one.

        Args:
            now: the time now.
        """
        self.dropped = False
        self.last_pop = now
        self.wait_ack = 0

    def is_pull_expired(self, now: float) -> bool:
        """Whether nothing was popped for so long that the queue had better be given up."""
        return now - self.last_pop > PULL_MAX_IDLE_TIME

    def info(self, to_millis: Callable[[float], int]) -> PopProcessQueueInfo:
        """What code 307 tells of the queue; ``to_millis`` as in ``ProcessQueue.info``."""
        return PopProcessQueueInfo(
            wait_ack_count=self.wait_ack,
            droped=self.dropped,
            last_pop_timestamp=to_millis(self.last_pop),
        )
