"""A commit log read from its first file to its last, across damage.

Java stops at the first record that is no message, and gives up everything after it.  Here the
search goes on: the next message is where sizes, physical offset and checksum hold next.
Messages after damage are either saved (they belong to the log) or ghosts (old bytes that stay in a
file after Java has cut a log and written on); ``LogTrail`` decides.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.flags import MessageSysFlag
from rocketwire.store import commit_log
from rocketwire.wire.layouts.declarations import MAGIC_V1, MAGIC_V2
from rocketwire_tools.store.engine.blocks import BLOCK_SIZE, FileBlocks, open_blocks
from rocketwire_tools.store.engine.columns import Messages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire.store.folder import StoreFile


REMEMBERED: Final = 256  # last messages of the log whose queue offsets are compared
COMPARED: Final = 16  # first messages after damage that are compared
_TIMES: Final = 3
_REPEATS: Final = 2  # messages that must repeat an offset: a single number may be damaged
_WITHOUT_OFFSET: Final = int(MessageSysFlag.TRANSACTION_PREPARED)
"""Bit of the system flag of half messages and rollbacks, to which Java gives no queue offset."""

_QueuePosition = tuple[bytes, int, int]


@dataclass(slots=True)
class LogTrail:
    """The last messages of a log, to compare with those after damage.

    A file keeps its old bytes when Java cuts a log and writes on.  Two marks show them:

    * they were stored before the last message of the log.  The median of three times decides, so
      that one odd time (a bit that flipped, a clock that was wrong for a moment) decides nothing;
    * they repeat queue offsets.  Java numbers the messages that it writes after a cut as it
      numbered the old ones, so this mark holds too where the clock of the broker was set back.
    """

    newest: int = 0  # store timestamp of the last one, milliseconds since 1970
    # topic, queue id and queue offset of the last ones
    positions: deque[_QueuePosition] = field(
        default_factory=lambda: deque[_QueuePosition](maxlen=REMEMBERED)
    )

    def follow(self, messages: Messages) -> None:
        self.newest = int(messages.heads["store_timestamp"][-1])
        self.positions.extend(_queue_positions(messages, max(0, len(messages) - REMEMBERED)))

    def are_ghosts(self, messages: Messages) -> bool:
        times = sorted(messages.numbers("store_timestamp")[:_TIMES].tolist())
        if times[len(times) // 2] < self.newest:
            return True
        last = {(topic, queue): offset for topic, queue, offset in self.positions}
        repeats = [
            offset <= last[topic, queue]
            for topic, queue, offset in _queue_positions(messages, 0)
            if (topic, queue) in last
        ]
        return sum(repeats) >= min(_REPEATS, max(1, len(repeats)))


def _queue_positions(messages: Messages, first: int) -> list[_QueuePosition]:
    heads = messages.heads[first:]
    starts = messages.topics[first:]
    ends = (starts + messages.topic_sizes[first:]).tolist()
    topics = [
        messages.data[start:end].tobytes() for start, end in zip(starts.tolist(), ends, strict=True)
    ]
    columns = zip(
        topics,
        heads["queue_id"].tolist(),
        heads["queue_offset"].tolist(),
        heads["sys_flag"].tolist(),
        strict=True,
    )
    return [
        (topic, queue, offset)
        for topic, queue, offset, flag in columns
        if not flag & _WITHOUT_OFFSET
    ]


MAX_REGIONS: Final = 100_000  # regions that are kept; more are only counted
SEARCH_EFFORT: Final = 16
"""Bytes of possible messages that are checked after damage, for each byte of a file.

