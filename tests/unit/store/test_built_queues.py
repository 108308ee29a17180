"""Where the units of a queue end; ``test_recovery.py`` has what a start makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.store.built_queues import BuiltBatchQueue, BuiltQueue, MappedFiles
from rocketwire.store.consume_queue import (
    PRE_BLANK_SIZE,
    BatchUnit,
    QueueUnit,
    encode_batch_unit,
    encode_unit,
    first_invalid,
)
from rocketwire.store.java_records import JavaRecord

if TYPE_CHECKING:
    from rocketwire.store.built_queues import QueueReader, Topic

T = ("t", 0)


@pytest.mark.parametrize("size", [20, 46])
def test_the_first_invalid_unit_is_the_end_of_a_queue(size: int) -> None:
    good = (
        encode_unit(QueueUnit(1, 2, 3))
        if size == 20
        else encode_batch_unit(BatchUnit(1, 2, 3, 4, 5, 6, -1, 0))
    )
    broken = [good[:8] + bytes(4) + good[12:], b"\xff" + good[1:], good[:8] + b"\xff" + good[9:]]
    if size == 46:
        broken += [good[:36] + bytes(2) + good[38:], good[:28] + b"\xff" + good[29:]]

    assert first_invalid(b"", size) == 0
    assert first_invalid(good * 5, size) == 5 * size
    for unit in broken:
        assert first_invalid(good * 3 + unit + good, size) == 3 * size


def test_the_blank_units_of_a_queue_are_valid_ones() -> None:
    assert first_invalid(encode_unit(QueueUnit(0, PRE_BLANK_SIZE, 0)), 20) == 20


def reader_of(data: bytes) -> QueueReader:
    def read(_queue: Topic, _file: int, position: int, size: int) -> bytes:
        return data[position : position + size]

    return read


def test_a_queue_that_is_cut_before_what_was_put_into_it_goes_on_there() -> None:
    units = [QueueUnit(100 * number, 100, 0) for number in range(2)]
    data = b"".join(map(encode_unit, units))
    queue = BuiltQueue(T, MappedFiles([0], 100), reader_of(data), {})
    queue.recover()
    queue.put(JavaRecord(100, physical_offset=200), 2)
    queue.cut_to(100)

    queue.put(JavaRecord(70, physical_offset=100), 1)

    assert list(queue.units_served()) == [(0, 0, 100), (1, 100, 70)]


def test_a_message_that_a_queue_of_batches_has_is_not_put_again() -> None:
    data = encode_batch_unit(BatchUnit(100, 50, 0, 1, 0, 2, -1, 0))
    queue = BuiltBatchQueue(T, MappedFiles([0], 92), reader_of(data), {})
    queue.recover()
    queue.put(JavaRecord(50, physical_offset=100), 0)

    queue.put(JavaRecord(60, physical_offset=150), 2)

    assert [unit[1:] for unit in queue.units_served()] == [(100, 50), (150, 60)]
    assert queue.added_units == 1
