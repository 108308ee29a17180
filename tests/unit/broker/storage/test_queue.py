"""One queue whose messages are in the log."""

from __future__ import annotations

import pytest

from rocketwire.wire.message.host import Host
from rocketwire_broker.storage.message import Message
from rocketwire_broker.storage.queue import UnitQueue, store_time_of

HOST = Host(b"\x7f\0\0\x01", 10911)


class LogAtHand:
    """A log of one queue; counts how often it is read."""

    def __init__(self) -> None:
        self.data = b""
        self.reads = 0

    def read(self, physical: int, size: int) -> bytes:
        self.reads += 1
        return self.data[physical : physical + size]

    def add(self, queue: UnitQueue, body: bytes, time: int) -> None:
        """Append a message to the log and to its queue."""
        message = Message(topic="t", queue_id=0, body=body, properties={}, born_host=HOST)
        record = message.encode(queue.max_offset, len(self.data), HOST, time)
        queue.add(len(self.data), len(record), 7)
        self.data += record


@pytest.fixture
def log() -> LogAtHand:
    return LogAtHand()


@pytest.fixture
def queue(log: LogAtHand) -> UnitQueue:
    """Messages that were stored at 10, 20, 20 and 30."""
    queue = UnitQueue("t", 0, log.read)
    for time in (10, 20, 20, 30):
        log.add(queue, b"at %d" % time, time)
    return queue


def test_a_message_is_read_from_the_log(queue: UnitQueue, log: LogAtHand) -> None:
    size = len(log.data) // 4

    assert queue.record(1) == log.data[size : 2 * size]
    assert (queue.record(-1), queue.record(4), queue.store_time(4)) == (None, None, None)
    assert [queue.store_time(offset) for offset in range(4)] == [10, 20, 20, 30]
    assert (queue.physical(2), queue.tag_code(2), queue.size) == (2 * size, 7, len(log.data))


def test_adjacent_messages_are_read_together(queue: UnitQueue, log: LogAtHand) -> None:
    records = queue.records(1, 9)

    assert b"".join(records) == log.data[len(log.data) // 4 :]
    assert (len(records), log.reads) == (3, 1)


@pytest.mark.parametrize(("others", "reads"), [(1, 1), (20, 3)])
def test_close_messages_are_read_together(log: LogAtHand, others: int, reads: int) -> None:
    queue, other = UnitQueue("t", 0, log.read), UnitQueue("t", 1, log.read)
    for number in range(3):
        log.add(queue, b"%d" % number, 0)
        for _ in range(others):
            log.add(other, b"other", 0)

    assert [record[88:89] for record in queue.records(0, 9)] == [b"0", b"1", b"2"]
    assert log.reads == reads


def test_messages_in_memory_are_not_read() -> None:
    recent = {100: b"a" * 91, 300: b"b" * 92}
    queue = UnitQueue("t", 0, lambda _physical, _size: pytest.fail("read"), recent)
    queue.add(100, 91, 0)
    queue.add(300, 92, 0)

    assert queue.records(0, 9) == [b"a" * 91, b"b" * 92]
    assert queue.records(2, 9) == []


@pytest.mark.parametrize(
    ("time", "lower", "upper"), [(5, 0, 0), (10, 0, 1), (15, 1, 1), (20, 1, 3), (40, 4, 4)]
)
def test_offsets_of_store_times(queue: UnitQueue, time: int, lower: int, upper: int) -> None:
    assert (queue.offset_at(time), queue.offset_until(time)) == (lower, upper)


def test_messages_of_a_removed_file_are_dropped(queue: UnitQueue, log: LogAtHand) -> None:
    assert queue.drop_before(len(log.data) // 2) == 2

    assert (queue.min_offset, queue.max_offset) == (2, 4)
    assert queue.record(1) is None
    assert queue.drop_before(0) == 0


def test_a_queue_begins_where_its_first_message_is(log: LogAtHand) -> None:
    queue = UnitQueue("t", 0, log.read)

    queue.place(5, 100, 91, 0)
    queue.place(6, 191, 91, 0)

    assert (queue.min_offset, queue.max_offset, queue.physical(6)) == (5, 7, 191)


def test_a_queue_that_was_deleted_begins_anew(queue: UnitQueue) -> None:
    queue.place(0, 1_000, 91, 0)
    queue.place(1, 2_000, 91, 0)

    assert (queue.min_offset, queue.max_offset, queue.physical(1)) == (0, 2, 2_000)


def test_offsets_of_lost_messages_are_left_out(queue: UnitQueue) -> None:
    queue.place(6, 1_000, 91, 0)

    assert queue.finish_placing() == 0
    assert (queue.max_offset, queue.physical(6)) == (7, 1_000)
    assert (queue.record(5), queue.store_time(5)) == (None, None)


@pytest.mark.parametrize("offset", [-1, -(1 << 63), 2, 1 << 24, 1 << 32, (1 << 63) - 1])
@pytest.mark.parametrize("count", [0, 1, 3], ids=["the last", "one follows", "three follow"])
def test_a_wrong_offset_is_not_believed(queue: UnitQueue, offset: int, count: int) -> None:
    queue.place(offset, 1_000, 91, 0)
    for number in range(count):
        queue.place(5 + number, 2_000 + 100 * number, 91, 0)

    assert queue.finish_placing() == 1
    assert (queue.min_offset, queue.max_offset, queue.physical(4)) == (0, 5 + count, 1_000)


@pytest.mark.parametrize("offset", [-1, 1, 1 << 24, 1 << 62])
@pytest.mark.parametrize("count", [2, 4])
def test_a_wrong_offset_of_the_first_message_is_not_believed(offset: int, count: int) -> None:
    queue = UnitQueue("t", 0, LogAtHand().read)

    queue.place(offset, 0, 91, 0)
    for number in range(count):
        queue.place(1_001 + number, 100 + 100 * number, 91, 0)

    assert queue.finish_placing() == 1
    assert (queue.min_offset, queue.max_offset) == (1_000, 1_001 + count)
    assert queue.physical(1_000) == 0


def test_a_message_of_another_queue_hides_none(queue: UnitQueue) -> None:
    queue.place(77, 1_000, 91, 0)
    queue.place(4, 2_000, 91, 0)

    assert queue.finish_placing() == 1
    assert (queue.max_offset, queue.physical(4)) == (5, 2_000)


def test_a_store_time_has_its_place_behind_a_long_address() -> None:
    message = Message(topic="t", queue_id=0, body=b"", properties={}, born_host=Host(bytes(16), 1))

    assert store_time_of(message.encode(0, 0, HOST, 1234)) == 1234
