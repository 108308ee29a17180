"""Queues of a store against its log, in both directions.

The units of a block's messages are read and compared as the log is read; units without a message
are reported at the end.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.policy.resource_names import LMQ_PREFIX, SCHEDULE_TOPIC, is_system_topic
from rocketwire.store import consume_queue
from rocketwire.store.folder import file_at
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.checks.side_files import most_common_size, read_topics
from rocketwire_tools.store.checks.unread import unread_finding
from rocketwire_tools.store.engine.blocks import read_bytes
from rocketwire_tools.store.engine.queues import BATCH_UNIT, UNIT, QueueFiles
from rocketwire_tools.store.lookup import read_other_queues
from rocketwire_tools.terminal import ProgressLine

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.checks.view import StoreView
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.queues import QueueGroups
    from rocketwire_tools.store.engine.rows import Rows
    from rocketwire_tools.store.sources.rocksdb import RocksQueue, RocksQueues

    Queue = tuple[str, int]
    """Topic and queue id."""
    Units = npt.NDArray[np.void]

MAX_RECOVERED_FILES: Final = 10
"""Files of the log from which Java 5.5 builds queues anew: ``commitLogRecoverMaxNum``."""

MAX_INTERVALS: Final = 10_000  # runs of units of one queue that are remembered
_KEPT_UNITS: Final = 4 << 20
"""Bytes of units that are read ahead, over all queues: a block needs a few units of each."""

_MAX_AHEAD: Final = 64 << 10  # bytes of units that are read ahead of one queue
_EXTENSION: Final = 1 << 15
"""Bytes of the longest extension (Java: ``ConsumeQueueExt.MAX_EXT_UNIT_SIZE``)."""


class QueueCheck:
    """Queues against the log.

    Queues in RocksDB are compared if they never had files.  A broker that is killed loses what its
    RocksDB has in memory, and builds that anew as far as it reads the log.
    """

    def __init__(self, view: StoreView) -> None:
        self._view = view
        folder, rocksdb = view.folder, view.store.rocks_queues
        self._queues: dict[Queue, QueueFiles | RocksQueue] = {}
        if rocksdb is not None:
            self._queues |= later_queues(rocksdb, folder.queues)
        # units that were read ahead of a running broker would be old
        most = 0 if view.is_in_use else _MAX_AHEAD
        ahead = min(most, _KEPT_UNITS // max(1, len(folder.queues)))
        self._queues |= {
            name: QueueFiles(files, UNIT, ahead=ahead) for name, files in folder.queues.items()
        }
        self._are_built_anew = view.may_lag and rocksdb is not None
        self._batches = {
            name: QueueFiles(files, BATCH_UNIT) for name, files in folder.batch_queues.items()
        }
        # runs of units that belong to messages, as first and after-last number
        self._matched: dict[Queue, list[list[int]]] = defaultdict(list)
        # runs of messages without a unit, also with the physical offset of the first message
        self._missing: dict[Queue, list[list[int]]] = defaultdict(list)
        # queue offset, physical offset and text of each message whose unit points to a later
        # offset: that may be a message of the same queue offset
        self._replaced: dict[Queue, list[tuple[int, int, str]]] = defaultdict(list)
        self._next_batch: dict[Queue, int] = {}  # number of the next unit of a queue of batches
        self._has_lmq = any(topic.startswith(LMQ_PREFIX) for topic, _ in self._queues)
        self._topics = {topic for topic, _ in (*self._queues, *folder.batch_queues)}
        # settings take 50 MB, and queues have the same names
        self._configured = frozenset(map(sys.intern, read_topics(view.store)))
        for table in (self._queues, self._batches):
            for name in filter(view.unread.has_queue, list(table)):
                del table[name]
        self._without_queue: Counter[Queue] = Counter()
        self._restarted: set[str] = set()

    # -------------------------------------------------------------- messages

    def compare(self, rows: Rows, groups: QueueGroups) -> Iterator[Finding]:
        if groups.names:
            yield from self._compare_groups(rows, groups)
        if self._has_lmq:
            yield from self._compare_lmq(rows)

    def _compare_groups(self, rows: Rows, groups: QueueGroups) -> Iterator[Finding]:
        """Read the units of all messages of a block, and compare them in one step."""
        parts = dict[int, slice]()  # number of a group → its messages that are compared
        firsts, bounds, offsets = groups.bounds[:-1], groups.bounds.tolist(), groups.offsets
        units, indexes = np.zeros(len(offsets), UNIT), np.arange(len(offsets))
        # a queue that begins anew has the units of its later messages alone
        begins = np.maximum.reduceat(np.where(offsets == 0, indexes, -1), firsts).tolist()
        follows = np.diff(offsets, prepend=0) == 1
        follows[firsts] = follows[offsets == 0] = True
        are_runs = groups.all_of_each(follows)
        for number, name in enumerate(groups.names):
            part = slice(max(begins[number], bounds[number]), bounds[number + 1])
            try:
                if name in self._batches:
                    yield from self._compare_batches(rows, name, groups, groups.part(number))
                elif name in self._queues:
                    self._restart(name, begins[number], bounds[number])
                    units[part] = self._read_units(name, offsets[part], is_run=are_runs[number])
                    parts[number] = part
                elif not self._view.unread.has_queue(name):
                    self._without_queue[name] += bounds[number + 1] - bounds[number]
            except OSError as error:
                yield self._give_up(name, error)
        yield from self._compare_units(rows, groups, units, parts, follows)

    def _compare_units(
        self, rows: Rows, groups: QueueGroups, units: Units, parts: dict[int, slice], follows: Bools
    ) -> Iterator[Finding]:
        bounds, offsets = groups.bounds.tolist(), groups.offsets
        physical = rows.messages.positions[groups.rows] + rows.block.base
        sizes, codes = rows.messages.sizes[groups.rows], rows.tags_codes[groups.rows]
        fits = (units["physical_offset"] == physical) & (units["size"] == sizes)
        has_code = units["tags_code"] == codes
        for number, part in parts.items():
            if groups.names[number][0] == SCHEDULE_TOPIC:  # the code is a time of delivery
                has_code[part] = True
            fits[bounds[number] : part.start] = has_code[bounds[number] : part.start] = True
        are_whole = groups.all_of_each(fits & has_code & follows)
        for number, part in parts.items():
            name, first = groups.names[number], int(offsets[part.start])
            if are_whole[number]:
                _add_run(self._matched[name], first, first + part.stop - part.start)
                continue
            columns = (offsets[part], units[part], physical[part], sizes[part])
            yield from self._report_units(name, fits[part], *columns)
            is_other = fits[part] & ~has_code[part]
            for index in (part.start + np.flatnonzero(is_other)).tolist():
                code = self._extension_code(name, int(units["tags_code"][index]))
                if code != codes[index]:
                    text = f"the unit has tags code {code}, the message {codes[index]}"
                    place = int(offsets[index]), text, int(physical[index])
                    yield self._finding(FindingKind.UNIT, name, *place)

    def _read_units(self, name: Queue, offsets: Int64s, *, is_run: bool) -> Units:
        queue, first, last = self._queues[name], int(offsets.min()), int(offsets.max())
        if is_run and first >= 0:
            return queue.read(first, len(offsets))
        if first >= 0 and last - first <= 64 * len(offsets) + 4096:
            return queue.read(first, last - first + 1)[offsets - first]
        return np.concatenate([queue.read(max(offset, 0), 1) for offset in offsets.tolist()])

    def _give_up(self, name: Queue, error: OSError) -> Finding:
        files = self._batches.pop(name, None) or self._queues.pop(name)
        self._view.unread.queues.add(name)
        folder = files.files[0].name.rpartition("/")[0] if files.files else "/".join(map(str, name))
        return unread_finding(folder, error)

    def _restart(self, name: Queue, begin: int, first: int) -> None:
        """Forget the earlier messages of a queue that begins anew: its topic was deleted.

        ``begin`` is the index of the last message with offset 0, or -1, and ``first`` that of the
        first message in the block.
        """
        if begin < 0:
            return
        if begin > first or self._matched.get(name) or self._missing.get(name):
            self._restarted.add(name[0])
            for table in (self._matched, self._missing, self._replaced):
                table.pop(name, None)

    def _report_units(
        self,
        name: Queue,
        fits: Bools,
        offsets: Int64s,
        units: Units,
        physical: Int64s,
        sizes: Int64s,
    ) -> Iterator[Finding]:
        """Report units that do not fit their messages, or keep them until the queue was read."""
        for index in np.flatnonzero(offsets >= 0).tolist():
            offset, stored_at, unit = int(offsets[index]), int(physical[index]), units[index]
            pointed_offset, length = int(unit["physical_offset"]), int(unit["size"])
            if not fits[index] and not pointed_offset and not length:
                _add_run(self._missing[name], offset, offset + 1, stored_at)
                continue
            _add_run(self._matched[name], offset, offset + 1)
            if fits[index]:
                continue
            text = (
                f"the unit points to {pointed_offset} with {length} bytes,"
                f" the message stands at {stored_at} with {int(sizes[index])} bytes"
            )
            if pointed_offset > stored_at and len(self._replaced[name]) < MAX_INTERVALS:
                self._replaced[name].append((offset, stored_at, text))
            else:
                yield self._finding(FindingKind.UNIT, name, offset, text, stored_at)

    def _extension_code(self, name: Queue, code: int) -> int:
        offset = consume_queue.extension_offset(code)
        files = self._view.folder.extensions.get(name, ())
        file = None if offset is None else file_at(files, offset)
        if file is None or offset is None:
            return code
        data = read_bytes(file, offset - file.offset, _EXTENSION)
        extension = consume_queue.decode_extension(data, 0)
        return code if extension is None else extension.tags_code

    # -------------------------------------------------------------- other queues

    def _compare_lmq(self, rows: Rows) -> Iterator[Finding]:
        for row, name, offset in read_other_queues(rows):
            if name in self._queues:
                physical = rows.messages.positions[row : row + 1] + rows.block.base
                sizes = rows.messages.sizes[row : row + 1]
                try:
                    units = self._queues[name].read(max(offset, 0), 1)
                except OSError as error:
                    yield self._give_up(name, error)
                    continue
                fits = (units["physical_offset"] == physical) & (units["size"] == sizes)
                columns = (np.array([offset]), units, physical, sizes)
                yield from self._report_units(name, fits, *columns)

    def _compare_batches(
        self, rows: Rows, name: Queue, groups: QueueGroups, part: slice
    ) -> Iterator[Finding]:
        files = self._batches[name]
        first = files.files[0].offset // BATCH_UNIT.itemsize if files.files else 0
        number = self._next_batch.get(name, first)
        # a unit for each batch, in the order of the log
        columns = (groups.rows[part], groups.offsets[part], groups.steps[part])
        for row, base, count in zip(*(column.tolist() for column in columns), strict=True):
            physical = rows.block.base + int(rows.messages.positions[row])
            unit = files.read(number, 1)[0]
            while unit["size"] > 0 and int(unit["physical_offset"]) < self._view.log_start:
                number += 1
                unit = files.read(number, 1)[0]
            if not unit["size"]:
                _add_run(self._missing[name], base, base + count, physical)
                continue
            values = (unit["physical_offset"], unit["base_offset"], unit["message_count"])
            if tuple(map(int, values)) != (physical, base, count):
                text = (
                    f"unit {number} of the batch queue has (offset, base, count)"
                    f" {tuple(map(int, values))}, the batch {(physical, base, count)}"
                )
                yield self._finding(FindingKind.UNIT, name, base, text, physical)
            _add_run(self._matched[name], number, number + 1)
            number += 1
        self._next_batch[name] = number

    # -------------------------------------------------------------- the end

    def finish(self) -> Iterator[Finding]:
        tables = ((UNIT, self._queues), (BATCH_UNIT, self._batches))
        usual_sizes = {
            unit: most_common_size((file for files in table.values() for file in files.files), 0)
            for unit, table in tables
        }
        # names alone: a second table of 100,000 queues takes 5 MB
        batches = (name for name in self._batches if name not in self._queues)
        with ProgressLine("{:,} queues") as line:
            for index, name in enumerate([*self._queues, *batches]):
                line.show(index)
                files = self._batches.get(name) or self._queues[name]
                yield from self._check_files(name, files, usual_sizes[files.unit])
                try:
                    last = yield from self._check_rest(name, files)
                    if self._view.is_in_use:
                        self._look_again(name, files)
                except OSError as error:
                    yield self._give_up(name, error)
                else:
                    yield from self._report_missing(name, last)
        self._queues.clear()  # what follows needs memory too
        for name, count in sorted(self._without_queue.items()):
            yield self._report_queue(name, count)

    def _report_queue(self, name: Queue, count: int) -> Finding:
        topic, view, is_damage = name[0], self._view, False
        if topic in self._restarted:
            text = f"{count} messages of before the topic was deleted"
        elif topic in self._topics:
            text = f"{count} messages, and the queue has no files"
            is_damage = not view.may_lag
        elif not self._topics and self._are_built_anew:
            text = (
                f"{count} messages, and there is no queue at all; a broker builds queues at its"
                f" start, 5.5 from the last {MAX_RECOVERED_FILES} files of the log only"
            )
            view.unqueued += count
        elif not self._topics and not view.is_in_use:
            text, is_damage = f"{count} messages, and there is no queue at all", True
        elif topic in self._configured or is_system_topic(topic):
            text = f"{count} messages of a topic that exists, and it has no queue"
            is_damage = not view.may_lag
            view.unqueued += count if view.may_lag else 0
        else:
            text = (
                f"{count} messages of a topic without queues: it was deleted, and comes back"
                " when queues are built anew"
            )
        return Finding(
            kind=FindingKind.NO_UNIT,
            text=text,
            is_damage=is_damage,
            topic=topic,
            queue_id=name[1],
            count=count,
        )

    def _look_again(self, name: Queue, files: QueueFiles | RocksQueue) -> None:
        if name in self._batches:
            return
        missing: list[list[int]] = []
        for first, end, physical in self._missing.get(name, ()):
            units = files.read(first, end - first)
            is_there = (units["size"] > 0) & (units["physical_offset"] >= physical)
            count = len(units) if is_there.all() else int(np.argmin(is_there))
            if count < len(units):
                missing.append([first + count, end, physical])
        self._missing[name] = missing

    def _check_files(
        self, name: Queue, files: QueueFiles | RocksQueue, usual: int
    ) -> Iterator[Finding]:
        for before, file in itertools.pairwise([None, *files.files]):
            is_new = self._view.is_in_use and file is files.files[-1]
            if file is not None and file.size != usual and not is_new:
                text = f"{file.size} bytes; the files of other queues have {usual}"
                yield _file_finding(name, file, text)
            if file is not None and before is not None and file.offset != before.end:
                units = (file.offset - before.end) // files.unit.itemsize
                text = f"{units} units are missing between {before.name} and this file"
                yield _file_finding(name, file, text, max(1, units))

    def _check_rest(
        self, name: Queue, files: QueueFiles | RocksQueue
    ) -> Generator[Finding, None, int]:
        """Report units that belong to no message; return the number after the last valid unit."""
        view, matched = self._view, self._matched.get(name, [])
        log_end = view.newest_end
        if log_end is not None:  # units that are written meanwhile have messages
            matched = [*matched, *self._missing.get(name, ())]
        starts = np.array([run[0] for run in matched], np.int64)
        ends = np.array([run[1] for run in matched], np.int64)
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], np.maximum.accumulate(ends[order]) if len(ends) else ends
        last = 0
        for file, first, units in files.runs():
            is_unit = (units["size"] > 0) & (units["physical_offset"] >= 0)
            is_unit &= units["size"] != consume_queue.PRE_BLANK_SIZE
            numbers = first + np.arange(len(units))
            if is_unit.any():
                last = int(numbers[is_unit][-1]) + 1
            unmatched = is_unit & (units["physical_offset"] >= view.log_start)
            if log_end is not None:
                unmatched &= units["physical_offset"] < log_end
            if view.unread.log:
                unmatched &= ~view.unread.find_offsets(units["physical_offset"].astype(np.int64))
            if len(starts):
                run = np.searchsorted(starts, numbers, "right") - 1
                unmatched &= (run < 0) | (numbers >= ends[np.maximum(run, 0)])
            if unmatched.any():
                yield from _report_rest(name, file, numbers[unmatched], units[unmatched])
        return last

    def _report_missing(self, name: Queue, last: int) -> Iterator[Finding]:
        for offset, physical, text in self._replaced.get(name, ()):
            yield self._finding(FindingKind.UNIT, name, offset, text, physical)
        for first, end, physical in self._missing.get(name, ()):
            is_late = self._view.may_lag and (name in self._batches or first >= last)
            text = f"message {first} of the queue has no unit"
            if end - first > 1:
                text = f"messages {first} to {end - 1} of the queue have no unit"
            if is_late:
                text += "; the broker had not yet put them into the queue"
                self._view.unqueued += end - first
            finding = self._finding(
                FindingKind.NO_UNIT, name, first, text, physical, count=end - first
            )
            yield replace(finding, is_damage=not is_late)

    def _finding(
        self, kind: FindingKind, name: Queue, offset: int, text: str, physical: int, count: int = 1
    ) -> Finding:
        files = self._batches.get(name) or self._queues[name]
        size = files.unit.itemsize
        file = None if name in self._batches else file_at(files.files, offset * size)
        return Finding(
            kind=kind,
            text=text,
            file="" if file is None else file.name,
            position=0 if file is None else offset * size - file.offset,
            size=count * size,
            physical_offset=physical,
            topic=name[0],
            queue_id=name[1],
            queue_offset=offset,
            count=count,
        )


def _add_run(runs: list[list[int]], first: int, end: int, *more: int) -> None:
    if runs and runs[-1][1] == first:
        runs[-1][1] = end
    elif len(runs) < MAX_INTERVALS:
        runs.append([first, end, *more])


def _file_finding(name: Queue, file: StoreFile, text: str, count: int = 1) -> Finding:
    kind, (topic, queue_id) = FindingKind.QUEUE_FILE, name
    return Finding(
        kind=kind, text=text, file=file.name, topic=topic, queue_id=queue_id, count=count
    )


def _report_rest(name: Queue, file: StoreFile, numbers: Int64s, units: Units) -> Iterator[Finding]:
    for part in np.split(np.arange(len(numbers)), np.flatnonzero(np.diff(numbers) != 1) + 1):
        first, count, unit = int(numbers[part[0]]), len(part), units[part[0]]
        size, offset = units.dtype.itemsize, int(unit["physical_offset"])
        text = (
            f"{count} units from {first} on, the first to offset {offset} with"
            f" {int(unit['size'])} bytes, where the log has no such message"
        )
        yield Finding(
            kind=FindingKind.NO_MESSAGE,
            text=text,
            file=file.name,
            position=first * size - file.offset if file.size else 0,
            size=count * size if file.size else 0,
            physical_offset=offset,
            topic=name[0],
            queue_id=name[1],
            queue_offset=first,
            count=count,
        )


def later_queues(
    rocksdb: RocksQueues, files: Mapping[Queue, Sequence[StoreFile]]
) -> dict[Queue, RocksQueue]:
    """The queues of a RocksDB that are later than all queues in files.

    A broker with ``rocksdbCQDoubleWriteEnable`` writes each unit to both.  So a queue that is only
    in RocksDB has lost its files, unless its messages are later than all that the files know: then
    the broker had begun to write to RocksDB alone.
    """
    newest = max(map(_newest_offset, files.values()), default=-1)
    queues: dict[tuple[str, int], RocksQueue] = {}
    for name, (first, _) in rocksdb.ends.items():
        unit = rocksdb.unit(*name, first)
        if unit is None or unit.physical_offset > newest:
            queues[name] = rocksdb.queue(*name)
    return queues


def _newest_offset(files: Sequence[StoreFile]) -> int:
    runs = QueueFiles(files[-1:], UNIT).runs()
    try:
        return max((int(units["physical_offset"].max()) for _, _, units in runs), default=-1)
    except OSError:  # the comparison of the queue reports it
        return -1
