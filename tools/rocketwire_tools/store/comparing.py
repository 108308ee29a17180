"""Two stores, compared by content: logs, queues and configuration.

Bytes are compared in blocks where both logs have them; messages are decoded only where bytes differ
or where one log has none.  A log ends with its last message: the zeros and old bytes after that are
no part of it.  Extensions, index files, timers, RocksDB and checkpoints are not compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

import numpy as np

from rocketwire.store.consume_queue import BATCH_UNIT_SIZE, PRE_BLANK_SIZE, UNIT_SIZE
from rocketwire.wire.checksum import crc32
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.engine.rows import COLUMNS
from rocketwire_tools.store.engine.scan import LogScan, State
from rocketwire_tools.store.lookup import StoredBytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.engine.columns import Bools, Bytes
    from rocketwire_tools.store.opened import OpenedStore

BLOCK_SIZE: Final = 4 << 20
UNITS_AT_ONCE: Final = 1 << 16
MAX_RANGES: Final = 10_000
"""Ranges of different bytes that are kept apart; more are joined to the last one."""

_COLUMNS: Final = tuple(name for name in COLUMNS if name not in {"file", "state", "crc_ok"})
_UNCOMPARED_MEMBERS: Final = frozenset({"dataVersion"})
"""Members of configuration files that change with each write."""

Offsets: TypeAlias = tuple[int, int]
"""First offset, and the one after the last."""


class Place(NamedTuple):
    """Where something stands: name of a file of the store, and byte in it."""

    file: str
    byte: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDifference:
    """Something that two stores do not have in common.

    Attributes:
        part: ``log``, ``queue`` or ``config``.
        name: of the message, the offsets, the queue or the setting.
        rule: how the stores differ.
        a, b: what each store has; None for nothing.
        place_a, place_b: where it stands.
    """

    part: str
    name: str
    rule: str
    a: Any = None
    b: Any = None
    place_a: Place | None = None
    place_b: Place | None = None


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
        for file in self.files:
            if file.offset <= offset < file.end:
                return Place(file.name, offset - file.offset)
        return None


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


# ------------------------------------------------------------------ queues


def queue_differences(
    a: OpenedStore, b: OpenedStore, logs: Sequence[tuple[Log, Log]]
) -> Iterator[StoreDifference]:
    """Queues that differ; units of messages that only one log has are left out.

    Args:
        a, b: the stores.
        logs: their logs.
    """
    for table_a, table_b, size in (
        (a.folder.queues, b.folder.queues, UNIT_SIZE),
        (a.folder.batch_queues, b.folder.batch_queues, BATCH_UNIT_SIZE),
    ):
        for topic, queue_id in sorted({*table_a, *table_b}):
            files_a = table_a.get((topic, queue_id), [])
            files_b = table_b.get((topic, queue_id), [])
            yield from _queue_differences(f"{topic}:{queue_id}", files_a, files_b, size, logs)


def _queue_differences(
    name: str,
    files_a: Sequence[StoreFile],
    files_b: Sequence[StoreFile],
    unit_size: int,
    logs: Sequence[tuple[Log, Log]],
) -> Iterator[StoreDifference]:
    counts: dict[str, int] = {}
    first: dict[str, StoreDifference] = {}
    for number, count in _unit_ranges([*files_a, *files_b], unit_size):
        units_a = _units(files_a, number, count, unit_size)
        units_b = _units(files_b, number, count, unit_size)
        differs = (units_a != units_b).any(1)
        if not differs.any():
            continue
        is_in_a, is_in_b = _point_to_messages(units_a), _point_to_messages(units_b)
        for rule, chosen in (
            ("units differ", differs & is_in_a & is_in_b),
            ("units are in A only", is_in_a & ~is_in_b & _are_in(units_a, [b for _, b in logs])),
            ("units are in B only", is_in_b & ~is_in_a & _are_in(units_b, [a for a, _ in logs])),
        ):
            rows = np.flatnonzero(chosen)
            if not len(rows):
                continue
            counts[rule] = counts.get(rule, 0) + len(rows)
            if rule not in first:
                row = int(rows[0])
                place = (number + row) * unit_size
                first[rule] = StoreDifference(
                    part="queue",
                    name=f"{name}:{number + row}",
                    rule=rule,
                    a=_unit(units_a[row]) if is_in_a[row] else None,
                    b=_unit(units_b[row]) if is_in_b[row] else None,
                    place_a=_place(files_a, place),
                    place_b=_place(files_b, place),
                )
    for rule, difference in first.items():
        yield StoreDifference(
            part="queue",
            name=difference.name,
            rule=f"{counts[rule]} {rule}, this is the first",
            a=difference.a,
            b=difference.b,
            place_a=difference.place_a,
            place_b=difference.place_b,
        )


def _unit_ranges(files: Sequence[StoreFile], unit_size: int) -> Iterator[tuple[int, int]]:
    """Numbers of the first unit, and counts, that together cover the data of the files once."""
    size = UNITS_AT_ONCE * unit_size
    parts: set[int] = set()
    for file in files:
        with open_blocks(file, block_size=1) as blocks:
            place = blocks.next_data(0)
            while place < file.size:
                part = (file.offset + place) // size
                parts.add(part)
                place = blocks.next_data((part + 1) * size - file.offset)
    for part in sorted(parts):
        yield part * UNITS_AT_ONCE, UNITS_AT_ONCE


def _units(files: Sequence[StoreFile], number: int, count: int, unit_size: int) -> Bytes:
    """Units as rows of bytes; zeros where no file has them."""
    data = np.zeros(count * unit_size, np.uint8)
    start = number * unit_size
    for file in files:
        begin, end = max(start, file.offset), min(start + len(data), file.end)
        if begin < end:
            with open_blocks(file, block_size=end - begin) as blocks:
                part = np.frombuffer(blocks.read(begin - file.offset), np.uint8)
                data[begin - start : begin - start + len(part)] = part
    return data.reshape(count, unit_size)


def _numbers(units: Bytes, start: int, size: int) -> Any:
    return np.ascontiguousarray(units[:, start : start + size]).view(f">i{size}")[:, 0]


def _point_to_messages(units: Bytes) -> Bools:
    sizes = _numbers(units, 8, 4)
    points: Bools = (_numbers(units, 0, 8) >= 0) & (sizes > 0) & (sizes != PRE_BLANK_SIZE)
    return points


def _are_in(units: Bytes, logs: Sequence[Log]) -> Bools:
    offsets = _numbers(units, 0, 8)
    are_in: Bools = np.zeros(len(units), np.bool_)
    for log in logs:
        are_in |= (offsets >= log.start) & (offsets < log.end)
    return are_in


def _unit(unit: Bytes) -> dict[str, int]:
    data = unit.tobytes()
    return {
        "physical_offset": int.from_bytes(data[:8], "big"),
        "size": int.from_bytes(data[8:12], "big"),
        "tags_code": int.from_bytes(data[12:20], "big", signed=True),
    }


def _place(files: Sequence[StoreFile], offset: int) -> Place | None:
    for file in files:
        if file.offset <= offset < file.end:
            return Place(file.name, offset - file.offset)
    return None


# ------------------------------------------------------------------ configuration


def config_differences(a: OpenedStore, b: OpenedStore) -> Iterator[StoreDifference]:
    """Settings, topics, groups and offsets that differ, in all JSON files of ``config``."""
    names = {name.removesuffix(".bak") for name in (*a.folder.config, *b.folder.config)}
    for name in sorted(name for name in names if "/" not in name):
        in_a, in_b = a.config(name), b.config(name)
        if in_a is None and in_b is None:
            continue
        place_a, place_b = (Place(found[1]) if found else None for found in (in_a, in_b))
        if in_a is None or in_b is None:
            yield StoreDifference(
                part="config",
                name=name,
                rule=f"only {'A' if in_b is None else 'B'} has this file",
                place_a=place_a,
                place_b=place_b,
            )
            continue
        settings_a, settings_b = dict(_settings(in_a[0])), dict(_settings(in_b[0]))
        for path in sorted({*settings_a, *settings_b}):
            values = settings_a.get(path), settings_b.get(path)
            if values[0] == values[1]:
                continue
            yield StoreDifference(
                part="config",
                name=f"{name}: {path}",
                rule="the settings differ"
                if None not in values
                else f"only {'A' if values[1] is None else 'B'} has this setting",
                a=values[0],
                b=values[1],
                place_a=place_a,
                place_b=place_b,
            )


def _settings(value: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The members that are no objects, by path; lists without their order."""
    for name, member in value.items():
        path = f"{prefix}{name}"
        if name in _UNCOMPARED_MEMBERS:
            continue
        if isinstance(member, dict):
            yield from _settings(cast("dict[str, Any]", member), f"{path}.")
        elif isinstance(member, list):
            yield path, sorted(cast("list[object]", member), key=repr)
        elif member is not None:
            yield path, member
