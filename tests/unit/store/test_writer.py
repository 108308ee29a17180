"""Written stores are read again, and have the bytes of stores that real brokers wrote."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from rocketwire.flags import MessageSysFlag
from rocketwire.store import commit_log, index_file
from rocketwire.store.consume_queue import QueueUnit, encode_unit
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
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import StoredMessage
from tests.support.values import require

ROLLED_BACK = int(MessageSysFlag.TRANSACTION_ROLLBACK)


def read_messages(data: bytes) -> Iterator[StoredMessage]:
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
    pwrite = os.pwrite

    def write_a_part(file: int, data: bytes, position: int) -> int:
        return pwrite(file, bytes(data)[:3], position)

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
    data = require(filler(1234, size, 1_700_000_000_000))

    assert len(data) == size
    place = 1234
    for message in read_messages(data):
        assert (message.topic, message.sys_flag) == (FILLER_TOPIC, ROLLED_BACK)
        assert message.commit_log_offset == place
        assert message.store_size <= MAX_FILLER
        place += message.store_size
    assert place == 1234 + size


def test_a_filler_needs_room_for_a_message() -> None:
    assert filler(0, MIN_FILLER - 1, 0) is None
    assert filler(0, 0, 0) is None


def test_a_blank_holds_the_number_of_bytes_left() -> None:
    assert commit_log.blank_size(blank(70) + bytes(62), 0) == 70


def test_a_file_of_a_queue_has_the_time_of_its_last_message(tmp_path: Path) -> None:
    queue = QueueWriter(DiskFiles(tmp_path), "queue", file_size=100)
    unit = encode_unit(QueueUnit(100, 91, 7))

    for number in range(7):
        queue.put(number, unit, 1_000_000_000_123 + number)
    queue.flush()
    queue.put(2, unit, 1_000_000_000_999)
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
    geometry = index_file.Geometry(3, 4)
    index = IndexWriter(DiskFiles(tmp_path), geometry)

    for number in range(5):
        index.put(number, 100 * number, begin + 2000 * number)
    index.flush()

    monkeypatch.undo()
    time.tzset()
    first, second = sorted((tmp_path / "index").iterdir())
    assert first.name == "20231115061320123"
    assert second.name == "20231115061326123"
    assert index.full_timestamp == begin + 4000
    entries = read_entries(first, geometry)
    assert [(entry.seconds, entry.previous) for entry in entries] == [(0, 0), (2, 0), (4, 0)]
    data = second.read_bytes()
    header = index_file.decode_index_header(data)
    assert header == (begin + 6000, begin + 8000, 300, 400, 2, 3)
    assert read_entries(second, geometry)[0].seconds == 2
    hits = index_file.lookup(index_file.reader_of(data), geometry, 3)
    assert [entry.physical_offset for entry in hits] == [300]


def read_entries(path: Path, geometry: index_file.Geometry) -> list[index_file.IndexEntry]:
    reader = index_file.reader_of(path.read_bytes())
    return [index_file.entry_at(reader, geometry, number) for number in (1, 2, 3)]


def test_seconds_of_an_index_entry_are_bounded(tmp_path: Path) -> None:
    geometry = index_file.Geometry(3, 9)
    index = IndexWriter(DiskFiles(tmp_path), geometry)

    for timestamp in (9000, 3000, 9000 + (1 << 50)):
        index.put(1, 0, timestamp)
    index.flush()

    entries = read_entries(next((tmp_path / "index").iterdir()), geometry)
    assert [entry.seconds for entry in entries] == [0, 0, (1 << 31) - 1]


def test_an_index_without_entries_has_no_file(tmp_path: Path) -> None:
    IndexWriter(DiskFiles(tmp_path)).flush()

    assert list(tmp_path.iterdir()) == []


def test_a_table_of_topics_has_their_queues() -> None:
    table = orjson.loads(topic_table({"a": 3, "b": 1}, ["b"]))["topicConfigTable"]

    assert table["a"]["readQueueNums"] == table["a"]["writeQueueNums"] == 3
    assert table["a"]["attributes"] == {}
    assert table["b"]["attributes"] == {"queue.type": "BatchCQ"}
