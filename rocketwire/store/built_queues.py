"""Queues of a broker as its start changes them: cut, and built anew from the log.

A queue is a stream of mapped files; what is appended is kept in memory, and nothing is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Final, TypeAlias

from rocketwire.messages import message_const
from rocketwire.store import layouts
from rocketwire.store.consume_queue import (
    BATCH_UNIT_SIZE,
    PRE_BLANK_SIZE,
    UNIT_SIZE,
    first_from,
    first_invalid,
)
from rocketwire.store.java_records import JavaRecord, Release
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.message.properties import decode_properties

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUEUE_FILES: Final = 3
"""Files at the end of a queue (4.9.4: of the log too) that recovery reads."""

MAX_CACHED: Final = 1 << 16
"""Results of searches in files that are kept for the next prediction."""

_CHUNK: Final = 1 << 20
_FIRST_RUN: Final = 1 << 16
_RUN: Final = 8 << 20
"""Bytes of a file that are searched at once; many queues are short, and a file has 6 MB."""

_UNIT: Final = Struct(layouts.format_of(layouts.QUEUE_UNIT))
_BATCH_UNIT: Final = Struct(layouts.format_of(layouts.BATCH_UNIT))
_PRE_BLANK: Final = _UNIT.pack(0, PRE_BLANK_SIZE, 0)

Topic: TypeAlias = "tuple[str, int]"
"""Topic and queue id."""

QueueReader: TypeAlias = "Callable[[Topic, int, int, int], bytes]"
"""Reads a file of a queue: topic and queue, offset of the file, position, size.

Zeros at the end may be left out: most of a queue's file is a hole.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredQueue:
    """A queue after the start.

    Attributes:
        min_offset: first queue offset that the broker serves.
        max_offset: queue offset after the last one.
        deleted_files: offsets of files that are deleted.
        cut_units: valid units that are given up.
        added_units: units that are put into the queue for messages of the log.
        pre_blank_units: units that stand for offsets that the queue never had.
    """

    min_offset: int
    max_offset: int
    deleted_files: tuple[int, ...] = ()
    cut_units: int = 0
    added_units: int = 0
    pre_blank_units: int = 0


class RefusedError(Exception):
    """The broker does not start."""


class MappedFiles:
    """A stream of mapped files (Java: ``MappedFileQueue``).

    Most files are full, and a store has 100,000 queues: only the ends of other files are kept.
    """

    __slots__ = ("_deleted", "_ends", "_names", "offsets", "size")

    def __init__(self, offsets: list[int], size: int) -> None:
        self.offsets = offsets
        self.size = size
        self._ends: tuple[tuple[int, int], ...] = ()
        self._deleted: list[int] | None = None
        self._names: frozenset[int] | None = None

    @property
    def first(self) -> int | None:
        return self.offsets[0] if self.offsets else None

    @property
    def last(self) -> int | None:
        return self.offsets[-1] if self.offsets else None

    @property
    def end(self) -> int:
        return self.offsets[-1] + self.written(self.offsets[-1]) if self.offsets else 0

    @property
    def total(self) -> int:
        """Bytes that are written in all files."""
        return sum(map(self.written, self.offsets))

    @property
    def deleted(self) -> list[int]:
        """Offsets of the files that were deleted."""
        return self._deleted or []

    def written(self, file: int) -> int:
        """Up to where a file is written."""
        for each, end in self._ends:
            if each == file:
                return end
        return self.size

    def write_to(self, file: int, end: int) -> None:
        """Set up to where a file is written."""
        self._forget(file)
        if end != self.size:
            self._ends += ((file, end),)

    def _forget(self, file: int) -> None:
        self._ends = tuple(each for each in self._ends if each[0] != file)

    def file_of(self, offset: int, *, or_first: bool = False) -> int | None:
        """Java: ``MappedFileQueue.findMappedFileByOffset``."""
        if self.offsets and self.offsets[0] <= offset < self.offsets[-1] + self.size:
            aligned = offset - offset % self.size
            if self._names is None:
                self._names = frozenset(self.offsets)
            if aligned in self._names:
                return aligned
            for file in self.offsets:
                if file <= offset < file + self.size:
                    return file
        return self.first if or_first else None

    def truncate(self, offset: int) -> None:
        """Java: ``MappedFileQueue.truncateDirtyFiles``."""
        for file in self.offsets:
            if file <= offset < file + self.size:
                self.write_to(file, offset % self.size)
        behind = [file for file in self.offsets if file > offset]
        if behind:
            self.offsets = [file for file in self.offsets if file <= offset]
            self._ends = tuple(each for each in self._ends if each[0] <= offset)
            self._deleted = self.deleted + behind
            self._names = None

    def add(self, file: int) -> None:
        """Add an empty file behind the others."""
        self.offsets.append(file)
        self.write_to(file, 0)
        self._names = None

    def remove_last(self) -> None:
        """Delete the last file."""
        file = self.offsets.pop()
        self._forget(file)
        if self._deleted is None:
            self._deleted = []
        self._deleted.append(file)
        self._names = None


