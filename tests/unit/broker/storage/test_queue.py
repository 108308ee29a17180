"""One queue of stored bytes."""

from __future__ import annotations

import pytest

from rocketwire_broker.storage.queue import Queue


@pytest.fixture
def queue() -> Queue:
    """Three messages, stored at 10, 20 and 20."""
    queue = Queue("orders", 0)
    for index, time in enumerate((10, 20, 20)):
        queue.append(b"record %d" % index, index, time, 100 * index)
    return queue


def test_messages_have_offsets_from_zero_on(queue: Queue) -> None:
    assert (queue.min_offset, queue.max_offset) == (0, 3)
    assert queue.record(1) == b"record 1"
    assert queue.records(1, 5) == [b"record 1", b"record 2"]
    assert list(queue.tag_codes(0, 2)) == [0, 1]
    assert (queue.tag_code(2), queue.physical(2)) == (2, 200)


def test_there_is_nothing_before_the_first_and_behind_the_last_message(queue: Queue) -> None:
    assert queue.record(-1) is None
    assert queue.record(3) is None
    assert queue.store_time(3) is None
    assert queue.records(3, 5) == []


def test_a_dropped_message_moves_the_first_offset(queue: Queue) -> None:
    assert queue.drop_first() == len(b"record 0")

    assert queue.min_offset == 1
    assert queue.record(0) is None
    assert queue.size == len(b"record 1record 2")


def test_offsets_stay_when_the_lists_are_cut() -> None:
    queue = Queue("orders", 0)
    for index in range(3000):
        queue.append(b"%d" % index, index, index, index)
    for _ in range(2500):
        queue.drop_first()

    assert (queue.min_offset, queue.max_offset) == (2500, 3000)
    assert queue.record(2500) == b"2500"
    assert queue.record(2499) is None
    assert queue.offset_of(2750) == 2750
    assert queue.offset_at(2600) == 2600
    assert queue.records(2999, 9) == [b"2999"]


def test_a_message_is_found_by_its_position(queue: Queue) -> None:
    assert queue.offset_of(100) == 1
    assert queue.offset_of(150) is None


@pytest.mark.parametrize(
    ("time", "at", "until"), [(5, 0, 0), (10, 0, 1), (15, 1, 1), (20, 1, 3), (25, 3, 3)]
)
def test_offsets_are_found_by_time(queue: Queue, time: int, at: int, until: int) -> None:
    assert (queue.offset_at(time), queue.offset_until(time)) == (at, until)
