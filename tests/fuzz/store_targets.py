"""Fuzz targets of a broker's files: bytes in, records or a ``DecodeError`` out."""

import contextlib
import tarfile
import tempfile
from functools import cache
from itertools import islice
from pathlib import Path

from rocketwire.errors import DecodeError
from rocketwire.store import commit_log, consume_queue, index_file, pops, timers
from rocketwire.store.checkpoint import decode_checkpoint, encode_checkpoint
from rocketwire.store.config_files import consumer_offsets, decode_config, delay_offsets
from rocketwire.store.folder import read_folder
from rocketwire.store.rocksdb import records as rocksdb_records
from rocketwire.store.timers import decode_timer_check
from rocketwire_tools.store.checks.log_check import compare_with_log
from rocketwire_tools.store.checks.view import StoreView
from rocketwire_tools.store.engine.rows import COLUMNS, Rows, TopicNames
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.sources.databases import Database
from tests.fuzz.seeds import NINES
from tests.peers.peers import CURRENT
from tests.support.stores.fixtures import PACKED, archive_of, unpack

SIZE = 4096
"""Bytes of a file that become a seed; of files of zeros and text all are taken."""


@cache
def _files() -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for release, kind in PACKED:
        with tarfile.open(archive_of(release, kind)) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is not None and member.name.startswith("store/"):
                    files[f"{kind}-{release}/{member.name}"] = stream.read(SIZE).rstrip(b"\0")
    return files


def _seeds(*parts: str) -> list[bytes]:
    names = [name for name in _files() if any(part in name for part in parts)]
    return sorted({_files()[name] for name in names} - {b""})


def read_commit_log(data: bytes) -> None:
    # Any bytes are a file of a commit log: each message is at its own offset, and the readers of ``check`` and ``messages`` agree.
    positions, end = commit_log.walk(data, 0, len(data))
    for position in (*positions, end):
        commit_log.message_parts(data, position)
        commit_log.blank_size(data, position)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{0:020}"
        file.write_bytes(data)
        _read_log(OpenedStore([file]), len(data))


def _read_log(store: OpenedStore, size_of_log: int) -> None:
    for scan in store.scans():
        topics, last = TopicNames(), 0
        for block in scan:
            rows = Rows(block, topics)
            for name in COLUMNS:
                assert len(rows.column(name)) == len(rows)
            for place, size in zip(
                rows.column("commit_log_offset").tolist(),
                rows.column("store_size").tolist(),
                strict=True,
            ):
                assert last <= place < place + size <= size_of_log
                last = place + size
            rows.unfold()
        # an empty file is a region without bytes
        assert all(region.start < region.end for region in scan.regions) or not size_of_log
    assert all(finding.text for finding in compare_with_log(StoreView(store)))


def seed_commit_log() -> list[bytes]:
    return _seeds("/commitlog/")


def read_index_file(data: bytes) -> None:
    header = index_file.decode_index_header(data)
    assert data.startswith(index_file.encode_index_header(header))
    for geometry in islice(index_file.geometries(len(data)), 50):
        if not index_file.fits(data, geometry):
            continue
        reader = index_file.reader_of(data)
        for number in range(min(geometry.slots, 200)):
            entries = list(index_file.lookup(reader, geometry, number))
            assert len(entries) <= geometry.entries
            assert all(entry.key_hash == number for entry in entries)


def seed_index_file() -> list[bytes]:
    return _seeds("/index/")


def read_queue_units(data: bytes) -> None:
    # Any bytes are units of a queue, of a batch queue and an extension; and what was read comes back.
    units = list(consume_queue.decode_units(data))
    assert data.startswith(b"".join(map(consume_queue.encode_unit, units)))
    for unit in units:
        assert not (unit.is_pre_blank and unit.points_to_message)
        offset = consume_queue.extension_offset(unit.tags_code)
        if offset is not None:
            consume_queue.decode_extension(data, offset)
    batches = list(consume_queue.decode_batch_units(data))
    assert data.startswith(b"".join(map(consume_queue.encode_batch_unit, batches)))
    for position in range(0, len(data), consume_queue.UNIT_SIZE):
        extension = consume_queue.decode_extension(data, position)
        assert extension is None or len(extension.bit_map) <= len(data)


