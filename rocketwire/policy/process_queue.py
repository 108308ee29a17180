"""A consumer's state of one queue: messages in flight, the offset to commit, and flow control.

``now`` is in seconds of any monotonic clock.  No offset beyond the oldest message in flight is
committed.  The messages of a pull are kept as a block, which is mostly removed as a block; it is
spread into single messages only if necessary.

Java: ``ProcessQueue``, ``DefaultMQPushConsumerImpl.pullMessage``,
``RebalancePushImpl.messageQueueChanged``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from operator import is_, lt
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.messages.callbacks import ProcessQueueInfo

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage

# Seconds for which a consumer relies on a lock that it cannot renew; brokers keep it for 60
LOCK_MAX_LIVE_TIME: Final = 30.0
# Seconds without a pull after which a consumer drops a queue and allocates it again
PULL_MAX_IDLE_TIME: Final = 120.0

_MIB: Final = 1 << 20


class FlowControl(Enum):
    """The limit that stops pulling (Java waits 50 ms and checks again)."""

    COUNT = auto()
    SIZE = auto()
    SPAN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Limits of the messages in flight; pulling stops if a limit is *exceeded*."""

    count: int = 1000  #: messages of a queue (``pullThresholdForQueue``)
    mebibytes: int = 100  #: size of their bodies, rounded down (``pullThresholdSizeForQueue``)
    #: difference between the newest and the oldest offset (``consumeConcurrentlyMaxSpan``); None
    #: for orderly consumption
    span: int | None = 2000
    count_of_topic: int | None = None  #: messages of all queues of a topic, or None
    mebibytes_of_topic: int | None = None  #: size of the bodies of all queues of a topic, or None

    def for_queues(self, queues: int) -> Thresholds:
        """Return the limits of one of ``queues`` queues, with its share of the topic's limits."""
        if not queues:
            return self
        count, mebibytes = self.count, self.mebibytes
        if self.count_of_topic is not None:
            count = max(1, self.count_of_topic // queues)
        if self.mebibytes_of_topic is not None:
            mebibytes = max(1, self.mebibytes_of_topic // queues)
        return replace(self, count=count, mebibytes=mebibytes)


def _ascend(messages: Sequence[StoredMessage]) -> bool:
    offsets = [message.queue_offset for message in messages]
    return all(map(lt, offsets, offsets[1:]))


class _Block(NamedTuple):
    """The messages of a pull in ascending order, all of them still waiting."""

    messages: Sequence[StoredMessage]
    first: int  #: the oldest offset
    last: int  #: the newest offset
    size: int  #: bytes of the bodies


class ProcessQueue:
    """The messages of one queue between the pull and the commit (Java: ``ProcessQueue``).

    Concurrent consumption uses ``put`` and ``remove``.  Orderly consumption uses ``put``, ``take``
    and then ``commit``, ``rollback`` or ``consume_again``.
    """

    def __init__(self, *, now: float) -> None:
        #: whether another consumer has the queue; its offsets must not be committed then
        self.dropped: bool = False
        #: whether the queue will be dropped soon; running handlers finish, no new ones start
        self.retiring: bool = False
        self.locked: bool = False  #: whether the broker has locked the queue for this consumer
        self.last_lock: float = now  #: time of the last lock, or of the creation
        self.last_pull: float = now  #: time of the last pull, or of the creation
        #: time when messages were last taken or finished, or of the creation
        self.last_consume: float = now
        #: number of messages in the queue after the last one that was put, if known
        self.backlog: int = 0
        self._consuming = False
        self._newest = 0
        self._size = 0
        self._messages: dict[int, StoredMessage] = {}
        self._order: deque[int] = deque()  # ascending; can contain offsets of removed messages
        self._blocks: deque[_Block] = deque()  # their offsets follow those of ``_messages``
        self._blocked = 0  # number of messages in the blocks
        self._taken: dict[int, StoredMessage] = {}
        self._started: dict[int, float] = {}

    # ------------------------------------------------------------------ state

    @property
    def count(self) -> int:
        return len(self._messages) + self._blocked + len(self._taken)

    @property
    def size(self) -> int:
        return self._size

    @property
    def has_messages(self) -> bool:
        return bool(self._messages or self._blocks)

    @property
    def first_offset(self) -> int | None:
        order = self._order
        while order:
            if order[0] in self._messages:
                return order[0]
            order.popleft()
        return self._blocks[0].first if self._blocks else None

    @property
    def last_offset(self) -> int | None:
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
        first, last = self.first_offset, self.last_offset
        return 0 if first is None or last is None else last - first

    def __contains__(self, offset: int) -> bool:
        self._unpack_blocks()
        return offset in self._messages

    def is_lock_expired(self, now: float) -> bool:
        return now - self.last_lock > LOCK_MAX_LIVE_TIME

    def is_pull_expired(self, now: float) -> bool:
        return now - self.last_pull > PULL_MAX_IDLE_TIME

    def flow_control(self, thresholds: Thresholds) -> FlowControl | None:
        """Return the first exceeded limit in Java's order, or None."""
        if self.count > thresholds.count:
            return FlowControl.COUNT
        if self._size // _MIB > thresholds.mebibytes:
            return FlowControl.SIZE
        if thresholds.span is not None and self.span > thresholds.span:
            return FlowControl.SPAN
        return None

    # ------------------------------------------------------------------ concurrent and orderly

    def put(
        self,
        messages: Sequence[StoredMessage],
        *,
        max_offset: int | None = None,
        body_size: int | None = None,
    ) -> bool:
        """Add the messages of a pull.

        Args:
            messages: the messages, normally in ascending order of their offsets.
            max_offset: end of the queue according to the response.
            body_size: bytes of their bodies, given only if the offsets ascend.

        Returns:
            Whether an orderly consumer has to be woken: messages wait and no handler runs.
        """
        if messages:
            newest = (
                self._blocks[-1].last if self._blocks else self._order[-1] if self._order else None
            )
            first, last = messages[0].queue_offset, messages[-1].queue_offset
            if (newest is None or first > newest) and (body_size is not None or _ascend(messages)):
                if body_size is None:
                    body_size = sum([len(message.body or b"") for message in messages])
                self._blocks.append(_Block(messages, first, last, body_size))
                self._blocked += len(messages)
                self._newest = last
                self._size += body_size
            else:
                self._insert_sorted(messages)
            if max_offset is not None and max_offset > last:
                self.backlog = max_offset - last
        if not self._consuming and self.has_messages:
            self._consuming = True
            return True
        return False

    def _insert_sorted(self, messages: Sequence[StoredMessage]) -> None:
        self._unpack_blocks()
        by_offset, order = self._messages, self._order
        for message in messages:
            offset = message.queue_offset
            if offset not in by_offset:
                self._newest = offset
                self._size += len(message.body or b"")
                if order and offset <= order[-1]:
                    order = self._order = deque(sorted({*by_offset, offset}))
                else:
                    order.append(offset)
            by_offset[offset] = message

    def _unpack_blocks(self) -> None:
        for block in self._blocks:
            offsets = [message.queue_offset for message in block.messages]
            self._messages.update(zip(offsets, block.messages, strict=True))
            self._order.extend(offsets)
        self._blocks.clear()
        self._blocked = 0

    def clear(self) -> None:
        self._blocks.clear()
        self._blocked = 0
        self._messages.clear()
        self._taken.clear()
        self._started.clear()
        self._order.clear()
        self._size = 0
        self._newest = 0

    # ------------------------------------------------------------------ concurrent

    def remove(self, messages: Sequence[StoredMessage], *, now: float) -> int | None:
        """Remove consumed messages, and return the offset to commit.

        That is the oldest offset in flight, or the one after the newest message that was ever put.
        None if no message was in flight, because the queue was cleared in the meantime.
        """
        self.last_consume = now
        if not self.has_messages:
            return None
        if not self._remove_block(messages):
            self._unpack_blocks()
            self._remove_each(messages)
        oldest = self.first_offset
        return self._newest + 1 if oldest is None else oldest

    def _remove_block(self, messages: Sequence[StoredMessage]) -> bool:
        if self._messages or len(messages) != len(self._blocks[0].messages):
            return False
        oldest = self._blocks[0]
        if messages is not oldest.messages and not all(map(is_, messages, oldest.messages)):
            return False
        self._blocks.popleft()
        self._blocked -= len(messages)
        self._size -= oldest.size
        return True

    def _remove_each(self, messages: Sequence[StoredMessage]) -> None:
        by_offset, started, size = self._messages, self._started, self._size
        for message in messages:
            removed = by_offset.pop(message.queue_offset, None)
            if removed is not None:
                size -= len(removed.body or b"")
        for message in messages if started else ():
            started.pop(message.queue_offset, None)
        self._size = size

    def mark_started(self, messages: Iterable[StoredMessage], *, now: float) -> None:
        # for ``oldest_expired``
        self._unpack_blocks()
        for message in messages:
            if message.queue_offset in self._messages:
                self._started[message.queue_offset] = now

    def oldest_expired(self, *, now: float, timeout: float) -> StoredMessage | None:
        """Return the oldest message if its handler has run for more than ``timeout`` seconds.

        The caller sends it back, removes it and repeats the call, at most 16 times
        (``cleanExpiredMsg``).
        """
        first = self.first_offset
        if first is None:
            return None
        started = self._started.get(first)
        if started is None or now - started <= timeout:
            return None
        return self._messages[first]

    # ------------------------------------------------------------------ orderly

    def take(self, limit: int, *, now: float) -> list[StoredMessage]:
        """Take the oldest messages to consume them; if there are none, the next ``put`` wakes."""
        self.last_consume = now
        self._unpack_blocks()
        messages: list[StoredMessage] = []
        while len(messages) < limit and (offset := self.first_offset) is not None:
            message = self._messages.pop(offset)
            self._taken[offset] = message
            messages.append(message)
        if not messages:
            self._consuming = False
        return messages

    def commit(self) -> int | None:
        """Remove the taken messages, and return the offset to commit, or None without any."""
        if not self._taken:
            return None
        last = max(self._taken)
        for message in self._taken.values():
            self._size -= len(message.body or b"")
        self._taken.clear()
        return last + 1

    def rollback(self) -> None:
        self.consume_again(tuple(self._taken.values()))

    def consume_again(self, messages: Iterable[StoredMessage]) -> None:
        """Put taken messages back, in order (Java: ``makeMessageToConsumeAgain``)."""
        self._unpack_blocks()
        for message in messages:
            self._taken.pop(message.queue_offset, None)
            self._messages[message.queue_offset] = message
        self._order = deque(sorted(self._messages))

    # ------------------------------------------------------------------ running info

    def info(self, commit_offset: int, to_millis: Callable[[float], int]) -> ProcessQueueInfo:
        """Return the queue's state for the response to request 307.

        Args:
            commit_offset: the committed offset.
            to_millis: converts ``now`` to milliseconds since 1970.
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
            try_unlock_times=0,
            last_lock_timestamp=to_millis(self.last_lock),
            droped=self.dropped,
            last_pull_timestamp=to_millis(self.last_pull),
            last_consume_timestamp=to_millis(self.last_consume),
        )
