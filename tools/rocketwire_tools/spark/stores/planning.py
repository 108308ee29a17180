"""Finds the stores of a read, and cuts their logs into parts that begin at a message.

Rules of this file: parts give the rows of one pass through the log, wherever it is cut.  A cut is
certain in one of two ways.  A unit of a consume queue points to the message: then it is part of the
log, for Java cuts queues with the log.  Or ``survey`` has read everything before it.
"""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketwire.store.folder import may_hold_records, offset_of_name
from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.paths import local
from rocketwire_tools.spark.sizing import part_size
from rocketwire_tools.store.engine.blocks import BLOCK_SIZE
from rocketwire_tools.store.engine.scan import State
from rocketwire_tools.store.lookup import at_physical_offset
from rocketwire_tools.store.opened import NoStoreError, OpenedStore
from rocketwire_tools.store.queued.parts import LogPart, between, scan_of
from rocketwire_tools.store.queued.planning import Queues, parts_of_topics, store_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.spark.stores.options import Settings
    from rocketwire_tools.store.lookup import StoredBytes

SMALLEST_PART: Final = 64 << 20
LARGEST_PART: Final = 128 << 20
MAX_PARTS: Final = 100_000
"""Maximum parts of one store."""
_CUTTING_QUEUES: Final = 8
"""Queues in which cuts are looked for: those with the most units."""
_MARGIN: Final = 60_000
"""Milliseconds by which store timestamps may go back, where parts are left out by time."""


class DamageError(Exception):
    """A store is damaged, and ``mode`` is ``FAILFAST``."""


def stores(paths: Iterable[str], *, may_be_none: bool = False) -> dict[str, list[Path]]:
    """Return the stores of a read: the path of each, and what to open.

    Args:
        paths: of stores, of folders that hold stores, or of files of commit logs; or patterns.
            Files of one folder are one store.
        may_be_none: whether a path may match nothing yet.

    Raises:
        FileNotFoundError: a path matches nothing.
        OptionError: a path is not on this machine.
    """
    found: dict[str, list[Path]] = {}
    for pattern in paths:
        path = os.path.abspath(local(pattern))
        matches = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
        if not (matches or may_be_none):
            raise FileNotFoundError(f"{pattern}: there is no such file or folder")
        for match in map(Path, matches):
            is_log_file = match.is_file() and offset_of_name(match.name) is not None
            files = found.setdefault(str(match.parent if is_log_file else match), [])
            files += [match] if match not in files else []
    return found


def opened_stores(settings: Settings, *, may_be_none: bool = False) -> dict[str, OpenedStore]:
    """Return the stores of a read, opened.  A folder without a store holds stores.

    Args:
        settings: options.
        may_be_none: whether a path may match nothing yet.

    Raises:
        FileNotFoundError: a path matches nothing.
        NoStoreError: a path is no store and holds none.
        DamageError: the mode is ``failfast``, and a folder or file cannot be read.
    """
    result: dict[str, OpenedStore] = {}
    for name, paths in stores(settings.paths, may_be_none=may_be_none).items():
        below: dict[str, OpenedStore] = {}
        if paths == [Path(name)] and os.path.isdir(name) and not may_hold_records(Path(name)):
            below = _stores_below(Path(name))
        try:
            result |= below or {name: OpenedStore(paths)}
        except NoStoreError:
            below = _stores_below(Path(name)) if os.path.isdir(name) else {}
            if not (below or may_be_none):
                raise
            result |= below
    if settings.mode == "failfast":
        for name, store in result.items():
            for folder, reason in store.unread.items():
                raise DamageError(f"{name}: {folder} is not read: {reason}")
    return result


def _stores_below(folder: Path) -> dict[str, OpenedStore]:
    """The stores in a folder; links do not lead out of it."""
    below: dict[str, OpenedStore] = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            try:
                below[str(path)] = OpenedStore([path])
            except NoStoreError:
                continue
    return below


