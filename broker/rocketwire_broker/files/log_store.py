"""A store whose messages are in the files of a commit log.

A message is in the log before it is in its queue, so every message with a response is on the disk.
Whole files are dropped, the oldest first. Messages of the last moments stay in memory, too, because
consumers that keep up read them.

Java: ``DefaultMessageStore``, ``CleanCommitLogService``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, cast

from rocketwire.errors import EncodeError
from rocketwire.messages.message_const import LITE_TOPIC
from rocketwire.store.commit_log import BLANK_SIZE, SMALLEST_MESSAGE, message_parts
from rocketwire_broker.storage.queue import UnitQueue, store_time_of
from rocketwire_broker.storage.store import Store, StoredPosition

if TYPE_CHECKING:
    from rocketwire.wire.message.host import Host
    from rocketwire_broker.files.log_files import LogFiles
    from rocketwire_broker.storage.message import Message

RECENT_BYTES: Final = 8 << 20  # bytes of the newest messages that are kept in memory

EXPIRY_MS: Final = 3_600_000
"""Time from the start to the first search for old files, and between two searches."""

_PHYSICAL: Final = slice(28, 36)


class LogStore(Store):
    """Queues, and a log in files.

    Args:
        retain_bytes: minimum bytes of messages that are kept; 0 keeps all.
        retain_ms: minimum time for which a message is kept.
    """

    is_durable = True

    def __init__(
        self, log: LogFiles, *, retain_bytes: int, retain_ms: float, store_host: Host
    ) -> None:
        super().__init__(retain_bytes=retain_bytes, retain_ms=retain_ms, store_host=store_host)
        self.log = log
        self.next_physical = log.end
        # queues with messages that their files do not have yet, or whose files are too many, since
        # the owner of this set has emptied it
        self.changed: set[tuple[str, int]] = set()
        self.deleted: set[str] = set()  # deleted topics whose files still exist
        self._recent: dict[int, bytes] = {}
        self._recent_order: deque[int] = deque()
        self._recent_size = 0
        self._next_expiry: int | None = None

    def put(self, message: Message, now: int) -> StoredPosition:
        lmq = self._lmq(message) if LITE_TOPIC in message.properties else None
        position = self.put_all((message,), now)[0]
        if lmq is not None:
            self.add_to_lmq(lmq, position.physical_offset, position.size, message.tags_code)
            self.arrivals.add((lmq, 0))
        return position

    def put_all(self, messages: Sequence[Message], now: int) -> list[StoredPosition]:
        """Store messages of one queue, all of them or none."""
        if not messages:
            return []
        topic, queue_id = messages[0].topic, messages[0].queue_id
        queue = self.unit_queue(topic, queue_id)
        offset = 0 if queue is None else queue.max_offset
        start = self.log.end
        file_size = self.log.file_size
        records = self._encode(messages, offset, start, now)
        size = sum(map(len, records))
        if size + BLANK_SIZE > file_size:
            raise EncodeError(f"{size} bytes fit into no file of the commit log")
        if size + BLANK_SIZE > file_size - start % file_size:
            start += -start % file_size
            records = self._encode(messages, offset, start, now)
        self.log.append(start, records[0] if len(records) == 1 else b"".join(records))
        if queue is None:
            queue = self._create_queue(topic, queue_id)
        positions: list[StoredPosition] = []
        for message, record in zip(messages, records, strict=True):
            queue.add(start, len(record), message.tags_code)
            self._keep(start, record)
            positions.append(StoredPosition(offset, start, len(record)))
            start += len(record)
            offset += 1
        self.next_physical = start
        self.size += size
        self.put_count += len(records)
        self.last_stored = now
        self.arrivals.add((topic, queue_id))
        self.changed.add((topic, queue_id))
        return positions

    def _create_queue(self, topic: str, queue_id: int) -> UnitQueue:
        queue = UnitQueue(topic, queue_id, self._read, self._recent)
        self._queues.setdefault(topic, {})[queue_id] = queue
        return queue

    def _encode(
        self, messages: Sequence[Message], offset: int, physical: int, now: int
    ) -> list[bytes]:
        records: list[bytes] = []
        for message in messages:
            record = message.encode(offset, physical, self.store_host, now)
            records.append(record)
            physical += len(record)
            offset += 1
        return records

    def add_scanned(
        self, topic: str, queue_id: int, offset: int, physical: int, size: int, tag_code: int
    ) -> UnitQueue:
        queue = self.unit_queue(topic, queue_id) or self._create_queue(topic, queue_id)
        queue.add_scanned(offset, physical, size, tag_code)
        self.size += size
        self.put_count += 1
        self.changed.add((topic, queue_id))
        return queue

    def add_to_lmq(
        self, name: str, physical: int, size: int, tag_code: int, offset: int | None = None
    ) -> None:
        """Put a message of the log into its LMQ, at an offset or at the end."""
        queue = self.unit_queue(name, 0) or self._create_queue(name, 0)
        self.lmqs[name] = None
        queue.add_scanned(queue.max_offset if offset is None else offset, physical, size, tag_code)
        self.changed.add((name, 0))

    def finish_scan(self) -> int:
        """Put the messages that wait for the next one; return how many had a wrong offset."""
        return sum(queue.finish_scan() for queue in self.all_queues())

    def _keep(self, physical: int, record: bytes) -> None:
        self._recent[physical] = record
        self._recent_order.append(physical)
        self._recent_size += len(record)
        while self._recent_size > RECENT_BYTES:
            self._recent_size -= len(self._recent.pop(self._recent_order.popleft()))

    def expire(self, now: int) -> None:
        """Drop the oldest files if they are old, or if there are too many."""
        if self._next_expiry is None or now < self._next_expiry:
            if self._next_expiry is None:
                self._next_expiry = now + EXPIRY_MS
            if not self._retain_bytes:
                return
        else:
            self._next_expiry = now + EXPIRY_MS
            self._drop_old(now)
        self._drop_many()

    def _drop_old(self, now: int) -> None:
        for _, following in pairwise(list(self.log.starts())):
            time = self.time_at(following)
            if time is None or time >= now - self._retain_ms:
                return
            self._drop_first_file()

    def _drop_many(self) -> None:
        for _, following in pairwise(list(self.log.starts())):
            if not self._retain_bytes or self.log.end - following < self._retain_bytes:
                return
            self._drop_first_file()

    def _drop_first_file(self) -> None:
        self.log.remove_first()
        for queue in self.all_queues():
            dropped = queue.drop_before(self.log.first)
            if dropped:
                self.evicted_count += 0 if queue.topic in self.lmqs else dropped
                self.changed.add((queue.topic, queue.queue_id))
        self.size = sum(queue.size for queue in self.all_queues() if queue.topic not in self.lmqs)

    def delete_topic(self, topic: str) -> None:
        is_lmq = topic in self.lmqs
        self.lmqs.pop(topic, None)
        for queue in self._queues.pop(topic, {}).values():
            self.size -= 0 if is_lmq else queue.size
            self.changed.discard((topic, queue.queue_id))
        self.deleted.add(topic)

    def unit_queue(self, topic: str, queue_id: int) -> UnitQueue | None:
        return cast("UnitQueue | None", self.queue(topic, queue_id))

    def all_queues(self) -> Iterator[UnitQueue]:
        for queues in self._queues.values():
            yield from cast("Iterable[UnitQueue]", queues.values())

    @property
    def topics(self) -> list[str]:
        return list(self._queues)

    @property
    def first_physical(self) -> int:
        return self.log.first

    @property
    def earliest_store_time(self) -> int:
        time = self.time_at(self.log.first)
        return -1 if time is None else time

    def time_at(self, physical: int) -> int | None:
        head = self.log.read(physical, SMALLEST_MESSAGE)
        if len(head) < SMALLEST_MESSAGE or head[_PHYSICAL] != physical.to_bytes(8):
            return None
        return store_time_of(head)

    def record_at(self, physical: int) -> bytes | None:
        record = self._recent.get(physical)
        if record is not None:
            return record
        if not self.log.first <= physical < self.log.end:
            return None
        size = int.from_bytes(self.log.read(physical, 4))
        if not SMALLEST_MESSAGE <= size <= self.log.end - physical:
            return None
        record = self.log.read(physical, size)
        parts = message_parts(record, 0)
        if parts is None or parts.physical_offset != physical:
            return None
        return record if len(record) == size else None

    def _read(self, physical: int, size: int) -> bytes:
        record = self._recent.get(physical)
        if record is not None and len(record) >= size:
            return record[:size]
        return self.log.read(physical, size)
