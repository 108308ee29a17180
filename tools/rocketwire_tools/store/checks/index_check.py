"""Index files against the log: the message of an entry has its key; a slot leads to its entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.messages import message_const
from rocketwire.policy.java_strings import string_hash
from rocketwire.store import index_file, layouts
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.checks.unread import Unread, add_unread, reason_of
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.engine.columns import record_type
from rocketwire_tools.store.engine.hashes import positive_hashes
from rocketwire_tools.store.lookup import index_geometry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from rocketwire.store.folder import StoreFile
    from rocketwire.store.index_file import Geometry, IndexHeader
    from rocketwire_tools.store.checks.findings import Findings
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.rows import Rows

    Entries = npt.NDArray[np.void]

ENTRY: Final = record_type(layouts.INDEX_ENTRY)
MAX_STRAYS: Final = 1_000_000
"""Entries out of the order of the log that are looked at."""

MAX_INDEX_FILE: Final = 1 << 30
"""A larger index file is not read; one of the default size has 420 MB."""

_CHUNK_ENTRIES: Final = 1 << 16


class _IndexFile:
    """One index file, read in the order of the log."""

    def __init__(self, file: StoreFile, geometry: Geometry, header: IndexHeader) -> None:
        self.file = file
        self.geometry = geometry
        self.header = header
        self.next = 1
        self.end = max(1, min(header.entry_count, geometry.entries))
        self.highest = -1
        self._entries = np.zeros(0, ENTRY)

    def take(self, end: int | None) -> tuple[Int64s, Entries]:
        """Numbers and entries up to an offset of the log, or all that are left.

        A single entry that points further than the one after it is out of order, and taken too.
        """
        numbers: list[Int64s] = []
        parts: list[Entries] = []
        while self.next < self.end:
            if not len(self._entries):
                self._entries = self.read(self.next, min(_CHUNK_ENTRIES, self.end - self.next))
                if not len(self._entries):
                    break
            count = len(self._entries)
            if end is not None:
                behind = self._entries["physical_offset"] >= end
                stops = behind & np.append(behind[1:], True)
                count = int(np.argmax(stops)) if stops.any() else count
            if not count:
                break
            numbers.append(self.next + np.arange(count))
            parts.append(self._entries[:count])
            self._entries = self._entries[count:]
            self.next += count
        if not parts:
            return np.zeros(0, np.int64), np.zeros(0, ENTRY)
        return np.concatenate(numbers), np.concatenate(parts)

    def read(self, first: int, count: int) -> Entries:
        """Entries by number; fewer if the file is short."""
        position = self.position(first)
        with open_blocks(self.file, block_size=1) as blocks:
            data = bytes(blocks.read(position, count * ENTRY.itemsize))
        return np.frombuffer(data, ENTRY, len(data) // ENTRY.itemsize)

    def position(self, number: int) -> int:
        """Position of an entry in the file."""
        slots = index_file.HEADER_SIZE + index_file.SLOT_SIZE * self.geometry.slots
        return slots + index_file.ENTRY_SIZE * number


class IndexCheck:
    """Index files against the log.

    Args:
        findings: where to add what is found.
        files: index files.
        log_start: offset of the log's first file.
        message_at: the message that begins at an offset of the log; None if none does.
        unread: what cannot be read and is not compared.

    Attributes:
        entries: entries that were compared.
        missing_keys: keys of messages between the first and the last entry that no entry has.
    """

    def __init__(
        self,
        findings: Findings,
        files: Sequence[StoreFile],
        *,
        log_start: int,
        message_at: Callable[[int], Rows | None],
        unread: Unread | None = None,
    ) -> None:
        self._unread = Unread() if unread is None else unread
        self.findings = findings
        self.log_start = log_start
        self._message_at = message_at
        self.entries = 0
        self.missing_keys = 0
        self._files: list[_IndexFile] = []
        self._strays: list[tuple[_IndexFile, int, int, int]] = []
        for file in files:
            try:
                opened = self._open(file)
            except OSError as error:
                self._give_up(file, error)
                continue
            if opened is not None:
                self._files.append(opened)

    def _open(self, file: StoreFile) -> _IndexFile | None:
        if file.size > MAX_INDEX_FILE:
            self._add(file, 0, f"{file.size} bytes; no index file has more than {MAX_INDEX_FILE}")
            return None
        if file.size < index_file.HEADER_SIZE:
            self._add(file, 0, f"{file.size} bytes, which is less than a head")
            return None
        with open_blocks(file, block_size=index_file.HEADER_SIZE) as blocks:
            head = bytes(blocks.read(0, index_file.HEADER_SIZE))
            header = index_file.decode_index_header(head)
            geometry = index_geometry(blocks)
        if geometry is None:
            self._add(file, 0, "no number of slots and entries agrees with the entries")
            return None
        if not 0 <= header.entry_count <= geometry.entries:
            text = f"the head counts {header.entry_count} entries, {geometry.entries} have room"
            self._add(file, 36, text)
            return None
        return _IndexFile(file, geometry, header)

    # -------------------------------------------------------------- messages

    def see(self, rows: Rows) -> None:
        """Compare the entries that point into a block."""
        positions = rows.messages.positions
        start = rows.block.base + int(positions[0])
        end = rows.block.base + int(positions[-1]) + 1
        wanted: list[tuple[_IndexFile, Int64s, Entries]] = []
        for file in list(self._files):
            try:
                numbers, entries = file.take(end)
            except OSError as error:
                self._give_up(file.file, error)
                continue
            if not len(numbers):
                continue
            offsets = entries["physical_offset"].astype(np.int64)
            is_here = (offsets >= start) & (offsets < end)
            if not is_here.all():
                for place in np.flatnonzero(~is_here).tolist():
                    self._stray(file, int(numbers[place]), entries[place])
                numbers, entries = numbers[is_here], entries[is_here]
            wanted.append((file, numbers, entries))
        covered = any(file.header.begin_physical_offset <= start for file in self._files)
        covered &= any(file.header.end_physical_offset >= end - 1 for file in self._files)
        if wanted or covered:
            self._compare(rows, wanted, is_covered=covered)

    def _stray(self, file: _IndexFile, number: int, entry: np.void) -> None:
        offset = int(entry["physical_offset"])
        if offset >= self.log_start and len(self._strays) < MAX_STRAYS:
            self._strays.append((file, number, offset, int(entry["key_hash"])))

    def _compare(
        self, rows: Rows, wanted: list[tuple[_IndexFile, Int64s, Entries]], *, is_covered: bool
    ) -> None:
        positions = rows.messages.positions
        text_rows, text_hashes, is_tag = key_hashes(rows)
        if self._are_equal(positions[text_rows] + rows.block.base, text_hashes, is_tag, wanted):
            return
        places: list[Int64s] = []
        hashes: list[Int64s] = []
        for file, numbers, entries in wanted:
            offsets = entries["physical_offset"].astype(np.int64) - rows.block.base
            row = np.minimum(np.searchsorted(positions, offsets), len(positions) - 1)
            is_message = positions[row] == offsets
            for place in np.flatnonzero(~is_message).tolist():
                offset = int(entries[place]["physical_offset"])
                self._add_entry(
                    file, int(numbers[place]), f"points to {offset}, no message's place"
                )
            places.append(np.where(is_message, row, -1))
            hashes.append(entries["key_hash"].astype(np.int64))
            self.entries += len(numbers)
        keys = text_rows << 32 | text_hashes
        seen: list[Int64s] = []
        for (file, numbers, entries), row, number in zip(wanted, places, hashes, strict=True):
            stored = row << 32 | (number & 0xFFFFFFFF)
            seen.append(stored[row >= 0])
            wrong = (row >= 0) & ~np.isin(stored, keys)
            for place in np.flatnonzero(wrong).tolist():
                offset = int(entries[place]["physical_offset"])
                text = f"has hash {int(number[place])}, the message at {offset} has no such key"
                self._add_entry(file, int(numbers[place]), text)
        if is_covered:
            stored = np.concatenate(seen) if seen else np.zeros(0, np.int64)
            missing = ~np.isin(keys, stored) & ~is_tag
            self.missing_keys += int(missing.sum())

    def _are_equal(
        self,
        offsets: Int64s,
        hashes: Int64s,
        is_tag: Bools,
        wanted: list[tuple[_IndexFile, Int64s, Entries]],
    ) -> bool:
        """Whether the entries of a block are those of its messages, in their order."""
        if not wanted:
            return False
        entries = wanted[0][2]
        if len(wanted) > 1:
            entries = np.concatenate([part[2] for part in wanted])
        if len(entries) == len(hashes) - int(is_tag.sum()):  # a release that indexes no tags
            offsets, hashes = offsets[~is_tag], hashes[~is_tag]
        are_equal = (
            len(entries) == len(hashes)
            and bool((entries["physical_offset"] == offsets).all())
            and bool((entries["key_hash"] == hashes).all())
        )
        if are_equal:
            self.entries += len(entries)
        return are_equal

    def finish(self, *, log_end: int | None = None) -> None:
        """Check the slots of each file, and entries that are not in the order of the log.

        Args:
            log_end: entries from this offset of the log on are newer than what was read; None for
                a store that stands still.
        """
        for file in list(self._files):
            try:
                self._finish_file(file, has_slots=log_end is None)
            except OSError as error:
                self._give_up(file.file, error)
        self._check_strays(log_end)
        if self.missing_keys and not self._unread.has_index:
            self.findings.add(
                Finding(
                    kind=FindingKind.INDEX,
                    text=f"{self.missing_keys} keys of messages are in no index file",
                    is_damage=False,
                    count=self.missing_keys,
                )
            )

    def _finish_file(self, file: _IndexFile, *, has_slots: bool) -> None:
        while True:
            numbers, entries = file.take(None)
            if not len(numbers):
                break
            for place in range(len(numbers)):
                self._stray(file, int(numbers[place]), entries[place])
        if has_slots:
            self._check_slots(file)

    def _give_up(self, file: StoreFile, error: OSError) -> None:
        """Leave out an index file from here on: the disk cannot read it."""
        self._files = [each for each in self._files if each.file is not file]
        self._strays = [stray for stray in self._strays if stray[0].file is not file]
        self._unread.has_index = True
        self._unread.others.append(file.name)
        add_unread(self.findings, file.name, reason_of(error))

    def _check_strays(self, log_end: int | None) -> None:
        for file, number, offset, key_hash in self._strays:
            if log_end is not None and offset >= log_end:
                continue
            if any(start <= offset < end for start, end in self._unread.log):
                continue
            rows = self._message_at(offset)
            if rows is None:
                text = f"points to {offset}, where the log has no message"
                self._add_entry(file, number, text)
            elif key_hash not in key_hashes(rows)[1]:
                text = f"has hash {key_hash}, the message at {offset} has no such key"
                self._add_entry(file, number, text)

    def _check_slots(self, file: _IndexFile) -> None:
        slots = file.geometry.slots
        newest = np.zeros(slots, np.int32)
        number = 1
        while number < file.end:
            entries = file.read(number, min(_CHUNK_ENTRIES, file.end - number))
            if not len(entries):
                self._add(file.file, file.file.size, "the file ends before its last entry")
                return
            numbers = number + np.arange(len(entries))
            hashes = entries["key_hash"].astype(np.int64)
            place = np.abs(hashes) % slots
            if not (hashes < 0).any() and _are_chains(entries, number, place, newest):
                number += len(entries)
                continue
            order = np.argsort(place, kind="stable")
            sorted_slots = place[order]
            expected = np.empty(len(entries), np.int64)
            is_first = np.concatenate(([True], np.diff(sorted_slots) != 0))
            earlier = np.concatenate(([0], numbers[order][:-1]))
            expected[order] = np.where(is_first, newest[sorted_slots], earlier)
            newest[place] = numbers  # of equal places the last one counts
            wrong = (entries["previous"] != expected) | (hashes < 0)
            for row in np.flatnonzero(wrong).tolist():
                text = (
                    f"follows entry {int(entries[row]['previous'])} of its slot,"
                    f" the one before is {int(expected[row])}"
                )
                self._add_entry(file, int(numbers[row]), text)
            number += len(entries)
        stored = self._slot_values(file)
        for slot in np.flatnonzero(stored != newest).tolist():
            text = (
                f"slot {slot} leads to entry {int(stored[slot])}, its newest is {int(newest[slot])}"
            )
            self._add(file.file, index_file.HEADER_SIZE + index_file.SLOT_SIZE * slot, text)

    def _slot_values(self, file: _IndexFile) -> npt.NDArray[np.int32]:
        with open_blocks(file.file, block_size=1) as blocks:
            size = file.geometry.slots * index_file.SLOT_SIZE
            data = blocks.read(index_file.HEADER_SIZE, size)
            values = np.frombuffer(data, ">i4", len(data) // 4)
        result = np.zeros(file.geometry.slots, np.int32)
        result[: len(values)] = values
        return result

    def _add_entry(self, file: _IndexFile, number: int, text: str) -> None:
        self._add(file.file, file.position(number), f"entry {number} {text}")

    def _add(self, file: StoreFile, position: int, text: str) -> None:
        self.findings.add(
            Finding(kind=FindingKind.INDEX, text=text, file=file.name, position=position)
        )


def _are_chains(entries: Entries, first: int, slots: Int64s, newest: npt.NDArray[np.int32]) -> bool:
    """Whether each entry names the one before it in its slot; then ``newest`` is brought forward.

    Of the entries of one slot exactly one may name an entry before ``first``; the others name
    different ones of these, each an earlier one of the slot.  Then each names the one before it.

    Args:
        entries: that follow each other.
        first: number of the first one.
        slots: of each entry.
        newest: last entry of each slot before ``first``.
    """
    previous = entries["previous"].astype(np.int64)
    inner = np.flatnonzero(previous >= first)
    names = previous[inner] - first
    is_outer = previous < first
    if not (newest[slots[is_outer]] == previous[is_outer]).all():
        return False
    if not (names < inner).all() or not (slots[names] == slots[inner]).all():
        return False
    is_named = np.zeros(len(slots), np.bool_)
    is_named[names] = True
    if int(is_named.sum()) != len(names):
        return False
    numbers = first + np.arange(len(slots))
    before = newest[slots]
    newest[slots] = numbers
    if int((newest[slots] == numbers).sum()) != int(is_outer.sum()):
        newest[slots] = before
        return False
    return True


def key_hashes(rows: Rows) -> tuple[Int64s, Int64s, Bools]:
    """What Java puts into the index for some rows, in its order.

    Returns:
        The row of each entry, its hash, and whether it stands for a tag.
    """
    values, topic_numbers = rows.named_values, rows.topic_numbers
    # The names are complete only after all rows have their numbers.
    topics = [string_hash(f"{name}#") for name in rows.topics.names]
    tags = [string_hash(f"{name}#T#") for name in rows.topics.names]
    parts = (
        (values.of(message_const.UNIQ_KEY), topics),
        (values.words_of(message_const.KEYS), topics),
        (values.of(message_const.TAGS), tags),
    )
    row = np.concatenate([part.rows for part, _ in parts])
    hashes = np.concatenate(
        [
            values.hashes(part, np.array(begins, np.int64)[topic_numbers[part.rows]])
            for part, begins in parts
        ]
    )
    is_tag = np.arange(len(row)) >= len(row) - len(parts[2][0].rows)
    order = np.argsort(row.astype(np.uint16) if len(rows) < 1 << 16 else row, kind="stable")
    return row[order], positive_hashes(hashes)[order], is_tag[order]