def seed_queue_units() -> list[bytes]:
    return _seeds("/consumequeue/", "/batchconsumequeue/", "/consumequeue_ext/", "/compactionCq/")


ROCKSDB_RECORDS_KINDS = ("rocksdb", "rocksv2", "popkv")
LONGEST = 65_536


def pairs(data: bytes) -> list[tuple[bytes, bytes]]:
    parts: list[bytes] = []
    while data:
        size = int.from_bytes(data[:2], "big")
        parts.append(data[2 : 2 + size])
        data = data[2 + size :]
    return list(zip(parts[::2], parts[1::2], strict=False))


def join(items: list[tuple[bytes, bytes]]) -> bytes:
    parts = [part for item in items for part in item if len(part) < LONGEST]
    return b"".join(len(part).to_bytes(2, "big") + part for part in parts)


def read_rocksdb_records(data: bytes) -> None:
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


def seed_rocksdb_records() -> list[bytes]:
    seeds = [
        join([(b"k", b'{"t":"T","c":"G","q":0,"pt":1,"so":5,"n":3,"bm":2,"it":9,"d":[0,2,4]}')]),
        join([(b"k", b'{"t":"T","c":"G","q":0,"pt":1,"so":5,"ao":6,"aol":[5,6,7]}')]),
        join([(b"k", b'{"t":"T","c":"G","so":9223372036854775807,"d":[0,9223372036854775807]}')]),
        join([(b"k", b'{"t":"T","c":"G","ao":1,"aol":[1e3,9223372036854775808,true]}')]),
        join([(bytes(8) + b"@T@K@key@UNIQ@" + bytes(8), bytes(8))]),
        join([(bytes(8) + b"UNIQ", bytes(12))]),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name_of_store in ROCKSDB_RECORDS_KINDS:
            root = unpack(CURRENT, name_of_store, Path(folder) / name_of_store).root
            for name, files in sorted(read_folder([root]).rocksdb.items()):
                database = Database(files, name)
                seeds += [
                    join(list(islice(database.items(family=family), 4)))
                    for family in database.families
                ]
    return sorted({*seeds} - {b""})


def read_store_config(data: bytes) -> None:
    config = decode_config(data)
    for table in ("offsetTable", "pullOffsetTable"):
        for queues in consumer_offsets(config, table).values():
            assert all(isinstance(number, int) for pair in queues.items() for number in pair)
    assert all(isinstance(number, int) for pair in delay_offsets(config).items() for number in pair)


def seed_store_config() -> list[bytes]:
    unusual = [
        b'{"offsetTable":{"a@b":{"--1":1,"-":2,"\xd9\xa3":3,"%b":4,0:true}}}' % NINES,
        b'{"offsetTable":{"%b":1,"\xc2\xb2":2,1:1e3,2:null}}' % NINES,
        b'{"offsetTable":[1],"pullOffsetTable":{"a@b@c":{},"@":{},"a@b":7}}',
    ]
    return [*_seeds("/config/"), *unusual]


def read_store_words(data: bytes) -> None:
    with contextlib.suppress(DecodeError):
        decode_timer_check(data)
    checkpoint = decode_checkpoint(data)
    assert checkpoint.min_timestamp >= 0
    assert encode_checkpoint(checkpoint).startswith(data[:48])


def seed_store_words() -> list[bytes]:
    return [seed.ljust(64, b"\0") for seed in _seeds("/checkpoint", "/timercheck")]


def read_timers(data: bytes) -> None:
    for position in range(0, len(data), 4):
        record = timers.decode_timer_record(data, position)
        assert record is None or record.size == timers.RECORD_SIZE
        blank = timers.timer_blank_size(data, position)
        assert blank is None or blank >= timers.BLANK_SIZE
    for first in (0, 1_000):
        for slot in timers.decode_timer_slots(data, first=first, slots=timers.SLOTS):
            assert first <= slot.time % timers.SLOTS < first + len(data) // timers.SLOT_SIZE


def seed_timers() -> list[bytes]:
    slot = (timers.SLOTS * 1_400).to_bytes(8, "big") + bytes(24)
    return [*_seeds("/timerlog/"), slot * 3]