def parts(settings: Settings, fields: Sequence[str]) -> list[LogPart]:
    """Return the parts of a batch read.

    Args:
        settings: options.
        fields: columns that are read.

    Raises:
        FileNotFoundError: a path matches nothing.
        NoStoreError: a path is no store and holds none.
        DamageError: a file of a log is missing, and ``mode`` is ``FAILFAST``.
        OptionError: there are too many parts.
    """
    opened = {} if settings.is_empty else opened_stores(settings)
    files = [str(file.path) for store in opened.values() for file in store.log_files]
    size = part_size(files, settings.split_size, smallest=SMALLEST_PART, largest=LARGEST_PART)
    planned: list[LogPart] = []
    for name, store in opened.items():
        plan = Plan(name, store, settings, size)
        needs_state = settings.ghosts or "state" in fields
        of_units = None if needs_state else plan.parts_of_units()
        of_store = of_units if of_units is not None else plan.parts_of_log(needs_state=needs_state)
        planned += [part for part in of_store if plan.can_pass(part)]
    return planned


@dataclass(frozen=True, slots=True)
class Survey:
    """What a pass through a log shows.

    Attributes:
        parts: of the log.
        times: first and last store timestamp in each part.
        end: offset after the last message of the log.
    """

    parts: list[LogPart]
    times: list[tuple[int, int]]
    end: int


def survey(whole: LogPart, size: int) -> Survey:
    """Read a part of a log and cut it into smaller ones.

    Args:
        whole: the part.
        size: bytes of a part, about.
    """
    starts, times, end, newest = [whole], [(1 << 63, 0)], whole.start, whole.newest
    scan = scan_of(whole, block_size=min(size, BLOCK_SIZE))
    for block in scan:
        if block.base - starts[-1].start >= size:
            starts.append(replace(whole, start=block.base, state=block.state, newest=newest))
            times.append((1 << 63, 0))
        stamps = block.messages.numbers("store_timestamp")
        times[-1] = min(times[-1][0], int(stamps.min())), max(times[-1][1], int(stamps.max()))
        if block.state is not State.GHOST:
            newest = scan.trail.newest
            end = block.base + int(block.messages.positions[-1] + block.messages.sizes[-1])
    return Survey(between(starts, whole.stop), times, end)


