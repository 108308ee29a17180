"""Unfinished work in a log differs from finished work, and takes little memory."""

import json
import tracemalloc
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketwire.wire.checksum import crc32
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.unfinished import KeptLines, TemporaryDatabase, UnfinishedWork
from rocketwire_tools.store.verbs.pending import read_log

REVIVE = "rmq_sys_REVIVE_LOG_DefaultCluster"
HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
OP = "RMQ_SYS_TRANS_OP_HALF_TOPIC"


def write(path: Path, messages: Iterable[StoredMessage]) -> OpenedStore:
    """Write a commit log; offsets count up from 0 for each queue."""
    data, ends = bytearray(), Counter[tuple[str, int]]()
    for message in messages:
        queue = message.topic, message.queue_id
        stored = replace(
            message,
            queue_offset=ends[queue],
            commit_log_offset=len(data),
            body_crc=crc32(message.body or b""),
        )
        data += encode_stored_message(stored)
        ends[queue] += 1
    (path / "commitlog").mkdir(parents=True)
    (path / "commitlog" / f"{0:020}").write_bytes(data.ljust(4 << 20, b"\0"))
    return OpenedStore([path])


def read(path: Path, messages: Iterable[StoredMessage]) -> UnfinishedWork:
    return read_log(write(path, messages))


def message(topic: str, body: bytes = b"", queue: int = 0, **properties: str) -> StoredMessage:
    return StoredMessage(
        topic=topic, body=body, queue_id=queue, properties=properties, store_timestamp=1_000
    )


def pop_record(tag: str, start: int = 0, *, timed: bool = False, **values: Any) -> StoredMessage:
    record = {"t": "tasks", "c": "workers", "q": 0, "pt": 5_000, "so": start, **values}
    topic = "rmq_sys_wheel_timer" if timed else REVIVE
    return message(topic, json.dumps(record).encode(), TAGS=tag, REAL_TOPIC=REVIVE)


def find_popped(
    work: UnfinishedWork, revived: dict[tuple[str, int], int] | None = None
) -> list[int]:
    return sorted(offset for _, offset, _ in work.find_popped(revived or {}))


def half(key: str) -> StoredMessage:
    return message(HALF, b"order", UNIQ_KEY=key, REAL_TOPIC="orders", PGROUP="shops")


def test_message_that_was_acknowledged_is_not_pending(tmp_path: Path) -> None:
    work = read(
        tmp_path,
        [
            pop_record("ack", ao=1),
            pop_record("ck", n=3, it=60_000),
            pop_record("bAck", 10, aol=[10, 12]),
            pop_record("ck", 10, n=4, it=60_000),
            pop_record("ack", 90, ao=91),
        ],
    )

    assert find_popped(work) == [0, 2, 11, 13]


def test_last_record_of_a_pop_counts_and_a_timed_one_without_others(tmp_path: Path) -> None:
    work = read(
        tmp_path,
        [
            pop_record("ck", n=1, it=1, timed=True),
            pop_record("ck", n=2, it=2),
            pop_record("ck", n=3, it=3),
            pop_record("ck", n=4, it=4, timed=True),
            pop_record("ck", 50, n=1, it=5, timed=True),
            pop_record("ck", 50, n=2, it=6, timed=True),
        ],
    )

    pops = [(pop.invisible_time, offset) for pop, offset, _ in work.find_popped({})]
    assert pops in ([(3, 0), (3, 1), (3, 2), (5, 50)], [(5, 50), (3, 0), (3, 1), (3, 2)])


def test_records_that_the_broker_has_worked_off_are_left_out(tmp_path: Path) -> None:
    work = read(tmp_path, [pop_record("ck", n=1, it=1), pop_record("ck", 50, n=1, it=1)])

    assert find_popped(work, {(REVIVE, 0): 1}) == [50]
    assert find_popped(work, {(REVIVE, 1): 1}) == [0, 50]


def test_of_a_transaction_only_the_last_copy_counts(tmp_path: Path) -> None:
    """A check writes the half message anew, and an op message for the copy before it."""
    halves = [half("A"), half("B"), half("A"), half("C"), half("")]
    work = read(
        tmp_path,
        [
            *(replace(half_message, store_timestamp=1) for half_message in halves),
            message(OP, b"0,3,x"),
        ],
    )

    assert [line["msg_id"] for line in work.find_transactions()] == ["B", "A", None]


def test_committed_message_ends_its_transaction(tmp_path: Path) -> None:
    first = half("A")
    committed = StoredMessage(
        topic="orders", body=b"order", sys_flag=8, prepared_transaction_offset=0, store_timestamp=1
    )
    work = read(tmp_path, [first, half("B"), committed])

    assert [line["msg_id"] for line in work.find_transactions()] == ["B"]


def test_delayed_messages_come_in_the_order_of_the_log(tmp_path: Path) -> None:
    delayed = [message("SCHEDULE_TOPIC_XXXX", queue=n % 3, UNIQ_KEY=str(n)) for n in range(5)]
    work = read(tmp_path, delayed)

    lines = list(work.find_delayed())

    assert [line["msg_id"] for line in lines] == ["0", "1", "2", "3", "4"]
    assert [line["level"] for line in lines] == [1, 2, 3, 1, 2]
    assert work.max_offsets["SCHEDULE_TOPIC_XXXX", 0] == 2


def test_messages_of_a_store_do_not_stay_in_memory(tmp_path: Path) -> None:
    """Each would take more than a kilobyte, and a broker can have millions."""
    read(tmp_path / "small", [half("A")])  # imports
    delayed = (message("SCHEDULE_TOPIC_XXXX", UNIQ_KEY=str(n)) for n in range(1_000))
    store = write(tmp_path / "store", delayed)

    tracemalloc.start()
    try:
        work = read_log(store)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < 400_000
    assert sum(1 for _ in work.find_delayed()) == 1_000


def test_kept_lines_come_by_time_and_can_be_read_again() -> None:
    lines = KeptLines([{"n": "first"}])
    lines.add({"n": "later"}, 1 << 70)
    lines.add({"n": "\ud800"}, 7, 2)
    lines.add({"n": "before it"}, 7, 1)

    assert [line["n"] for line in lines] == ["first", "before it", "\ud800", "later"]
    assert [line["n"] for line in lines] == ["first", "before it", "\ud800", "later"]
    assert len(lines) == 4


def test_full_disk_is_an_error_of_the_system() -> None:
    database = TemporaryDatabase("PRAGMA max_page_count=4; CREATE TABLE texts (text TEXT)")

    with pytest.raises(OSError, match="room for temporary files: database or disk is full"):
        database.insert("INSERT INTO texts VALUES (?)", [("x" * 100_000,)])
