"""Unfinished work in the log of a store: delays, transactions, pops.

A broker can have millions of them, so that they lie in a temporary file.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from contextlib import contextmanager
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rocketwire.messages import message_const
from rocketwire.policy.resource_names import HALF_TOPICS, OP_TOPICS, SCHEDULE_TOPIC, TIMER_TOPIC
from rocketwire.store import pops
from rocketwire_tools.store.engine.rows import COMMITTED, TRANSACTION
from rocketwire_tools.values import number_in

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from rocketwire_tools.store.engine.rows import Rows


_CACHE: Final = 6 << 10  # KiB of a file that stay in memory, and KiB that are sorted there at once


class TemporaryDatabase:
    """Tables in a temporary file without a name; a full disk is an ``OSError``.

    SQLite keeps their beginning in memory.  ``TMPDIR`` or ``SQLITE_TMPDIR`` chooses the disk.
    """

    def __init__(self, tables: str) -> None:
        with _room():
            self._database = sqlite3.connect("", isolation_level=None)
            self._database.executescript(
                f"PRAGMA journal_mode=OFF; PRAGMA cache_size=-{_CACHE}; BEGIN; {tables}"
            )

    def insert(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with _room():
            self._database.executemany(statement, rows)

    def select(self, statement: str) -> Iterator[tuple[Any, ...]]:
        with _room():
            yield from self._database.execute(statement)


@contextmanager
def _room() -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(f"the report needs room for temporary files: {error}") from error


_LINES_AT_ONCE: Final = 1_000
_MAX_LONG: Final = (1 << 63) - 1

_TABLES: Final = """
CREATE TABLE delayed (message BLOB);
CREATE TABLE halves (
    queue_offset INTEGER PRIMARY KEY, physical_offset INTEGER, unique_key BLOB, message BLOB
);
CREATE TABLE operated (queue_offset INTEGER PRIMARY KEY);
CREATE TABLE committed (physical_offset INTEGER PRIMARY KEY);
CREATE TABLE check_points (pop BLOB, rank INTEGER, record BLOB);
CREATE TABLE acks (pop BLOB, queue_offset INTEGER);
"""

_INSERTS: Final = {
    "delayed": "INSERT INTO delayed VALUES (?)",
    "halves": "INSERT OR REPLACE INTO halves VALUES (?, ?, ?, ?)",
    "operated": "INSERT OR IGNORE INTO operated VALUES (?)",
    "committed": "INSERT OR IGNORE INTO committed VALUES (?)",
    "check_points": "INSERT INTO check_points VALUES (?, ?, ?)",
    "acks": "INSERT INTO acks VALUES (?, ?)",
}

# Of the copies that checks of a transaction make, the last one counts.
_OPEN: Final = """
SELECT message FROM (
    SELECT max(queue_offset) AS number, physical_offset, message FROM halves
    GROUP BY coalesce(unique_key, queue_offset)
)
WHERE number NOT IN operated AND physical_offset NOT IN committed
ORDER BY number
"""

_CHECK_POINTS: Final = """
SELECT pop, max(rank), record FROM check_points GROUP BY pop ORDER BY pop
"""


class UnfinishedWork:
    def __init__(self) -> None:
        # topic and queue → offset after the last message
        self.max_offsets: dict[tuple[str, int], int] = defaultdict(int)
        self.is_damaged = False  # whether messages may be missing
        self._database = TemporaryDatabase(_TABLES)
        self._added: dict[str, list[tuple[Any, ...]]] = defaultdict(list)  # rows of each table
        self._check_points = 0

    def add(self, rows: Rows) -> None:
        names = rows.column("topic")
        queues, offsets = rows.column("queue_id").tolist(), rows.column("queue_offset").tolist()
        flags = rows.column("sys_flag").tolist()
        for row, (topic, queue_id, offset) in enumerate(zip(names, queues, offsets, strict=True)):
            queue_key = (topic, queue_id)
            if self.max_offsets[queue_key] <= offset:
                self.max_offsets[queue_key] = offset + 1
            if topic == SCHEDULE_TOPIC:
                self._added["delayed"].append((_pack(_message(rows, row)),))
            elif topic in HALF_TOPICS:
                self._add_half(_message(rows, row))
            elif topic in OP_TOPICS:
                texts = (rows.bodies[row] or b"").decode("ascii", "replace").split(",")
                numbers = (number for text in texts if (number := number_in(text)) is not None)
                self._added["operated"].extend((number,) for number in numbers)
            elif topic == TIMER_TOPIC or topic.startswith(pops.REVIVE_LOG):
                self._add_pop(rows, row, queue_key, offset)
            if flags[row] & TRANSACTION == COMMITTED:
                prepared = int(rows.column("prepared_transaction_offset")[row])
                self._added["committed"].append((prepared,))
        self._write()

    def _add_half(self, message: Mapping[str, Any]) -> None:
        key = _pack(message["msg_id"]) if message["msg_id"] else None
        numbers = message["queue_offset"], message["commit_log_offset"]
        self._added["halves"].append((*numbers, key, _pack(message)))

    def _add_pop(self, rows: Rows, row: int, queue_key: tuple[str, int], offset: int) -> None:
        properties, body = rows.properties[row], rows.bodies[row] or b""
        is_timed = queue_key[0] == TIMER_TOPIC
        real_topic = properties.get(message_const.REAL_TOPIC, "")
        if is_timed and not real_topic.startswith(pops.REVIVE_LOG):
            return
        tag = properties.get(message_const.TAGS)
        if tag == pops.CHECK_POINT_TAG and (record := pops.decode_check_point(body)) is not None:
            self._check_points += 1
            # the last one of the revive log counts; without one, the first timed one
            rank = -self._check_points if is_timed else self._check_points
            text = _pack([record, *queue_key, offset])
            self._added["check_points"].append((_digest(record.pop), rank, text))
        elif tag in pops.ACK_TAGS and (acks := pops.decode_acks(body)) is not None:
            digest = _digest(acks.pop)
            self._added["acks"].extend((digest, each) for each in acks.offsets)

    def _write(self) -> None:
        for name, rows in self._added.items():
            self._database.insert(_INSERTS[name], rows)
        self._added.clear()

    def find_delayed(self) -> Iterator[dict[str, Any]]:
        for (text,) in self._database.select("SELECT message FROM delayed ORDER BY rowid"):
            yield _unpack(text)

    def find_transactions(self) -> Iterator[dict[str, Any]]:
        """Half messages without a decision, by queue offset.

        An op message names the queue offset of its half message, a committed one the physical one.
        """
        for (text,) in self._database.select(_OPEN):
            yield _unpack(text)

    def find_popped(
        self, revived: Mapping[tuple[str, int], int]
    ) -> Iterator[tuple[pops.CheckPoint, int, int]]:
        """Pop, queue offset and number in the log of popped messages without acknowledgement.

        ``revived`` has the first record of each queue of the revive log that is not yet worked off.
        """
        acks = groupby(self._database.select("SELECT * FROM acks ORDER BY pop"), itemgetter(0))
        acknowledged, offsets = b"", frozenset[int]()
        for pop, rank, text in self._database.select(_CHECK_POINTS):
            while acknowledged < pop:
                acknowledged, group = next(acks, (b"\xff" * 17, iter(())))
                offsets = frozenset(offset for _, offset in group)
            (key, invisible_time, popped), topic, queue, offset = _unpack(text)
            if rank > 0 and offset < revived.get((topic, queue), 0):
                continue  # the broker has put these messages into the retry topic
            record = pops.CheckPoint(pops.Pop(*key), invisible_time, popped)
            for each in popped:
                if acknowledged != pop or each not in offsets:
                    yield record, each, abs(rank)


def _message(rows: Rows, row: int) -> dict[str, Any]:
    properties = rows.properties[row]
    return {
        "topic": properties.get(message_const.REAL_TOPIC),
        "queue_id": properties.get(message_const.REAL_QUEUE_ID),
        "level": int(rows.column("queue_id")[row]) + 1,
        "queue_offset": int(rows.column("queue_offset")[row]),
        "commit_log_offset": int(rows.column("commit_log_offset")[row]),
        "store_timestamp": int(rows.column("store_timestamp")[row]),
        "msg_id": properties.get(message_const.UNIQ_KEY),
        "producer_group": properties.get(message_const.PRODUCER_GROUP),
        "checks": number_in(properties.get(message_const.TRANSACTION_CHECK_TIMES)) or 0,
    }


def _pack(value: Any) -> bytes:
    try:
        return msgspec.msgpack.encode(value)
    except (UnicodeEncodeError, OverflowError):  # half a character, a number of a hostile store
        return json.dumps(value).encode()


def _unpack(data: bytes) -> Any:
    """A list or an object; in JSON these begin with bytes that are numbers in MessagePack."""
    return json.loads(data) if data[:1] in (b"{", b"[") else msgspec.msgpack.decode(data)


def _digest(pop: pops.Pop) -> bytes:
    return blake2b(_pack(pop), digest_size=16).digest()


class KeptLines:
    def __init__(self, lines: Iterable[dict[str, Any]] = ()) -> None:
        self._database = TemporaryDatabase(
            "CREATE TABLE lines (time INTEGER, number INTEGER, line BLOB)"
        )
        self._added: list[tuple[int, int, bytes]] = []
        self._count = 0
        for line in lines:
            self.add(line)

    def add(self, line: dict[str, Any], time: int = 0, number: int = 0) -> None:
        time = max(-_MAX_LONG, min(time, _MAX_LONG))
        self._added.append((time, number, _pack(line)))
        self._count += 1
        if len(self._added) >= _LINES_AT_ONCE:
            self._write()

    def _write(self) -> None:
        self._database.insert("INSERT INTO lines VALUES (?, ?, ?)", self._added)
        self._added.clear()

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self._write()
        statement = "SELECT line FROM lines ORDER BY time, number, rowid"
        for (text,) in self._database.select(statement):
            yield _unpack(text)
