"""A queue whose messages are in the log."""

from pathlib import Path

import pytest

from rocketwire.wire.message.host import Host
from rocketwire_broker.storage.queue import UnitQueue, store_time_of
from tests.unit.broker.storage.stores import HOST, CountingLog, make_message


def add(log: CountingLog, queue: UnitQueue, body: bytes, time: int) -> None:
    record = make_message(body=body).encode(queue.max_offset, log.end, HOST, time)
    queue.add(log.end, len(record), 7)
    log.append(log.end, record)


@pytest.fixture
def log(tmp_path: Path) -> CountingLog:
    return CountingLog(tmp_path, file_size=1 << 20)


@pytest.fixture
def queue(log: CountingLog) -> UnitQueue:
    queue = UnitQueue("t", 0, log.read)
    for time in (10, 20, 20, 30):
        add(log, queue, b"at %d" % time, time)
    return queue


def test_a_message_is_read_from_the_log(queue: UnitQueue, log: CountingLog) -> None:
    size = log.end // 4

    assert queue.record(1) == log.read(size, size)
    assert (queue.record(-1), queue.record(4), queue.store_time(4)) == (None, None, None)
    assert [queue.store_time(offset) for offset in range(4)] == [10, 20, 20, 30]
    assert (queue.physical(2), queue.tag_code(2), queue.size) == (2 * size, 7, log.end)


def test_adjacent_messages_are_read_together(queue: UnitQueue, log: CountingLog) -> None:
    records = queue.records(1, 9)

    assert (len(records), log.reads) == (3, 1)
    assert b"".join(records) == log.read(log.end // 4, 3 * log.end // 4)


@pytest.mark.parametrize(("count", "reads"), [(1, 1), (20, 3)])
def test_close_messages_are_read_together(log: CountingLog, count: int, reads: int) -> None:
    queue, neighbour = UnitQueue("t", 0, log.read), UnitQueue("t", 1, log.read)
    for number in range(3):
        add(log, queue, b"%d" % number, 0)
        for _ in range(count):
            add(log, neighbour, b"other", 0)

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


def test_messages_of_a_removed_file_are_dropped(queue: UnitQueue, log: CountingLog) -> None:
    assert queue.drop_before(log.end // 2) == 2

    assert (queue.min_offset, queue.max_offset) == (2, 4)
    assert queue.record(1) is None
    assert queue.drop_before(0) == 0


def test_a_queue_begins_where_its_first_message_is(log: CountingLog) -> None:
    queue = UnitQueue("t", 0, log.read)

    queue.add_scanned(5, 100, 91, 0)
    queue.add_scanned(6, 191, 91, 0)

    assert (queue.min_offset, queue.max_offset, queue.physical(6)) == (5, 7, 191)


def test_a_queue_that_was_deleted_begins_anew(queue: UnitQueue) -> None:
    queue.add_scanned(0, 1_000, 91, 0)
    queue.add_scanned(1, 2_000, 91, 0)

    assert (queue.min_offset, queue.max_offset, queue.physical(1)) == (0, 2, 2_000)


def test_offsets_of_lost_messages_are_left_out(queue: UnitQueue) -> None:
    queue.add_scanned(6, 1_000, 91, 0)

    assert queue.finish_scan() == 0
    assert (queue.max_offset, queue.physical(6)) == (7, 1_000)
    assert (queue.record(5), queue.store_time(5)) == (None, None)


@pytest.mark.parametrize("offset", [-1, -(1 << 63), 2, 1 << 24, 1 << 32, (1 << 63) - 1])
@pytest.mark.parametrize("count", [0, 1, 3], ids=["the last", "one follows", "three follow"])
def test_a_wrong_offset_is_not_believed(queue: UnitQueue, offset: int, count: int) -> None:
    queue.add_scanned(offset, 1_000, 91, 0)
    for number in range(count):
        queue.add_scanned(5 + number, 2_000 + 100 * number, 91, 0)

    assert queue.finish_scan() == 1
    assert (queue.min_offset, queue.max_offset, queue.physical(4)) == (0, 5 + count, 1_000)


@pytest.mark.parametrize("offset", [-1, 1, 1 << 24, 1 << 62])
@pytest.mark.parametrize("count", [2, 4])
def test_a_wrong_offset_of_the_first_message_is_not_believed(offset: int, count: int) -> None:
    queue = UnitQueue("t", 0, lambda _physical, _size: b"")

    queue.add_scanned(offset, 0, 91, 0)
    for number in range(count):
        queue.add_scanned(1_001 + number, 100 + 100 * number, 91, 0)

    assert queue.finish_scan() == 1
    assert (queue.min_offset, queue.max_offset) == (1_000, 1_001 + count)
    assert queue.physical(1_000) == 0


def test_a_message_of_another_queue_hides_none(queue: UnitQueue) -> None:
    queue.add_scanned(77, 1_000, 91, 0)
    queue.add_scanned(4, 2_000, 91, 0)

    assert queue.finish_scan() == 1
    assert (queue.max_offset, queue.physical(4)) == (5, 2_000)


def test_a_store_time_follows_a_long_address() -> None:
    message = make_message()
    message.born_host = Host(bytes(16), 1)

    assert store_time_of(message.encode(0, 0, HOST, 1234)) == 1234
