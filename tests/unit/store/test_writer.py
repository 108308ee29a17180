"""Written stores are read again, and have the bytes of stores that real brokers wrote."""

from __future__ import annotations

import os
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from rocketwire.flags import MessageSysFlag
from rocketwire.store import commit_log, consume_queue, index_file
from rocketwire.store.writer import (
    FILLER_TOPIC,
    MAX_FILLER,
    MIN_FILLER,
    DiskFiles,
    IndexWriter,
    NoFiles,
    QueueWriter,
    blank,
    filler,
    queue_folder,
    topic_table,
    write_file,
)
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import StoredMessage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


ROLLED_BACK = int(MessageSysFlag.TRANSACTION_ROLLBACK)


def message(topic: str = "orders", body: bytes = b"body", **fields: Any) -> StoredMessage:
    values: dict[str, Any] = {
        "store_timestamp": 1_700_000_000_000,
        "store_host": Host(bytes(4), 10911),
        **fields,
    }
    return StoredMessage(topic=topic, body=body, **values)


def read(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def read_messages(data: bytes) -> Iterator[StoredMessage]:
    """The messages of a log from its start, across blanks."""
    position = 0
    while position + 8 <= len(data):
        size = commit_log.blank_size(data, position)
        if size is None:
            size = int.from_bytes(data[position : position + 4])
            if not size:
                return
            yield from decode_stored_messages(data[position : position + size], check_crc=True)
        position += size


def test_write_continues_after_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.pwrite

    def write_a_part(file: int, data: bytes, position: int) -> int:
        return whole(file, bytes(data)[:3], position)

    monkeypatch.setattr(os, "pwrite", write_a_part)

    write_file(DiskFiles(tmp_path), "file", b"0123456789")

    assert (tmp_path / "file").read_bytes() == b"0123456789"


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match="file"):
        write_file(DiskFiles(tmp_path), "file", b"data")

    assert not (tmp_path / "elsewhere").exists()


def test_a_dry_run_counts_bytes_and_names() -> None:
    files = NoFiles()

    write_file(files, "a", b"123")
    write_file(files, "b", b"45")
    files.remove("b")
    files.set_time("a", 5)
    files.flush()

    assert files.names == {"a"}
    assert files.written == 5


@pytest.mark.parametrize(
    "size",
    [
        MIN_FILLER,
        MIN_FILLER + 1,
        MAX_FILLER,
        MAX_FILLER + 1,
        MAX_FILLER + MIN_FILLER - 1,
        MAX_FILLER + MIN_FILLER,
        3 * MAX_FILLER + 5,
    ],
)
def test_fillers_are_whole_messages_at_their_place_that_no_queue_gets(size: int) -> None:
    data = filler(1234, size, 1_700_000_000_000)

    assert data is not None
    assert len(data) == size
    messages = list(read_messages(data))
    assert {one.topic for one in messages} == {FILLER_TOPIC}
    assert {one.sys_flag for one in messages} == {ROLLED_BACK}
    assert messages[0].commit_log_offset == 1234
    for before, after in pairwise(messages):
        assert after.commit_log_offset == before.commit_log_offset + before.store_size
    assert all(one.store_size <= MAX_FILLER for one in messages)


def test_a_filler_needs_room_for_a_message() -> None:
    assert filler(0, MIN_FILLER - 1, 0) is None
    assert filler(0, 0, 0) is None


def test_a_blank_says_how_many_bytes_are_left() -> None:
    assert commit_log.blank_size(blank(70) + bytes(62), 0) == 70


def units(*numbers: int) -> bytes:
    return b"".join(
        consume_queue.encode_unit(consume_queue.QueueUnit(100 * number, 91, 7))
        for number in numbers
    )


def queue_writer(tmp_path: Path, file_size: int = 100) -> QueueWriter:
    return QueueWriter(DiskFiles(tmp_path), "queue", file_size=file_size)


def test_a_file_of_a_queue_has_the_time_of_its_last_message(tmp_path: Path) -> None:
    queue = queue_writer(tmp_path)

    for number in range(7):
        queue.put(number, units(number), 1_000_000_000_123 + number)
    queue.flush()
    queue.put(2, units(9), 1_000_000_000_999)
    queue.flush()

    times = [path.stat().st_mtime_ns for path in sorted((tmp_path / "queue").iterdir())]
    assert times == [1_000_000_000_999_000_000, 1_000_000_000_129_000_000]


def test_queues_have_the_folders_of_java() -> None:
    assert queue_folder("orders", 3) == "consumequeue/orders/3"
    assert queue_folder("%RETRY%g+t", 0, is_batch=True) == "batchconsumequeue/%RETRY%g+t/0"
    with pytest.raises(ValueError, match="no folder"):
        queue_folder("orders", -1)


def test_full_index_file_and_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    begin = 1_700_000_000_123
    index = IndexWriter(DiskFiles(tmp_path), index_file.Geometry(3, 4))

    for number in range(5):
        index.put(number, 100 * number, begin + 2000 * number)
    index.flush()

    monkeypatch.undo()
    time.tzset()
    first, second = sorted((tmp_path / "index").iterdir())
    assert first.name == "20231115061320123"
    assert second.name == "20231115061326123"
    assert index.full_timestamp == begin + 4000
    geometry = index_file.Geometry(3, 4)
    entries = [
        index_file.entry_at(index_file.reader_of(first.read_bytes()), geometry, number)
        for number in (1, 2, 3)
    ]
    assert [entry.seconds for entry in entries] == [0, 2, 4]
    assert [entry.previous for entry in entries] == [0, 0, 0]
    data = second.read_bytes()
    header = index_file.decode_index_header(data)
    assert header == (begin + 6000, begin + 8000, 300, 400, 2, 3)
    assert index_file.entry_at(index_file.reader_of(data), geometry, 1).seconds == 2
    assert [
        entry.physical_offset
        for entry in index_file.lookup(index_file.reader_of(data), geometry, 3)
    ] == [300]


def test_seconds_of_an_index_entry_are_bounded(tmp_path: Path) -> None:
    index = IndexWriter(DiskFiles(tmp_path), index_file.Geometry(3, 9))

    for timestamp in (9000, 3000, 9000 + (1 << 50)):
        index.put(1, 0, timestamp)
    index.flush()

    data = next((tmp_path / "index").iterdir()).read_bytes()
    geometry = index_file.Geometry(3, 9)
    seconds = [
        index_file.entry_at(index_file.reader_of(data), geometry, number).seconds
        for number in (1, 2, 3)
    ]
    assert seconds == [0, 0, (1 << 31) - 1]


def test_an_index_without_entries_has_no_file(tmp_path: Path) -> None:
    IndexWriter(DiskFiles(tmp_path)).flush()

    assert list(tmp_path.iterdir()) == []


def test_a_table_of_topics_has_their_queues() -> None:
    table = orjson.loads(topic_table({"a": 3, "b": 1}, ["b"]))["topicConfigTable"]

    assert table["a"]["readQueueNums"] == table["a"]["writeQueueNums"] == 3
    assert table["a"]["attributes"] == {}
    assert table["b"]["attributes"] == {"queue.type": "BatchCQ"}
