"""Any bytes are keys and values of a broker's RocksDB, and bodies of the revive log."""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path

from rocketwire.store import pops
from rocketwire.store.folder import read_folder
from rocketwire.store.rocksdb import records as rocksdb_records
from rocketwire_tools.store.sources.databases import Database
from tests.support.java.peers import CURRENT
from tests.support.stores.fixtures import unpack

KINDS = ("rocksdb", "rocksv2", "popkv")
LONGEST = 65_536


def pairs(data: bytes) -> list[tuple[bytes, bytes]]:
    """Keys and values; a length of two bytes stands before each."""
    parts: list[bytes] = []
    while data:
        size = int.from_bytes(data[:2], "big")
        parts.append(data[2 : 2 + size])
        data = data[2 + size :]
    return list(zip(parts[::2], parts[1::2], strict=False))


def joined(items: list[tuple[bytes, bytes]]) -> bytes:
    """What ``pairs`` takes apart."""
    parts = [part for item in items for part in item if len(part) < LONGEST]
    return b"".join(len(part).to_bytes(2, "big") + part for part in parts)


def read(data: bytes) -> None:
    """As records of each table."""
    items = pairs(data)
    for key, value in items:
        place = rocksdb_records.decode_queue_key(key)
        if place is not None and "\ufffd" not in place[0]:
            assert rocksdb_records.queue_key(*place) == key
        rocksdb_records.decode_rocks_unit(value)
        hour = rocksdb_records.index_hour(key)
        if hour is not None:
            assert rocksdb_records.next_hour(hour) > hour
            rocksdb_records.index_start(rocksdb_records.next_hour(hour))
            assert -(1 << 63) <= rocksdb_records.index_offset(key) < 1 << 63
        point, acks = pops.decode_check_point(value), pops.decode_acks(value)
        for pop in (point, acks):
            assert pop is None or len(pop.offsets) <= pops.MAX_MESSAGES
            assert pop is None or all(-(1 << 63) <= offset < 1 << 63 for offset in pop.offsets)
    rocksdb_records.decode_tables(items)
    for queues in rocksdb_records.decode_offsets(items).values():
        assert isinstance(queues, dict)
    for table in rocksdb_records.decode_v2(items)["consumerOffset.json"].values():
        for queues in table.values():
            assert all(-(1 << 63) <= offset < 1 << 63 for offset in queues.values())
    for time, record in rocksdb_records.decode_pops(items):
        assert isinstance(time, int)
        assert isinstance(record, dict)


def start() -> list[bytes]:
    """The first records of each family of real RocksDBs."""
    seeds = [
        joined([(b"k", b'{"t":"T","c":"G","q":0,"pt":1,"so":5,"n":3,"bm":2,"it":9,"d":[0,2,4]}')]),
        joined([(b"k", b'{"t":"T","c":"G","q":0,"pt":1,"so":5,"ao":6,"aol":[5,6,7]}')]),
        joined([(b"k", b'{"t":"T","c":"G","so":9223372036854775807,"d":[0,9223372036854775807]}')]),
        joined([(b"k", b'{"t":"T","c":"G","ao":1,"aol":[1e3,9223372036854775808,true]}')]),
        joined([(bytes(8) + b"@T@K@key@UNIQ@" + bytes(8), bytes(8))]),
        joined([(bytes(8) + b"UNIQ", bytes(12))]),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            root = unpack(CURRENT, kind, Path(folder) / kind).root
            for name, files in sorted(read_folder([root]).rocksdb.items()):
                database = Database(files, name)
                seeds += [
                    joined(list(islice(database.items(family=family), 4)))
                    for family in database.families
                ]
    return sorted({*seeds} - {b""})
