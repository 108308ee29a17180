"""Finds the stores of a read, and cuts their logs into parts that begin at a message.

Rules of this file: parts give the rows of one pass through the log, wherever it is cut.  A cut is
certain in one of two ways.  A unit of a consume queue points to the message: then it is part of the
log, for Java cuts queues with the log.  Or ``survey`` has read everything before it.
"""

from __future__ import annotations

import glob
import os
from bisect import bisect_left
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketwire.policy.resource_names import LMQ_PREFIX
from rocketwire.store import consume_queue
from rocketwire.store.folder import files_between, may_hold_records, offset_of_name
from rocketwire_tools.spark.option_values import OptionError, local
from rocketwire_tools.spark.sizing import part_size
from rocketwire_tools.store.engine.blocks import BLOCK_SIZE
from rocketwire_tools.store.engine.scan import LogScan, LogTrail, State
from rocketwire_tools.store.lookup import at_physical_offset, queue_unit
from rocketwire_tools.store.opened import NoStoreError, OpenedStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.spark.stores.options import Settings
    from rocketwire_tools.store.lookup import StoredBytes

    Queue = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    store: str  # path of the store
    files: tuple[StoreFile, ...]  # of the log, by offset; those that the part needs
    start: int  # offset of its first record
    stop: int  # offset of the first record after it
    state: State = State.LIVE  # of the message at ``start``
    newest: int = 0  # last store timestamp of the messages before it

    @property
    def whole_size(self) -> int:
        return self.stop - self.start


def scan_of(part: LogPart, *, block_size: int) -> LogScan:
    scan = LogScan(files=part.files, block_size=block_size, start=part.start, stop=part.stop)
    scan.resume(part.state, LogTrail(part.newest))
    return scan


def parts_between(starts: Sequence[LogPart], stop: int) -> list[LogPart]:
    stops = [part.start for part in starts[1:]] + [stop]
    return [
        replace(part, stop=end, files=tuple(files_between(part.files, part.start, end)))
        for part, end in zip(starts, stops, strict=True)
        if part.start < end
    ]


SMALLEST_PART: Final = 64 << 20
LARGEST_PART: Final = 128 << 20
MAX_PARTS: Final = 100_000  # Maximum parts of one store
_CUTTING_QUEUES: Final = 8  # Queues in which cuts are looked for: those with the most units
_MARGIN: Final = 60_000
"""Milliseconds by which store timestamps may go back, where parts are left out by time."""
_NEVER: Final = 1 << 63


class DamageError(Exception):
    """A store is damaged, and ``mode`` is ``FAILFAST``."""


def stores(paths: Iterable[str]) -> dict[str, list[Path]]:
    """Return the stores of a read: the path of each, and what to open.

    Args:
        paths: of stores, of folders that hold stores, or of files of commit logs; or patterns.
            Files of one folder are one store.
    """
    paths_by_store: dict[str, list[Path]] = {}
    for pattern in paths:
        path = os.path.abspath(local(pattern))
        matches = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
        if not matches:
            raise FileNotFoundError(f"{pattern}: there is no such file or folder")
        for match in map(Path, matches):
            is_log_file = match.is_file() and offset_of_name(match.name) is not None
            files = paths_by_store.setdefault(str(match.parent if is_log_file else match), [])
            files += [match] if match not in files else []
    return paths_by_store


def open_stores(settings: Settings) -> dict[str, OpenedStore]:
    result: dict[str, OpenedStore] = {}
    for name, paths in stores(settings.paths).items():
        below: dict[str, OpenedStore] = {}
        if paths == [Path(name)] and os.path.isdir(name) and not may_hold_records(Path(name)):
            below = _stores_below(Path(name))
        try:
            result |= below or {name: OpenedStore(paths)}
        except NoStoreError:
            below = _stores_below(Path(name)) if os.path.isdir(name) else {}
            if not below:
                raise
            result |= below
    if settings.mode == "failfast":
        for name, store in result.items():
            for folder, reason in store.unread.items():
                raise DamageError(f"{name}: {folder} is not read: {reason}")
    return result


def _stores_below(folder: Path) -> dict[str, OpenedStore]:
    below: dict[str, OpenedStore] = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            try:
                below[str(path)] = OpenedStore([path])
            except NoStoreError:
                continue
    return below


def parts(settings: Settings, fields: Sequence[str]) -> list[LogPart]:
    opened = open_stores(settings)
    files = [str(file.path) for store in opened.values() for file in store.folder.commit_log]
    size = part_size(files, settings.split_size, smallest=SMALLEST_PART, largest=LARGEST_PART)
    planned: list[LogPart] = []
    for name, store in opened.items():
        if settings.mode == "failfast":
            _refuse_gaps(store.folder.commit_log)
        if store.folder.commit_log:
            plan = _Plan(name, store, settings, size)
            planned += plan.parts(needs_state=settings.ghosts or "state" in fields)
    return planned


@dataclass(frozen=True, slots=True)
class Survey:
    parts: list[LogPart]  # of the log
    times: list[tuple[int, int]]  # first and last store timestamp in each part
    end: int  # offset after the last message of the log


