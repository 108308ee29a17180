"""The restart of a broker with a store: delayed, timed and popped messages wait again.

Messages of the log come in order of their physical offsets. The state of the broker is in messages
of system topics. A delayed message that was delivered is in the log twice; if both are found it is
not delivered again, even if the offsets on the disk are older.

Java: ``CommitLogDispatcherBuildConsumeQueue``, ``ScheduleMessageService.load``,
``TimerMessageStore.load``, ``TransactionalMessageServiceImpl.check``, ``PopReviveService``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from typing import TYPE_CHECKING, Final

from rocketwire.flags import MessageSysFlag
from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import SCHEDULE_TOPIC, TIMER_TOPIC, lite_names, lite_queue
from rocketwire.store.pops import REVIVE_GROUP, REVIVE_LOG
from rocketwire_broker.delayed import delays, transactions
from rocketwire_broker.delayed.pops import PopLog
from rocketwire_broker.storage.message import (
    INT,
    SENT_BY_CLIENT,
    Message,
    code_of_tag,
    parse_number,
    read_stored,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.store.commit_log import MessageParts
    from rocketwire_broker.files.log_store import LogStore
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.waiting import Transaction

_TAGS, _DELAY, _UNIQ_KEY, _REAL_TOPIC, _REAL_QUEUE_ID, _TIMER_OUT_MS, _DEL_UNIQKEY = (
    f"{name}\x01".encode()
    for name in (
        const.TAGS,
        const.DELAY,
        const.UNIQ_KEY,
        const.REAL_TOPIC,
        const.REAL_QUEUE_ID,
        const.TIMER_OUT_MS,
        const.TIMER_DEL_UNIQKEY,
    )
)

_LITE_TOPIC, _LMQ, _LMQ_OFFSET = (
    f"{name}\x01".encode()
    for name in (const.LITE_TOPIC, const.INNER_MULTI_DISPATCH, const.INNER_MULTI_QUEUE_OFFSET)
)
_DIGITS: Final = 19
_COMMIT: Final = int(MessageSysFlag.TRANSACTION_COMMIT)

EARLIER_COPIES: Final = 2_000
"""Half messages before the first one that counts by which a producer may name a transaction."""

_Key = tuple[bytes | None, ...]
"""Properties by which a message and its copy in a system topic are recognized."""


def value_of(properties: bytes, name: bytes) -> bytes | None:
    """Return the value of a stored property; its name has the byte that follows it."""
    start = -1
    position = properties.find(name)
    while position >= 0:  # the last one of a name counts
        if not position or properties[position - 1] == 2:
            start = position + len(name)
        position = properties.find(name, position + 1)
    if start < 0:
        return None
    end = properties.find(b"\x02", start)
    return properties[start:] if end < 0 else properties[start:end]


class _Waiting:
    def __init__(self) -> None:
        self._offsets: dict[_Key, deque[tuple[int, int]]] = {}

    def add(self, key: _Key, queue_id: int, offset: int) -> None:
        self._offsets.setdefault(key, deque()).append((queue_id, offset))

    def take(self, key: _Key) -> tuple[int, int] | None:
        offsets = self._offsets.get(key)
        if offsets is None:
            return None
        entry = offsets.popleft()
        if not offsets:
            del self._offsets[key]
        return entry


class Restore:
    def __init__(self, broker: Broker, store: LogStore) -> None:
        self._broker = broker
        self._store = store
        self._levels = broker.config.delays_ms()
        self._delayed = _Waiting()
        self._timed = _Waiting()
        self._timers: set[int] = set()
        self._committed: set[int] = set()
        self._pop_log: dict[int, list[int]] = {}
        self._revive_topic = f"{REVIVE_LOG}{broker.config.cluster_name}"

    def add(self, topic: str, parts: MessageParts, properties: bytes) -> None:
        queue_id, queue_offset, store_time = parts.queue_id, parts.queue_offset, parts.store_time
        is_sent = parts.prepared_offset == SENT_BY_CLIENT
        code = 0
        if topic == SCHEDULE_TOPIC:
            code = self._add_delayed(queue_id, queue_offset, store_time, properties)
        elif topic == TIMER_TOPIC:
            self._add_timed(queue_offset, properties)
        elif topic == self._revive_topic:
            self._pop_log.setdefault(queue_id, []).append(queue_offset)
        if not code:
            tag = value_of(properties, _TAGS)
            code = code_of_tag(tag.decode(errors="replace")) if tag else 0
        if topic not in {SCHEDULE_TOPIC, TIMER_TOPIC} and not is_sent:
            self._note_delivered(topic, queue_id, properties)
        if parts.sys_flag & _COMMIT and not is_sent:
            self._committed.add(parts.prepared_offset)
        self._store.last_stored = store_time
        physical, size = parts.physical_offset, parts.size
        if physical < self._broker.topics.deleted.get(topic, 0):
            return
        self._store.add_scanned(topic, queue_id, queue_offset, physical, size, code)
        if _LITE_TOPIC in properties and self._store.has_lmqs:
            self._add_to_lmq(topic, parts, code, properties)

    def _add_to_lmq(self, topic: str, parts: MessageParts, code: int, properties: bytes) -> None:
        lite_topic, name = (value_of(properties, of) for of in (_LITE_TOPIC, _LMQ))
        offset = value_of(properties, _LMQ_OFFSET) or b""
        if lite_topic and name and offset.isdigit() and len(offset) < _DIGITS:
            queue = lite_queue(topic, lite_topic.decode(errors="replace"))
            if queue.encode() == name:
                self._store.add_to_lmq(queue, parts.physical_offset, parts.size, code, int(offset))

    def _add_delayed(
        self, queue_id: int, queue_offset: int, store_time: int, properties: bytes
    ) -> int:
        unique_key = value_of(properties, _UNIQ_KEY)
        text = value_of(properties, _DELAY)
        if unique_key and queue_offset >= self._broker.delivered.get(queue_id, 0):
            names = (_REAL_TOPIC, _REAL_QUEUE_ID)
            key = (unique_key, text, *(value_of(properties, name) for name in names))
            self._delayed.add(key, queue_id, queue_offset)
        level = None if text is None else parse_number(text.decode(errors="replace"), INT)
        if level is None or level <= 0:
            return 0
        return store_time + self._levels[min(level, len(self._levels)) - 1]

    def _add_timed(self, queue_offset: int, properties: bytes) -> None:
        self._timers.add(queue_offset)
        if _DEL_UNIQKEY in properties:  # a recall is not delivered
            return
        key = (value_of(properties, _UNIQ_KEY), value_of(properties, _REAL_TOPIC))
        if b"TIMER_ROLL_TIMES\x01" in properties:
            self._take_timed(key)  # Java stores those of a far time again and again
        self._timed.add(key, 0, queue_offset)

    def _take_timed(self, key: _Key) -> None:
        entry = self._timed.take(key)
        if entry is not None:
            self._timers.discard(entry[1])

    def _note_delivered(self, topic: str, queue_id: int, properties: bytes) -> None:
        if _TIMER_OUT_MS in properties:
            self._take_timed((value_of(properties, _UNIQ_KEY), topic.encode()))
        elif _DELAY in properties and _REAL_TOPIC in properties:
            unique_key, text = (value_of(properties, name) for name in (_UNIQ_KEY, _DELAY))
            entry = self._delayed.take((unique_key, text, topic.encode(), b"%d" % queue_id))
            if entry is not None:
                level, offset = entry
                self._broker.delivered[level] = offset + 1

    def settle_unknown(self, now: int, *, is_deleted: Callable[[str], bool]) -> list[str]:
        """Create the topics again that have messages and are in no table, or drop their queues."""
        topics, store = self._broker.topics, self._store
        created: list[str] = []
        for name in [name for name in store.topics if name not in store.lmqs]:
            if name in topics or name in topics.system:
                continue
            if topics.is_system(name):
                store.delete_topic(name)
            elif is_deleted(name):
                topics.deleted[name] = store.log.end
                store.delete_topic(name)
            else:
                topics.create_again(name, [queue.queue_id for queue in store.queues(name)], now)
                created.append(name)
        for queue in list(store.lmqs):
            names = lite_names(queue)
            if names is None or names[0] not in topics:
                store.delete_topic(queue)
        return created

    # ------------------------------------------------------------------ going on

    def finish(self, now: int) -> None:
        broker = self._broker
        for queue in self._store.queues(SCHEDULE_TOPIC):
            delays.schedule_level(broker, queue.queue_id)
        self._restore_halves(now)
        self._restore_pops()
        self._restore_timers()

    def _restore_timers(self) -> None:
        broker, queue = self._broker, self._store.queue(TIMER_TOPIC, 0)
        for offset in sorted(self._timers):
            record = None if queue is None else queue.record(offset)
            if record is not None:
                stored = read_stored(record)
                delays.restore_timer(broker, Message.of(stored), stored.store_timestamp, offset)
        delays.schedule_timers(broker)

    def _restore_pops(self) -> None:
        # what is in the log of pops, and what waits for its time to be written there
        records: list[tuple[str, bytes, int]] = []
        for queue_id, offsets in self._pop_log.items():
            committed = self._broker.offsets.get(REVIVE_GROUP, self._revive_topic, queue_id) or 0
            records += self._records_of(
                self._revive_topic, queue_id, [offset for offset in offsets if offset >= committed]
            )
        records += self._records_of(TIMER_TOPIC, 0, sorted(self._timers))
        log = PopLog()
        for tag, body, queue_id in sorted(records, key=lambda record: record[0] != "ck"):
            log.add(tag, body, queue_id)
        log.hide_all(self._broker)

    def _records_of(
        self, topic: str, queue_id: int, offsets: list[int]
    ) -> list[tuple[str, bytes, int]]:
        records: list[tuple[str, bytes, int]] = []
        queue = self._store.queue(topic, queue_id)
        for offset in offsets:
            record = None if queue is None else queue.record(offset)
            if record is None:
                continue
            stored = read_stored(record)
            properties = stored.properties or {}
            if properties.get(const.REAL_TOPIC, topic) == self._revive_topic:
                revive_queue = parse_number(properties.get(const.REAL_QUEUE_ID) or "", INT)
                revive_queue = queue_id if revive_queue is None else revive_queue
                records.append((properties.get(const.TAGS) or "", stored.body or b"", revive_queue))
        return records

    # ------------------------------------------------------------------ transactions

    def _restore_halves(self, now: int) -> None:
        broker, store = self._broker, self._store
        queue = store.queue(transactions.HALF_TOPIC, 0)
        if queue is None:
            return
        decided = broker.offsets.get(transactions.GROUP, transactions.HALF_TOPIC, 0) or 0
        if decided >= queue.max_offset:
            return
        begin = max(decided - EARLIER_COPIES, queue.min_offset)
        named = self._read_decisions(queue.physical(begin))
        halves: dict[str, Transaction] = {}
        written: dict[Transaction, bool] = {}
        for offset in range(begin, queue.max_offset):
            record = queue.record(offset)
            if record is None:
                continue
            properties = read_stored(record).properties or {}
            key = properties.get(const.UNIQ_KEY) or f"#{offset}"
            transaction = halves.get(key)
            if transaction is None:
                transaction = halves[key] = broker.half_messages.open(offset)
            else:
                broker.half_messages.move(transaction, offset)
            if queue.physical(offset) in self._committed:
                transaction.ended = True
            written[transaction] = offset in named
        for transaction, is_named in written.items():
            is_named = is_named or transaction.offset < decided
            if is_named or transaction.ended:
                broker.half_messages.end(transaction)
                if is_named:
                    broker.half_messages.unwritten.pop()
        transactions.resume(broker, now)

    def _read_decisions(self, physical: int) -> set[int]:
        queue = self._store.queue(transactions.OP_TOPIC, 0)
        if queue is None:
            return set()
        offsets = range(queue.min_offset, queue.max_offset)
        first = bisect_left(offsets, physical, key=queue.physical)
        named: set[int] = set()
        for offset in offsets[first:]:
            record = queue.record(offset)
            body = b"" if record is None else read_stored(record).body or b""
            named.update(int(text) for text in body.split(b",") if text.isdigit())
        return named
