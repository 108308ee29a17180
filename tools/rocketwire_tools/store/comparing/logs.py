"""The logs of two stores, compared by content.

Bytes are compared in blocks where both logs have them; messages are decoded only where bytes differ
or where one log has none.  A log ends with its last message: the zeros and old bytes after that are
no part of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.store.folder import file_at
from rocketwire.wire.checksum import crc32
from rocketwire_tools.store.comparing.differences import Place, StoreDifference
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.engine.rows import COLUMNS
from rocketwire_tools.store.engine.scan import LogScan, State
from rocketwire_tools.store.lookup import StoredBytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.comparing.differences import Offsets

BLOCK_SIZE: Final = 4 << 20
MAX_RANGES: Final = 10_000
"""Ranges of different bytes that are kept apart; more are joined to the last one."""

_COLUMNS: Final = tuple(name for name in COLUMNS if name not in {"file", "state", "crc_ok"})


class Log:
    """The log of a store, up to its last message.

    Attributes:
        files: by offset.
        is_dledger: whether entries of DLedger hold the messages.
        start: offset of the first byte.
        end: offset after the last message.
    """

    def __init__(self, files: Sequence[StoreFile], *, is_dledger: bool = False) -> None:
        self.files = files
        self.is_dledger = is_dledger
        self.start = files[0].offset if files else 0
        self.end = self.start
        for file in reversed(files):
            for block in LogScan(files=[file], is_dledger=is_dledger):
                if block.state is not State.GHOST:
                    messages = block.messages
                    self.end = block.base + int(messages.positions[-1] + messages.sizes[-1])
            if self.end > self.start:
                break

    def ranges(self) -> list[Offsets]:
        """The offsets that the files have."""
        ranges: list[Offsets] = []
        for file in self.files:
            start, end = file.offset, min(file.end, self.end)
            if ranges and ranges[-1][1] == start:
                start = ranges.pop()[0]
            if start < end:
                ranges.append((start, end))
        return ranges

    def messages(self, ranges: Sequence[Offsets]) -> Iterator[StoredBytes]:
        """Messages that have a byte in one of ``ranges``, which are in order."""
        starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
        for file in self.files:
            last = bisect_right(starts, min(file.end, self.end) - 1) - 1
            if last < 0 or ends[last] <= file.offset:
                continue
            for block in LogScan(files=[file], is_dledger=self.is_dledger, stop=ends[last]):
                if block.state is State.GHOST:
                    continue
                begins = block.messages.positions + block.base
                next_starts = np.append(starts, self.end)[np.searchsorted(ends, begins, "right")]
                is_in = next_starts < begins + block.messages.sizes
                for row in np.flatnonzero(is_in).tolist():
                    position = int(block.messages.positions[row])
                    data = bytes(block.view[position : position + int(block.messages.sizes[row])])
                    offset = block.base + position
                    place = offset - file.offset
                    yield StoredBytes(file, place, offset, data, block.state, "scan of the log")

    def place(self, offset: int) -> Place | None:
        """Where an offset stands."""
        file = file_at(self.files, offset)
        return None if file is None else Place(file.name, offset - file.offset)


class LogComparison:
    """Two logs, compared; iterate over it once, then read the attributes.

    Attributes:
        a, b: the logs.
        compared: bytes that both have.
        first_difference: offset of the first byte of these that differs; None if none does.
        more_in_a, more_in_b: messages that one log has after the end of the other.
    """

    def __init__(
        self, a: Log, b: Log, *, is_common: bool = False, described: int | None = None
    ) -> None:
        """Compare nothing yet.

        Args:
            a: the first log.
            b: the second log.
            is_common: leave out offsets that only one log has.
            described: messages whose differences are named; the others only have their offset,
                which takes a hundredth of the time.  None for all.
        """
        self.a = a
        self.b = b
        self.compared = 0
        self.first_difference: int | None = None
        self.more_in_a = 0
        self.more_in_b = 0
        self._is_common = is_common
        self._described = described

    def __iter__(self) -> Iterator[StoreDifference]:
        if not self._is_common:
            for (start, end), count in self._in_one_log(self.a, self.b):
                if start >= self.b.end > self.b.start:
                    self.more_in_a += count
                else:
                    yield StoreDifference(
                        part="log",
                        name=f"offsets {start} to {end - 1}",
                        rule="only A has files for these offsets",
                        a=f"{count} messages",
                        place_a=self.a.place(start),
                    )
            for (start, end), count in self._in_one_log(self.b, self.a):
                if start >= self.a.end > self.a.start:
                    self.more_in_b += count
                else:
                    yield StoreDifference(
                        part="log",
                        name=f"offsets {start} to {end - 1}",
                        rule="only B has files for these offsets",
                        b=f"{count} messages",
                        place_b=self.b.place(start),
                    )
        ranges = self._different_ranges()
        if ranges:
            self.first_difference = ranges[0][0]
            yield from self._different_messages(ranges)

    def _in_one_log(self, log: Log, other: Log) -> Iterator[tuple[Offsets, int]]:
        """Offsets of ``log`` that ``other`` does not have, and how many messages stand there."""
        ranges = list(_subtract(log.ranges(), other.ranges()))
        starts = [start for start, _ in ranges]
        counts = Counter(
            max(bisect_right(starts, message.physical_offset) - 1, 0)
            for message in log.messages(ranges)
        )
        for number, count in sorted(counts.items()):
            yield ranges[number], count

    def _different_ranges(self) -> list[Offsets]:
        """Offsets of the bytes that differ, from the first to the last one of each block."""
        ranges: list[Offsets] = []
        ends = [file.end for file in self.b.files]
        for file_a in self.a.files:
            for index in range(bisect_right(ends, file_a.offset), len(ends)):
                file_b = self.b.files[index]
                if file_b.offset >= file_a.end:
                    break
                start = max(file_a.offset, file_b.offset)
                end = min(file_a.end, file_b.end, self.a.end, self.b.end)
                if start >= end:
                    continue
                self.compared += end - start
                for first, last in _different_bytes(file_a, file_b, start, end):
                    is_next = ranges and (ranges[-1][1] == first or len(ranges) >= MAX_RANGES)
                    ranges.append((ranges.pop()[0] if is_next else first, last))
        return ranges

    def _different_messages(self, ranges: Sequence[Offsets]) -> Iterator[StoreDifference]:
        starts, explained, count = [start for start, _ in ranges], set[int](), 0
        end = min(self.a.end, self.b.end)
        for a, b in _joined(self.a.messages(ranges), self.b.messages(ranges)):
            message = a if a is not None else b
            if message is None or (a is not None and b is not None and a.data == b.data):
                continue
            last = message.physical_offset + len(message.data)
            explained.update(
                range(
                    max(bisect_right(starts, message.physical_offset) - 1, 0),
                    bisect_right(starts, last - 1),
                )
            )
            count += 1
            if self._described is None or count <= self._described:
                yield _message_difference(a, b)
            else:
                name = f"message at {message.physical_offset}"
                yield StoreDifference(part="log", name=name, rule="the messages differ")
        for number, (start, stop) in enumerate(ranges):
            if number not in explained and start < end:
                yield StoreDifference(
                    part="log",
                    name=f"offsets {start} to {stop - 1}",
                    rule="bytes that are no message differ",
                    place_a=self.a.place(start),
                    place_b=self.b.place(start),
                )


def _subtract(ranges: Sequence[Offsets], others: Sequence[Offsets]) -> Iterator[Offsets]:
    """The offsets of ``ranges`` that are not in ``others``; both are in order."""
    ends = [end for _, end in others]
    for start, end in ranges:
        for index in range(bisect_right(ends, start), len(ends)):
            other_start, other_end = others[index]
            if other_start >= end:
                break
            if start < other_start:
                yield start, other_start
            start = other_end
        if start < end:
            yield start, end


def _different_bytes(a: StoreFile, b: StoreFile, start: int, end: int) -> Iterator[Offsets]:
    with (
        open_blocks(a, block_size=BLOCK_SIZE) as in_a,
        open_blocks(b, block_size=BLOCK_SIZE) as in_b,
    ):
        for offset in range(start, end, BLOCK_SIZE):
            size = min(BLOCK_SIZE, end - offset)
            data_a = np.frombuffer(in_a.read(offset - a.offset, size), np.uint8)
            data_b = np.frombuffer(in_b.read(offset - b.offset, size), np.uint8)
            if len(data_a) == len(data_b) and np.array_equal(data_a, data_b):
                continue
            least = min(len(data_a), len(data_b))
            places = np.flatnonzero(data_a[:least] != data_b[:least])
            if len(places):
                yield offset + int(places[0]), offset + int(places[-1]) + 1


def _joined(
    a: Iterator[StoredBytes], b: Iterator[StoredBytes]
) -> Iterator[tuple[StoredBytes | None, StoredBytes | None]]:
    """Messages of two logs in pairs of one physical offset; None where one log has none."""
    in_a, in_b = next(a, None), next(b, None)
    while in_a is not None or in_b is not None:
        if in_b is None or (in_a is not None and in_a.physical_offset < in_b.physical_offset):
            yield in_a, None
            in_a = next(a, None)
        elif in_a is None or in_b.physical_offset < in_a.physical_offset:
            yield None, in_b
            in_b = next(b, None)
        else:
            yield in_a, in_b
            in_a, in_b = next(a, None), next(b, None)


def _message_difference(a: StoredBytes | None, b: StoredBytes | None) -> StoreDifference:
    values_a, values_b = _values(a), _values(b)
    if a is None or b is None:
        rule = f"only {'A' if b is None else 'B'} has a message here"
    else:
        names = [name for name in _COLUMNS if values_a[name] != values_b[name]]
        rule = f"the messages differ in {', '.join(names) or 'their bytes'}"
    values = values_a or values_b
    return StoreDifference(
        part="log",
        name="{topic}:{queue_id}:{queue_offset} at {physical_offset}".format(**values),
        rule=rule,
        a=_shown(values_a, values_b),
        b=_shown(values_b, values_a),
        place_a=None if a is None else Place(a.file.name, a.position),
        place_b=None if b is None else Place(b.file.name, b.position),
    )


def _values(message: StoredBytes | None) -> dict[str, Any]:
    if message is None:
        return {}
    rows = message.rows()
    columns = {name: rows.column(name) for name in _COLUMNS}
    return {
        name: (column.tolist() if isinstance(column, np.ndarray) else column)[0]
        for name, column in columns.items()
    }


def _shown(values: dict[str, Any], others: dict[str, Any]) -> dict[str, Any] | None:
    """The values that the other message does not have; a few if there is no other message."""
    if not values:
        return None
    if not others:
        return {name: values[name] for name in ("uniq_key", "tags", "body_length")}
    shown = {name: value for name, value in values.items() if value != others[name]}
    if "properties" in shown:
        shown["properties"] = dict(shown["properties"].items() - others["properties"].items())
    if shown.get("body") is not None:
        shown["body"] = f"{len(shown['body'])} bytes with checksum {crc32(shown['body']):#010x}"
    return shown
