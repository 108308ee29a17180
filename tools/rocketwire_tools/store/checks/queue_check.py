"""Queues of a store against its log, in both directions.

The units of a block's messages are read and compared as the log is read; units that no message has
asked for are looked at in the end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.messages import message_const
from rocketwire.policy.resource_names import SCHEDULE_TOPIC, is_system_topic
from rocketwire.store import consume_queue
from rocketwire.store.folder import file_at
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.checks.later_queues import later_queues
from rocketwire_tools.store.checks.queue_files import BATCH_UNIT, UNIT, QueueFiles
from rocketwire_tools.store.checks.store_facts import usual_size
from rocketwire_tools.store.checks.unread import Unread, add_unread
from rocketwire_tools.store.engine import fast_paths
from rocketwire_tools.store.engine.blocks import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.checks.findings import Findings
    from rocketwire_tools.store.checks.queue_groups import QueueGroups
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.rows import Rows
    from rocketwire_tools.store.sources.rocks_queues import RocksQueue, RocksQueues

    Units = npt.NDArray[np.void]

MAX_RECOVERED_FILES: Final = 10
"""Files of the log from which Java 5.5 builds queues anew: ``commitLogRecoverMaxNum``."""

MAX_INTERVALS: Final = 10_000
"""Runs of units of one queue that are remembered."""

_KEPT_UNITS: Final = 4 << 20
"""Bytes of units that are read ahead, over all queues: a block needs a few units of each."""

_MOST_AHEAD: Final = 64 << 10
"""Bytes of units that are read ahead of one queue."""

_EXTENSION: Final = 1 << 15
"""Bytes of the longest extension (Java: ``ConsumeQueueExt.MAX_EXT_UNIT_SIZE``)."""

_OFFSET: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_DISPATCH: Final = message_const.INNER_MULTI_DISPATCH.encode() + b"\x01"


@dataclass(slots=True)
class QueueProgress:
    """How far a queue was compared.  A store has 100,000 queues, and most have one run of units.

    Attributes:
        first: number of the first unit of the last run that belongs to messages; -1 without a run.
        end: number after its last unit.
        earlier: earlier runs, as first and after-last number.
        missing: runs of messages without a unit, likewise, with the offset of the first message.
        cursor: number of the next unit, in a queue of batches.
        replaced: queue offset, physical offset and text of each message whose unit points to a
            later place: that may be a message of the same offset.
    """

    first: int = -1
    end: int = -1
    earlier: list[list[int]] | tuple[()] = ()
    missing: list[list[int]] | tuple[()] = ()
    cursor: int = 0
    replaced: list[tuple[int, int, str]] | tuple[()] = ()

    @property
    def is_begun(self) -> bool:
        """Whether the queue has had messages."""
        return self.first >= 0 or bool(self.missing)

    def see(self, first: int, end: int) -> None:
        """Note that units belong to messages."""
        if self.first >= 0 and self.end == first:
            self.end = end
        elif self.first < 0:
            self.first, self.end = first, end
        elif len(self.earlier) + 1 < MAX_INTERVALS:
            self.earlier = self.earlier or []
            self.earlier.append([self.first, self.end])
            self.first, self.end = first, end

    @property
    def seen(self) -> list[list[int]]:
        """All runs of units that belong to messages of the log."""
        return [*self.earlier, [self.first, self.end]] if self.first >= 0 else []

    def miss(self, first: int, end: int, physical: int) -> None:
        """Note a run of messages without a unit; ``physical`` is the offset of the first one."""
        self.missing = self.missing or []
        self.missing.append([first, end, physical])


class QueueCheck:
    """Queues against the log.

    Args:
        findings: where to add what is found.
        queues: files of plain queues.
        batch_queues: files of queues of type BatchCQ.
        log_start: offset of the log's first file.
        may_lag: whether the newest messages may be without units: a broker writes, or was killed.
        is_in_use: whether a broker writes; a young one may not have begun its first queue.
        extensions: files of extensions of queues.
        rocksdb: queues in RocksDB, for those that never had files; a broker that is killed loses
            what is in its memory, and builds it anew as far as it reads the log.
        topics: names of topics in the configuration.
        unread: what cannot be read and is not compared.

    Attributes:
        unqueued: messages that the broker had not yet put into their queues.
    """

    def __init__(
        self,
        findings: Findings,
        queues: Mapping[tuple[str, int], Sequence[StoreFile]],
        batch_queues: Mapping[tuple[str, int], Sequence[StoreFile]],
        *,
        log_start: int,
        may_lag: bool,
        is_in_use: bool,
        extensions: Mapping[tuple[str, int], Sequence[StoreFile]] | None = None,
        rocksdb: RocksQueues | None = None,
        topics: Iterable[str] = (),
        unread: Unread | None = None,
    ) -> None:
        self.findings = findings
        self._unread = Unread() if unread is None else unread
        self._configured = frozenset(topics)
        self.log_start = log_start
        self.may_lag = may_lag
        self._is_in_use = is_in_use
        self.unqueued = 0
        self._queues: dict[tuple[str, int], QueueFiles | RocksQueue] = {}
        if rocksdb is not None:
            self._queues |= later_queues(rocksdb, queues)
        ahead = min(_MOST_AHEAD, _KEPT_UNITS // max(1, len(queues)))
        self._queues |= {
            name: QueueFiles(files, UNIT, ahead=ahead) for name, files in queues.items()
        }
        self._are_built_anew = may_lag and rocksdb is not None
        self._batches = {
            name: QueueFiles(files, BATCH_UNIT) for name, files in batch_queues.items()
        }
        self._progress: dict[tuple[str, int], QueueProgress] = {}
        self._extensions = extensions or {}
        self._lmq = any(topic.startswith("%LMQ%") for topic, _ in self._queues)
        self._topics = {topic for topic, _ in (*self._queues, *batch_queues)}
        for table in (self._queues, self._batches):
            for name in filter(self._unread.has_queue, list(table)):
                del table[name]
        self._without_queue: dict[tuple[str, int], int] = {}
        self._restarted: set[str] = set()

    # -------------------------------------------------------------- messages

    def are_whole(self, rows: Rows, groups: QueueGroups) -> list[bool]:
        """Whether all messages of each group follow each other and have their units.

        Groups for which that is not known here count as not whole.
        """
        if not fast_paths.are_on():
            return [False] * len(groups.names)
        size = UNIT.itemsize
        data = memoryview(bytearray(len(groups.rows) * size))
        is_read = np.zeros(len(groups.names), np.bool_)
        bounds, offsets = groups.bounds.tolist(), groups.offsets[groups.bounds[:-1]].tolist()
        for number, name in enumerate(groups.names):
            files = self._queues.get(name)
            if isinstance(files, QueueFiles) and name not in self._batches:
                view = data[bounds[number] * size : bounds[number + 1] * size]
                try:
                    is_read[number] = files.read_into(offsets[number], view)
                except OSError as error:
                    self._give_up(name, error)
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

    def see_whole(self, name: tuple[str, int], first: int, count: int) -> None:
        """Note messages that ``are_whole`` has found to have their units."""
        if not first:
            self._restart(name)
        self._progress_of(name).see(first, first + count)

    def _progress_of(self, name: tuple[str, int]) -> QueueProgress:
        progress = self._progress.get(name)
        if progress is None:
            progress = self._progress[name] = QueueProgress()
        return progress

    def see(
        self, rows: Rows, name: tuple[str, int], group: Int64s, offsets: Int64s, steps: Int64s
    ) -> None:
        """Compare the units of messages of one queue.

        Args:
            rows: of a block.
            name: topic and queue id.
            group: the rows that belong to the queue.
            offsets: their queue offsets.
            steps: messages that each stands for.
        """
        if self._unread.has_queue(name):
            return
        try:
            self._see(rows, name, group, offsets, steps)
        except OSError as error:
            self._give_up(name, error)

    def _give_up(self, name: tuple[str, int], error: OSError) -> None:
        """Leave out a queue from here on: the disk cannot read it."""
        files = self._batches.pop(name, None) or self._queues.pop(name)
        self._unread.queues.add(name)
        folder = files.files[0].name.rpartition("/")[0] if files.files else "/".join(map(str, name))
        add_unread(self.findings, folder, error)

    def _see(
        self, rows: Rows, name: tuple[str, int], group: Int64s, offsets: Int64s, steps: Int64s
    ) -> None:
        if name in self._batches:
            self._see_batches(rows, name, group, offsets, steps)
            return
        files = self._queues.get(name)
        if files is None:
            self._without_queue[name] = self._without_queue.get(name, 0) + len(group)
            return
        begins = np.flatnonzero(offsets == 0)
        if len(begins):  # a queue that begins anew has the units of its later messages alone
            self._restart(name, is_anew=bool(begins[-1]))
            group, offsets = group[begins[-1] :], offsets[begins[-1] :]
        first, last = int(offsets.min()), int(offsets.max())
        if first < 0 or last - first > 64 * len(group) + 4096:
            for row in range(len(group)):
                part = slice(row, row + 1)
                if offsets[row] >= 0:
                    self._compare(rows, name, files, group[part], offsets[part])
            return
        self._compare(rows, name, files, group, offsets)

    def _restart(self, name: tuple[str, int], *, is_anew: bool = False) -> None:
        """Forget what was found about the earlier messages of a queue: its topic was deleted."""
        if is_anew or self._progress_of(name).is_begun:
            self._restarted.add(name[0])
            self._progress[name] = QueueProgress()

    def _compare(
        self,
        rows: Rows,
        name: tuple[str, int],
        files: QueueFiles | RocksQueue,
        group: Int64s,
        offsets: Int64s,
        *,
        with_tags: bool = True,
    ) -> None:
        first = int(offsets.min())
        units = files.read(first, int(offsets.max()) - first + 1)[offsets - first]
        messages = rows.messages
        places = group if len(group) < len(rows) else slice(None)
        physical = messages.positions[places] + rows.block.base
        fits = (units["physical_offset"] == physical) & (units["size"] == messages.sizes[places])
        progress = self._progress_of(name)
        if fits.all() and len(offsets) == int(offsets.max()) - first + 1:
            progress.see(first, first + len(offsets))
        else:
            self._report_units(rows, name, group, offsets, units, fits)
            for offset in offsets[fits].tolist():
                progress.see(offset, offset + 1)
        if with_tags and name[0] != SCHEDULE_TOPIC:
            self._check_tags(rows, name, group, offsets, units, fits)

    def _report_units(
        self,
        rows: Rows,
        name: tuple[str, int],
        group: Int64s,
        offsets: Int64s,
        units: Units,
        fits: Bools,
    ) -> None:
        progress = self._progress[name]
        is_zero = (units["size"] == 0) & (units["physical_offset"] == 0)
        for place in np.flatnonzero(~fits).tolist():
            offset = int(offsets[place])
            physical = rows.block.base + int(rows.messages.positions[group[place]])
            if is_zero[place]:
                if progress.missing and progress.missing[-1][1] == offset:
                    progress.missing[-1][1] = offset + 1
                elif len(progress.missing) < MAX_INTERVALS:
                    progress.miss(offset, offset + 1, physical)
                continue
            progress.see(offset, offset + 1)
            unit = units[place]
            text = (
                f"the unit points to {int(unit['physical_offset'])} with {int(unit['size'])} bytes,"
                f" the message stands at {physical} with"
                f" {int(rows.messages.sizes[group[place]])} bytes"
            )
            if int(unit["physical_offset"]) > physical and len(progress.replaced) < MAX_INTERVALS:
                progress.replaced = progress.replaced or []
                progress.replaced.append((offset, physical, text))
            elif self.findings.room(FindingKind.UNIT):
                self._add(FindingKind.UNIT, name, offset, text, physical=physical)
            else:
                self.findings.count(FindingKind.UNIT, 1)

    def _check_tags(
        self,
        rows: Rows,
        name: tuple[str, int],
        group: Int64s,
        offsets: Int64s,
        units: Units,
        fits: Bools,
    ) -> None:
        codes = rows.tags_codes[group]
        stored = units["tags_code"].astype(np.int64)
        is_address = fits & (stored <= consume_queue.MAX_EXTENSION_ADDRESS)
        for place in np.flatnonzero(is_address).tolist():
            stored[place] = self._extension_code(name, int(stored[place]))
        wrong = fits & (codes != stored)
        for place in np.flatnonzero(wrong).tolist():
            text = f"the unit has tags code {int(stored[place])}, the message {int(codes[place])}"
            physical = rows.block.base + int(rows.messages.positions[group[place]])
            self._add(FindingKind.UNIT, name, int(offsets[place]), text, physical=physical)

    def _extension_code(self, name: tuple[str, int], code: int) -> int:
        """The tags code of the extension that a unit points to; the address if none is there."""
        offset = consume_queue.extension_offset(code)
        file = None if offset is None else file_at(self._extensions.get(name, ()), offset)
        if file is None or offset is None:
            return code
        data = read_bytes(file, offset - file.offset, _EXTENSION)
        extension = consume_queue.decode_extension(data, 0)
        return code if extension is None else extension.tags_code

    # -------------------------------------------------------------- other queues

    def see_lmq(self, rows: Rows) -> None:
        """Compare the units that messages have in further queues."""
        if not self._lmq or _DISPATCH not in rows.data:
            return
        for row, text in enumerate(rows.property_bytes):
            if _DISPATCH not in text:
                continue
            properties = rows.properties[row]
            names = properties.get(message_const.INNER_MULTI_DISPATCH, "").split(",")
            offsets = properties.get(message_const.INNER_MULTI_QUEUE_OFFSET, "").split(",")
            queue_id = int(rows.messages.numbers("queue_id")[row])
            for topic, offset in zip(names, offsets, strict=False):
                name = (topic, 0 if topic.startswith("%LMQ%") else queue_id)
                files = self._queues.get(name)
                if files is not None and _OFFSET.fullmatch(offset):
                    place, number = np.array([row]), np.array([int(offset)])
                    try:
                        self._compare(rows, name, files, place, number, with_tags=False)
                    except OSError as error:
                        self._give_up(name, error)

    def _see_batches(
        self, rows: Rows, name: tuple[str, int], group: Int64s, offsets: Int64s, steps: Int64s
    ) -> None:
        files, progress = self._batches[name], self._progress_of(name)
        if not progress.cursor and files.files:
            progress.cursor = files.files[0].offset // BATCH_UNIT.itemsize
        # a unit for each batch, in the order of the log
        for row, base, count in zip(group.tolist(), offsets.tolist(), steps.tolist(), strict=True):
            physical = rows.block.base + int(rows.messages.positions[row])
            unit = files.read(progress.cursor, 1)[0]
            while unit["size"] > 0 and int(unit["physical_offset"]) < self.log_start:
                progress.cursor += 1
                unit = files.read(progress.cursor, 1)[0]
            if not unit["size"]:
                if progress.missing and progress.missing[-1][1] == base:
                    progress.missing[-1][1] = base + count
                else:
                    progress.miss(base, base + count, physical)
                continue
            values = (unit["physical_offset"], unit["base_offset"], unit["message_count"])
            if tuple(map(int, values)) != (physical, base, count):
                text = (
                    f"unit {progress.cursor} of the batch queue has (offset, base, count)"
                    f" {tuple(map(int, values))}, the batch {(physical, base, count)}"
                )
                self._add(FindingKind.UNIT, name, base, text, physical=physical)
            progress.see(progress.cursor, progress.cursor + 1)
            progress.cursor += 1

    # -------------------------------------------------------------- the end

    def finish(
        self, *, log_end: int | None = None, progress: Callable[[int], None] = lambda _: None
    ) -> None:
        """Report messages without unit and units without message, when the log was read.

        Args:
            log_end: units from this offset of the log on are newer than what was read; None for
                a store that stands still.
            progress: gets the number of queues so far.
        """
        usual = {
            UNIT: usual_size((file for files in self._queues.values() for file in files.files), 0),
            BATCH_UNIT: usual_size(
                (file for files in self._batches.values() for file in files.files), 0
            ),
        }
        # names alone: a second table of 100,000 queues takes 5 MB
        batches = (name for name in self._batches if name not in self._queues)
        for number, name in enumerate([*self._queues, *batches]):
            files = self._batches.get(name) or self._queues[name]
            progress(number)
            self._check_files(name, files, usual[files.unit], is_moving=log_end is not None)
            try:
                last = self._check_rest(name, files, log_end)
                if log_end is not None:
                    self._look_again(name, files)
            except OSError as error:
                self._give_up(name, error)
                continue
            self._report_missing(name, last)
        self._forget()
        for name, count in sorted(self._without_queue.items()):
            topic, queue_id = name
            if topic in self._restarted:
                text, is_damage = f"{count} messages of before the topic was deleted", False
            elif topic in self._topics:
                text = f"{count} messages, and the queue has no files"
                is_damage = not self.may_lag
            elif not self._topics and (self._are_built_anew or not self._is_in_use):
                text = f"{count} messages, and there is no queue at all"
                is_damage = not self._are_built_anew
                if self._are_built_anew:
                    text += (
                        "; a broker builds queues at its start, 5.5 from the last"
                        f" {MAX_RECOVERED_FILES} files of the log only"
                    )
                    self.unqueued += count
            elif topic in self._configured or is_system_topic(topic):
                text = f"{count} messages of a topic that exists, and it has no queue"
                is_damage = not self.may_lag
                self.unqueued += count if self.may_lag else 0
            else:
                text = (
                    f"{count} messages of a topic without queues: it was deleted, and comes back"
                    " when queues are built anew"
                )
                is_damage = False
            self.findings.add(
                Finding(
                    kind=FindingKind.NO_UNIT,
                    text=text,
                    is_damage=is_damage,
                    topic=topic,
                    queue_id=queue_id,
                    count=count,
                )
            )

    def _look_again(self, name: tuple[str, int], files: QueueFiles | RocksQueue) -> None:
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
        self,
        name: tuple[str, int],
        files: QueueFiles | RocksQueue,
        usual: int,
        *,
        is_moving: bool,
    ) -> None:
        previous: StoreFile | None = None
        for file in files.files:
            is_new = is_moving and file is files.files[-1]
            if file.size != usual and not is_new:
                text = f"{file.size} bytes; the files of other queues have {usual}"
                self._add_file(name, file, text)
            if previous is not None and file.offset != previous.end:
                units = (file.offset - previous.end) // files.unit.itemsize
                text = f"{units} units are missing between {previous.name} and this file"
                self._add_file(name, file, text, max(1, units))
            previous = file

    def _add_file(self, name: tuple[str, int], file: StoreFile, text: str, count: int = 1) -> None:
        self.findings.add(
            Finding(
                kind=FindingKind.QUEUE_FILE,
                text=text,
                file=file.name,
                topic=name[0],
                queue_id=name[1],
                count=count,
            )
        )

    def _forget(self) -> None:
        """Give up what was compared and read ahead: what follows needs memory too."""
        self._progress.clear()
        self._queues.clear()

    def _check_rest(
        self, name: tuple[str, int], files: QueueFiles | RocksQueue, log_end: int | None
    ) -> int:
        """Units that belong to no message; returns the number after the last valid unit."""
        progress = self._progress.get(name, QueueProgress())
        seen = progress.seen
        if log_end is not None:  # units that are written meanwhile have messages
            seen = [*seen, *progress.missing]
        starts = np.array([run[0] for run in seen], np.int64)
        ends = np.array([run[1] for run in seen], np.int64)
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], np.maximum.accumulate(ends[order]) if len(ends) else ends
        last = 0
        for file, first, units in files.runs():
            is_unit = (units["size"] > 0) & (units["physical_offset"] >= 0)
            is_unit &= units["size"] != consume_queue.PRE_BLANK_SIZE
            numbers = first + np.arange(len(units))
            if is_unit.any():
                last = int(numbers[is_unit][-1]) + 1
            rest = is_unit & (units["physical_offset"] >= self.log_start)
            if log_end is not None:
                rest &= units["physical_offset"] < log_end
            if self._unread.log:
                rest &= ~self._unread.holds(units["physical_offset"].astype(np.int64))
            if len(starts):
                run = np.searchsorted(starts, numbers, "right") - 1
                rest &= (run < 0) | (numbers >= ends[np.maximum(run, 0)])
            self._report_rest(name, file, numbers[rest], units[rest])
        return last

    def _report_rest(
        self, name: tuple[str, int], file: StoreFile, numbers: Int64s, units: Units
    ) -> None:
        if not len(numbers):
            return
        for part in np.split(np.arange(len(numbers)), np.flatnonzero(np.diff(numbers) != 1) + 1):
            first, count = int(numbers[part[0]]), len(part)
            unit = units[part[0]]
            offset = int(unit["physical_offset"])
            size = units.dtype.itemsize
            text = (
                f"{count} units from {first} on, the first to offset {offset} with"
                f" {int(unit['size'])} bytes, where the log has no such message"
            )
            self.findings.add(
                Finding(
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
            )

    def _report_missing(self, name: tuple[str, int], last: int) -> None:
        progress = self._progress.get(name)
        if progress is None:
            return
        is_batch = name in self._batches
        for offset, physical, text in progress.replaced:
            self._add(FindingKind.UNIT, name, offset, text, physical=physical)
        for first, end, physical in progress.missing:
            is_newest = is_batch or first >= last
            text = f"message {first} of the queue has no unit"
            if end - first > 1:
                text = f"messages {first} to {end - 1} of the queue have no unit"
            if is_newest and self.may_lag:
                text += "; the broker had not yet put them into the queue"
                self.unqueued += end - first
            self._add(
                FindingKind.NO_UNIT,
                name,
                first,
                text,
                count=end - first,
                physical=physical,
                is_damage=not (is_newest and self.may_lag),
            )

    def _add(
        self,
        kind: FindingKind,
        name: tuple[str, int],
        offset: int,
        text: str,
        *,
        count: int = 1,
        physical: int | None = None,
        is_damage: bool = True,
    ) -> None:
        files = self._batches.get(name) or self._queues[name]
        size = files.unit.itemsize
        file = file_at(files.files, offset * size)
        is_plain = name not in self._batches
        self.findings.add(
            Finding(
                kind=kind,
                text=text,
                is_damage=is_damage,
                file=file.name if file is not None and is_plain else "",
                position=offset * size - file.offset if file is not None and is_plain else 0,
                size=count * size,
                physical_offset=physical,
                topic=name[0],
                queue_id=name[1],
                queue_offset=offset,
                count=count,
            )
        )