def survey(log: LogPart, size: int) -> Survey:
    starts, times, end, newest = [log], [(1 << 63, 0)], log.start, log.newest
    scan = scan_of(log, block_size=min(size, BLOCK_SIZE))
    for block in scan:
        if block.base - starts[-1].start >= size:
            starts.append(replace(log, start=block.base, state=block.state, newest=newest))
            times.append((1 << 63, 0))
        stamps = block.messages.numbers("store_timestamp")
        times[-1] = min(times[-1][0], int(stamps.min())), max(times[-1][1], int(stamps.max()))
        if block.state is not State.GHOST:
            newest = scan.trail.newest
            end = block.base + int(block.messages.positions[-1] + block.messages.sizes[-1])
    return Survey(parts_between(starts, log.stop), times, end)


class _Plan:
    def __init__(self, name: str, store: OpenedStore, settings: Settings, size: int) -> None:
        files = tuple(store.scans()[0].files)
        log = LogPart(store=name, files=files, start=files[0].offset, stop=files[-1].end)
        self._store = store
        self._log = log
        self._settings = settings
        self._size = size
        self._is_in_use = store.is_in_use()
        count = log.whole_size // size
        if count > MAX_PARTS:  # probably megabytes were meant
            message = f"{size} bytes make {count} parts of {log.store}"
            raise OptionError(f"option 'splitSize': {message}; {MAX_PARTS} are the most")

    def parts(self, *, needs_state: bool) -> list[LogPart]:
        log = self._log
        if log.whole_size <= self._size and not self._is_in_use:
            planned = [log]
        else:
            cut = None if needs_state else self._cut_by_queues()
            planned = self._cut_by_survey() if cut is None else cut
        first, last = self._settings.physical
        return [
            part
            for part in planned
            if (first is None or part.stop > first) and (last is None or part.start <= last)
        ]

    def _cut_by_survey(self) -> list[LogPart]:
        result = survey(self._log, self._size)
        *others, last = result.parts
        if self._is_in_use:
            last = replace(last, stop=result.end)
        return [
            part
            for part, (first, newest) in zip([*others, last], result.times, strict=True)
            if self._time_can_pass(first, newest)
        ]

    def _cut_by_queues(self) -> list[LogPart] | None:
        """Parts that begin where units of queues point to; None if the queues do not suffice.

        Store timestamps go up, from part to part too, or a survey has to find out why not.
        """
        log = self._log
        files = self._store.folder.queues
        names = [name for name in files if not name[0].startswith(LMQ_PREFIX)]
        longest = nlargest(
            _CUTTING_QUEUES, names, key=lambda name: sum(f.size for f in files[name])
        )
        starts = [log]
        times = [_store_time(at_physical_offset(self._store, log.start, ""))]
        while starts[-1].start + self._size < log.stop:
            message = self._first_message(longest, starts[-1].start + self._size)
            if message is None:
                break
            newest = _store_time(message)
            if newest < times[-1]:
                return None
            times.append(newest)
            starts.append(replace(log, start=message.physical_offset, newest=newest))
        if len(starts) == 1:
            return None
        stop = survey(starts[-1], self._size).end if self._is_in_use else log.stop
        ends = [*times[1:], _NEVER]
        return [
            part
            for part, first, end in zip(parts_between(starts, stop), times, ends, strict=True)
            if self._time_can_pass(first - _MARGIN, end + _MARGIN)
        ]

    def _first_message(self, queues: Iterable[Queue], offset: int) -> StoredBytes | None:
        messages = [self._message_of(queue, offset) for queue in queues]
        return min(
            (message for message in messages if message is not None),
            key=lambda message: message.physical_offset,
            default=None,
        )

    def _message_of(self, queue: Queue, offset: int) -> StoredBytes | None:
        files = self._store.folder.queues[queue]
        numbers = range(
            files[0].offset // consume_queue.UNIT_SIZE, files[-1].end // consume_queue.UNIT_SIZE
        )

        def place_of(number: int) -> int:
            unit = queue_unit(self._store, *queue, number)
            return _NEVER if unit is None else unit.physical_offset

        index = bisect_left(numbers, offset, key=place_of)
        if index == len(numbers):
            return None
        message = at_physical_offset(self._store, place_of(numbers[index]), "consume queue")
        if message is None:
            return None
        rows = message.rows()
        is_it = (
            rows.column("topic")[0] == queue[0]
            and int(rows.column("queue_id")[0]) == queue[1]
            and int(rows.column("queue_offset")[0]) == numbers[index]
        )
        return message if is_it else None

    def _time_can_pass(self, first: int, last: int) -> bool:
        settings = self._settings
        return not (settings.begin is not None and last < settings.begin) and not (
            settings.end is not None and first > settings.end
        )


def _store_time(message: StoredBytes | None) -> int:
    """Store timestamp of a message, milliseconds since 1970; 0 without one."""
    return 0 if message is None else int(message.rows().column("store_timestamp")[0])


def _refuse_gaps(files: Sequence[StoreFile]) -> None:
    for before, after in pairwise(files):
        if before.end != after.offset:
            raise DamageError(f"{before.path}: the next file, {before.end:020d}, is missing")
    if files and not files[-1].size:
        raise DamageError(f"{files[-1].path}: the file is empty")
