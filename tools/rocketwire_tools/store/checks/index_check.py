"""Index files against the log: the message of an entry has its key; a slot leads to its entries."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from rocketwire.messages import message_const
from rocketwire.policy.java_strings import string_hash
from rocketwire.store import index_file, layouts
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.checks.unread import Unread, add_unread
from rocketwire_tools.store.engine import fast_paths
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.engine.columns import record_type
from rocketwire_tools.store.engine.hashes import index_hashes, positive_hashes
from rocketwire_tools.store.lookup import index_geometry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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

_CHUNK_SLOTS: Final = 1 << 18
"""Slots of an index file that are compared at once: their bytes stay in the processor's cache."""

_CHUNK_ENTRIES: Final = 1 << 16

_MOST_ENTRIES: Final = 1 << 18
"""Entries that are compared with a block at once; its messages mostly have fewer keys."""


class _Entries(NamedTuple):
    """Entries of an index file.

    Attributes:
        numbers: of each in the file.
        stored: as in the file.
        offsets: physical offset of each.
    """

    numbers: Int64s
    stored: Entries
    offsets: Int64s

    @classmethod
    def of(cls, first: int, stored: Entries) -> _Entries:
        """Entries that follow each other from a number on."""
        offsets = stored["physical_offset"].astype(np.int64)
        return cls(np.arange(first, first + len(stored)), stored, offsets)

    @classmethod
    def joined(cls, parts: Sequence[_Entries]) -> _Entries:
        """Entries of some parts."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def part(self, rows: slice | Bools) -> _Entries:
        """Some of them."""
        return _Entries(self.numbers[rows], self.stored[rows], self.offsets[rows])


class _IndexFile:
    """One index file, read in the order of the log."""

    def __init__(self, file: StoreFile, geometry: Geometry, header: IndexHeader) -> None:
        self.file = file
        self.geometry = geometry
        self.header = header
        self.next = 1
        self.end = max(1, min(header.entry_count, geometry.entries))
        self.highest = -1
        self._entries = _Entries.of(0, np.zeros(0, ENTRY))

    def take(self, end: int | None) -> Iterator[_Entries]:
        """Entries up to an offset of the log, or all that are left, piece by piece.

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
                behind = self._entries.offsets >= end
                behind[:-1] &= behind[1:]
                count = int(np.argmax(behind)) if behind.any() else count
            if not count:
                return
            taken = self._entries.part(slice(0, count))
            self._entries = self._entries.part(slice(count, None))
            self.next += count
            yield taken

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


