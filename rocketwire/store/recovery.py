"""What a Java broker does with a store at its next start, predicted without starting it.

The prediction follows ``DefaultMessageStore.load`` and ``start`` of 4.9.4, 5.3.3 and 5.5.0 step by
step: files are loaded, or the start is refused; each queue is cut at its first invalid unit; the
commit log is read from one file on up to its first invalid record; everything behind it is given
up; queues are cut to it; messages behind the queues are put into queues again.

Nothing here opens a file: ``StoreImage`` has the names and lengths of the files and functions that
read them.  The settings of the broker are those of ``StoreImage``; all other settings are Java's
defaults, and the broker is a master.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.messages import message_const
from rocketwire.policy.java_strings import split
from rocketwire.policy.resource_names import LMQ_PREFIX, RETRY_PREFIX, SCHEDULE_TOPIC
from rocketwire.store.built_queues import (
    QUEUE_FILES,
    BuiltBatchQueue,
    BuiltQueue,
    MappedFiles,
    QueueReader,
    RecoveredQueue,
    RefusedError,
    Topic,
)
from rocketwire.store.checkpoint import Checkpoint, decode_checkpoint
from rocketwire.store.commit_log import BORN_HOST_V6, SMALLEST_MESSAGE
from rocketwire.store.java_records import (
    JavaRecord,
    MoreBytesNeededError,
    Release,
    read_record,
)
from rocketwire.store.rocksdb.built_queues import BuiltRocksQueue, BuiltRocksQueues, NoRocksQueues
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.layouts.declarations import MAGIC_V1, MAGIC_V2
from rocketwire.wire.message.properties import decode_properties

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rocketwire.store.rocksdb.built_queues import RocksQueuesImage

MAX_UNITS: Final = 2_000_000
"""Default limit of the units that a prediction keeps in memory."""

MAX_RECOVERED_FILES: Final = 10
"""Java: ``MessageStoreConfig.commitLogRecoverMaxNum``."""

CHUNK: Final = 1 << 20
"""Bytes of a commit log that are read at once."""

MAX_QUEUE_FILE: Final = 256 << 20
"""Limit of one file of a queue; a prediction with larger ones is not exact."""

_JAVA_LONG: Final = re.compile(r"[+-]?[0-9]{1,40}", re.ASCII)
_CHECKPOINT_WORDS: Final = 48
_TRANSACTION: Final = 0xC
_QUEUED_TRANSACTIONS: Final = (0, 8)
_ROCKS_FOLDER: Final = "consumequeue"
_TIMERS: Final = ("timerlog/", "timerwheel")
_PATH_SPLITTER: Final = ","
"""Java: ``MixAll.MULTI_PATH_SPLITTER``; ``UtilAll.ensureDirOK`` makes a folder of each part."""
_SYSTEM_PREFIX: Final = "rmq_sys_"


class FolderEntry(NamedTuple):
    """A file or folder below ``commitlog`` or below the folder of a queue.

    Attributes:
        name: of the file.
        size: bytes of the file.
        is_folder: whether it is a folder.
    """

    name: str
    size: int
    is_folder: bool = False


class LogEnd(NamedTuple):
    """Where Java stops in a file of the commit log.

    Attributes:
        position: in the file.
        record: the blank or the broken record there.
        highest_offset: largest physical offset that a message before it has.
    """

    position: int
    record: JavaRecord
    highest_offset: int


@dataclass(frozen=True, kw_only=True)
class StoreImage:
    """What a broker finds at its start.

    Attributes:
        log: everything in the folder ``commitlog``.
        log_file_size: setting ``mappedFileSizeCommitLog``.
        read_log: reads a file of the log: offset of the file, position, size; fewer bytes at its
            end.
        queues: topic and queue → everything in the folder of the queue.
        queue_file_size: setting ``mappedFileSizeConsumeQueue``, rounded up to whole units.
        read_queue: reads a file of a queue: topic and queue, offset of the file, position, size;
            zeros at the end may be left out.
        batch_queues: as ``queues``, of the folder ``batchconsumequeue``.
        batch_queue_file_size: setting ``mapperFileSizeBatchConsumeQueue``.
        read_batch_queue: as ``read_queue``.
        rocks: the RocksDB of queues, by which 5.x goes; None without.  4.9.4 goes by files.
        rocks_folders: folders that have such a RocksDB: ``consumequeue``,
            ``consumequeue_rocksdb`` (5.5).
        batch_topics: topics whose configuration says that their queues are of type BatchCQ.
        checkpoint: the file; empty without one.
        has_abort: whether the last broker did not end in order.
        index_ends: name of an index file → its end timestamp.
        unopened: name of a file that brokers open and cannot use → what is wrong with it.  Those
            of timers do not matter to 4.9.4.
        dispatches_lmq: settings ``enableLmq`` and ``enableMultiDispatch``.
        builds_queues: whether to predict what is put into queues; without it only the cut counts.
        cache: content of files of queues; predictions for one store that does not change share it.
        checked: reads nothing: up to which position the caller knows that a file of the log has
            messages only, by Java's rule too, and their largest physical offset.
    """

    log: Sequence[FolderEntry]
    log_file_size: int
    read_log: Callable[[int, int, int], bytes]
    queues: Mapping[Topic, Sequence[FolderEntry]] = field(
        default_factory=dict["Topic", "Sequence[FolderEntry]"]
    )
    queue_file_size: int = 6_000_000
    read_queue: QueueReader = lambda _queue, _offset, _position, _size: b""
    batch_queues: Mapping[Topic, Sequence[FolderEntry]] = field(
        default_factory=dict["Topic", "Sequence[FolderEntry]"]
    )
    batch_queue_file_size: int = 13_800_000
    read_batch_queue: QueueReader = lambda _queue, _offset, _position, _size: b""
    rocks: RocksQueuesImage | None = None
    rocks_folders: Sequence[str] = ()
    batch_topics: frozenset[str] = frozenset()
    checkpoint: bytes = b""
    has_abort: bool = False
    index_ends: Mapping[str, int] = field(default_factory=dict[str, int])
    unopened: Mapping[str, str] = field(default_factory=dict[str, str])
    dispatches_lmq: bool = False
    builds_queues: bool = True
    cache: dict[object, int] = field(default_factory=dict[object, int])
    checked: Callable[[int, Release], tuple[int, int]] = lambda _offset, _release: (0, -1)


class ServedUnit(NamedTuple):
    """A message that a pull returns.

    Attributes:
        queue_offset: the number of its unit.
        physical_offset: of the message in the commit log, as the unit has it.
        size: bytes that are sent.
        file: offset of the file that they are taken from.  For offset 0 that is the first file,
            even if the log begins later.
    """

    queue_offset: int
    physical_offset: int
    size: int
    file: int


@dataclass(slots=True, kw_only=True)
class Recovery:
    """What a broker of a release does at its next start.

    Attributes:
        release: of the broker.
        refusal: why the broker does not start; empty if it does.
        hang: why the start never ends; empty if it does.
        starts_from: offset of the file from which the log is read; None without a log.
        cut: offset in the stream at which the log is cut.
        cut_reason: the rule that the record there breaks; empty if the log ends there.
        first_offset: offset of the log's first file.
        deleted_files: names of files of the log that are deleted.
        deleted_index_files: names.
        deletes_queues: whether all queues are deleted, because there is no log.
        queues: topic and queue → queue after the start.
        doubt: why the prediction is not exact; empty if it is.
        models: topic and queue → units of the queue after the start.
        log: the log after the start.
    """

    release: Release
    refusal: str = ""
    hang: str = ""
    starts_from: int | None = None
    cut: int = 0
    cut_reason: str = ""
    first_offset: int = 0
    deleted_files: list[str] = field(default_factory=list[str])
    deleted_index_files: list[str] = field(default_factory=list[str])
    deletes_queues: bool = False
    queues: Mapping[Topic, RecoveredQueue] = field(default_factory=dict["Topic", RecoveredQueue])
    doubt: str = ""
    models: Mapping[Topic, BuiltQueue | BuiltRocksQueue] = field(
        default_factory=dict["Topic", BuiltQueue | BuiltRocksQueue], repr=False
    )
    log: CommitLog | None = field(default=None, repr=False)

    @property
    def starts(self) -> bool:
        """Whether the broker serves messages afterwards."""
        return not self.refusal and not self.hang

    @property
    def is_exact(self) -> bool:
        """Whether the prediction is complete, and certain."""
        return not self.doubt

    def served(self, queue: Topic) -> Iterator[ServedUnit]:
        """Units that pulls of a queue return, from its first offset on; batches if it holds these.

        Args:
            queue: topic and queue id.
        """
        model, log = self.models.get(queue), self.log
        if log is None or model is None:
            return
        for number, offset, size in model.units_served():
            file = log.file_with(offset, size)
            if file is not None:
                yield ServedUnit(number, offset, size, file)

    def unanswered(self, queue: Topic) -> set[int]:
        """Queue offsets at which a pull fails: no unit is there, or one without bytes.

        Args:
            queue: topic and queue id.
        """
        model = self.models.get(queue)
        if model is None:
            return set()
        unserved = model.unserved() if isinstance(model, BuiltRocksQueue) else set[int]()
        return unserved | {number for number, _, size in model.units_served() if not size}


class _Results(Mapping["Topic", RecoveredQueue]):
    """Queues after the start, each made when it is asked for: a store has 100,000 of them."""

    def __init__(self, models: Mapping[Topic, BuiltQueue | BuiltRocksQueue]) -> None:
        self._models = models

    def __getitem__(self, queue: Topic) -> RecoveredQueue:
        return self._models[queue].result()

    def __iter__(self) -> Iterator[Topic]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)


def predict(image: StoreImage, release: Release, *, max_units: int = MAX_UNITS) -> Recovery:
    """Predict the next start of a broker.

    Args:
        image: the store.
        release: of the broker.
        max_units: units that are kept in memory at most; beyond it the prediction is not exact.
    """
    recovery = Recovery(release=release)
    try:
        _Start(image, recovery, max_units).run()
    except RefusedError as error:
        recovery.refusal = str(error)
    except _HangsError as error:
        recovery.hang = str(error)
    except _TooManyUnitsError:
        recovery.doubt = "queues are too large to predict"
    return recovery


class _HangsError(Exception):
    """The start of the broker never ends."""


class _TooManyUnitsError(Exception):
    """More units than may be kept."""


def _load_files(
    folder: str, entries: Iterable[FolderEntry], file_size: int, release: Release
) -> tuple[list[int], list[str]]:
    """Offsets of the files that Java loads, and names of those it deletes.

    Java: ``MappedFileQueue.doLoad``.

    Raises:
        RefusedError: Java refuses to start.
    """
    files: list[int] = []
    deleted: list[str] = []
    ordered = sorted(entries)
    for number, entry in enumerate(ordered):
        is_old = release is Release.V4_9_4
        if entry.is_folder and not is_old:
            continue
        if entry.is_folder:
            raise RefusedError(f"{folder}/{entry.name} is a folder, which has another length")
        if not entry.size and number == len(ordered) - 1 and not is_old:
            deleted.append(entry.name)
            continue
        if entry.size != file_size:
            raise RefusedError(
                f"{folder}/{entry.name} has {entry.size} bytes instead of {file_size}"
            )
        if not _JAVA_LONG.fullmatch(entry.name):
            raise RefusedError(f"the name of {folder}/{entry.name} is no number")
        files.append(int(entry.name))
    return files, deleted


def _is_in_order(queue: BuiltQueue) -> bool:
    return not isinstance(queue, BuiltBatchQueue) or queue.is_in_order


class CommitLog:
    """The commit log."""

    def __init__(self, image: StoreImage, files: MappedFiles, release: Release) -> None:
        self.files = files
        self._image = image
        self._release = release

    @property
    def min_offset(self) -> int:
        return -1 if self.files.first is None else self.files.first

    def file_with(self, offset: int, size: int) -> int | None:
        """The file from which a broker sends these bytes (Java: ``CommitLog.getMessage``).

        For no bytes a pull is never answered.
        """
        file = self.files.file_of(offset, or_first=offset == 0)
        if file is None or size <= 0:
            return None
        return file if offset % self.files.size + size <= self.files.written(file) else None

    def record(self, file: int, position: int, end: int, *, with_body: bool = True) -> JavaRecord:
        """The record at a position of a file."""
        return next(self.records(file, position, end, with_body=with_body))[1]

    def records(
        self, file: int, position: int, end: int, *, with_body: bool = True
    ) -> Iterator[tuple[int, JavaRecord]]:
        """Positions and records up to the first one that is no message, included."""
        needed = 0
        chunk, start = b"", position
        while True:
            if not needed and position < start + len(chunk):
                view = memoryview(chunk)[position - start :]
            else:
                size = min(max(CHUNK, needed), max(0, end - position))
                chunk, start = self._image.read_log(file, position, size), position
                view = memoryview(chunk)
            # a file that has become shorter ends there
            remaining = end - position if len(chunk) else 0
            try:
                record = read_record(view, remaining, self._release, with_body=with_body)
            except MoreBytesNeededError as error:
                if not needed or len(view) >= min(needed, remaining):
                    needed = error.size
                    continue
                record = JavaRecord(-1, "the file has become shorter")
            needed = 0
            yield position, record
            if not record.is_message:
                return
            position += record.size

    def end_of(self, file: int) -> LogEnd:
        """Where a scan that begins with this file stops in it."""
        start, highest = self._image.checked(file, self._release)
        end = LogEnd(start, JavaRecord(-1), highest)
        for position, record in self.records(file, start, self.files.size):
            end = LogEnd(position, record, highest)
            highest = max(highest, record.physical_offset)
        return end


class _Start:
    """One start of a broker."""

    def __init__(self, image: StoreImage, recovery: Recovery, max_units: int) -> None:
        self.image = image
        self.recovery = recovery
        self.release = recovery.release
        self.max_units = max_units
        words = image.checkpoint.ljust(_CHECKPOINT_WORDS, b"\0")
        self.checkpoint: Checkpoint = decode_checkpoint(words)
        self.queues: dict[Topic, BuiltQueue] = {}
        self.rocks = self._rocks()
        self.added = 0

    def run(self) -> None:
        """Java: ``DefaultMessageStore.load`` and ``start``."""
        sizes = (self.image.queue_file_size, self.image.batch_queue_file_size)
        if max(sizes) > MAX_QUEUE_FILE:
            raise _TooManyUnitsError
        for name, reason in self.image.unopened.items():
            if not name.startswith(_TIMERS) or self.release is not Release.V4_9_4:
                raise RefusedError(f"{name} {reason}")
        self._load_log()
        self._load_queues()
        self._load_index()
        for queue in self.queues.values():
            queue.recover()
        queues_end = self._queues_end()
        self.recovery.first_offset = max(0, self.log.min_offset)
        if self.log.files.offsets:
            self._recover_log(queues_end)
        else:
            self._destroy_queues()
        self._correct_min_offsets()
        if self.image.builds_queues and self.release is Release.V4_9_4:
            self._put_rest_into_queues()
        self._correct_min_offsets()
        self._take_results()

    def _rocks(self) -> BuiltRocksQueues | None:
        image = self.image
        if image.rocks is None or self.release is Release.V4_9_4:
            return None
        is_known = self.release is Release.V5_5_0 or _ROCKS_FOLDER in image.rocks_folders
        rocks = image.rocks if is_known else NoRocksQueues()
        return BuiltRocksQueues(rocks, reads_ahead=self.release is Release.V5_5_0)

    def _destroy_queues(self) -> None:
        self.recovery.deletes_queues = bool(self.queues)
        for queue in self.queues.values():
            queue.destroy()
        if self.rocks is not None:
            self.recovery.deletes_queues = bool(self.rocks.names)
            self.rocks.destroy()

    def _take_results(self) -> None:
        recovery, rocks = self.recovery, self.rocks
        recovery.models = self.queues
        if self.image.builds_queues and not all(map(_is_in_order, self.queues.values())):
            recovery.doubt = "Java searches queues of batches by halving, and one is out of order"
        if rocks is not None:
            rocks.correct_oldest(self.log.min_offset)
            recovery.models = {**self.queues, **{name: rocks.queue(name) for name in rocks.names}}
            if rocks.is_doubtful:
                recovery.doubt = "two threads of Java race for some units of queues"
        recovery.queues = _Results(recovery.models)

    # -------------------------------------------------------------- loading

    def _load_log(self) -> None:
        image = self.image
        offsets, deleted = _load_files("commitlog", image.log, image.log_file_size, self.release)
        self.recovery.deleted_files += deleted
        self.log = CommitLog(image, MappedFiles(offsets, image.log_file_size), self.release)
        self.recovery.log = self.log

    def _load_queues(self) -> None:
        image = self.image
        if self.rocks is not None:
            if self.release is Release.V5_5_0 and len(image.rocks_folders) > 1:
                raise RefusedError(f"{' and '.join(image.rocks_folders)} have a RocksDB each")
            return
        has_batches = self.release is not Release.V4_9_4
        for name, entries in image.queues.items():
            topic, queue_id = name
            if has_batches and topic in image.batch_topics:
                raise RefusedError(
                    f"consumequeue/{topic} is plain, and the topic's queues are of type BatchCQ"
                )
            offsets, _ = _load_files(
                f"consumequeue/{topic}/{queue_id}", entries, image.queue_file_size, self.release
            )
            files = MappedFiles(offsets, image.queue_file_size)
            self.queues[name] = BuiltQueue(name, files, image.read_queue, image.cache)
        if not has_batches:
            return
        for name, entries in image.batch_queues.items():
            topic, queue_id = name
            if topic not in image.batch_topics:
                raise RefusedError(
                    f"batchconsumequeue/{topic} has batches, and topics.json does not say so"
                )
            offsets, _ = _load_files(
                f"batchconsumequeue/{topic}/{queue_id}",
                entries,
                image.batch_queue_file_size,
                self.release,
            )
            files = MappedFiles(offsets, image.batch_queue_file_size)
            self.queues[name] = BuiltBatchQueue(name, files, image.read_batch_queue, image.cache)

    def _load_index(self) -> None:
        if self.image.has_abort:
            self.recovery.deleted_index_files += [
                name
                for name, end in sorted(self.image.index_ends.items())
                if end > self.checkpoint.index_timestamp
            ]

    def _queues_end(self) -> int:
        if self.rocks is not None:
            return self.rocks.end
        return max((queue.max_physical_offset for queue in self.queues.values()), default=-1)

    def _correct_min_offsets(self) -> None:
        for queue in self.queues.values():
            queue.correct_min_offset(self.log.min_offset, self.release)

    # -------------------------------------------------------------- the log

    def _recover_log(self, queues_end: int) -> None:
        files = self.log.files
        is_clean = not self.image.has_abort
        index = self._first_index(queues_end, is_clean=is_clean)
        self.recovery.starts_from = files.offsets[index]
        dispatches = not is_clean or self.release is not Release.V4_9_4
        dispatches &= self.image.builds_queues
        while True:
            file = files.offsets[index]
            end = self.log.end_of(file)
            if dispatches and not (is_clean and end.highest_offset <= queues_end):
                self._dispatch(file, end.position, after=queues_end if is_clean else None)
            if not end.record.is_blank or index + 1 == len(files.offsets):
                break
            index += 1
        cut = file + end.position
        self.recovery.cut = cut
        self.recovery.cut_reason = end.record.reason
        current_end = self._queues_end() if self.release is Release.V5_5_0 else queues_end
        if self.rocks is not None:
            self.rocks.cut_to(cut, was_end=queues_end, log_start=self.log.min_offset)
        elif current_end >= cut:
            for queue in self.queues.values():
                queue.cut_to(cut)
        files.truncate(cut)
        self.recovery.deleted_files += [f"{offset:020}" for offset in files.deleted]

    def _first_index(self, queues_end: int, *, is_clean: bool) -> int:
        offsets = self.log.files.offsets
        last = len(offsets) - 1
        if is_clean and self.release is Release.V4_9_4:
            return max(0, last + 1 - QUEUE_FILES)
        most = MAX_RECOVERED_FILES if self.release is Release.V5_5_0 else len(offsets)
        for count, index in enumerate(range(last, -1, -1), 1):
            if self._is_start(offsets[index], queues_end, is_clean=is_clean) or count >= most:
                return index
        return 0

    def _is_start(self, file: int, queues_end: int, *, is_clean: bool) -> bool:
        """Java: ``CommitLog.isMappedFileMatchedRecover``."""
        if is_clean and self.release is Release.V5_3_3:
            return file <= queues_end
        if self.release is Release.V5_3_3 and self.rocks is not None:
            head = self.image.read_log(file, 0, SMALLEST_MESSAGE)
            offset = int.from_bytes(head[28:36], "big", signed=True)
            return int.from_bytes(head[4:8], "big") in (MAGIC_V1, MAGIC_V2) and offset <= queues_end
        if self.release is not Release.V5_5_0:
            timestamp = self._first_timestamp(file)
            return timestamp != 0 and timestamp <= self.checkpoint.min_timestamp
        record = self.log.record(file, 0, self.log.files.size)
        if not record.is_message or not record.store_timestamp:
            return False
        if is_clean or self.rocks is not None:
            return record.physical_offset <= queues_end
        if self.checkpoint.queue_physical_offset <= 0:
            return record.store_timestamp <= self.checkpoint.queue_timestamp
        return record.physical_offset <= self.checkpoint.queue_physical_offset

    def _first_timestamp(self, file: int) -> int:
        """Store timestamp of the first message, which is not checked; 0 without a message."""
        head = self.image.read_log(file, 0, SMALLEST_MESSAGE)
        magics = (MAGIC_V1,) if self.release is Release.V4_9_4 else (MAGIC_V1, MAGIC_V2)
        if int.from_bytes(head[4:8], "big") not in magics:
            return 0
        sys_flag = int.from_bytes(head[36:40], "big")
        position = 68 if sys_flag & BORN_HOST_V6 else 56
        return int.from_bytes(head[position : position + 8], "big", signed=True)

    # -------------------------------------------------------------- building queues

    def _dispatch(self, file: int, end: int, *, after: int | None) -> None:
        """Put the messages of a file into queues, of a clean store those behind the queues."""
        for position, record in self.log.records(file, 0, self.log.files.size, with_body=False):
            if position < end and (after is None or record.physical_offset > after):
                self._put(record)

    def _put(self, record: JavaRecord) -> None:
        if record.sys_flag & _TRANSACTION not in _QUEUED_TRANSACTIONS:
            return
        topic = decode_utf8(record.topic)
        self._put_into((topic, record.queue_id), record, record.queue_offset)
        if self.image.dispatches_lmq:
            self._put_lmq(topic, record)

    def _put_into(self, name: Topic, record: JavaRecord, queue_offset: int) -> None:
        if self.rocks is not None:
            self.rocks.put(name, record, queue_offset)
            if self.rocks.added > self.max_units:
                raise _TooManyUnitsError
            return
        if _PATH_SPLITTER in name[0]:
            self.recovery.doubt = "a topic has a comma, at which Java splits the path of its queue"
        queue = self._queue(*name)
        units = queue.added_units + queue.pre_blank_units
        queue.put(record, queue_offset)
        self.added += queue.added_units + queue.pre_blank_units - units
        if self.added > self.max_units:
            raise _TooManyUnitsError

    def _put_lmq(self, topic: str, record: JavaRecord) -> None:
        if topic == SCHEDULE_TOPIC or topic.startswith((RETRY_PREFIX, _SYSTEM_PREFIX)):
            return
        values = decode_properties(decode_utf8(record.properties))
        queues = split(values.get(message_const.INNER_MULTI_DISPATCH, ""), ",")
        offsets = split(values.get(message_const.INNER_MULTI_QUEUE_OFFSET, ""), ",")
        if len(queues) != len(offsets):
            return
        for name, offset in zip(queues, offsets, strict=True):
            if name and "/" not in name and _JAVA_LONG.fullmatch(offset):
                queue_id = 0 if name.startswith(LMQ_PREFIX) else record.queue_id
                self._put_into((name, queue_id), record, int(offset))

    def _queue(self, topic: str, queue_id: int) -> BuiltQueue:
        name = (topic, queue_id)
        queue = self.queues.get(name)
        if queue is None:
            image = self.image
            if topic in image.batch_topics and self.release is not Release.V4_9_4:
                files = MappedFiles([], image.batch_queue_file_size)
                queue = BuiltBatchQueue(name, files, image.read_batch_queue, image.cache)
            else:
                queue = BuiltQueue(
                    name, MappedFiles([], image.queue_file_size), image.read_queue, image.cache
                )
            self.queues[name] = queue
        return queue

    def _put_rest_into_queues(self) -> None:
        """Java: ``DefaultMessageStore.start``, ``ReputMessageService``.

        Releases since 5.x begin behind the log's last message, which they put into queues before.

        Raises:
            _HangsError: Java waits for ever.
        """
        files = self.log.files
        offset = max(0, self.log.min_offset, self._queues_end())
        while offset < files.end:
            file = files.file_of(offset)
            position = offset % files.size
            if file is None or position >= files.written(file):
                raise _HangsError(
                    f"messages from offset {offset} on are due for queues, and no file has them"
                )
            end = files.written(file)
            for place, record in self.log.records(file, position, end, with_body=False):
                if record.is_message:
                    self._put(record)
                    offset = file + place + record.size
                elif record.is_blank:
                    offset = file + files.size
                elif record.size > 0:
                    offset = file + place + record.size
                else:
                    offset = file + end
