"""The indexes of keys of two stores, compared entry by entry.

An entry of an index file is the hash of a topic and key, and the physical offset of a message.  Two
brokers begin new files at different times, and a broker that was killed writes entries twice.  So
entries are compared as a set, over all files.  Times of entries are not compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

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
_CHUNK: Final = 1 << 16
"""Entries that are read at once."""

_CHUNKS_AT_ONCE: Final = 8
_HASH_BITS: Final = 31
_WIDEST: Final = 1 << 32
"""Offsets that are compared at once at most: with a hash they fit into 64 bits."""


class _Chunk(NamedTuple):
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
        chunks_a, chunks_b = (
            self._chunks(name, store.folder.index)
            for name, store in zip("AB", self._stores, strict=True)
        )
        counts, firsts = [0, 0], [None, None]  # type: tuple[list[int], list[tuple[int, int] | None]]
        for start, end in _ranges([*chunks_a, *chunks_b]):
            entries = [_entries(chunks, start, end) for chunks in (chunks_a, chunks_b)]
            for side in range(2):
                alone = np.setdiff1d(entries[side], entries[1 - side], assume_unique=True)
                alone = alone[_are_in((alone >> _HASH_BITS) + start, self._logs[1 - side])]
                if len(alone):
                    first = int(alone[0])
                    counts[side] += len(alone)
                    if firsts[side] is None:
                        firsts[side] = (first >> _HASH_BITS) + start, first & (1 << _HASH_BITS) - 1
        for side, chunks in enumerate((chunks_a, chunks_b)):
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
        for first in range(1, end, _CHUNK):
            position = start + first * _ENTRY.itemsize
            entries = _read(file, position, min(_CHUNK, end - first))
            if len(entries):
                offsets = entries["physical_offset"]
                lowest, highest = int(offsets.min()), int(offsets.max())
                yield _Chunk(file, position, len(entries), lowest, highest)


def _read(file: StoreFile, position: int, count: int) -> Any:
    with open_blocks(file, block_size=1) as blocks:
        data = bytes(blocks.read(position, count * _ENTRY.itemsize))
    return np.frombuffer(data, _ENTRY, len(data) // _ENTRY.itemsize)


def _ranges(chunks: Sequence[_Chunk]) -> Iterator[tuple[int, int]]:
    """Ranges of offsets that together have the entries of all chunks, and few of them each."""
    starts = sorted(chunk.lowest for chunk in chunks)[::_CHUNKS_AT_ONCE]
    if not starts:
        return
    highest = max(chunk.highest for chunk in chunks) + 1
    for start, end in zip(starts, [*starts[1:], highest], strict=True):
        for part in range(start, end, _WIDEST):
            yield part, min(part + _WIDEST, end)


def _entries(chunks: Sequence[_Chunk], start: int, end: int) -> Int64s:
    """The entries of a range, each once: offset behind ``start``, and hash, as one number."""
    parts: list[Int64s] = [np.zeros(0, np.int64)]
    for chunk in chunks:
        if chunk.highest < start or chunk.lowest >= end:
            continue
        entries = _read(chunk.file, chunk.position, chunk.count)
        offsets = entries["physical_offset"].astype(np.int64)
        hashes = entries["key_hash"].astype(np.int64) & (1 << _HASH_BITS) - 1
        is_in = (offsets >= start) & (offsets < end)
        parts.append((offsets[is_in] - start) << _HASH_BITS | hashes[is_in])
    return np.unique(np.concatenate(parts))


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
