"""Index files against the log: the message of an entry has its key; a slot leads to its entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from rocketwire.store import index_file, layouts
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.checks.unread import unread_finding
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.engine.columns import record_type
from rocketwire_tools.store.engine.index_keys import key_hashes
from rocketwire_tools.store.lookup import at_physical_offset, index_geometry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from rocketwire.store.folder import StoreFile
    from rocketwire.store.index_file import Geometry, IndexHeader
    from rocketwire_tools.store.checks.view import StoreView
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.rows import Rows

    Entries = npt.NDArray[np.void]
    Int32s = npt.NDArray[np.int32]

ENTRY: Final = record_type(layouts.INDEX_ENTRY)
MAX_STRAYS: Final = 1_000_000  # entries out of the order of the log that are looked at
MAX_INDEX_FILE: Final = 1 << 30
"""A larger index file is not read; one of the default size has 420 MB."""

_NO_SUCH_KEY: Final = "has hash {}, the message at {} has no such key"
_CHUNK_SLOTS: Final = 1 << 18
"""Slots of an index file that are compared at once: their bytes stay in the processor's cache."""

_CHUNK_ENTRIES: Final = 1 << 16

_MAX_ENTRIES: Final = 1 << 18
"""Entries that are compared with a block at once; its messages mostly have fewer keys."""


class _Entries(NamedTuple):
    numbers: Int64s  # of each in the file
    stored: Entries  # as in the file
    offsets: Int64s  # physical offset of each

    @classmethod
    def of(cls, first: int, stored: Entries) -> _Entries:
        offsets = stored["physical_offset"].astype(np.int64)
        return cls(np.arange(first, first + len(stored)), stored, offsets)

    @classmethod
    def join(cls, parts: Sequence[_Entries]) -> _Entries:
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def part(self, rows: slice | Bools) -> _Entries:
        return _Entries(self.numbers[rows], self.stored[rows], self.offsets[rows])


