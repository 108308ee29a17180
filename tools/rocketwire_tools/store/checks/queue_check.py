"""Queues of a store against its log, in both directions.

The units of a block's messages are read and compared as the log is read; units without a message
are reported at the end.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.policy.resource_names import LMQ_PREFIX, SCHEDULE_TOPIC, is_system_topic
from rocketwire.store import consume_queue
from rocketwire.store.folder import file_at
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.checks.store_facts import most_common_size, read_topics
from rocketwire_tools.store.checks.unread import unread_finding
from rocketwire_tools.store.engine import fast_paths
from rocketwire_tools.store.engine.blocks import read_bytes
from rocketwire_tools.store.engine.queue_files import BATCH_UNIT, UNIT, QueueFiles
from rocketwire_tools.store.lookup import read_other_queues
from rocketwire_tools.terminal import ProgressLine

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.checks.view import StoreView
    from rocketwire_tools.store.engine.columns import Int64s
    from rocketwire_tools.store.engine.queue_groups import QueueGroups
    from rocketwire_tools.store.engine.rows import Rows
    from rocketwire_tools.store.sources.rocks_queues import RocksQueue, RocksQueues

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


@dataclass(slots=True)
class QueueProgress:
    """How far a queue was compared.  A store has 100,000 queues, and most have one run of units."""

    # number of the first unit of the last run that belongs to messages; -1 without a run
    first: int = -1
    end: int = -1  # number after its last unit
    earlier: list[list[int]] | tuple[()] = ()  # earlier runs, as first and after-last number
    # runs of messages without a unit, also with the physical offset of the first message
    missing: list[list[int]] | tuple[()] = ()
    cursor: int = 0  # number of the next unit, in a queue of batches
    # queue offset, physical offset and text of each message whose unit points to a later offset:
    # that may be a message of the same offset
    replaced: list[tuple[int, int, str]] | tuple[()] = ()

    def see(self, first: int, end: int) -> None:
        if self.first >= 0 and self.end == first:
            self.end = end
        elif self.first < 0:
            self.first, self.end = first, end
        elif len(self.earlier) + 1 < MAX_INTERVALS:
            self.earlier = self.earlier or []
            self.earlier.append([self.first, self.end])
            self.first, self.end = first, end

    @property
    def matched(self) -> list[list[int]]:
        """All runs of units that belong to messages of the log."""
        return [*self.earlier, [self.first, self.end]] if self.first >= 0 else []

    def miss(self, first: int, end: int, physical: int) -> None:
        """Note messages without a unit; ``physical`` is the offset of the first one."""
        if self.missing and self.missing[-1][1] == first:
            self.missing[-1][1] = end
        elif len(self.missing) < MAX_INTERVALS:
            self.missing = self.missing or []
            self.missing.append([first, end, physical])


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
        ahead = min(_MAX_AHEAD, _KEPT_UNITS // max(1, len(folder.queues)))
        self._queues |= {
            name: QueueFiles(files, UNIT, ahead=ahead) for name, files in folder.queues.items()
        }
        self._are_built_anew = view.may_lag and rocksdb is not None
        self._batches = {
            name: QueueFiles(files, BATCH_UNIT) for name, files in folder.batch_queues.items()
        }
        self._progress: dict[Queue, QueueProgress] = defaultdict(QueueProgress)
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
        are_whole = yield from self._are_whole(rows, groups)
        for index, name in enumerate(groups.names):
            part = groups.part(index)
            offsets = groups.offsets[part]
            if are_whole[index]:
                first = int(offsets[0])
                if not first:
                    self._restart(name)
                self._progress[name].see(first, first + len(offsets))
            elif not self._view.unread.has_queue(name):
                yield from self._compare_group(
                    rows, name, groups.rows[part], offsets, groups.steps[part]
                )
        if self._has_lmq:
            yield from self._compare_lmq(rows)

    def _are_whole(self, rows: Rows, groups: QueueGroups) -> Generator[Finding, None, list[bool]]:
        """Return whether all messages of each group follow each other and have their units."""
        is_read = np.zeros(len(groups.names), np.bool_)
        size = UNIT.itemsize
        data = memoryview(bytearray(len(groups.rows) * size))
        bounds, offsets = groups.bounds.tolist(), groups.offsets[groups.bounds[:-1]].tolist()
        for number, name in enumerate(groups.names if fast_paths.are_on() else ()):
            files = self._queues.get(name)
            if isinstance(files, QueueFiles) and name not in self._batches:
                view = data[bounds[number] * size : bounds[number + 1] * size]
                try:
                    is_read[number] = files.read_into(offsets[number], view)
                except OSError as error:
                    yield self._give_up(name, error)
        if not is_read.any():
            return [False] * len(groups.names)
        units = np.frombuffer(data, UNIT)
        physical = rows.messages.positions[groups.rows] + rows.block.base
        holds = units["physical_offset"] == physical
        holds &= units["size"] == rows.messages.sizes[groups.rows]
        has_code = units["tags_code"] == rows.tags_codes[groups.rows]
        for number, (topic, _) in enumerate(groups.names):
            if topic == SCHEDULE_TOPIC:
                has_code[groups.part(number)] = True
        holds &= has_code
        follows = np.diff(groups.offsets, prepend=0) == 1
        follows[groups.bounds[:-1]] = is_read
        return groups.all_of_each(holds & follows)

    def _give_up(self, name: Queue, error: OSError) -> Finding:
        """Leave out a queue from here on: the disk cannot read it."""
        files = self._batches.pop(name, None) or self._queues.pop(name)
        self._view.unread.queues.add(name)
        folder = files.files[0].name.rpartition("/")[0] if files.files else "/".join(map(str, name))
        return unread_finding(folder, error)

    def _compare_group(
        self, rows: Rows, name: Queue, group: Int64s, offsets: Int64s, steps: Int64s
    ) -> Iterator[Finding]:
        try:
            if name in self._batches:
                yield from self._compare_batches(rows, name, group, offsets, steps)
            elif name not in self._queues:
                self._without_queue[name] += len(group)
            else:
                yield from self._compare_queue(rows, name, group, offsets)
        except OSError as error:
            yield self._give_up(name, error)

    def _compare_queue(
        self, rows: Rows, name: Queue, group: Int64s, offsets: Int64s
    ) -> Iterator[Finding]:
        begins = np.flatnonzero(offsets == 0)
        if len(begins):  # a queue that begins anew has the units of its later messages alone
            self._restart(name, is_anew=bool(begins[-1]))
            group, offsets = group[begins[-1] :], offsets[begins[-1] :]
        first, last = int(offsets.min()), int(offsets.max())
        if first >= 0 and last - first <= 64 * len(group) + 4096:
            yield from self._compare_units(rows, name, group, offsets)
            return
        for row in np.flatnonzero(offsets >= 0).tolist():
            part = slice(row, row + 1)
            yield from self._compare_units(rows, name, group[part], offsets[part])

    def _restart(self, name: Queue, *, is_anew: bool = False) -> None:
        """Forget what was found about the earlier messages of a queue: its topic was deleted."""
        progress = self._progress[name]
        if is_anew or progress.first >= 0 or progress.missing:
            self._restarted.add(name[0])
            self._progress[name] = QueueProgress()

    def _compare_units(
        self, rows: Rows, name: Queue, group: Int64s, offsets: Int64s, *, with_tags: bool = True
    ) -> Iterator[Finding]:
        first = int(offsets.min())
        units = self._queues[name].read(first, int(offsets.max()) - first + 1)[offsets - first]
        messages = rows.messages
        selected = group if len(group) < len(rows) else slice(None)
        physical = messages.positions[selected] + rows.block.base
        fits = (units["physical_offset"] == physical) & (units["size"] == messages.sizes[selected])
        progress = self._progress[name]
        if fits.all() and len(offsets) == int(offsets.max()) - first + 1:
            progress.see(first, first + len(offsets))
        else:
            for index in np.flatnonzero(~fits).tolist():
                yield from self._report_unit(
                    name,
                    int(offsets[index]),
                    units[index],
                    int(physical[index]),
                    int(messages.sizes[group[index]]),
                )
            for offset in offsets[fits].tolist():
                progress.see(offset, offset + 1)
        if with_tags and name[0] != SCHEDULE_TOPIC:
            codes = rows.tags_codes[group]
            stored = units["tags_code"].astype(np.int64)
            is_address = fits & (stored <= consume_queue.MAX_EXTENSION_ADDRESS)
            for index in np.flatnonzero(is_address).tolist():
                stored[index] = self._extension_code(name, int(stored[index]))
            for index in np.flatnonzero(fits & (codes != stored)).tolist():
                text = f"the unit has tags code {stored[index]}, the message {codes[index]}"
                offset = int(offsets[index])
                yield self._finding(FindingKind.UNIT, name, offset, text, int(physical[index]))

    def _report_unit(
        self, name: Queue, offset: int, unit: np.void, physical: int, size: int
    ) -> Iterator[Finding]:
        """Report a unit that does not fit its message, or keep it until the queue was read."""
        progress, findings = self._progress[name], self._view.findings
        pointed_offset, length = int(unit["physical_offset"]), int(unit["size"])
        if not pointed_offset and not length:
            progress.miss(offset, offset + 1, physical)
            return
        progress.see(offset, offset + 1)
        text = (
            f"the unit points to {pointed_offset} with {length} bytes,"
            f" the message stands at {physical} with {size} bytes"
        )
        if pointed_offset > physical and len(progress.replaced) < MAX_INTERVALS:
            progress.replaced = progress.replaced or []
            progress.replaced.append((offset, physical, text))
        elif findings.room(FindingKind.UNIT):
            yield self._finding(FindingKind.UNIT, name, offset, text, physical)
        else:
            findings.count(FindingKind.UNIT, 1)

    def _extension_code(self, name: Queue, code: int) -> int:
        """The tags code of the extension that a unit points to; the address if none is there."""
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
                try:
                    group, offsets = np.array([row]), np.array([offset])
                    yield from self._compare_units(rows, name, group, offsets, with_tags=False)
                except OSError as error:
                    yield self._give_up(name, error)

    def _compare_batches(
        self, rows: Rows, name: Queue, group: Int64s, offsets: Int64s, steps: Int64s
    ) -> Iterator[Finding]:
        files, progress = self._batches[name], self._progress[name]
        if not progress.cursor and files.files:
            progress.cursor = files.files[0].offset // BATCH_UNIT.itemsize
        # a unit for each batch, in the order of the log
        for row, base, count in zip(group.tolist(), offsets.tolist(), steps.tolist(), strict=True):
            physical = rows.block.base + int(rows.messages.positions[row])
            unit = files.read(progress.cursor, 1)[0]
            while unit["size"] > 0 and int(unit["physical_offset"]) < self._view.log_start:
                progress.cursor += 1
                unit = files.read(progress.cursor, 1)[0]
            if not unit["size"]:
                progress.miss(base, base + count, physical)
                continue
            values = (unit["physical_offset"], unit["base_offset"], unit["message_count"])
            if tuple(map(int, values)) != (physical, base, count):
                text = (
                    f"unit {progress.cursor} of the batch queue has (offset, base, count)"
                    f" {tuple(map(int, values))}, the batch {(physical, base, count)}"
                )
                yield self._finding(FindingKind.UNIT, name, base, text, physical)
            progress.see(progress.cursor, progress.cursor + 1)
            progress.cursor += 1

    # -------------------------------------------------------------- the end

    def finish(self) -> Iterator[Finding]:
        """Report messages without unit and units without message, when the log was read."""
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
        self._progress.clear()  # what follows needs memory too
        self._queues.clear()
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
        """Drop messages without unit whose units a running broker has written meanwhile."""
        progress = self._progress.get(name)
        if progress is None or name in self._batches:
            return
        missing: list[list[int]] = []
        for first, end, physical in progress.missing:
            units = files.read(first, end - first)
            is_there = (units["size"] > 0) & (units["physical_offset"] >= physical)
            count = len(units) if is_there.all() else int(np.argmin(is_there))
            if count < len(units):
                missing.append([first + count, end, physical])
        progress.missing = missing

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
        progress, view = self._progress.get(name, QueueProgress()), self._view
        matched, log_end = progress.matched, view.newest_end
        if log_end is not None:  # units that are written meanwhile have messages
            matched = [*matched, *progress.missing]
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
        progress = self._progress.get(name)
        if progress is None:
            return
        for offset, physical, text in progress.replaced:
            yield self._finding(FindingKind.UNIT, name, offset, text, physical)
        for first, end, physical in progress.missing:
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
        message = rocksdb.find_message(name, first)
        if message is None or message[0] > newest:
            queues[name] = rocksdb.queue(*name)
    return queues


def _newest_offset(files: Sequence[StoreFile]) -> int:
    runs = QueueFiles(files[-1:], UNIT).runs()
    try:
        return max((int(units["physical_offset"].max()) for _, _, units in runs), default=-1)
    except OSError:  # the comparison of the queue reports it
        return -1