class BuiltQueue:
    """A plain queue (Java: ``ConsumeQueue``)."""

    __slots__ = (
        "_appended", "_cache", "_created", "_read", "added_units", "cut_units", "files",
        "max_physical_offset", "min_position", "name", "pre_blank_units",
    )  # fmt: skip
    unit_size = UNIT_SIZE

    def __init__(
        self, name: Topic, files: MappedFiles, read: QueueReader, cache: dict[object, int]
    ) -> None:
        self.name = name
        self.files = files
        self.max_physical_offset = -1
        self.min_position = 0
        self.cut_units = 0
        self.added_units = 0
        self.pre_blank_units = 0
        self._read = read
        self._cache = cache
        self._created: set[int] | None = None  # most queues have none, and a store many queues
        self._appended: dict[int, tuple[int, bytearray]] | None = None  # likewise

    # -------------------------------------------------------------- bytes

    def _bytes(self, file: int, position: int, size: int) -> bytes:
        """Bytes of a file, with what was appended; zeros where the file has none."""
        size = min(size, self.files.size - position)
        data = b"" if self._is_created(file) else self._read(self.name, file, position, size)
        data = data[:size].ljust(size, b"\0")
        appended = None if self._appended is None else self._appended.get(file)
        if appended is not None:
            start, added = appended
            end = start + len(added)
            if start < position + size and position < end:
                before = max(0, start - position)
                part = bytes(added[max(0, position - start) : position + size - start])
                data = data[:before] + part + data[before + len(part) :]
        return data

    def _is_created(self, file: int) -> bool:
        return self._created is not None and file in self._created

    def _is_changed(self, file: int) -> bool:
        return self._is_created(file) or bool(self._appended and file in self._appended)

    def _forget_appended(self, file: int) -> None:
        if self._appended is not None:
            self._appended.pop(file, None)

    def _append_bytes(self, file: int, data: bytes) -> None:
        position = self.files.written(file)
        if self._appended is None:
            self._appended = {}
        start, added = self._appended.setdefault(file, (position, bytearray()))
        del added[max(0, position - start) :]  # cut after something was appended
        if position < start:
            self._appended[file] = (position, added)
        added += data
        self.files.write_to(file, position + len(data))

    def _units(self, file: int, position: int = 0) -> Iterator[tuple[int, bytes]]:
        """Positions and bytes of runs of whole units, up to the end of what is written."""
        step, written = _CHUNK - _CHUNK % self.unit_size, self.files.written(file)
        while position < written and position + self.unit_size <= self.files.size:
            size = min(step, written - position)
            yield position, self._bytes(file, position, size + -size % self.unit_size)
            position += step

    def _runs(self, file: int, position: int) -> Iterator[tuple[int, bytes, int]]:
        """Positions and bytes of runs of whole units up to the end of a file, and their sizes.

        The size also counts zeros that the bytes leave out: most of a queue's file is a hole.
        """
        step = _FIRST_RUN - _FIRST_RUN % self.unit_size
        is_changed = self._is_changed(file)
        while position + self.unit_size <= self.files.size:
            size = min(step, self.files.size - position)
            if is_changed:
                data = self._bytes(file, position, size)
            else:
                data = self._read(self.name, file, position, size)[:size]
            whole = len(data) + -len(data) % self.unit_size
            yield position, data.ljust(min(whole, size), b"\0"), size
            position += step
            step = _RUN - _RUN % self.unit_size

    def _end_of_unit(self, file: int, position: int) -> int:
        offset, size, _ = _UNIT.unpack(self._bytes(file, position, UNIT_SIZE))
        return int(offset + size)

    def _offset_of_unit(self, file: int, position: int) -> int:
        # as many bytes as for the end of the unit, so that a reader keeps one piece for both
        return int.from_bytes(self._bytes(file, position, UNIT_SIZE)[:8], "big", signed=True)

    # -------------------------------------------------------------- recovery

    def recover(self) -> None:
        """Cut the queue at its first invalid unit (Java: ``ConsumeQueue.recover``)."""
        files = self.files
        if not files.offsets:
            return
        index = max(0, len(files.offsets) - QUEUE_FILES)
        while True:
            file = files.offsets[index]
            end = self._cached(self._end_of_valid, file)
            if end:
                self.max_physical_offset = self._end_of_unit(file, end - self.unit_size)
            if end != files.size or index + 1 == len(files.offsets):
                break
            index += 1
        self.cut_units += self._cached(self._count_valid, file, end)
        for later in files.offsets[index + 1 :]:
            self.cut_units += self._cached(self._count_valid, later, 0)
        files.truncate(file + end)

    def _cached(self, function: Callable[..., int], file: int, *arguments: int) -> int:
        """What a function finds in a file; other predictions use it again, if there is room."""
        if self._is_changed(file):
            return function(file, *arguments)
        key = (function.__name__, self.unit_size, self.name, file, *arguments)
        result = self._cache.get(key)
        if result is None:
            result = function(file, *arguments)
            if len(self._cache) < MAX_CACHED:
                self._cache[key] = result
        return result

    def _end_of_valid(self, file: int) -> int:
        """Where the first unit of a file stands that is not valid, or the end of the file."""
        end = 0
        for position, data, size in self._runs(file, 0):
            place = first_invalid(data, self.unit_size)
            end = position + place
            if place < size:
                break
        return end

    def _count_valid(self, file: int, start: int) -> int:
        count = 0
        for _, data, _ in self._runs(file, start):
            if data != bytes(len(data)):
                units = range(0, len(data) - self.unit_size + 1, self.unit_size)
                count += sum(
                    first_invalid(data[unit : unit + self.unit_size], self.unit_size) > 0
                    for unit in units
                )
        return count

    def cut_to(self, log_end: int) -> None:
        """Give up units from an offset of the log on (Java: ``truncateDirtyLogicFiles``)."""
        files = self.files
        before = files.total
        self._forget_from(log_end)
        while files.last is not None:
            file = files.last
            if self._offset_of_unit(file, 0) >= log_end:
                files.remove_last()
                self._forget_appended(file)
                continue
            end = self._cached(self._end_before, file, log_end)
            files.write_to(file, end)
            self.max_physical_offset = self._end_of_unit(file, end - self.unit_size)
            break
        self.cut_units += max(0, before - files.total) // self.unit_size

    def _end_before(self, file: int, log_end: int) -> int:
        """Where the first unit but one stands that is not valid, or points behind the log."""
        end = self.unit_size
        for position, data, size in self._runs(file, self.unit_size):
            valid = first_invalid(data, self.unit_size)
            behind = first_from(data[:valid], self.unit_size, log_end)
            if behind is not None:
                return position + behind
            end = position + valid
            if valid < size:
                break
        return end

    def _forget_from(self, log_end: int) -> None:
        self.max_physical_offset = log_end

    def destroy(self) -> None:
        """Delete the queue (Java: ``ConsumeQueue.destroy``)."""
        while self.files.last is not None:
            self.cut_units += self._count_valid(self.files.last, 0)
            self.files.remove_last()
        self.max_physical_offset = -1
        self.min_position = 0

    def correct_min_offset(self, min_physical_offset: int, release: Release) -> None:
        """Find the first unit that points into the log (Java: ``ConsumeQueue.correctMinOffset``).

        Raises:
            RefusedError: 5.3.3 fails at a last file without a unit.
        """
        if release is Release.V4_9_4:
            self._correct_min_offset_4(min_physical_offset)
            return
        files = self.files
        if self.min_position >= files.end or files.last is None or files.first is None:
            return
        written = files.written(files.last)
        if written < UNIT_SIZE and release is Release.V5_3_3:
            topic, queue_id = self.name
            raise RefusedError(
                f"the last file of consumequeue/{topic}/{queue_id} is empty,"
                " which 5.3.3 cannot read"
            )
        if written >= UNIT_SIZE:
            last_unit = self._offset_of_unit(files.last, written - UNIT_SIZE)
            if last_unit < min_physical_offset:
                self.min_position = files.last + written
                return
        self._search_min_offset(files.first, min_physical_offset)

    def _correct_min_offset_4(self, min_physical_offset: int) -> None:
        first = self.files.first
        if first is None:
            return
        for position, data in self._units(first):
            for number, (offset, _, _) in enumerate(_UNIT.iter_unpack(data)):
                if offset >= min_physical_offset:
                    self.min_position = first + position + number * UNIT_SIZE
                    return

    def _search_min_offset(self, first: int, min_physical_offset: int) -> None:
        start = self.min_position - first
        is_intact = start >= 0
        start = max(0, start)
        written = self.files.written(first)
        if is_intact and self._offset_of_unit(first, start) >= min_physical_offset:
            return
        low, high = 0, written - start - UNIT_SIZE
        while high - low > UNIT_SIZE:
            middle = (low + high) // 2 // UNIT_SIZE * UNIT_SIZE
            offset = self._offset_of_unit(first, start + middle)
            if offset > min_physical_offset:
                high = middle
            elif offset == min_physical_offset:
                low = high = middle
            else:
                low = middle
        for position in range(low, high + 1, UNIT_SIZE):
            if self._offset_of_unit(first, start + position) >= min_physical_offset:
                self.min_position = first + start + position
                return

    # -------------------------------------------------------------- building

    def put(self, record: JavaRecord, queue_offset: int) -> None:
        """Put a message into the queue (Java: ``ConsumeQueue.putMessagePositionInfo``)."""
        offset, size = record.physical_offset, record.size
        if offset + size <= self.max_physical_offset or queue_offset < 0:
            return
        expected = queue_offset * UNIT_SIZE
        is_first = not self.files.offsets
        file = self._last_file(expected)
        if is_first and queue_offset and not self.files.written(file):
            self.min_position = expected
            blanks = max(0, expected - file)
            self._append_bytes(file, _PRE_BLANK * (blanks // UNIT_SIZE))
            self.pre_blank_units += blanks // UNIT_SIZE
        if queue_offset and expected < file + self.files.written(file):
            return
        self.max_physical_offset = offset + size
        self._append_bytes(file, _UNIT.pack(offset, size, 0))
        self.added_units += 1

    def _last_file(self, expected: int) -> int:
        files = self.files
        if files.last is None:
            file = expected - expected % files.size
        elif files.written(files.last) == files.size:
            file = files.last + files.size
        else:
            return files.last
        files.add(file)
        if self._created is None:
            self._created = set()
        self._created.add(file)
        self._forget_appended(file)
        return file

    # -------------------------------------------------------------- results

    @property
    def min_offset(self) -> int:
        return self.min_position // UNIT_SIZE

    @property
    def max_offset(self) -> int:
        return self.files.end // UNIT_SIZE

    def units_served(self) -> Iterator[tuple[int, int, int]]:
        """Numbers, physical offsets and sizes of the units between both ends."""
        for file in self.files.offsets:
            for position, data in self._units(file, max(0, self.min_position - file)):
                for number, (offset, size, _) in enumerate(_UNIT.iter_unpack(data)):
                    yield (file + position) // UNIT_SIZE + number, offset, size

    def result(self) -> RecoveredQueue:
        return RecoveredQueue(
            min_offset=self.min_offset,
            max_offset=self.max_offset,
            deleted_files=tuple(sorted(self.files.deleted)),
            cut_units=self.cut_units,
            added_units=self.added_units,
            pre_blank_units=self.pre_blank_units,
        )


class BuiltBatchQueue(BuiltQueue):
    """A queue of type BatchCQ (Java: ``BatchConsumeQueue``)."""

    __slots__ = ("_min_offset",)
    unit_size = BATCH_UNIT_SIZE

    def __init__(
        self, name: Topic, files: MappedFiles, read: QueueReader, cache: dict[object, int]
    ) -> None:
        super().__init__(name, files, read, cache)
        self._min_offset = -1

    def _end_of_unit(self, file: int, position: int) -> int:
        # Java keeps the offset of the last batch here, and not its end
        return self._offset_of_unit(file, position)

    def _forget_from(self, log_end: int) -> None:
        self.max_physical_offset = log_end - 1

    def units_served(self) -> Iterator[tuple[int, int, int]]:
        """First queue offsets, physical offsets and sizes of the batches."""
        for offset, size, _, _, base, count, _, _ in self._batches():
            if base + count > self._min_offset:
                yield base, offset, size

    @property
    def is_in_order(self) -> bool:
        """Whether no batch begins before the end of another, as Java takes for granted."""
        end = -1
        for _, _, _, _, base, count, _, _ in self._batches():
            if base < end:
                return False
            end = base + count
        return True

    def _batches(self) -> Iterator[tuple[int, ...]]:
        for file in self.files.offsets:
            for position in range(0, self.files.written(file), BATCH_UNIT_SIZE):
                yield _BATCH_UNIT.unpack(self._bytes(file, position, BATCH_UNIT_SIZE))

    def _bounds(self, file: int, position: int) -> tuple[int, int]:
        unit = _BATCH_UNIT.unpack(self._bytes(file, position, BATCH_UNIT_SIZE))
        _, _, _, _, base, count, _, _ = unit
        return base, base + count

    def correct_min_offset(self, min_physical_offset: int, release: Release) -> None:
        """Java: ``BatchConsumeQueue.correctMinOffset``."""
        first = self.files.first
        if first is None or self.files.written(first) < BATCH_UNIT_SIZE:
            return
        self._min_offset, _ = self._bounds(first, 0)
        for position in range(0, self.files.written(first), BATCH_UNIT_SIZE):
            if self._offset_of_unit(first, position) >= min_physical_offset:
                return
            _, self._min_offset = self._bounds(first, position)

    def put(self, record: JavaRecord, queue_offset: int) -> None:
        """Java: ``BatchConsumeQueue.putBatchMessagePositionInfo``."""
        if record.physical_offset <= self.max_physical_offset:
            return
        values = decode_properties(decode_utf8(record.properties))
        base = values.get(message_const.INNER_BASE)
        count = values.get(message_const.INNER_NUM)
        has_both = base is not None and count is not None
        first, messages = (int(base or 0), int(count or 0)) if has_both else (queue_offset, 1)
        if first < 0 or messages < 0:
            return
        unit = _BATCH_UNIT.pack(
            record.physical_offset, record.size, 0, record.store_timestamp, first, messages, -1, 0
        )
        self._append_bytes(self._last_file(self.files.end), unit)
        self.max_physical_offset = record.physical_offset
        self.added_units += 1

    @property
    def min_offset(self) -> int:
        return max(0, self._min_offset)

    @property
    def max_offset(self) -> int:
        last = self.files.last
        if last is None or not self.files.written(last):
            return 0
        return self._bounds(last, self.files.written(last) - BATCH_UNIT_SIZE)[1]
