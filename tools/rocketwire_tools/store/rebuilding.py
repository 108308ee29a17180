"""A new store from the messages of an old one's commit log.

``LogCopy`` copies messages to the same physical offsets and fills what lies between them.
``QueueBuilder`` builds the queues that a broker would have built from the same messages;
``NumberedQueue`` decides where units go whose messages have strange queue offsets.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from rocketwire.messages import message_const
from rocketwire.policy.resource_names import SCHEDULE_TOPIC
from rocketwire.store import commit_log
from rocketwire.store.consume_queue import BATCH_UNIT_SIZE, UNIT_SIZE
from rocketwire.store.writer import (
    MIN_FILLER,
    CommitLogWriter,
    Files,
    IndexWriter,
    QueueWriter,
    filler,
    is_folder_name,
    queue_folder,
    tags_code,
)
from rocketwire_tools.store.engine.index_keys import key_hashes
from rocketwire_tools.store.engine.queues import BATCH_UNIT, UNIT, group_by_queue
from rocketwire_tools.store.engine.rows import (
    INNER_BATCH,
    PREPARED,
    ROLLED_BACK,
    TRANSACTION,
    Rows,
    TopicNames,
)
from rocketwire_tools.store.engine.scan import RegionKind, State
from rocketwire_tools.store.lookup import read_other_queues

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.queues import Units
    from rocketwire_tools.store.engine.scan import Block, Region

_MAX_IN_BATCH: Final = (1 << 15) - 1
_MAX_BUFFERED: Final = 16 << 20  # bytes of all queues together that wait to be written


@dataclass(slots=True)
class RebuildReport:
    messages: int = 0  # that were copied
    bytes_filled: int = 0  # of gaps between messages
    # queue offsets of lost messages; their units point to the next message
    missing_offsets: int = 0
    misplaced_messages: int = 0  # with a queue offset that cannot be; they follow the one before
    unqueued_messages: int = 0  # with the queue offset of another message; no unit points to them
    # queue offsets that a later run of messages took; no unit points to the earlier
    # ones
    replaced_offsets: int = 0
    restarted_queues: int = 0  # that began again at 0; only the later messages count
    bytes_copied: int = 0  # of the messages that were copied
    fillers: int = 0  # gaps between messages that were filled
    # whose checksum, topic, queue or queue offset is wrong; filled as well
    broken_messages: int = 0
    crowded_messages: int = 0  # whole ones, lost because the gap before is too small for a filler
    ghosts: int = 0  # old messages after the end of the log, which were left out
    # of the log, left out because their names are no multiples of the file size
    misnamed_files: int = 0
    index_entries: int = 0  # keys in the index
    newest: int = 0  # last store timestamp, milliseconds since 1970
    queued: int = 0  # last physical offset
    end: int = 0  # offset in the log after the last message
    has_torn_end: bool = False  # whether the last message is incomplete, or the last file is empty

    @property
    def has_damage(self) -> bool:
        misnumbered = self.missing_offsets + self.misplaced_messages + self.unqueued_messages
        is_numbered = not (misnumbered or self.replaced_offsets)
        return bool(self.fillers or self.misnamed_files or self.has_torn_end) or not is_numbered


class LogCopy:
    def __init__(self, files: Files, file_size: int, report: RebuildReport) -> None:
        self._writer = CommitLogWriter(files, file_size=file_size)
        self._file_size = file_size
        self._report = report
        self.start: int | None = None  # offset of the first file; None before the first message
        self.blanks: dict[int, int] = {}  # offset of each blank of the source → its end

    def has_room(self, offset: int) -> bool:
        begin = max(self._end(offset), offset - offset % self._file_size)
        return offset == begin or offset - begin >= MIN_FILLER

    def write(self, offset: int, data: memoryview, store_timestamp: int) -> None:
        """Copy messages that stand together; their offset and time are those of the first one."""
        position = self._end(offset)
        if self.start is None:
            self.start = position
        if position < offset:
            if self.blanks.get(position) != offset:
                self._report.fillers += 1
                self._report.bytes_filled += offset - position
            timestamp = self._report.newest or store_timestamp
            while position < offset:
                position = self._fill(position, offset, timestamp)
        self._writer.write(offset, data)
        self._report.end = offset + len(data)

    def _end(self, offset: int) -> int:
        return offset - offset % self._file_size if self.start is None else self._writer.end

    def _fill(self, position: int, stop: int, timestamp: int) -> int:
        in_file = position % self._file_size
        room = self._file_size - in_file
        if stop - position < room:
            self._write_filler(position, stop - position, timestamp)
            return stop
        end = position + room
        if room > commit_log.BLANK_SIZE + MIN_FILLER and not in_file:
            # Java begins to recover at files that begin with a message, so a lost file has one
            self._write_filler(position, MIN_FILLER, timestamp)
            position += MIN_FILLER
        if end - position >= commit_log.BLANK_SIZE:
            self._writer.fill_to_end(position)
        return end

    def _write_filler(self, position: int, size: int, timestamp: int) -> None:
        data = filler(position, size, timestamp)
        assert data is not None  # noqa: S101 - has_room was asked
        self._writer.write(position, data)


class _Units(NamedTuple):
    queue_offset: int  # queue offset of the first one
    data: bytes  # the units
    timestamp: int  # store timestamp of the last one's message


class NumberedQueue:
    """Puts units at the queue offsets of their messages.

    No checksum covers the offset, the topic and the queue id.  So a single message with an
    unexpected offset waits for the next one of its queue, which shows whether messages are missing
    before it, its offset is damaged, or it is of another queue.
    """

    def __init__(self, writer: QueueWriter, report: RebuildReport, log_start: int) -> None:
        self._writer = writer
        self._report = report
        self._log_start = log_start
        self._held: _Units | None = None
        self._following = -1  # queue offset that agrees with the last unit

    @property
    def units_per_file(self) -> int:
        return self._writer.units_per_file

    def put(self, queue_offset: int, data: bytes, timestamp: int) -> None:
        units = _Units(queue_offset, data, timestamp)
        if self._held is not None:
            held_unit, self._held = self._held, None
            self._settle(held_unit, queue_offset)
        if len(data) == UNIT_SIZE and queue_offset != (self._writer.end or 0):
            self._held = units
        else:
            self._put(units, is_sure=True)

    def finish(self) -> None:
        if self._held is not None:
            held_unit, self._held = self._held, None
            self._put(held_unit, is_sure=held_unit.queue_offset == self._following)

    def _settle(self, held_unit: _Units, following: int) -> None:
        queue_offset, end = held_unit.queue_offset, self._writer.end
        if following == queue_offset + 1 or (end is None and following > queue_offset):
            self._put(held_unit, is_sure=True)
        elif end is None:
            if following:
                self._report.misplaced_messages += 1
                self._put(held_unit._replace(queue_offset=following - 1), is_sure=True)
            else:
                self._report.unqueued_messages += 1
        elif following == end:
            self._report.unqueued_messages += 1
        elif following > queue_offset > end:
            self._put(held_unit, is_sure=True)
        elif following > end:
            self._report.misplaced_messages += 1
            self._put(held_unit._replace(queue_offset=end), is_sure=True)
        else:
            self._put(held_unit, is_sure=queue_offset == self._following)

    def _put(self, units: _Units, *, is_sure: bool) -> None:
        writer, report = self._writer, self._report
        queue_offset, data, timestamp = units
        unit = data[:UNIT_SIZE]
        if writer.end is None:
            self._following = queue_offset + len(data) // UNIT_SIZE
            # units before the first one: Java's pre-blank points below a log that starts later
            writer.put(queue_offset, data, timestamp, gap=None if self._log_start else unit)
            return
        if queue_offset == 0 < writer.end:
            writer.clear()
            report.restarted_queues += 1
        elif queue_offset < writer.end and not is_sure:  # a single one hides no other message
            report.unqueued_messages += 1
            self._following = -1
            return
        elif queue_offset < writer.end:
            report.replaced_offsets += min(writer.end - queue_offset, len(data) // UNIT_SIZE)
        elif queue_offset > writer.end:
            missing = queue_offset - writer.end
            limit = report.bytes_filled // commit_log.SMALLEST_MESSAGE
            if is_sure:  # lost messages may have another topic or queue id now
                limit += report.messages
            if missing + report.missing_offsets > limit:
                report.misplaced_messages += 1
                queue_offset = writer.end
            else:
                report.missing_offsets += missing
        self._following = queue_offset + len(data) // UNIT_SIZE
        writer.put(queue_offset, data, timestamp, gap=unit)


class QueueBuilder:
    def __init__(
        self,
        files: Files,
        *,
        file_size: int,
        batch_file_size: int,
        batch_topics: Iterable[str],
        report: RebuildReport,
    ) -> None:
        self._files = files
        self._file_size = file_size
        self._batch_file_size = batch_file_size
        self._report = report
        self._queues: dict[tuple[str, int], NumberedQueue] = {}
        self._batch_queues: dict[tuple[str, int], QueueWriter] = {}
        self.writers: list[QueueWriter] = []  # of all queues
        # topic → queues, by the largest number of a queue that was seen
        self.queue_counts: Counter[str] = Counter()
        # topics whose queues are of type BatchCQ; those with an inner batch are added
        self.batch_topics = set(batch_topics)

    def add(self, rows: Rows, log_start: int) -> None:
        """Add units for the messages of rows of a log that begins at ``log_start``."""
        messages, names = rows.messages, rows.topics.names
        timestamps = messages.numbers("store_timestamp")
        units = np.empty(len(rows), UNIT)
        units["physical_offset"] = messages.numbers("physical_offset")
        units["size"] = messages.sizes
        units["tags_code"] = _tags_codes(rows, timestamps)
        is_batch = (messages.numbers("sys_flag") & INNER_BATCH) == INNER_BATCH
        numbers: list[int] = np.unique(rows.topic_numbers[is_batch]).tolist()
        self.batch_topics.update([names[number] for number in numbers])
        groups = group_by_queue(rows)
        for number, (topic, queue_id) in enumerate(groups.names):
            part = groups.part(number)
            rows_of_queue, offsets = groups.rows[part], groups.offsets[part]
            self.queue_counts[topic] = max(self.queue_counts[topic], queue_id + 1)
            if topic in self.batch_topics:
                batches = np.zeros(len(rows_of_queue), BATCH_UNIT)
                for field_name in UNIT.names or ():
                    batches[field_name] = units[field_name][rows_of_queue]
                batches["store_timestamp"] = timestamps[rows_of_queue]
                batches["base_offset"] = offsets
                batches["message_count"] = np.minimum(groups.steps[part], _MAX_IN_BATCH)
                batches["compacted_offset"] = -1
                name = topic, queue_id
                if name not in self._batch_queues:
                    self._batch_queues[name] = self._open_writer(
                        *name, self._batch_file_size, BATCH_UNIT_SIZE
                    )
                batch_queue = self._batch_queues[name]
                last = int(timestamps[rows_of_queue[-1]])
                batch_queue.put(batch_queue.end or 0, batches.tobytes(), last)
            else:
                queue = self._queue(topic, queue_id, log_start)
                _add_units(queue, offsets, units[rows_of_queue], timestamps[rows_of_queue])
        self._add_dispatched(rows, units, timestamps, log_start)
        if sum(writer.buffered for writer in self.writers) > _MAX_BUFFERED:
            self._flush()

    def _queue(self, topic: str, queue_id: int, log_start: int) -> NumberedQueue:
        queue = self._queues.get((topic, queue_id))
        if queue is None:
            writer = self._open_writer(topic, queue_id, self._file_size, UNIT_SIZE)
            queue = self._queues[topic, queue_id] = NumberedQueue(writer, self._report, log_start)
        return queue

    def _open_writer(self, topic: str, queue_id: int, size: int, unit_size: int) -> QueueWriter:
        folder = queue_folder(topic, queue_id, is_batch=unit_size == BATCH_UNIT_SIZE)
        writer = QueueWriter(self._files, folder, file_size=size, unit_size=unit_size)
        self.writers.append(writer)
        return writer

    def _add_dispatched(self, rows: Rows, units: Units, timestamps: Int64s, log_start: int) -> None:
        flags = rows.messages.numbers("sys_flag") & TRANSACTION
        for row, name, number in read_other_queues(rows):
            if is_folder_name(name[0]) and flags[row] not in (PREPARED, ROLLED_BACK):
                queue = self._queue(*name, log_start)
                queue.put(number, units[row : row + 1].tobytes(), int(timestamps[row]))

    def _flush(self) -> None:
        for writer in self.writers:
            writer.flush()

    def finish(self) -> None:
        for queue in self._queues.values():
            queue.finish()
        self._flush()


def _tags_codes(rows: Rows, timestamps: Int64s) -> Int64s:
    codes, names = rows.tags_codes.copy(), rows.topics.names
    if SCHEDULE_TOPIC in names:
        is_delayed = rows.topic_numbers == names.index(SCHEDULE_TOPIC)
        for row in np.flatnonzero(is_delayed).tolist():
            values = rows.properties[row]
            tags, level = values.get(message_const.TAGS), values.get(message_const.DELAY)
            codes[row] = tags_code(SCHEDULE_TOPIC, tags, level, int(timestamps[row]))
    return codes


def _add_units(queue: NumberedQueue, offsets: Int64s, units: Units, timestamps: Int64s) -> None:
    is_break = (np.diff(offsets) != 1) | (offsets[1:] % queue.units_per_file == 0)
    begins = [0, *(np.flatnonzero(is_break) + 1).tolist()]
    for begin, stop in zip(begins, [*begins[1:], len(units)], strict=True):
        queue.put(int(offsets[begin]), units[begin:stop].tobytes(), int(timestamps[stop - 1]))


@dataclass(slots=True)
class Rebuild:
    log: LogCopy  # of the new store
    queues: QueueBuilder  # of the new store
    index: IndexWriter  # of the new store
    indexes_tags: bool  # as since 5.5
    report: RebuildReport  # counts what is done
    _topics: TopicNames = field(default_factory=TopicNames)
    _regions_seen: int = 0

    def add(self, block: Block, regions: Sequence[Region]) -> None:
        """Add the messages of a block; ``regions`` is what the scan has seen that is no message."""
        for region in regions[self._regions_seen :]:
            if region.kind is RegionKind.BLANK:
                self.log.blanks[region.start] = region.end
        self._regions_seen = len(regions)
        if block.state is State.GHOST:
            self.report.ghosts += len(block.messages)
            return
        rows = Rows(block, self._topics)
        sound, positions = self._are_served(rows), rows.messages.positions
        self.report.broken_messages += int((~sound).sum())
        for first, last in _runs(sound):
            while first < last and not self.log.has_room(block.base + int(positions[first])):
                first += 1
                self.report.crowded_messages += 1
            if first < last:
                self._add_run(rows.choose(np.arange(first, last)))

    def _are_served(self, rows: Rows) -> Bools:
        """Which messages a broker would serve: Java's recovery stops at a wrong checksum."""
        messages = rows.messages
        sound = rows.crc_holds.copy()
        names = rows.topics.names
        numbers = rows.topic_numbers
        has_folder = np.array([is_folder_name(name) for name in names], np.bool_)
        sound &= has_folder[numbers]
        sound &= (messages.numbers("queue_id") >= 0) & (messages.numbers("queue_offset") >= 0)
        if commit_log.CRC_PROPERTY in rows.data:
            sizes = messages.sizes.tolist()
            for row, position in enumerate(messages.positions.tolist()):
                checksums = commit_log.message_crc(rows.data, position, sizes[row])
                if checksums is not None and checksums[0] != checksums[1]:
                    sound[row] = False
        return sound

    def _add_run(self, rows: Rows) -> None:
        messages, block, report = rows.messages, rows.block, self.report
        first = int(messages.positions[0])
        end = int(messages.positions[-1] + messages.sizes[-1])
        timestamps = messages.numbers("store_timestamp")
        self.log.write(block.base + first, block.view[first:end], int(timestamps[0]))
        report.messages += len(rows)
        report.bytes_copied += end - first
        report.newest = max(report.newest, int(timestamps.max()))
        report.queued = int(messages.numbers("physical_offset")[-1])
        self.queues.add(rows, self.log.start or 0)
        self._add_keys(rows)

    def _add_keys(self, rows: Rows) -> None:
        key_rows, hashes, is_tag = key_hashes(rows)
        flags = rows.messages.numbers("sys_flag")[key_rows] & TRANSACTION
        is_entry = (flags != ROLLED_BACK) & (self.indexes_tags | ~is_tag)
        key_rows = key_rows[is_entry]
        offsets = rows.messages.numbers("physical_offset")[key_rows].tolist()
        timestamps = rows.messages.numbers("store_timestamp")[key_rows].tolist()
        put = self.index.put
        for key_hash, offset, timestamp in zip(
            hashes[is_entry].tolist(), offsets, timestamps, strict=True
        ):
            put(key_hash, offset, timestamp)
        self.report.index_entries += len(key_rows)

    def finish(self) -> None:
        self.queues.finish()
        self.index.flush()


def _runs(sound: Bools) -> Iterator[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(sound.astype(np.int8), prepend=0, append=0)).tolist()
    yield from zip(edges[::2], edges[1::2], strict=True)