class _BlockKeys:
    """The keys of a block of messages, and whether index files have them.

    Attributes:
        rows: the messages.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._next = 0

    @cached_property
    def hashes(self) -> tuple[Int64s, Int64s, Bools]:
        """The row of each key, its hash, and whether it is a tag."""
        return key_hashes(self.rows)

    @cached_property
    def _offsets(self) -> Int64s:
        """Offset in the log of the message of each key."""
        return self.rows.messages.positions[self.hashes[0]] + self.rows.block.base

    @cached_property
    def _orders(self) -> list[Int64s | None]:
        """Which keys may have entries, one after the other: all, or those that are no tags.

        Some releases index no tags.
        """
        return [None, np.flatnonzero(~self.hashes[2])]

    @cached_property
    def _keys(self) -> Int64s:
        rows, hashes, _ = self.hashes
        return rows << 32 | hashes

    @cached_property
    def _has_entry(self) -> Bools:
        return np.zeros(len(self.hashes[0]), np.bool_)

    def note_next(self, entries: _Entries) -> bool:
        """Note entries if they are those of the next keys in their order; False if not."""
        if not fast_paths.are_on():
            return False
        places = slice(self._next, self._next + len(entries.numbers))
        orders = [order for order in self._orders if self._are_keys(entries, order, places)]
        if not orders:
            return False
        for order in orders:
            self._has_entry[places if order is None else order[places]] = True
        self._orders, self._next = orders, places.stop
        return True

    def _are_keys(self, entries: _Entries, order: Int64s | None, places: slice) -> bool:
        keys = places if order is None else order[places]
        offsets = self._offsets[keys]
        return (
            len(offsets) == len(entries.numbers)
            and bool((offsets == entries.offsets).all())
            and bool((self.hashes[1][keys] == entries.stored["key_hash"]).all())
        )

    def note(self, rows: Int64s, hashes: Int64s, is_message: Bools) -> Bools:
        """Note entries.

        Args:
            rows: of each entry.
            hashes: of each entry.
            is_message: whether it points to a message.

        Returns:
            Whether the message of each entry has its key.
        """
        stored = np.where(is_message, rows, -1) << 32 | (hashes & 0xFFFFFFFF)
        np.logical_or(self._has_entry, np.isin(self._keys, stored), out=self._has_entry)
        return np.isin(stored, self._keys)

    def missing_keys(self) -> int:
        """Keys without an entry; some releases index no tags."""
        return int((~self._has_entry & ~self.hashes[2]).sum())


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
        self._strays: list[tuple[_IndexFile, _Entries]] = []
        self._stray_entries = 0
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
                    if sum(len(each.numbers) for _, each in waiting) >= _MOST_ENTRIES:
                        self._compare(block, waiting)
                        waiting.clear()
            except OSError as error:
                self._give_up(file.file, error)
        self._compare(block, waiting)
        covered = any(file.header.begin_physical_offset <= start for file in self._files)
        covered &= any(file.header.end_physical_offset >= end - 1 for file in self._files)
        if covered:
            self.missing_keys += block.missing_keys()

    def _add_strays(self, file: _IndexFile, entries: _Entries) -> None:
        entries = entries.part(entries.offsets >= self.log_start)
        entries = entries.part(slice(0, MAX_STRAYS - self._stray_entries))
        if len(entries.numbers):
            self._stray_entries += len(entries.numbers)
            self._strays.append((file, entries))

    def _compare(self, block: _BlockKeys, entries_here: list[tuple[_IndexFile, _Entries]]) -> None:
        """Compare entries that point into a block with its messages."""
        if not entries_here:
            return
        entries = _Entries.joined([entries for _, entries in entries_here])
        if block.note_next(entries):
            self.entries += len(entries.numbers)
            return
        positions = block.rows.messages.positions
        for file, entries in entries_here:
            offsets = entries.offsets - block.rows.block.base
            row = np.minimum(np.searchsorted(positions, offsets), len(positions) - 1)
            is_message = positions[row] == offsets
            for place in self._kept(~is_message):
                text = f"points to {int(entries.offsets[place])}, no message's place"
                self._add_entry(file, int(entries.numbers[place]), text)
            hashes = entries.stored["key_hash"].astype(np.int64)
            wrong = is_message & ~block.note(row, hashes, is_message)
            for place in self._kept(wrong):
                offset = int(entries.offsets[place])
                text = f"has hash {int(hashes[place])}, the message at {offset} has no such key"
                self._add_entry(file, int(entries.numbers[place]), text)
            self.entries += len(entries.numbers)

    def _kept(self, wrong: Bools) -> list[int]:
        """Places of wrong entries, if they are still kept; the others are only counted."""
        places = np.flatnonzero(wrong)
        room = self.findings.room(FindingKind.INDEX)
        self.findings.count(FindingKind.INDEX, len(places[room:]))
        kept: list[int] = places[:room].tolist()
        return kept

    # -------------------------------------------------------------- the end

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
        for entries in file.take(None):
            self._add_strays(file, entries)
        if has_slots:
            self._check_slots(file)

    def _give_up(self, file: StoreFile, error: OSError) -> None:
        """Leave out an index file from here on: the disk cannot read it."""
        self._files = [each for each in self._files if each.file is not file]
        self._strays = [stray for stray in self._strays if stray[0].file is not file]
        self._unread.has_index = True
        self._unread.others.append(file.name)
        add_unread(self.findings, file.name, error)

    def _check_strays(self, log_end: int | None) -> None:
        for file, entries in self._strays:
            columns = (entries.numbers, entries.offsets, entries.stored["key_hash"])
            rows = zip(*(column.tolist() for column in columns), strict=True)
            for number, offset, key_hash in rows:
                if log_end is None or offset < log_end:
                    self._check_stray(file, number, offset, key_hash)

    def _check_stray(self, file: _IndexFile, number: int, offset: int, key_hash: int) -> None:
        if any(start <= offset < end for start, end in self._unread.log):
            return
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
            hashes = entries["key_hash"].astype(np.int64)
            place = np.abs(hashes)
            place -= place // slots * slots  # numpy has no fast remainder
            may_be_chains = fast_paths.are_on() and not (hashes < 0).any()
            if may_be_chains and _are_chains(entries, number, place, newest):
                number += len(entries)
                continue
            numbers = number + np.arange(len(entries))
            order = np.argsort(place, kind="stable")
            sorted_slots = place[order]
            expected = np.empty(len(entries), np.int64)
            is_first = np.concatenate(([True], np.diff(sorted_slots) != 0))
            earlier = np.concatenate(([0], numbers[order][:-1]))
            expected[order] = np.where(is_first, newest[sorted_slots], earlier)
            newest[place] = numbers  # of equal places the last one counts
            wrong = (entries["previous"] != expected) | (hashes < 0)
            for row in self._kept(wrong):
                text = (
                    f"follows entry {int(entries[row]['previous'])} of its slot,"
                    f" the one before is {int(expected[row])}"
                )
                self._add_entry(file, int(numbers[row]), text)
            number += len(entries)
        self._check_newest(file, newest)

    def _check_newest(self, file: _IndexFile, newest: npt.NDArray[np.int32]) -> None:
        """Check that each slot leads to its newest entry.

        Bytes that a short file lacks count as zeros.
        """
        with open_blocks(file.file, block_size=4 * _CHUNK_SLOTS) as blocks:
            for first in range(0, len(newest), _CHUNK_SLOTS):
                expected = newest[first : first + _CHUNK_SLOTS]
                position = index_file.HEADER_SIZE + index_file.SLOT_SIZE * first
                data = blocks.read(position, index_file.SLOT_SIZE * len(expected))
                values = np.frombuffer(data, ">i4", len(data) // index_file.SLOT_SIZE)
                stored = np.zeros(len(expected), np.int32)
                stored[: len(values)] = values
                for place in self._kept(stored != expected):
                    text = (
                        f"slot {first + place} leads to entry {int(stored[place])},"
                        f" its newest is {int(expected[place])}"
                    )
                    self._add(file.file, position + index_file.SLOT_SIZE * place, text)

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
    previous = entries["previous"].astype(np.int32)
    before = newest[slots]
    is_outer = previous < first
    if not ((before == previous) | ~is_outer).all():
        return False
    inner = np.flatnonzero(~is_outer)
    names = previous[inner] - first
    if not (names < inner).all() or not (slots[names] == slots[inner]).all():
        return False
    is_last = np.ones(len(slots), np.bool_)
    is_last[names] = False
    if int(is_last.sum()) != len(slots) - len(inner):  # an entry is named twice
        return False
    # Each chain ends with an entry that none names. In a slot with two chains one end is lost.
    last = np.flatnonzero(is_last)
    numbers = (first + last).astype(np.int32)
    newest[slots[last]] = numbers
    if not (newest[slots[last]] == numbers).all():
        newest[slots] = before
        return False
    return True


def key_hashes(rows: Rows) -> tuple[Int64s, Int64s, Bools]:
    """What Java puts into the index for some rows, in its order.

    Returns:
        The row of each entry, its hash, and whether it stands for a tag.
    """
    if not fast_paths.are_on():
        return _hashes_of_texts(rows)
    values, topic_numbers = rows.named_values, rows.topic_numbers
    # The names are complete only after all rows have their numbers.
    topics = [string_hash(f"{name}#") for name in rows.topics.names]
    tags = [string_hash(f"{name}#T#") for name in rows.topics.names]
    parts = (
        (values.of(message_const.UNIQ_KEY), topics),
        (values.words_of(message_const.KEYS), topics),
        (values.of(message_const.TAGS), tags),
    )
    row, orders = _by_row([part.rows for part, _ in parts], len(rows))
    hashes, is_tag = np.empty(len(row), np.int64), np.zeros(len(row), np.bool_)
    for (part, begins), order in zip(parts, orders, strict=True):
        before = np.array(begins, np.int64)[topic_numbers[part.rows]]
        hashes[order] = values.hashes(part, before)
    is_tag[orders[2]] = True
    return row, positive_hashes(hashes), is_tag


def _hashes_of_texts(rows: Rows) -> tuple[Int64s, Int64s, Bools]:
    """As ``key_hashes``, one text after the other."""
    numbers: list[int] = rows.topic_numbers.tolist()
    texts_of = rows.property_items.texts
    properties = zip(
        numbers,
        texts_of(message_const.UNIQ_KEY),
        texts_of(message_const.KEYS),
        texts_of(message_const.TAGS),
        strict=True,
    )
    entries: list[tuple[int, str, bool]] = []
    for row, (number, unique_key, keys, tags) in enumerate(properties):
        topic = rows.topics.names[number]
        texts = [unique_key, *(keys or "").split(" ")]
        entries += [(row, f"{topic}#{text}", False) for text in texts if text]
        if tags:
            entries.append((row, f"{topic}#T#{tags}", True))
    of_rows = np.array([row for row, _, _ in entries], np.int64)
    is_tag = np.array([tag for _, _, tag in entries], np.bool_)
    return of_rows, index_hashes([text for _, text, _ in entries]), is_tag


def _by_row(parts: Sequence[Int64s], count: int) -> tuple[Int64s, list[Int64s]]:
    """The rows of some parts in order, of equal rows those of the first part first.

    Args:
        parts: rows.
        count: rows are less than this.

    Returns:
        All rows, and for each part the places of its rows among them.
    """
    sorts = [None if _is_sorted(rows) else np.argsort(rows, kind="stable") for rows in parts]
    ordered = [
        rows if sort is None else rows[sort] for rows, sort in zip(parts, sorts, strict=True)
    ]
    counts = [np.bincount(rows, minlength=count) for rows in ordered]
    total = np.add.reduce(counts)
    before = np.cumsum(total) - total  # places of all parts before those of a row
    orders: list[Int64s] = []
    for rows, sort, in_row in zip(ordered, sorts, counts, strict=True):
        first = np.cumsum(in_row) - in_row  # number in its part of the first one of a row
        places = (before - first)[rows] + np.arange(len(rows))
        before += in_row
        if sort is not None:
            unsorted = np.empty_like(places)
            unsorted[sort] = places
            places = unsorted
        orders.append(places)
    return np.repeat(np.arange(count), total), orders


def _is_sorted(rows: Int64s) -> bool:
    return bool((rows[1:] >= rows[:-1]).all())
