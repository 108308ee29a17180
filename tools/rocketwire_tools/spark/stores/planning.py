"""Finds the stores of a read, and cuts their logs into parts that begin at a message.

Rules of this file: parts give the rows of one pass through the log, wherever it is cut.  A cut is
certain in one of two ways.  A unit of a consume queue points to the message: then it is part of the
log, for Java cuts queues with the log.  Or ``survey`` has read everything before it.
"""

from __future__ import annotations

import glob
import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketwire.policy.resource_names import LMQ_PREFIX
from rocketwire.store.folder import offset_of_name
from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.paths import local
from rocketwire_tools.spark.sizing import part_size
from rocketwire_tools.spark.stores.parts import LogPart, UnitRange
from rocketwire_tools.spark.stores.queue_units import QueueUnits
from rocketwire_tools.store.engine.blocks import BLOCK_SIZE
from rocketwire_tools.store.engine.ghosts import LogTrail
from rocketwire_tools.store.engine.scan import LogScan, State
from rocketwire_tools.store.lookup import at_physical_offset
from rocketwire_tools.store.opened import NoStoreError, OpenedStore

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
    """
    result: dict[str, OpenedStore] = {}
    for name, paths in stores(settings.paths, may_be_none=may_be_none).items():
        try:
            result[name] = OpenedStore(paths)
        except NoStoreError:
            below = dict(_stores_below(Path(name))) if os.path.isdir(name) else {}
            if not (below or may_be_none):
                raise
            result |= below
    return result


def _stores_below(folder: Path) -> Iterable[tuple[str, OpenedStore]]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            try:
                yield str(path), OpenedStore([path])
            except NoStoreError:
                continue


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


def scan_of(part: LogPart, *, block_size: int = BLOCK_SIZE) -> LogScan:
    """Return a pass through a part."""
    scan = LogScan(
        files=part.files,
        is_dledger=part.is_dledger,
        block_size=block_size,
        start=part.start,
        stop=part.stop,
    )
    scan.resume(part.state, LogTrail(part.newest))
    return scan


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
    return Survey(_between(starts, whole.stop), times, end)


def _between(starts: Sequence[LogPart], stop: int) -> list[LogPart]:
    """Parts that end where the next begins, the last one at ``stop``."""
    stops = [part.start for part in starts[1:]] + [stop]
    return [
        replace(part, stop=end, files=files_between(part.files, part.start, end))
        for part, end in zip(starts, stops, strict=True)
        if part.start < end
    ]


def files_between(files: Iterable[StoreFile], start: int, stop: int) -> tuple[StoreFile, ...]:
    """The files that have bytes from one offset to another."""
    return tuple(file for file in files if file.end > start and file.offset < stop)


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
        with ExitStack() as stack:
            queues = [] if log.is_dledger else self._queues(stack)
            return self._end_of(log, self._last_message(queues))

    def _end_of(self, log: LogPart, last: StoredBytes | None) -> int:
        """The same, if a unit points to its message ``last``."""
        if last is not None:
            log = replace(log, start=last.physical_offset, newest=_store_time(last))
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
        with ExitStack() as stack:
            queues = self._queues(stack)
            last = self._last_message(queues)
            if last is None:
                return None
            queues.sort(key=len, reverse=True)
            starts = [whole]
            times = [_store_time(at_physical_offset(self._store, whole.start, ""))]
            while starts[-1].start + self._size <= last.physical_offset:
                message = self._first_message(
                    queues[:_CUTTING_QUEUES], starts[-1].start + self._size
                )
                if message is None:
                    break
                if _store_time(message) < times[-1]:
                    return None
                times.append(_store_time(message))
                newest = times[-1]
                starts.append(replace(whole, start=message.physical_offset, newest=newest))
        stop = self._end_of(whole, last) if self._is_in_use else whole.stop
        ends = [*times[1:], 1 << 63]
        return [
            part
            for part, first, end in zip(_between(starts, stop), times, ends, strict=True)
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

    def _queues(self, stack: ExitStack) -> list[QueueUnits]:
        """All queues in files whose units point to messages of their own topic."""
        return [
            stack.enter_context(QueueUnits(topic, queue_id, files))
            for (topic, queue_id), files in self._store.folder.queues.items()
            if not topic.startswith(LMQ_PREFIX)
        ]

    def _first_message(self, queues: Iterable[QueueUnits], offset: int) -> StoredBytes | None:
        """The first message at an offset of the log or after it to which a unit points."""
        messages: list[StoredBytes] = []
        for queue in queues:
            place = queue.offset_at(offset)
            message = self._message(queue, place) if place < queue.stop else None
            if message is not None and message.physical_offset >= offset:
                messages.append(message)
        return min(messages, key=lambda message: message.physical_offset, default=None)

    def _last_message(self, queues: Sequence[QueueUnits]) -> StoredBytes | None:
        """The last message of the log to which a unit points; None if it is not there."""
        ends = [
            (queue.unit(queue.stop - 1).physical_offset, number)
            for number, queue in enumerate(queues)
            if len(queue)
        ]
        if not ends:
            return None
        queue = queues[max(ends)[1]]
        return self._message(queue, queue.stop - 1)

    def _message(self, queue: QueueUnits, queue_offset: int) -> StoredBytes | None:
        """The message of a unit; None if it is not the one of that queue offset."""
        unit = queue.unit(queue_offset)
        if not unit.points_to_message:
            return None
        message = at_physical_offset(self._store, unit.physical_offset, "consume queue")
        if message is None or len(message.data) != unit.size:
            return None
        rows = message.rows()
        is_it = (
            rows.column("topic")[0] == queue.topic
            and int(rows.column("queue_id")[0]) == queue.queue_id
            and int(rows.column("queue_offset")[0]) == queue_offset
        )
        return message if is_it else None

    def parts_of_units(self) -> list[LogPart] | None:
        """Parts that are read by the queues of the chosen topics; None to read the log.

        What no queue of the store leads to yet is read from the log.
        """
        settings, folder = self._settings, self._store.folder
        if not (settings.topics and settings.use_queues and folder.commit_log) or folder.dledger:
            return None
        names = set(settings.topics)
        with_queues = {topic for topic, _ in folder.queues}
        if names - with_queues or names & {topic for topic, _ in folder.batch_queues}:
            return None
        with ExitStack() as stack:
            queues = self._queues(stack)
            last = self._last_message(queues)
            chosen = [
                queue
                for queue in queues
                if queue.topic in names and settings.queue_id in (None, queue.queue_id)
            ]
            if last is None or not all(self._leads_to_all(queue) for queue in chosen):
                return None
            return self._cut_units(chosen, last)

    def _leads_to_all(self, queue: QueueUnits) -> bool:
        """Whether a queue has a unit for each of its messages in the log, as far as it can tell."""
        log_start = self._store.folder.commit_log[0].offset
        return queue.is_contiguous and (
            queue.start == 0
            or (len(queue) > 0 and queue.unit(queue.start).physical_offset < log_start)
        )

    def _cut_units(self, queues: Sequence[QueueUnits], last: StoredBytes) -> list[LogPart]:
        (whole,) = self.logs()
        end = last.physical_offset + len(last.data)
        starts = [whole]
        longest = max(queues, key=len, default=None)
        if longest is not None and len(longest):
            size = sum(
                len(queue) * queue.unit((queue.start + queue.stop) // 2).size for queue in queues
            )
            count = max(1, -(-size // self._size))
            self._refuse_crumbs(whole)
            step = max(1, -(-len(longest) // count))
            for place in range(longest.start + step, longest.stop, step):
                message = self._message(longest, place)
                if message is not None and message.physical_offset > starts[-1].start:
                    start, newest = message.physical_offset, _store_time(message)
                    starts.append(replace(whole, start=start, newest=newest))
        planned = [
            replace(part, units=tuple(self._units_between(queues, part.start, part.stop)))
            for part in _between(starts, end)
        ]
        tail = replace(whole, start=end, newest=_store_time(last))
        if self._is_in_use:
            tail = replace(tail, stop=self._end_of(whole, last))
        return [part for part in planned if part.units] + _between([tail], tail.stop)

    def _units_between(
        self, queues: Iterable[QueueUnits], start: int, stop: int
    ) -> Iterable[UnitRange]:
        least, most = self._settings.offsets
        for queue in queues:
            first, end = queue.offset_at(start), queue.offset_at(stop)
            first = first if least is None else max(first, least)
            end = end if most is None else min(end, most + 1)
            if first < end:
                yield UnitRange(
                    topic=queue.topic,
                    queue_id=queue.queue_id,
                    files=tuple(
                        file
                        for file in queue.files
                        if file.end > 20 * first and file.offset < 20 * end
                    ),
                    start=first,
                    stop=end,
                )


def _store_time(message: StoredBytes | None) -> int:
    return 0 if message is None else int(message.rows().column("store_timestamp")[0])


def _refuse_gaps(files: Sequence[StoreFile]) -> None:
    for before, after in pairwise(files):
        if before.end != after.offset:
            raise DamageError(f"{before.path}: the next file, {before.end:020d}, is missing")
