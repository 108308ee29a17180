"""Queues in RocksDB, with the units of queues in files."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire.store.consume_queue import QueueUnit
from rocketwire.store.folder import StoreFile
from rocketwire.store.rocksdb import records as rocksdb_records
from rocketwire_tools.store.engine.queues import UNIT
from rocketwire_tools.store.sources.databases import DEFAULT_FAMILY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from rocketwire_tools.store.sources.databases import Database

    Units = npt.NDArray[np.void]
    from collections.abc import Mapping


class _Table(NamedTuple):
    file: str  # the JSON file that has the same content
    member: str  # of that file
    folder: str  # a RocksDB of this table alone
    family: str  # in ``config/metadata``; the data version is in ``VERSION``


_TABLES: Final = (
    _Table("topics.json", "topicConfigTable", "config/topics", "topic"),
    _Table(
        "subscriptionGroup.json",
        "subscriptionGroupTable",
        "config/subscriptionGroups",
        "subscriptionGroup",
    ),
    _Table("consumerOffset.json", "offsetTable", "config/consumerOffsets", "consumerOffset"),
)
_SINGLE: Final = "config/metadata"
_V2: Final = "config/rdb"


def read_tables(databases: Mapping[str, Database]) -> dict[str, tuple[dict[str, Any], str]]:
    tables: dict[str, tuple[dict[str, Any], str]] = {}
    for table in _TABLES:
        candidates = (
            (table.folder, DEFAULT_FAMILY, "kvDataVersion"),
            (_SINGLE, table.family, f"{table.family}Version"),
        )
        for name, family, versions in candidates:
            database = databases.get(name)
            content = None if database is None else _content(database, table, family, versions)
            if content is not None:
                tables[table.file] = content, name
    if _V2 in databases:
        content_of_files = rocksdb_records.decode_v2(databases[_V2].items())
        tables |= {
            file: (content, _V2)
            for file, content in content_of_files.items()
            if any(content.values())
        }
    return tables


def _content(
    database: Database, table: _Table, family: str, versions: str
) -> dict[str, Any] | None:
    items = database.items(family=family)
    is_offsets = table.member == "offsetTable"
    decode = rocksdb_records.decode_offsets if is_offsets else rocksdb_records.decode_tables
    members = decode(items)
    if not members:
        return None
    version = rocksdb_records.decode_tables(database.items(family=versions))
    data_version = version.get(rocksdb_records.VERSION_KEY.decode())
    return {table.member: members, **({"dataVersion": data_version} if data_version else {})}


_LAST: Final = (1 << 63) - 1  # the last queue offset that a key can hold
_CHUNK: Final = 50_000  # units that are read at once


class RocksQueues:
    def __init__(self, database: Database) -> None:
        self.name = database.name  # of that folder, below the root of the store
        self._database = database

    @cached_property
    def ends(self) -> dict[tuple[str, int], tuple[int, int]]:
        ends: dict[tuple[str, int], tuple[int, int]] = {}
        start = b""
        while True:
            key = next(self._database.items(start), (b"", b""))[0]
            decoded = rocksdb_records.decode_queue_key(key)
            if not key:
                return ends
            if decoded is None:
                start = key + b"\0"
                continue
            topic, queue_id, first = decoded
            next_queue = rocksdb_records.key_after_queue(topic, queue_id)
            last = rocksdb_records.decode_queue_key(self._database.key_before(next_queue) or b"")
            start = max(next_queue, key + b"\0")  # a name that is no text is encoded otherwise
            if last is not None and last[:2] == (topic, queue_id):
                ends[topic, queue_id] = first, last[2] + 1

    def unit(self, topic: str, queue_id: int, offset: int) -> QueueUnit | None:
        if offset > _LAST:
            return None
        value = self._database.get(rocksdb_records.queue_key(topic, queue_id, offset))
        unit = None if value is None else rocksdb_records.decode_rocks_unit(value)
        return None if unit is None else QueueUnit(*unit[:3])

    def queue(self, topic: str, queue_id: int) -> RocksQueue:
        return RocksQueue(self._database, topic, queue_id)


class RocksQueue:
    files: Sequence[StoreFile] = ()
    unit = UNIT

    def __init__(self, database: Database, topic: str, queue_id: int) -> None:
        self._database, name = database, database.name
        self._source = StoreFile(root=Path(), offset=0, size=0, name=name)
        self._queue = topic, queue_id

    def read(self, first: int, count: int) -> Units:
        units = np.zeros(count, UNIT)
        for numbers, part in self.parts(first, first + count):
            units[numbers - first] = part
        return units

    def runs(self) -> Iterator[tuple[StoreFile, int, Units]]:
        for numbers, units in self.parts(0, 1 << 62):
            ends = np.flatnonzero(np.diff(numbers) != 1) + 1
            for part in np.split(np.arange(len(numbers)), ends):
                yield self._source, int(numbers[part[0]]), units[part]

    def parts(self, first: int, stop: int) -> Iterator[tuple[Any, Units]]:
        numbers: list[int] = []
        values: list[bytes] = []
        if first > _LAST:
            return
        for key, value in self._database.items(rocksdb_records.queue_key(*self._queue, first)):
            decoded = rocksdb_records.decode_queue_key(key)
            if decoded is None or decoded[:2] != self._queue or decoded[2] >= stop:
                break
            if len(value) == rocksdb_records.UNIT_SIZE:
                numbers.append(decoded[2])
                values.append(value[: UNIT.itemsize])
            if len(numbers) >= _CHUNK:
                yield np.array(numbers, np.int64), np.frombuffer(b"".join(values), UNIT)
                numbers, values = [], []
        if numbers:
            yield np.array(numbers, np.int64), np.frombuffer(b"".join(values), UNIT)