A hostile file can name any number of messages that overlap; the rest of it then counts as damage.
"""

EMPTY_FILE: Final = "the file is empty"  # reason of a region that is a last file without a byte
_HEAD_SIZE: Final = 8
_COMPARED: Final = 64 << 10  # bytes that are read a second time before they count as damage
_FIRST: Final = 256 << 10  # bytes after damage in which messages are compared with earlier ones


class State(StrEnum):
    LIVE = "live"
    SAVED = "saved"
    """After damage; the log continues here, and Java does not find it."""
    GHOST = "ghost"
    """Older bytes after the end of the log; it is no part of the log."""


class RegionKind(StrEnum):
    BLANK = "blank"
    END = "end"
    HOLE = "hole"
    DAMAGE = "damage"
    GAP = "gap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    kind: RegionKind  # what they are
    start: int  # offset in the stream of the first one
    end: int  # offset of the byte after the last one
    file: str  # name of the file
    position: int  # of the first one in that file
    reason: str = ""  # the rule that the bytes break

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def is_damage(self) -> bool:
        return self.kind in (RegionKind.HOLE, RegionKind.DAMAGE, RegionKind.GAP)


@dataclass
class Block:
    file: StoreFile  # in which they stand
    base: int  # offset in the stream of the first byte of ``messages.data``
    messages: Messages  # their fields; valid until the next block
    view: memoryview  # the bytes of the block
    state: State  # of all of them

    @cached_property
    def data(self) -> bytes:
        return bytes(self.view)


@dataclass(slots=True, kw_only=True)
class LogScan:
    files: Sequence[StoreFile]  # of the log, by offset
    max_message_size: int = commit_log.MAX_MESSAGE_SIZE  # a longer message counts as damage
    # gets the offsets of what the disk cannot read, from start to end, which is then damage;
    # without it the pass ends with an ``OSError``
    unreadable: list[tuple[int, int]] | None = None
    block_size: int = BLOCK_SIZE
    start: int = 0  # offset in the stream at which to begin; it must be that of a message
    stop: int = 1 << 63  # no message from this offset on
    regions: list[Region] = field(default_factory=list[Region])  # what is no message, in order
    regions_left_out: int = 0  # regions beyond ``MAX_REGIONS``
    trail: LogTrail = field(default_factory=LogTrail)  # the last messages, without ghosts
    end: int = 0  # offset after the last message so far
    _effort: int = 0
    _position: int = 0
    _state: State = State.LIVE
    # numbers of the regions since the last message that look like the end of the log
    _ends: list[int] = field(default_factory=list[int], init=False)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def resume(self, state: State, trail: LogTrail) -> None:
        """Begin as after all before ``start``; ``state`` is that of the message there."""
        self._state, self.trail = state, trail

    @property
    def damaged_regions(self) -> int:
        return self.regions_left_out + sum(region.is_damage for region in self.regions)

    @property
    def damaged_bytes(self) -> int:
        return sum(region.size for region in self.regions if region.is_damage)

    @property
    def is_damaged(self) -> bool:
        return self.damaged_regions > 0

    def __iter__(self) -> Iterator[Block]:
        previous: StoreFile | None = None
        for file in self.files:
            if file.end <= self.start or file.offset >= self.stop:
                continue
            if previous is not None and file.offset > previous.end:
                self._add(RegionKind.GAP, previous, previous.size, file.offset - previous.offset)
                self._state = State.LIVE if self._state is State.GHOST else self._state
            self._effort = SEARCH_EFFORT * file.size
            try:
                with open_blocks(file, block_size=self.block_size) as blocks:
                    if self._ends and blocks.next_data(0) < file.size:
                        yield from self._read_again()
                    if self._ends or (previous is not None and self._state is State.GHOST):
                        self._continue_at(blocks, 0)
                    yield from self._file(blocks, max(0, self.start - file.offset))
            except OSError as error:
                if isinstance(error, FileNotFoundError) and self._is_expired(file):
                    if self.unreadable is not None:
                        self.unreadable.append((file.offset, file.end))
                    previous = None
                    continue
                if self.unreadable is None:
                    raise
                self.unreadable.append((file.offset + self._position, file.end))
                reason = f"the file cannot be read from here on: {error.strerror}"
                self._add(RegionKind.DAMAGE, file, self._position, file.size, reason)
            previous = file
        self._see_empty_end()

    def _see_empty_end(self) -> None:
        """Note that the last file was cut to nothing: what it had is lost.

        4.9.4 does not start with it, and later releases delete it (``MappedFileQueue.doLoad``).
        """
        file = self.files[-1] if self.files else None
        if file is not None and not file.size and self.start <= file.offset <= self.stop:
            self._add(RegionKind.DAMAGE, file, 0, 0, EMPTY_FILE)

    def _is_expired(self, file: StoreFile) -> bool:
        """Whether a broker has deleted a file meanwhile: it deletes them from the first on."""
        return not any(each.path.exists() for each in self.files if each.offset <= file.offset)

    # -------------------------------------------------------------- one file

    def _file(self, blocks: FileBlocks, position: int) -> Iterator[Block]:
        file = blocks.file
        while position < file.size and file.offset + position < self.stop:
            self._position = position
            bytes_to_stop = max(_HEAD_SIZE, self.stop - file.offset - position)
            view = blocks.read(position, min(self.block_size, bytes_to_stop))
            block, length = self._walk(file, position, view)
            needed = 0 if length else self._message_size(view)
            if needed > len(view) and position + needed <= file.size:
                view = blocks.read(position, needed)
                block, length = self._walk(file, position, view)
            if block is not None:
                yield block
            position = position + length if length else self._find_next(blocks, position, view)

    def _walk(self, file: StoreFile, position: int, view: memoryview) -> tuple[Block | None, int]:
        records, end = commit_log.walk(view, 0, len(view))
        positions = np.array(records, np.int64)
        base = file.offset + position
        if base + end > self.stop:
            positions = positions[base + positions < self.stop]
        if not len(positions):
            return None, end
        messages = Messages(np.frombuffer(view, np.uint8), positions)
        sound = messages.are_sound(base)
        if not sound.all():
            count = int(np.argmin(sound))
            if not count:
                return None, 0
            end = int(positions[count])
            messages = messages.choose(np.arange(count))
        if self._state is not State.GHOST:
            self.trail.follow(messages)
        self.end = base + int(messages.positions[-1] + messages.sizes[-1])
        return Block(file, base, messages, view, self._state), end

    def _message_size(self, view: memoryview) -> int:
        if len(view) < _HEAD_SIZE:
            return 0
        size = int.from_bytes(view[:4], "big", signed=True)
        return size if commit_log.SMALLEST_MESSAGE <= size <= self.max_message_size else 0

    # -------------------------------------------------------------- between messages

    def _find_next(self, blocks: FileBlocks, position: int, view: memoryview) -> int:
        file = blocks.file
        blank = commit_log.blank_size(view, 0)
        if blank is not None and position + blank == file.size:
            self._add(RegionKind.BLANK, file, position, file.size)
            return file.size
        is_empty = not any(view[:_HEAD_SIZE])
        reason = self._reason(view)
        start = bytes(view[:_COMPARED])
        next_position = self._next_message(blocks, position)  # reads other blocks: the view is gone
        if next_position is not None and bytes(blocks.read(position, len(start))) != start:
            return position  # a broker has written here meanwhile
        data = blocks.next_data(position)
        if next_position is None:
            kind = RegionKind.END if is_empty else RegionKind.DAMAGE
            self._add(kind, file, position, file.size, "" if is_empty else reason)
            return file.size
        kind = RegionKind.HOLE if data >= next_position or is_empty else RegionKind.DAMAGE
        self._add(kind, file, position, next_position, reason)
        self._continue_at(blocks, next_position)
        return next_position

    def _read_again(self) -> Iterator[Block]:
        number = self._ends[0]
        if len(self._ends) < len(self.regions) - number:
            return
        region = self.regions[number]
        file = next(file for file in self.files if file.offset <= region.start < file.end)
        with open_blocks(file, block_size=self.block_size) as blocks:
            if any(blocks.read(region.position, _HEAD_SIZE)):
                del self.regions[number:]
                self._ends.clear()
                yield from self._file(blocks, region.position)

    def _continue_at(self, blocks: FileBlocks, position: int) -> None:
        state = self._state_at(blocks, position)
        if state is None:
            return
        self._state = state
        if state is State.SAVED:
            for number in self._ends:  # the log does not end there
                region = self.regions[number]
                self.regions[number] = replace(region, kind=RegionKind.HOLE, reason=_ZEROS)
            self._ends.clear()

    def _state_at(self, blocks: FileBlocks, position: int) -> State | None:
        view = blocks.read(position, _FIRST)
        needed = self._message_size(view)
        if needed > len(view):
            view = blocks.read(position, needed)
        positions = commit_log.walk(view, 0, len(view))[0][:COMPARED]
        messages = Messages(np.frombuffer(view, np.uint8), np.array(positions, np.int64))
        count = int(np.argmin(np.append(messages.are_sound(blocks.file.offset + position), False)))
        if not count:
            return None
        messages = messages.choose(np.arange(count))
        return State.GHOST if self.trail.are_ghosts(messages) else State.SAVED

    def _next_message(self, blocks: FileBlocks, position: int) -> int | None:
        file = blocks.file
        start = blocks.next_data(position + 1)
        while start + commit_log.SMALLEST_MESSAGE <= file.size:
            block = bytes(blocks.read(start))
            base = file.offset + start
            for candidate in commit_log.candidates(block, 0):
                size = int.from_bytes(block[candidate : candidate + 4], "big", signed=True)
                if not commit_log.SMALLEST_MESSAGE <= size <= self.max_message_size or not _claims(
                    block, candidate, base
                ):
                    continue
                self._effort -= size
                if self._effort < 0:
                    return None
                if candidate + size > len(block) and start + len(block) < file.size:
                    data = blocks.read(start + candidate, size)
                    is_message = commit_log.is_message(data, 0, base + candidate)
                else:
                    is_message = commit_log.is_message(block, candidate, base)
                if is_message:
                    return start + candidate
            if start + len(block) >= file.size or len(block) <= _OVERLAP:
                return None
            start = max(blocks.next_data(start + len(block) - _OVERLAP), start + 1)
        return None

    def _reason(self, view: memoryview) -> str:
        if len(view) < _HEAD_SIZE:
            return f"{len(view)} bytes are left, which is no message"
        if not any(view[:_HEAD_SIZE]):
            return _ZEROS
        size = int.from_bytes(view[:4], "big", signed=True)
        magic = int.from_bytes(view[4:8], "big")
        if magic not in (MAGIC_V1, MAGIC_V2):
            return f"magic number {magic:#010x} is none of a message"
        if not size >= commit_log.SMALLEST_MESSAGE:
            return f"size {size} is too small for a message"
        if size > self.max_message_size:
            return f"size {size} is larger than {self.max_message_size}"
        parts = commit_log.message_parts(view, 0)
        if parts is None:
            return f"size {size} is not that of the fields, or reaches beyond the file"
        return f"physical offset {parts.physical_offset} is not where the message stands"

    def _add(
        self, kind: RegionKind, file: StoreFile, start: int, end: int, reason: str = ""
    ) -> None:
        if len(self.regions) >= MAX_REGIONS:
            self.regions_left_out += 1
            return
        region = Region(
            kind=kind,
            start=file.offset + start,
            end=file.offset + end,
            file=file.name,
            position=start,
            reason=reason,
        )
        if kind is RegionKind.END:
            self._ends.append(len(self.regions))
        self.regions.append(region)


_ZEROS: Final = "zeros stand where a message should begin"
_OVERLAP: Final = 48
"""Bytes that two blocks of a search share, so that one of them holds a whole head."""


def _claims(block: bytes, candidate: int, base: int) -> bool:
    offset = int.from_bytes(block[candidate + 28 : candidate + 36], "big", signed=True)
    return candidate + 36 > len(block) or offset == base + candidate