class Plan:
    """The plan of one store.

    Args:
        name: path of the store.
        store: the store.
        settings: options.
        size: bytes of a part.

    Raises:
        DamageError: a file of a log is missing, and ``mode`` is ``FAILFAST``.
    """

    def __init__(self, name: str, store: OpenedStore, settings: Settings, size: int) -> None:
        self._name = name
        self._store = store
        self._settings = settings
        self._size = size
        self._is_in_use = store.is_in_use()
        if settings.mode == "failfast":
            _refuse_gaps(store.folder.commit_log)
            _refuse_gaps(store.folder.dledger)

    def logs(self) -> list[LogPart]:
        """The commit log, then DLedger's, each as one part."""
        return [
            LogPart(
                store=self._name,
                files=tuple(scan.files),
                is_dledger=scan.is_dledger,
                start=scan.files[0].offset,
                stop=scan.files[-1].end,
            )
            for scan in self._store.scans()
        ]

    def end_of(self, log: LogPart) -> int:
        """Offset after the last message of a log."""
        if log.is_dledger:
            return self._end_of(log, None)
        queues = Queues(self._store)
        return self._end_of(log, queues.last_message())

    def _end_of(self, log: LogPart, last: StoredBytes | None) -> int:
        """The same, if a unit points to its message ``last``."""
        if last is not None:
            log = replace(log, start=last.physical_offset, newest=store_time(last))
        return survey(log, self._size).end

    def can_pass(self, part: LogPart) -> bool:
        """Whether the offsets of a part are among the chosen ones."""
        first, last = self._settings.physical
        return not (first is not None and part.stop <= first) and not (
            last is not None and part.start > last
        )

    # -------------------------------------------------------------- the log

    def parts_of_log(self, *, needs_state: bool) -> list[LogPart]:
        """Parts that together are the whole log, less those that the chosen times leave out."""
        planned: list[LogPart] = []
        for whole in self.logs():
            self._refuse_crumbs(whole)
            cut = None
            if not (needs_state or whole.is_dledger):
                cut = self._cut_by_queues(whole)
            planned += self._surveyed(whole) if cut is None else cut
        return planned

    def _surveyed(self, whole: LogPart) -> list[LogPart]:
        if whole.stop - whole.start <= self._size and not self._is_in_use:
            return [whole]
        result = survey(whole, self._size)
        *others, last = result.parts
        if self._is_in_use:
            last = replace(last, stop=result.end)
        return [
            part
            for part, (first, newest) in zip([*others, last], result.times, strict=True)
            if self._time_can_pass(first, newest)
        ]

    def _cut_by_queues(self, whole: LogPart) -> list[LogPart] | None:
        """Parts that begin where units of queues point to; None if queues cannot tell.

        Store timestamps go up, from part to part too, or a survey has to find out why not.
        """
        queues = Queues(self._store)
        last = queues.last_message()
        if last is None:
            return None
        longest = sorted(queues.all, key=len, reverse=True)[:_CUTTING_QUEUES]
        starts = [whole]
        times = [store_time(at_physical_offset(self._store, whole.start, ""))]
        while starts[-1].start + self._size <= last.physical_offset:
            message = queues.first_message(longest, starts[-1].start + self._size)
            if message is None:
                break
            if store_time(message) < times[-1]:
                return None
            times.append(store_time(message))
            newest = times[-1]
            starts.append(replace(whole, start=message.physical_offset, newest=newest))
        stop = self._end_of(whole, last) if self._is_in_use else whole.stop
        ends = [*times[1:], 1 << 63]
        return [
            part
            for part, first, end in zip(between(starts, stop), times, ends, strict=True)
            if self._time_can_pass(first - _MARGIN, end + _MARGIN)
        ]

    def _time_can_pass(self, first: int, last: int) -> bool:
        settings = self._settings
        return not (settings.begin is not None and last < settings.begin) and not (
            settings.end is not None and first > settings.end
        )

    def _refuse_crumbs(self, whole: LogPart) -> None:
        """Refuse a part size without a unit that was probably meant as megabytes."""
        count = (whole.stop - whole.start) // self._size
        if count > MAX_PARTS:
            message = f"{self._size} bytes make {count} parts of {self._name}"
            raise OptionError(f"option 'splitSize': {message}; {MAX_PARTS} are the most")

    # -------------------------------------------------------------- queues

    def parts_of_units(self) -> list[LogPart] | None:
        """Parts that are read by the queues of the chosen topics; None to read the log."""
        settings = self._settings
        if not settings.use_queues:
            return None
        for whole in self.logs():
            self._refuse_crumbs(whole)
        planned = parts_of_topics(
            self._name,
            self._store,
            topics=settings.topics,
            queue_id=settings.queue_id,
            offsets=settings.offsets,
            size=self._size,
            end_of=self._end_of if self._is_in_use else None,
        )
        return None if planned is None else self._within_times(planned)

    def _within_times(self, planned: list[LogPart]) -> list[LogPart]:
        """Those of some parts in the order of the log that the chosen times do not leave out."""
        times = [part.newest for part in planned]
        if times != sorted(times):  # a clock went back, so a part's times are not certain
            return planned
        return [
            part
            for part, first, end in zip(planned, times, [*times[1:], 1 << 63], strict=True)
            if self._time_can_pass(first - _MARGIN, end + _MARGIN)
        ]


def _refuse_gaps(files: Sequence[StoreFile]) -> None:
    for before, after in pairwise(files):
        if before.end != after.offset:
            raise DamageError(f"{before.path}: the next file, {before.end:020d}, is missing")
    if files and not files[-1].size:
        raise DamageError(f"{files[-1].path}: the file is empty")
