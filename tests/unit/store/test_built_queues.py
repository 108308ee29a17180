"""Where the units of a queue end; ``test_recovery.py`` has what a start makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.store import built_queues
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


def test_files_know_how_far_they_are_written_and_which_were_deleted() -> None:
    files = MappedFiles([100, 200, 300], 100)
    assert (files.end, files.total, files.deleted) == (400, 300, [])

    files.truncate(250)
    assert files.file_of(249) == 200
    assert (files.offsets, files.end, files.total) == ([100, 200], 250, 150)

    files.write_to(200, 100)
    files.add(300)
    files.write_to(300, 20)
    assert files.file_of(319) == 300
    assert (files.end, files.total, files.written(100)) == (320, 220, 100)

    files.remove_last()
    files.remove_last()
    assert (files.offsets, files.deleted, files.file_of(150)) == ([100], [300, 300, 200], 100)


def test_a_queue_whose_last_file_is_deleted_forgets_what_was_put_into_it() -> None:
    queue = BuiltQueue(T, MappedFiles([], 40), reader_of(b""), {})
    for number in range(3):
        queue.put(JavaRecord(100, physical_offset=100 * number), number)

    queue.cut_to(200)

    assert queue.files.deleted == [40]
    assert list(queue.units_served()) == [(0, 0, 100), (1, 100, 100)]


@pytest.mark.parametrize("most", [0, 1, 100])
def test_no_more_than_a_limit_is_kept_for_other_predictions(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(built_queues, "MAX_CACHED", most)
    data = b"".join(encode_unit(QueueUnit(100 * number, 100, 0)) for number in range(4))
    cache: dict[object, int] = {}

    for _ in range(2):
        queue = BuiltQueue(T, MappedFiles([0], 200), reader_of(data), cache)
        queue.recover()
        queue.cut_to(300)
        assert (queue.max_offset, queue.cut_units) == (3, 1)

    assert len(cache) == min(most, 3)
