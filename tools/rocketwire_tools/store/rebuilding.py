"""A new store from the messages of an old one's commit log.

``LogCopy`` copies messages to the same physical offsets and fills what lies between them.
``QueueBuilder`` and ``IndexBuilder`` build what a broker would have built from the same messages;
``NumberedQueue`` decides where units go whose messages have strange queue offsets.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.messages import message_const
from rocketwire.policy.resource_names import SCHEDULE_TOPIC
from rocketwire.store import commit_log
from rocketwire.store.consume_queue import BATCH_UNIT_SIZE, UNIT_SIZE
from rocketwire.store.writer import (
    BATCH_QUEUE_FILE_SIZE,
    MIN_FILLER,
    CommitLogWriter,
    Files,
    IndexWriter,
    QueueWriter,
    filler,
    index_keys,
    is_folder_name,
    queue_folder,
    tags_code,
)
from rocketwire_tools.numbers import number_in
from rocketwire_tools.store.engine.hashes import index_hashes
from rocketwire_tools.store.engine.rows import Rows, TopicNames, text_of
from rocketwire_tools.store.engine.scan import RegionKind, State
from rocketwire_tools.store.numbering import NumberedQueue, NumberingReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rocketwire.store.index_file import Geometry
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.properties import PropertyItems
    from rocketwire_tools.store.engine.scan import Block, Region

UNIT: Final = np.dtype([("physical_offset", ">i8"), ("size", ">i4"), ("tags_code", ">i8")])
BATCH_UNIT: Final = np.dtype(
    [
        ("physical_offset", ">i8"),
        ("size", ">i4"),
        ("tags_code", ">i8"),
        ("store_timestamp", ">i8"),
        ("base_offset", ">i8"),
        ("message_count", ">i2"),
        ("compacted_offset", ">i4"),
        ("reserved", ">i4"),
    ]
)
_TRANSACTION: Final = 12
_ROLLED_BACK: Final = 12
_INNER_BATCH: Final = 0xC0
_LMQ_PREFIX: Final = "%LMQ%"
_MAX_BUFFERED: Final = 16 << 20
"""Bytes of all queues together that wait to be written."""
_MAX_CODES: Final = 100_000
"""Tags whose code is kept."""


@dataclass(slots=True)
class RebuildReport(NumberingReport):
    """What a rebuild did.

    Attributes:
        bytes_copied: of the messages that were copied.
        fillers: places without a message that were filled.
        broken_messages: whose checksum, topic, queue or queue offset is wrong; filled as well.
        crowded_messages: whole ones, lost because the place before is too small for a filler.
        ghosts: old messages after the end of the log, which were left out.
        misnamed_files: of the log, left out because their names are no multiples of the file size.
        index_entries: keys in the index.
        newest: last store timestamp, milliseconds since 1970.
        queued: last physical offset.
        end: offset in the log after the last message.
        has_torn_end: whether the last message is incomplete, or the last file is empty.
    """

    bytes_copied: int = 0
    fillers: int = 0
    broken_messages: int = 0
    crowded_messages: int = 0
    ghosts: int = 0
    misnamed_files: int = 0
    index_entries: int = 0
    newest: int = 0
    queued: int = 0
    end: int = 0
    has_torn_end: bool = False

    @property
    def has_damage(self) -> bool:
        """Whether messages are lost, or not where their producers were told."""
        strange = self.missing_offsets + self.misplaced_messages + self.unqueued_messages
        is_numbered = not (strange or self.replaced_offsets)
        return bool(self.fillers or self.misnamed_files or self.has_torn_end) or not is_numbered


class LogCopy:
    """Copies messages to the same offsets of a new commit log, and fills the places between them.

    Args:
        files: of the new store.
        file_size: of each file of the log.
        report: counts what is done.

    Attributes:
        file_size: of each file of the log.
        start: offset of the first file; None before the first message.
    """

    def __init__(self, files: Files, file_size: int, report: RebuildReport) -> None:
        self._writer = CommitLogWriter(files, file_size=file_size)
        self.file_size = file_size
        self._report = report
        self.start: int | None = None

    def has_room(self, offset: int) -> bool:
        """Whether the place before a message is empty, or large enough for a filler."""
        end = self._end(offset)
        begin = max(end, offset - offset % self.file_size)
        return offset == begin or offset - begin >= MIN_FILLER

    def write(
        self,
        offset: int,
        data: memoryview,
        store_timestamp: int,
        blank_end: Callable[[int], int | None],
    ) -> None:
        """Copy messages that stand together.

        Args:
            offset: of the first one.
            data: the messages.
            store_timestamp: of the first one.
            blank_end: offset after the blank that the source has at an offset; None without one.
        """
        position = self._end(offset)
        if self.start is None:
            self.start = position
        if position < offset:
            if blank_end(position) != offset:
                self._report.fillers += 1
                self._report.bytes_filled += offset - position
            timestamp = self._report.newest or store_timestamp
            while position < offset:
                position = self._fill(position, offset, timestamp)
        self._writer.write(offset, data)
        self._report.end = offset + len(data)

    def _end(self, offset: int) -> int:
        if self.start is None:
            return offset - offset % self.file_size
        return self._writer.end

    def _fill(self, position: int, stop: int, timestamp: int) -> int:
        """Fill from a position, but not beyond its file; returns where to go on."""
        in_file = position % self.file_size
        left = self.file_size - in_file
        if stop - position < left:
            data = filler(position, stop - position, timestamp)
            assert data is not None  # noqa: S101 - has_room was asked
            self._writer.write(position, data)
            return stop
        if left > commit_log.BLANK_SIZE + MIN_FILLER and not in_file:
            # Java begins to recover at files that begin with a message, so a lost file has one
            data = filler(position, MIN_FILLER, timestamp)
            assert data is not None  # noqa: S101 - it is large enough
            self._writer.write(position, data)
            position += MIN_FILLER
            left -= MIN_FILLER
        if left >= commit_log.BLANK_SIZE:
            self._writer.fill_to_end(position)
        return position + left


class QueueBuilder:
    """Builds consume queues from messages in the order of the log.

    Args:
        files: of the new store.
        file_size: of a queue's files.
        batch_file_size: of a batch queue's files.
        batch_topics: topics whose queues are of type BatchCQ.
        report: counts what is done.

    Attributes:
        queue_counts: topic → queues, by the largest number of a queue that was seen.
        batch_topics: topics whose queues are of type BatchCQ; those with an inner batch are added.
    """

    def __init__(
        self,
        files: Files,
        *,
        file_size: int,
        batch_file_size: int = BATCH_QUEUE_FILE_SIZE,
        batch_topics: Iterable[str],
        report: RebuildReport,
    ) -> None:
        self._files = files
        self._file_size = file_size
        self._batch_file_size = batch_file_size
        self._queues: dict[tuple[str, int, bool], QueueWriter] = {}
        self._numbered: dict[tuple[str, int], NumberedQueue] = {}
        self._report = report
        self._codes: dict[bytes | None, int] = {None: 0}
        self.queue_counts: Counter[str] = Counter()
        self.batch_topics = set(batch_topics)

    def add(self, rows: Rows, items: PropertyItems, log_start: int) -> None:
        """Add units for the messages of rows.

        Args:
            rows: in the order of the log.
            items: their properties.
            log_start: offset of the log's first file.
        """
        messages, names = rows.messages, rows.topics.names
        flags = messages.numbers("sys_flag")
        timestamps = messages.numbers("store_timestamp")
        units = np.empty(len(rows), UNIT)
        units["physical_offset"] = messages.numbers("physical_offset")
        units["size"] = messages.sizes
        units["tags_code"] = self._tags_codes(rows, items, timestamps)
        is_queued = ((flags & _TRANSACTION) == 0) | ((flags & _TRANSACTION) == 8)
        topics, queue_ids = rows.topic_numbers, messages.numbers("queue_id")
        is_batch = (flags & _INNER_BATCH) == _INNER_BATCH
        numbers: list[int] = np.unique(topics[is_batch]).tolist()
        self.batch_topics.update([names[number] for number in numbers])
        offsets = messages.numbers("queue_offset")
        for places in _groups(topics, queue_ids, np.flatnonzero(is_queued)):
            topic, queue_id = names[int(topics[places[0]])], int(queue_ids[places[0]])
            self.queue_counts[topic] = max(self.queue_counts[topic], queue_id + 1)
            if topic in self.batch_topics:
                self._add_batches(topic, queue_id, rows, items, units[places], places)
            else:
                self._add_units(
                    self._numbered_queue(topic, queue_id, log_start),
                    offsets[places],
                    units[places],
                    timestamps[places],
                )
        self._add_dispatched(rows, items, units, is_queued, log_start)
        if sum(queue.buffered for queue in self._queues.values()) > _MAX_BUFFERED:
            self._write()

    def _tags_codes(self, rows: Rows, items: PropertyItems, timestamps: Int64s) -> Int64s:
        values = items.raw_values(message_const.TAGS)
        codes = self._codes
        if len(codes) > _MAX_CODES:
            codes.clear()
            codes[None] = 0
        for value in set(values).difference(codes):
            codes[value] = tags_code("", (value or b"").decode(), None, 0)
        numbers = np.fromiter((codes[value] for value in values), np.int64, len(values))
        names = rows.topics.names
        if SCHEDULE_TOPIC in names:
            delayed = np.flatnonzero(rows.topic_numbers == names.index(SCHEDULE_TOPIC))
            levels = items.raw_values(message_const.DELAY)
            for row in delayed.tolist():
                level, tags = levels[row], values[row]
                numbers[row] = tags_code(
                    SCHEDULE_TOPIC,
                    None if tags is None else tags.decode(),
                    None if level is None else level.decode(),
                    int(timestamps[row]),
                )
        return numbers

    def _queue(self, topic: str, queue_id: int, *, is_batch: bool = False) -> QueueWriter:
        queue = self._queues.get((topic, queue_id, is_batch))
        if queue is None:
            queue = self._queues[topic, queue_id, is_batch] = QueueWriter(
                self._files,
                queue_folder(topic, queue_id, is_batch=is_batch),
                file_size=self._batch_file_size if is_batch else self._file_size,
                unit_size=BATCH_UNIT_SIZE if is_batch else UNIT_SIZE,
            )
        return queue

    def _numbered_queue(self, topic: str, queue_id: int, log_start: int) -> NumberedQueue:
        queue = self._numbered.get((topic, queue_id))
        if queue is None:
            writer = self._queue(topic, queue_id)
            queue = NumberedQueue(writer, self._report, log_start)
            self._numbered[topic, queue_id] = queue
        return queue

    @staticmethod
    def _add_units(
        queue: NumberedQueue,
        offsets: Int64s,
        units: np.ndarray[tuple[int], np.dtype[np.void]],
        timestamps: Int64s,
    ) -> None:
        is_break = (np.diff(offsets) != 1) | (offsets[1:] % queue.units_per_file == 0)
        begins = [0, *(np.flatnonzero(is_break) + 1).tolist()]
        for begin, stop in zip(begins, [*begins[1:], len(units)], strict=True):
            queue.put(int(offsets[begin]), units[begin:stop].tobytes(), int(timestamps[stop - 1]))

    def _add_batches(
        self,
        topic: str,
        queue_id: int,
        rows: Rows,
        items: PropertyItems,
        units: np.ndarray[tuple[int], np.dtype[np.void]],
        places: Int64s,
    ) -> None:
        batches = np.zeros(len(units), BATCH_UNIT)
        for name in UNIT.names or ():
            batches[name] = units[name]
        batches["store_timestamp"] = rows.messages.numbers("store_timestamp")[places]
        batches["base_offset"] = rows.messages.numbers("queue_offset")[places]
        counts = items.raw_values(message_const.INNER_NUM)
        numbers: list[int] = places.tolist()
        batches["message_count"] = [_count(counts[number]) for number in numbers]
        batches["compacted_offset"] = -1
        queue = self._queue(topic, queue_id, is_batch=True)
        queue.put(queue.end or 0, batches.tobytes(), int(batches["store_timestamp"][-1]))

    def _add_dispatched(
        self,
        rows: Rows,
        items: PropertyItems,
        units: np.ndarray[tuple[int], np.dtype[np.void]],
        is_queued: Bools,
        log_start: int,
    ) -> None:
        """Add units to the further queues that a message names (Java: ``MultiDispatchUtils``)."""
        offsets = items.items_named(message_const.INNER_MULTI_QUEUE_OFFSET)
        places_of_rows = np.flatnonzero((offsets >= 0) & is_queued).tolist()
        if not places_of_rows:
            return
        queue_ids = rows.messages.numbers("queue_id")
        timestamps = rows.messages.numbers("store_timestamp")
        names = items.raw_values(message_const.INNER_MULTI_DISPATCH)
        numbers = items.raw_values(message_const.INNER_MULTI_QUEUE_OFFSET)
        for row in places_of_rows:
            topics = text_of(names[row] or b"").split(",")
            places = text_of(numbers[row] or b"").split(",")
            if len(topics) != len(places):
                continue
            for topic, place in zip(topics, places, strict=True):
                number = number_in(place)
                if number is None or not is_folder_name(topic):
                    continue
                queue_id = 0 if topic.startswith(_LMQ_PREFIX) else int(queue_ids[row])
                queue = self._numbered_queue(topic, queue_id, log_start)
                queue.put(number, units[row : row + 1].tobytes(), int(timestamps[row]))

    @property
    def queue_count(self) -> int:
        """Number of queues."""
        return len(self._queues)

    def _write(self) -> None:
        for queue in self._queues.values():
            queue.flush()

    def finish(self) -> None:
        """Write all that is left."""
        for queue in self._numbered.values():
            queue.finish()
        self._write()


def _count(text: bytes | None) -> int:
    count = number_in(None if text is None else text_of(text))
    return 1 if count is None else min(count, (1 << 15) - 1)


def _groups(topics: Int64s, queue_ids: Int64s, places: Int64s) -> Iterator[Int64s]:
    """Places with the same topic and queue, in their order."""
    if not len(places):
        return
    keys = topics[places] << 32 | queue_ids[places]
    order = np.argsort(keys, kind="stable")
    breaks = np.flatnonzero(np.diff(keys[order])) + 1
    yield from np.split(places[order], breaks)


class IndexBuilder:
    """Builds index files from messages in the order of the log.

    Args:
        files: of the new store.
        geometry: slots and entries of each file.
        with_tags: whether tags are indexed, as since 5.5.
        report: counts what is done.
    """

    def __init__(
        self, files: Files, geometry: Geometry, *, with_tags: bool, report: RebuildReport
    ) -> None:
        self._writer = IndexWriter(files, geometry)
        self._with_tags = with_tags
        self._report = report

    @property
    def full_timestamp(self) -> int:
        """Last store timestamp of the newest full file."""
        return self._writer.full_timestamp

    def add(self, rows: Rows, items: PropertyItems) -> None:
        """Add the keys of the messages of rows."""
        texts: list[str] = []
        places: list[int] = []
        unique_keys = items.raw_values(message_const.UNIQ_KEY)
        keys = items.raw_values(message_const.KEYS)
        tags = items.raw_values(message_const.TAGS)
        names = rows.topics.names
        flags: list[int] = rows.messages.numbers("sys_flag").tolist()
        numbers: list[int] = rows.topic_numbers.tolist()
        for row, number in enumerate(numbers):
            properties = {
                name: value.decode()
                for name, value in (
                    (message_const.UNIQ_KEY, unique_keys[row]),
                    (message_const.KEYS, keys[row]),
                    (message_const.TAGS, tags[row]),
                )
                if value is not None
            }
            entries = index_keys(names[number], properties, flags[row], with_tags=self._with_tags)
            texts += [f"{topic}#{key}" for topic, key in entries]
            places += [row] * len(entries)
        hashes: list[int] = index_hashes(texts).tolist()
        offsets = rows.messages.numbers("physical_offset")[places].tolist()
        timestamps = rows.messages.numbers("store_timestamp")[places].tolist()
        put = self._writer.put
        for number, offset, timestamp in zip(hashes, offsets, timestamps, strict=True):
            put(number, offset, timestamp)
        self._report.index_entries += len(texts)

    def flush(self) -> None:
        """Write what is not yet in the file."""
        self._writer.flush()


@dataclass(slots=True)
class Rebuild:
    """Builds a store of the blocks of a scan.

    Attributes:
        log: of the new store.
        queues: of the new store.
        index: of the new store; None to build none.
        report: counts what is done.
    """

    log: LogCopy
    queues: QueueBuilder
    index: IndexBuilder | None
    report: RebuildReport
    _topics: TopicNames = field(default_factory=TopicNames)
    _regions_seen: int = 0
    _blanks: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, block: Block, regions: Sequence[Region]) -> None:
        """Add the messages of a block.

        Args:
            block: of the scan.
            regions: what the scan has seen so far that is no message.
        """
        for region in regions[self._regions_seen :]:
            if region.kind is RegionKind.BLANK:
                self._blanks[region.start] = region.end
        self._regions_seen = len(regions)
        if block.state is State.GHOST:
            self.report.ghosts += len(block.messages)
            return
        rows = Rows(block, self._topics)
        sound = self._sound(rows)
        self.report.broken_messages += int((~sound).sum())
        for first, last in _runs(sound):
            while first < last and not self.log.has_room(block.base + _at(rows, first)):
                first += 1
                self.report.crowded_messages += 1
            if first < last:
                self._add_run(rows.chosen(np.arange(first, last)))

    def _sound(self, rows: Rows) -> Bools:
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
        """Add messages that stand together."""
        messages, block = rows.messages, rows.block
        first = int(messages.positions[0])
        end = int(messages.positions[-1] + messages.sizes[-1])
        timestamps = messages.numbers("store_timestamp")
        self.log.write(
            block.base + first, block.view[first:end], int(timestamps[0]), self._blanks.get
        )
        report = self.report
        report.messages += len(rows)
        report.bytes_copied += end - first
        report.newest = max(report.newest, int(timestamps.max()))
        report.queued = int(messages.numbers("physical_offset")[-1])
        items = rows.property_items
        self.queues.add(rows, items, self.log.start or 0)
        if self.index is not None:
            self.index.add(rows, items)

    def finish(self) -> None:
        """Write all that is left, when the last log has been added."""
        self.queues.finish()
        if self.index is not None:
            self.index.flush()


def _at(rows: Rows, row: int) -> int:
    return int(rows.messages.positions[row])


def _runs(sound: Bools) -> Iterator[tuple[int, int]]:
    """First and last (not included) of each run of true ones."""
    edges = np.flatnonzero(np.diff(sound.astype(np.int8), prepend=0, append=0)).tolist()
    yield from zip(edges[::2], edges[1::2], strict=True)