class _IndexFile:
    def __init__(self, file: StoreFile, geometry: Geometry, header: IndexHeader) -> None:
        self.file = file
        self.geometry = geometry
        self.header = header
        self.next = 1
        self.end = max(1, min(header.entry_count, geometry.entries))
        self.highest = -1
        self._entries = _Entries.of(0, np.zeros(0, ENTRY))

    def take(self, end: int | None) -> Iterator[_Entries]:
        """Take entries up to an offset of the log, or all that are left, piece by piece.

        A single entry that points further than the one after it is out of order, and taken too.
        """
        while self.next < self.end:
            if not len(self._entries.numbers):
                count = _CHUNK_ENTRIES - (self.next - 1) % _CHUNK_ENTRIES
                stored = self.read(self.next, min(count, self.end - self.next))
                if not len(stored):
                    return
                self._entries = _Entries.of(self.next, stored)
            count = len(self._entries.numbers)
            if end is not None:
                is_beyond = self._entries.offsets >= end
                is_beyond[:-1] &= is_beyond[1:]
                count = int(np.argmax(is_beyond)) if is_beyond.any() else count
            if not count:
                return
            taken = self._entries.part(slice(0, count))
            self._entries = self._entries.part(slice(count, None))
            self.next += count
            yield taken

    def read(self, first: int, count: int) -> Entries:
        position = self.position(first)
        with open_blocks(self.file, block_size=1) as blocks:
            data = bytes(blocks.read(position, count * ENTRY.itemsize))
        return np.frombuffer(data, ENTRY, len(data) // ENTRY.itemsize)

    def position(self, number: int) -> int:
        slots = index_file.HEADER_SIZE + index_file.SLOT_SIZE * self.geometry.slots
        return slots + index_file.ENTRY_SIZE * number

    def entry_finding(self, number: int, text: str) -> Finding:
        return _finding_in(self.file, self.position(number), f"entry {number} {text}")


class _BlockKeys:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows  # the messages
        key_rows, self._hashes, self._is_tag = key_hashes(rows)
        self._offsets = rows.messages.positions[key_rows] + rows.block.base
        self._keys = key_rows << 32 | self._hashes
        self._has_entry = np.zeros(len(key_rows), np.bool_)

    def note_all(self, entries: _Entries) -> bool:
        for is_entry in (np.ones_like(self._is_tag), ~self._is_tag):  # some releases index no tags
            if np.array_equal(self._offsets[is_entry], entries.offsets) and np.array_equal(
                self._hashes[is_entry], entries.stored["key_hash"]
            ):
                self._has_entry |= is_entry
                return True
        return False

    def note(self, rows: Int64s, hashes: Int64s, is_message: Bools) -> Bools:
        stored = np.where(is_message, rows, -1) << 32 | (hashes & 0xFFFFFFFF)
        np.logical_or(self._has_entry, np.isin(self._keys, stored), out=self._has_entry)
        return np.isin(stored, self._keys)

    def count_missing(self) -> int:
        return int((~self._has_entry & ~self._is_tag).sum())


class IndexCheck:
    def __init__(self, view: StoreView) -> None:
        self._view = view
        self._missing_keys = 0
        self._files: list[_IndexFile] = []
        self._strays: list[tuple[_IndexFile, _Entries]] = []
        self._stray_entries = 0

    def open_files(self) -> Iterator[Finding]:
        for file in self._view.folder.index:
            try:
                opened = _open(file)
            except OSError as error:
                yield self._give_up(file, error)
                continue
            if isinstance(opened, Finding):
                yield opened
            else:
                self._files.append(opened)

    # -------------------------------------------------------------- messages

    def compare(self, rows: Rows) -> Iterator[Finding]:
        if not self._files:
            return
        positions = rows.messages.positions
        start = rows.block.base + int(positions[0])
        end = rows.block.base + int(positions[-1]) + 1
        block = _BlockKeys(rows)
        waiting: list[tuple[_IndexFile, _Entries]] = []
        for file in list(self._files):
            try:
                for entries in file.take(end):
                    is_here = (entries.offsets >= start) & (entries.offsets < end)
                    if not is_here.all():
                        self._add_strays(file, entries.part(~is_here))
                        entries = entries.part(is_here)
                    if len(entries.numbers):
                        waiting.append((file, entries))
                    if sum(len(each.numbers) for _, each in waiting) >= _MAX_ENTRIES:
                        yield from self._compare(block, waiting)
                        waiting.clear()
            except OSError as error:
                yield self._give_up(file.file, error)
        yield from self._compare(block, waiting)
        covered = any(file.header.begin_physical_offset <= start for file in self._files)
        covered &= any(file.header.end_physical_offset >= end - 1 for file in self._files)
        if covered:
            self._missing_keys += block.count_missing()

    def _add_strays(self, file: _IndexFile, entries: _Entries) -> None:
        entries = entries.part(entries.offsets >= self._view.log_start)
        entries = entries.part(slice(0, MAX_STRAYS - self._stray_entries))
        if len(entries.numbers):
            self._stray_entries += len(entries.numbers)
            self._strays.append((file, entries))

    def _compare(
        self, block: _BlockKeys, waiting: list[tuple[_IndexFile, _Entries]]
    ) -> Iterator[Finding]:
        if not waiting:
            return
        entries = _Entries.join([entries for _, entries in waiting])
        self._view.index_entries += len(entries.numbers)
        if block.note_all(entries):
            return
        positions = block.rows.messages.positions
        for file, entries in waiting:
            offsets = entries.offsets - block.rows.block.base
            row = np.minimum(np.searchsorted(positions, offsets), len(positions) - 1)
            is_message = positions[row] == offsets
            for index in np.flatnonzero(~is_message).tolist():
                text = f"points to {int(entries.offsets[index])}, no message's place"
                yield file.entry_finding(int(entries.numbers[index]), text)
            hashes = entries.stored["key_hash"].astype(np.int64)
            has_key = block.note(row, hashes, is_message)
            for index in np.flatnonzero(is_message & ~has_key).tolist():
                text = _NO_SUCH_KEY.format(int(hashes[index]), int(entries.offsets[index]))
                yield file.entry_finding(int(entries.numbers[index]), text)

    # -------------------------------------------------------------- the end

    def finish(self) -> Iterator[Finding]:
        for file in list(self._files):
            try:
                for entries in file.take(None):
                    self._add_strays(file, entries)
                if self._view.newest_end is None:
                    yield from _check_slots(file)
            except OSError as error:
                yield self._give_up(file.file, error)
        yield from self._check_strays()
        if self._missing_keys and not self._view.unread.has_index:
            text = f"{self._missing_keys} keys of messages are in no index file"
            yield Finding(
                kind=FindingKind.INDEX, text=text, is_damage=False, count=self._missing_keys
            )

    def _give_up(self, file: StoreFile, error: OSError) -> Finding:
        self._files = [each for each in self._files if each.file is not file]
        self._strays = [stray for stray in self._strays if stray[0].file is not file]
        self._view.unread.has_index = True
        self._view.unread.others.append(file.name)
        return unread_finding(file.name, error)

    def _check_strays(self) -> Iterator[Finding]:
        end = self._view.newest_end
        for file, entries in self._strays:
            entries = entries.part(~self._view.unread.find_offsets(entries.offsets))
            if end is not None:
                entries = entries.part(entries.offsets < end)
            columns = (entries.numbers, entries.offsets, entries.stored["key_hash"])
            for number, offset, key_hash in zip(*(each.tolist() for each in columns), strict=True):
                message = at_physical_offset(self._view.store, offset, "index file")
                if message is None:
                    text = f"points to {offset}, where the log has no message"
                    yield file.entry_finding(number, text)
                elif key_hash not in key_hashes(message.rows())[1]:
                    yield file.entry_finding(number, _NO_SUCH_KEY.format(key_hash, offset))


def _open(file: StoreFile) -> _IndexFile | Finding:
    if file.size > MAX_INDEX_FILE:
        text = f"{file.size} bytes; no index file has more than {MAX_INDEX_FILE}"
        return _finding_in(file, 0, text)
    if file.size < index_file.HEADER_SIZE:
        return _finding_in(file, 0, f"{file.size} bytes, which is less than a head")
    with open_blocks(file, block_size=index_file.HEADER_SIZE) as blocks:
        head = bytes(blocks.read(0, index_file.HEADER_SIZE))
        header = index_file.decode_index_header(head)
        geometry = index_geometry(blocks)
    if geometry is None:
        return _finding_in(file, 0, "no number of slots and entries agrees with the entries")
    if not 0 <= header.entry_count <= geometry.entries:
        text = f"the head counts {header.entry_count} entries, {geometry.entries} have room"
        return _finding_in(file, 36, text)
    return _IndexFile(file, geometry, header)


def _finding_in(file: StoreFile, position: int, text: str) -> Finding:
    return Finding(kind=FindingKind.INDEX, text=text, file=file.name, position=position)


# -------------------------------------------------------------- slots


def _check_slots(file: _IndexFile) -> Iterator[Finding]:
    slots = file.geometry.slots
    newest = np.zeros(slots, np.int32)
    number = 1
    while number < file.end:
        entries = file.read(number, min(_CHUNK_ENTRIES, file.end - number))
        if not len(entries):
            yield _finding_in(file.file, file.file.size, "the file ends before its last entry")
            return
        hashes = entries["key_hash"].astype(np.int64)
        slot = np.abs(hashes)
        slot -= slot // slots * slots  # numpy has no fast remainder
        expected = _chain(number, slot, newest)
        is_wrong = (entries["previous"] != expected) | (hashes < 0)
        for row in np.flatnonzero(is_wrong).tolist():
            text = (
                f"follows entry {int(entries[row]['previous'])} of its slot,"
                f" the one before is {int(expected[row])}"
            )
            yield file.entry_finding(number + row, text)
        number += len(entries)
    yield from _check_newest(file, newest)


def _chain(first: int, slots: Int64s, newest: Int32s) -> Int32s:
    """Return the number of the entry before each one in its slot, and bring ``newest`` forward."""
    numbers = np.arange(first, first + len(slots), dtype=np.int32)
    expected = newest[slots]
    newest[slots] = numbers  # of equal slots the last one counts
    # few slots have several of these entries; -1 marks them
    newest[slots[newest[slots] != numbers]] = -1
    shared = np.flatnonzero(newest[slots] < 0)
    shared = shared[np.argsort(slots[shared], kind="stable")]
    before, after = shared[:-1], shared[1:]
    is_same = slots[before] == slots[after]
    expected[after[is_same]] = numbers[before[is_same]]
    newest[slots[shared]] = numbers[shared]
    return expected


def _check_newest(file: _IndexFile, newest: Int32s) -> Iterator[Finding]:
    with open_blocks(file.file, block_size=4 * _CHUNK_SLOTS) as blocks:
        for first in range(0, len(newest), _CHUNK_SLOTS):
            expected = newest[first : first + _CHUNK_SLOTS]
            position = index_file.HEADER_SIZE + index_file.SLOT_SIZE * first
            data = blocks.read(position, index_file.SLOT_SIZE * len(expected))
            values = np.frombuffer(data, ">i4", len(data) // index_file.SLOT_SIZE)
            stored = np.zeros(len(expected), np.int32)
            stored[: len(values)] = values
            for index in np.flatnonzero(stored != expected).tolist():
                text = (
                    f"slot {first + index} leads to entry {int(stored[index])},"
                    f" its newest is {int(expected[index])}"
                )
                yield _finding_in(file.file, position + index_file.SLOT_SIZE * index, text)
