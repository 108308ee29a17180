"""The indexes of keys of two stores, compared entry by entry.

An entry of an index file is the hash of a topic and key, and the physical offset of a message.  Two
brokers begin new files at different times, and a broker that was killed writes entries twice.  So
entries are compared as a set, over all files.  Times of entries are not compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.errors import DecodeError
from rocketwire.store import index_file, layouts
from rocketwire.store.rocksdb import records
from rocketwire_tools.store.comparing.differences import Place, StoreDifference
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.engine.columns import record_type
from rocketwire_tools.store.lookup import INDEX_DATABASE, index_geometry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.comparing.logs import Log
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.opened import OpenedStore
    from rocketwire_tools.store.sources.databases import Database

PART: Final = "index"
_ENTRY: Final = record_type(layouts.INDEX_ENTRY)
CHUNK: Final = 1 << 16
"""Entries that are read at once."""

_CHUNKS_AT_ONCE: Final = 8
MAX_READS: Final = 100
"""How often a chunk may be read on average: entries of damaged files can lead anywhere."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Entries that stand together.

    Attributes:
        file: the index file.
        position: of the first entry.
        count: entries.
        lowest: physical offset of their messages.
        highest: likewise.
    """

    file: StoreFile
    position: int
    count: int
    lowest: int
    highest: int


class IndexComparison:
    """The indexes of two stores; iterate over it once.

    Args:
        a, b: the stores.
        logs: their logs.  Entries of messages that only one log has are left out.

    Attributes:
        uncompared: what cannot be compared, and why, as sentences; complete after the iteration.
    """

    def __init__(self, a: OpenedStore, b: OpenedStore, logs: Sequence[tuple[Log, Log]]) -> None:
        self.uncompared: list[str] = []
        self._stores = a, b
        self._logs = [log_a for log_a, _ in logs], [log_b for _, log_b in logs]

    def __iter__(self) -> Iterator[StoreDifference]:
        a, b = self._stores
        if a.folder.index and b.folder.index:
            yield from self._differences_of_files()
            return
        in_rocks = [_entries_in_rocksdb(store) for store in (a, b)]
        if all(in_rocks):
            yield from self._differences_in_rocksdb()
            return
        forms = [_form(store, is_in) for store, is_in in zip((a, b), in_rocks, strict=True)]
        if forms != ["", ""]:
            texts = [form or "none" for form in forms]
            self.uncompared.append(f"indexes: A has {texts[0]}, and B has {texts[1]}")

    # -------------------------------------------------------------- files

    def _differences_of_files(self) -> Iterator[StoreDifference]:
        sides = tuple(
            self._chunks(name, store.folder.index)
            for name, store in zip("AB", self._stores, strict=True)
        )
        ranges = list(_ranges([*sides[0], *sides[1]]))
        if _overlaps([*sides[0], *sides[1]], ranges) > MAX_READS * (1 + sum(map(len, sides))):
            self.uncompared.append("index files: their entries are in no order")
            return
        counts, firsts = [0, 0], list[tuple[int, int] | None]([None, None])
        for start, end in ranges:
            entries = (_entries(chunks, start, end) for chunks in sides)
            for side, (offsets, hashes) in enumerate(_alone(*entries)):
                is_in = _are_in(offsets, self._logs[1 - side])
                counts[side] += int(is_in.sum())
                if firsts[side] is None and is_in.any():
                    first = int(np.argmax(is_in))
                    firsts[side] = int(offsets[first]), int(hashes[first])
        for side, chunks in enumerate(sides):
            found = firsts[side]
            if found is not None:
                yield _difference(side, counts[side], found, _place(chunks, *found))

    def _chunks(self, name: str, files: Sequence[StoreFile]) -> list[_Chunk]:
        chunks: list[_Chunk] = []
        for file in files:
            try:
                chunks += _chunks_of(file)
            except DecodeError as error:
                self.uncompared.append(f"{file.name} of {name}: {error}")
        return chunks

    # -------------------------------------------------------------- RocksDB

    def _differences_in_rocksdb(self) -> Iterator[StoreDifference]:
        databases = [_database(store) for store in self._stores]
        keys = [iter(()) if each is None else _keys(each) for each in databases]
        heads: list[bytes | None] = [next(each, None) for each in keys]
        counts, firsts = [0, 0], [b"", b""]
        while heads != [None, None]:
            key = min(head for head in heads if head is not None)
            owners = [head == key for head in heads]
            heads = [
                next(each, None) if owns else head
                for each, head, owns in zip(keys, heads, owners, strict=True)
            ]
            if not all(owners):
                side = owners.index(True)
                offset = np.array([records.index_offset(key)], np.int64)
                if _are_in(offset, self._logs[1 - side]).any():
                    counts[side] += 1
                    firsts[side] = firsts[side] or key
        for side in range(2):
            if counts[side]:
                name = firsts[side][8:-8].decode(errors="replace")
                yield StoreDifference(
                    part=PART,
                    name=f"{name} at {records.index_offset(firsts[side])}",
                    rule=f"{counts[side]} entries are in {'AB'[side]} only, this is the first",
                    **_on_side(side, Place(INDEX_DATABASE)),
                )


def _form(store: OpenedStore, has_rocksdb: bool) -> str:
    if store.folder.index:
        return "index files"
    return "an index in RocksDB" if has_rocksdb else ""


def _database(store: OpenedStore) -> Database | None:
    return store.database(INDEX_DATABASE)


def _entries_in_rocksdb(store: OpenedStore) -> bool:
    database = _database(store)
    return database is not None and next(_keys(database), None) is not None


def _keys(database: Database) -> Iterator[bytes]:
    return (key for key, _ in database.items() if records.index_hour(key) is not None)


def _chunks_of(file: StoreFile) -> Iterator[_Chunk]:
    """The entries of a file, chunk by chunk.

    Raises:
        DecodeError: the file is too short, or its entries agree with no number of slots.
    """
    with open_blocks(file) as blocks:
        header = index_file.decode_index_header(bytes(blocks.read(0, index_file.HEADER_SIZE)))
        if header.entry_count <= 1:
            return
        geometry = index_geometry(blocks)
        if geometry is None:
            raise DecodeError("its entries agree with no number of slots")
        start = index_file.HEADER_SIZE + index_file.SLOT_SIZE * geometry.slots
        end = min(header.entry_count, geometry.entries)
        for first in range(1, end, CHUNK):
            position = start + first * _ENTRY.itemsize
            entries = _read(file, position, min(CHUNK, end - first))
            if len(entries):
                offsets = entries["physical_offset"]
                lowest, highest = int(offsets.min()), int(offsets.max())
                yield _Chunk(file, position, len(entries), lowest, highest)


def _read(file: StoreFile, position: int, count: int) -> Any:
    with open_blocks(file, block_size=1) as blocks:
        data = bytes(blocks.read(position, count * _ENTRY.itemsize))
    return np.frombuffer(data, _ENTRY, len(data) // _ENTRY.itemsize)


def _ranges(chunks: Sequence[_Chunk]) -> Iterator[tuple[int, int]]:
    """First and last offset of ranges that together have all entries, and few of them each."""
    starts = sorted({chunk.lowest for chunk in chunks})[::_CHUNKS_AT_ONCE]
    highest = max((chunk.highest for chunk in chunks), default=0)
    ends = [start - 1 for start in starts[1:]]
    yield from zip(starts, [*ends, highest][: len(starts)], strict=True)


def _overlaps(chunks: Sequence[_Chunk], ranges: Sequence[tuple[int, int]]) -> int:
    """How many chunks are read for all ranges together."""
    lowest = np.array([chunk.lowest for chunk in chunks], np.int64)
    highest = np.array([chunk.highest for chunk in chunks], np.int64)
    return sum(int(((highest >= start) & (lowest <= end)).sum()) for start, end in ranges)


def _entries(chunks: Sequence[_Chunk], start: int, end: int) -> tuple[Int64s, Int64s]:
    """Offsets and hashes of the entries from offset ``start`` to ``end``."""
    offsets, hashes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for chunk in chunks:
        if chunk.highest < start or chunk.lowest > end:
            continue
        entries = _read(chunk.file, chunk.position, chunk.count)
        is_in = (entries["physical_offset"] >= start) & (entries["physical_offset"] <= end)
        offsets.append(entries["physical_offset"][is_in].astype(np.int64))
        hashes.append(entries["key_hash"][is_in].astype(np.int64))
    return np.concatenate(offsets), np.concatenate(hashes)


def _alone(
    a: tuple[Int64s, Int64s], b: tuple[Int64s, Int64s]
) -> tuple[tuple[Int64s, Int64s], tuple[Int64s, Int64s]]:
    """Entries that only A has, and those that only B has, each once, in order."""
    sides = np.repeat([0, 1], [len(a[0]), len(b[0])])
    offsets, hashes = np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])
    order = np.lexsort((sides, hashes, offsets))
    offsets, hashes, sides = offsets[order], hashes[order], sides[order]
    is_new = (offsets[1:] != offsets[:-1]) | (hashes[1:] != hashes[:-1])
    first = np.flatnonzero(np.append(True, is_new))[: len(offsets)]
    last = np.append(first[1:], len(offsets))[: len(first)] - 1
    in_a, in_b = first[sides[last] == 0], first[sides[first] == 1]
    return (offsets[in_a], hashes[in_a]), (offsets[in_b], hashes[in_b])


def _place(chunks: Sequence[_Chunk], offset: int, key_hash: int) -> Place | None:
    """Where an entry stands."""
    for chunk in chunks:
        if chunk.lowest <= offset <= chunk.highest:
            entries = _read(chunk.file, chunk.position, chunk.count)
            is_it = (entries["physical_offset"] == offset) & (entries["key_hash"] == key_hash)
            if is_it.any():
                byte = chunk.position + int(np.argmax(is_it)) * _ENTRY.itemsize
                return Place(chunk.file.name, byte)
    return None


def _difference(
    side: int, count: int, entry: tuple[int, int], place: Place | None
) -> StoreDifference:
    offset, key_hash = entry
    return StoreDifference(
        part=PART,
        name=f"hash {key_hash} at {offset}",
        rule=f"{count} entries are in {'AB'[side]} only, this is the first",
        **_on_side(side, place),
    )


def _on_side(side: int, place: Place | None) -> dict[str, Any]:
    return {"place_a" if side == 0 else "place_b": place}


def _are_in(offsets: Int64s, logs: Sequence[Log]) -> Bools:
    are_in: Bools = np.zeros(len(offsets), np.bool_)
    for log in logs:
        are_in |= (offsets >= log.start) & (offsets < log.end)
    return are_in
