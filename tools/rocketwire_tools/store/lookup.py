"""Finding single messages: by physical offset, by queue offset, by id and by key.

Queues and index files lead to a physical offset; the message there counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.errors import DecodeError
from rocketwire.messages import message_const
from rocketwire.policy.resource_names import LMQ_PREFIX
from rocketwire.store import commit_log, consume_queue, index_file, timers
from rocketwire.store.folder import file_at
from rocketwire.store.rocksdb import records as rocksdb_records
from rocketwire.wire.message.ids import decode_offset_message_id
from rocketwire.wire.message.properties import decode_properties
from rocketwire_tools.store.engine.blocks import FileBlocks, open_blocks, read_bytes
from rocketwire_tools.store.engine.columns import Messages
from rocketwire_tools.store.engine.filters import Selection
from rocketwire_tools.store.engine.rows import Rows, TopicNames, text_of
from rocketwire_tools.store.engine.scan import Block, State
from rocketwire_tools.store.output import with_progress
from rocketwire_tools.store.selecting import select_rows
from rocketwire_tools.values import number_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rocketwire.store.folder import StoreFile, StoreFolder
    from rocketwire_tools.store.opened import OpenedStore
    from rocketwire_tools.store.sources.databases import Database

_HEAD: Final = 36  # bytes of a message up to its physical offset
_DISPATCH: Final = message_const.INNER_MULTI_DISPATCH.encode() + b"\x01"
_WHEEL_CHUNK: Final = 1 << 20
_INDEX_BLOCK: Final = 64  # bytes; a lookup reads single slots and entries
_END: Final = 1 << 63  # an offset that no log reaches
INDEX_DATABASE: Final = "rocksdbstore"

MAX_RESULTS: Final = 1000  # messages that one lookup returns at most


@dataclass(frozen=True, slots=True)
class StoredBytes:
    file: StoreFile  # in which it stands
    position: int  # of its first byte there
    physical_offset: int  # in the stream
    data: bytes  # its bytes
    state: State  # ``saved`` and ``ghost`` only come from a scan
    source: str  # what led to it
    batch_index: int | None = None  # number of the message that was asked for, in an inner batch

    def rows(self) -> Rows:
        view = memoryview(bytearray(self.data))
        messages = Messages(np.frombuffer(view, np.uint8), np.zeros(1, np.int64))
        block = Block(self.file, self.physical_offset, messages, view, self.state)
        return Rows(block, TopicNames())


def at_physical_offset(store: OpenedStore, offset: int, source: str) -> StoredBytes | None:
    file = file_at(store.folder.commit_log, offset)
    if file is None:
        return None
    position = offset - file.offset
    try:
        with open_blocks(file, block_size=_HEAD) as blocks:
            head = bytes(blocks.read(position))
            size = int.from_bytes(head[:4], "big", signed=True)
            if int.from_bytes(head[28:], "big", signed=True) != offset:
                return None  # before bytes that are no message are read by the size they claim
            if not commit_log.SMALLEST_MESSAGE <= size <= commit_log.MAX_MESSAGE_SIZE:
                return None
            data = bytes(blocks.read(position, size))
    except FileNotFoundError:  # a broker has deleted it meanwhile
        return None
    parts = commit_log.message_parts(data, 0)
    if parts is None or parts.physical_offset != offset:
        return None
    return StoredBytes(file, position, offset, data, State.LIVE, source)


def at_queue_offset(
    store: OpenedStore, topic: str, queue_id: int, offset: int
) -> Iterator[StoredBytes]:
    """Messages at a queue offset: by the queue's own files, else by a scan of the log.

    A cut log that was continued can have several; the last one counts for consumers.
    """
    unit = queue_unit(store, topic, queue_id, offset)
    if unit is not None:
        message = at_physical_offset(store, unit.physical_offset, "consume queue")
        if message is not None and _stands_at(message, topic, queue_id, offset):
            yield message
            return
    if topic.startswith(LMQ_PREFIX):
        dispatch = (topic, offset)
        selection = Selection(
            with_system=True, matches=lambda properties: dispatch in read_dispatches(properties)
        )
    else:
        selection = Selection(
            topics=frozenset({topic}), queue_id=queue_id, offsets=(offset, offset)
        )
    yield from _search_log(store, selection)


def read_dispatches(properties: Mapping[str, str]) -> list[tuple[str, int]]:
    """Other queues that hold a message too, and its offset in each (``MultiDispatchUtils``)."""
    names = properties.get(message_const.INNER_MULTI_DISPATCH, "").split(",")
    offsets = properties.get(message_const.INNER_MULTI_QUEUE_OFFSET, "").split(",")
    return [
        (name, number)
        for name, offset in zip(names, offsets, strict=False)
        if len(names) == len(offsets) and (number := number_in(offset)) is not None
    ]


def read_other_queues(rows: Rows) -> Iterator[tuple[int, tuple[str, int], int]]:
    if _DISPATCH not in rows.data:
        return
    queue_ids = rows.messages.numbers("queue_id")
    for row, data in enumerate(rows.property_bytes):
        if _DISPATCH in data:
            for topic, offset in read_dispatches(decode_properties(text_of(data))):
                queue_id = 0 if topic.startswith(LMQ_PREFIX) else int(queue_ids[row])
                yield row, (topic, queue_id), offset


def queue_unit(
    store: OpenedStore, topic: str, queue_id: int, offset: int
) -> consume_queue.QueueUnit | None:
    unit_position = offset * consume_queue.UNIT_SIZE
    file = file_at(store.folder.queues.get((topic, queue_id), ()), unit_position)
    if file is not None and unit_position + consume_queue.UNIT_SIZE <= file.end:
        data = read_bytes(file, unit_position - file.offset, consume_queue.UNIT_SIZE)
        unit = next(consume_queue.decode_units(data), None)
        return unit if unit is not None and unit.points_to_message else None
    queues = store.rocks_queues
    unit = None if queues is None else queues.unit(topic, queue_id, offset)
    return unit if unit is not None and unit.points_to_message else None


def _stands_at(message: StoredBytes, topic: str, queue_id: int, offset: int) -> bool:
    rows = message.rows()
    if (topic, offset) in read_dispatches(rows.properties[0]):
        return True
    return (
        rows.column("topic")[0] == topic
        and int(rows.column("queue_id")[0]) == queue_id
        and int(rows.column("queue_offset")[0]) == offset
    )


def by_message_id(store: OpenedStore, message_id: str) -> Iterator[StoredBytes]:
    try:
        offset = decode_offset_message_id(message_id).commit_log_offset
    except DecodeError:
        offset = -1
    if offset >= 0:
        message = at_physical_offset(store, offset, "offset message id")
        if message is not None and message.rows().column("offset_msg_id")[0] == message_id.upper():
            yield message
            return
    yield from by_key(store, message_id, None)


def by_key(store: OpenedStore, key: str, topic: str | None) -> Iterator[StoredBytes]:
    """Messages with a key or a unique key, of a topic or of all.

    Index files lead to most of them.  A search finds the others in the parts of the log that no
    index file covers, such as the last messages of a killed broker.
    """
    topics = [topic] if topic is not None else sorted({name for name, _ in store.queue_names})
    offsets = sorted(set(find_indexed_offsets(store, topics, key)))
    indexed: set[int] = set()
    for offset in offsets[:MAX_RESULTS]:
        message = at_physical_offset(store, offset, "index file")
        if message is not None and _has_key(message, key, topic):
            indexed.add(offset)
            yield message
    topics_ = frozenset({topic}) if topic is not None else frozenset[str]()
    selection = Selection(topics=topics_, key=key, with_system=True)
    parts = find_unindexed_parts(store) if indexed else [(0, _END)]
    searched = (
        message
        for start, stop in parts
        for message in _search_log(store, selection, start=start, stop=stop)
        if message.physical_offset not in indexed
    )
    yield from islice(searched, MAX_RESULTS - len(indexed))


def find_unindexed_parts(store: OpenedStore) -> Iterator[tuple[int, int]]:
    """Parts of the log whose messages are in no index file, each from the message before it on.

    The part of a file begins at its first entry.  Its head may differ: when a killed broker
    starts again and has deleted the last file, the next one gets the end of the file before that
    as its begin (Java: ``IndexService.getAndCreateLastIndexFile``).
    """
    if not store.folder.index:  # an index in RocksDB does not show which part it covers
        return
    end = 0
    for first, last in sorted(filter(None, map(_read_indexed_part, store.folder.index))):
        if at_physical_offset(store, last, "index file") is None:  # deleted, or the head is wrong
            continue
        if first > end:
            yield end, first
        end = max(end, last)
    yield end, _END


def _read_indexed_part(file: StoreFile) -> tuple[int, int] | None:
    with open_blocks(file, block_size=_INDEX_BLOCK) as blocks:
        geometry = index_geometry(blocks)
        if geometry is None:
            return None
        try:
            header = index_file.decode_index_header(blocks.read(0, index_file.HEADER_SIZE))
            first = index_file.entry_at(blocks.read, geometry, 1).physical_offset
        except DecodeError:
            return None
    last = header.end_physical_offset
    return (first, last) if header.entry_count > 1 and 0 <= first <= last else None


def find_indexed_offsets(store: OpenedStore, topics: Iterable[str], key: str) -> Iterator[int]:
    topics = list(topics)
    numbers = {index_file.key_hash(topic, key) for topic in topics}
    for file in reversed(store.folder.index):
        with open_blocks(file, block_size=_INDEX_BLOCK) as blocks:
            geometry = index_geometry(blocks)
            if geometry is None:
                continue
            for number in numbers:
                try:
                    for entry in index_file.lookup(blocks.read, geometry, number):
                        yield entry.physical_offset
                except DecodeError:  # a short file: the search of the log finds the rest
                    break
    database = store.database(INDEX_DATABASE)
    if database is not None:
        for topic in topics:
            yield from _offsets_in_rocksdb(database, topic, key)


def _offsets_in_rocksdb(database: Database, topic: str, key: str) -> Iterator[int]:
    prefixes = rocksdb_records.index_prefixes(topic, key)
    hour = 0
    while True:
        first = next(database.items(rocksdb_records.index_start(hour)), (b"", b""))[0]
        next_hour = rocksdb_records.index_hour(first)
        if next_hour is None:
            return
        for start in [rocksdb_records.index_start(next_hour, prefix) for prefix in prefixes]:
            for entry, _ in database.items(start):
                if not entry.startswith(start):
                    break
                yield rocksdb_records.index_offset(entry)
        hour = rocksdb_records.next_hour(next_hour)


def timer_record_at(folder: StoreFolder, offset: int) -> timers.TimerRecord | None:
    file = file_at(folder.timer_log, offset)
    if file is None:
        return None
    data = read_bytes(file, offset - file.offset, timers.RECORD_SIZE)
    return timers.decode_timer_record(data, 0)


def timer_slots(wheel: StoreFile) -> Iterator[timers.TimerSlot]:
    slots = wheel.size // timers.SLOT_SIZE
    with open_blocks(wheel, block_size=_WHEEL_CHUNK) as blocks:
        position = blocks.next_data(0)
        while position < wheel.size:
            first = position // timers.SLOT_SIZE
            view = blocks.read(first * timers.SLOT_SIZE)
            if not view:
                return
            yield from timers.decode_timer_slots(view, first=first, slots=slots)
            position = blocks.next_data(first * timers.SLOT_SIZE + len(view))


def index_geometry(blocks: FileBlocks) -> index_file.Geometry | None:
    file = blocks.file
    if file.size == index_file.DEFAULT_GEOMETRY.file_size:
        return index_file.DEFAULT_GEOMETRY
    if file.size > _MAX_INDEX_FILE:
        return next(index_file.geometries(file.size), None)
    data = bytes(blocks.read(0, file.size))
    if len(data) < index_file.HEADER_SIZE:
        return None
    for geometry in index_file.geometries(len(data)):
        if index_file.fits(data, geometry):
            return geometry
    return None


_MAX_INDEX_FILE: Final = 64 << 20
"""A larger file with other sizes than the defaults is taken to have four entries for each slot."""


def _has_key(message: StoredBytes, key: str, topic: str | None) -> bool:
    rows = message.rows()
    if topic is not None and rows.column("topic")[0] != topic:
        return False
    return any(key in keys for keys in rows.unfold().keys)


def _search_log(
    store: OpenedStore, selection: Selection, *, start: int = 0, stop: int = _END
) -> Iterator[StoredBytes]:
    count = 0
    for scan in store.scans(start=start, stop=stop):
        for rows in select_rows(with_progress(scan), selection, TopicNames()):
            positions = rows.messages.positions.tolist()
            sizes = rows.messages.sizes.tolist()
            indexes = rows.column("batch_index")
            for position, size, index in zip(positions, sizes, indexes, strict=True):
                count += 1
                if count > MAX_RESULTS:
                    return
                offset = rows.block.base + position
                yield StoredBytes(
                    rows.block.file,
                    offset - rows.block.file.offset,
                    offset,
                    bytes(rows.block.view[position : position + size]),
                    rows.block.state,
                    "scan of the log",
                    index,
                )
