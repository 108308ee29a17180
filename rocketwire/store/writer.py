"""Files of a store as brokers write them: commit log, queues, index, checkpoint, configuration.

Writers here decide what stands where; a ``Files`` writes it.  ``DiskFiles`` writes to a folder, and
``NoFiles`` only counts.

* ``CommitLogWriter`` writes messages; a file that is full ends with a blank.
* ``QueueWriter`` puts units of a consume queue at their queue offsets.
* ``IndexWriter`` adds keys to index files.
"""

from __future__ import annotations

import json
import os
import re
import sys
from array import array
from datetime import datetime
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from rocketwire.durable_file import Data, sync_path, write_all
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import message_const
from rocketwire.policy.java_strings import split
from rocketwire.policy.resource_names import SCHEDULE_TOPIC
from rocketwire.store import layouts
from rocketwire.store.commit_log import BLANK_MAGIC, SMALLEST_MESSAGE
from rocketwire.store.consume_queue import PRE_BLANK_SIZE, UNIT_SIZE, QueueUnit, encode_unit
from rocketwire.store.consume_queue import tags_code as tags_code_of
from rocketwire.store.folder import NAME_LENGTH
from rocketwire.store.index_file import (
    DEFAULT_GEOMETRY,
    ENTRY_SIZE,
    HEADER_SIZE,
    SLOT_SIZE,
    Geometry,
    IndexHeader,
    encode_index_header,
)
from rocketwire.wire.checksum import crc32
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

QUEUE_FILE_SIZE: Final = 300_000 * UNIT_SIZE
"""Java: ``MessageStoreConfig.mappedFileSizeConsumeQueue``."""

BATCH_QUEUE_FILE_SIZE: Final = 300_000 * 46
"""Java: ``MessageStoreConfig.mapperFileSizeBatchConsumeQueue``."""

DELAYS: Final[tuple[int, ...]] = (1, 5, 10, 30, *range(60, 601, 60), 1200, 1800, 3600, 7200)
"""Seconds of each delay level (Java: ``MessageStoreConfig.messageDelayLevel``)."""


FILLER_TOPIC: Final = "RW_FILLER"
"""Topic of messages that stand in the place of damage."""

MAX_FILLER: Final = 1 << 20
"""Bytes of one such message."""

_MAX_NAME: Final = 255
MIN_FILLER: Final = SMALLEST_MESSAGE + len(FILLER_TOPIC)
"""Bytes of the smallest such message."""

_LEVEL: Final = re.compile(r"[0-9]{1,10}", re.ASCII)
_TRANSACTION_BITS: Final = int(MessageSysFlag.TRANSACTION_ROLLBACK)
_ROLLED_BACK: Final = int(MessageSysFlag.TRANSACTION_ROLLBACK)
_PREPARED: Final = int(MessageSysFlag.TRANSACTION_PREPARED)
_BLANK: Final = Struct(layouts.format_of(layouts.BLANK))
_PACK_ENTRY: Final = Struct(layouts.format_of(layouts.INDEX_ENTRY)).pack
_MAX_INT32: Final = (1 << 31) - 1
_ENTRIES_AT_ONCE: Final = 50_000
_UNITS_AT_ONCE: Final = 4096


class Files(Protocol):
    """Where the files of a store are written."""

    def write(self, name: str, position: int, data: Data, size: int) -> None:
        """Write bytes; a file that does not exist is created with ``size`` zeros.

        Args:
            name: of the file, below the root of the store.
            position: of the first byte in the file.
            data: to write.
            size: of the file.
        """

    def remove(self, name: str) -> None:
        """Remove a file that was written."""

    def set_time(self, name: str, milliseconds: int) -> None:
        """Set when a file was changed last, in milliseconds since 1970."""

    def flush(self) -> None:
        """Make sure that everything is on the disk."""


class DiskFiles:
    """Files below a folder.  No file stays open between two calls.

    Args:
        root: of the store.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._changed: dict[str, None] = {}
        self._folders: set[str] = set()

    def write(self, name: str, position: int, data: Data, size: int) -> None:
        """Write bytes; see ``Files.write``.

        Raises:
            OSError: the disk is full, or fails.
        """
        path = self._root / name
        if name not in self._changed:
            folder = os.path.dirname(name)
            if folder not in self._folders:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._folders.add(folder)
            self._changed[name] = None
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            if os.fstat(descriptor).st_size < size:
                os.ftruncate(descriptor, size)
            write_all(descriptor, data, position)
        finally:
            os.close(descriptor)

    def remove(self, name: str) -> None:
        (self._root / name).unlink()
        self._changed.pop(name, None)

    def set_time(self, name: str, milliseconds: int) -> None:
        time = max(milliseconds, 0) * 1_000_000
        os.utime(self._root / name, ns=(time, time), follow_symlinks=False)

    def flush(self) -> None:
        folders: set[str] = set()
        for name in self._changed:
            folders.update(_folders_above(name))
        for name in (*self._changed, *sorted(folders)):
            sync_path(self._root / name)
        self._changed.clear()


def _folders_above(name: str) -> Iterator[str]:
    while name:
        name = os.path.dirname(name)
        yield name


class NoFiles:
    def __init__(self) -> None:
        self.names: set[str] = set()  #: of the files that would be there
        self.written: int = 0  #: bytes that would be written

    def write(self, name: str, position: int, data: Data, size: int) -> None:
        self.names.add(name)
        self.written += len(data)

    def remove(self, name: str) -> None:
        self.names.discard(name)

    def set_time(self, name: str, milliseconds: int) -> None:
        """Do nothing."""

    def flush(self) -> None:
        """Do nothing."""


class Stream:
    """A stream of bytes in files of one size; the name of a file is the offset of its first byte.

    Args:
        files: where they are written.
        folder: of the files, below the root of the store.
        file_size: of each file.
    """

    def __init__(self, files: Files, folder: str, file_size: int) -> None:
        self._files = files
        self._folder = folder
        self.file_size = file_size
        self._offsets: set[int] = set()

    def write(self, offset: int, data: Data) -> None:
        """Write bytes.

        Args:
            offset: of the first one in the stream.
            data: to write, perhaps to several files.
        """
        view = memoryview(data)
        while view:
            position = offset % self.file_size
            part = view[: self.file_size - position]
            self._offsets.add(offset - position)
            self._files.write(self.name_at(offset), position, part, self.file_size)
            offset += len(part)
            view = view[len(part) :]

    def set_time(self, offset: int, milliseconds: int) -> None:
        self._files.set_time(self.name_at(offset), milliseconds)

    def name_at(self, offset: int) -> str:
        return f"{self._folder}/{offset - offset % self.file_size:0{NAME_LENGTH}d}"

    def clear(self) -> None:
        for offset in self._offsets:
            self._files.remove(self.name_at(offset))
        self._offsets.clear()


# ---------------------------------------------------------------------------- commit log


def blank(size: int) -> bytes:
    """The first bytes of a blank (Java: ``CommitLog.DefaultAppendMessageCallback``).

    Args:
        size: bytes that are left in the file.
    """
    return _BLANK.pack(size, BLANK_MAGIC)


def filler(physical_offset: int, size: int, store_timestamp: int) -> bytes | None:
    """Messages that fill bytes of a log, so that Java reads what follows.

    They look like half messages that were rolled back, of which Java makes neither a queue unit nor
    an entry of the index (``CommitLogDispatcherBuildConsumeQueue``, ``IndexService.buildIndex``).

    Args:
        physical_offset: of the first byte.
        size: bytes to fill.
        store_timestamp: of the messages, milliseconds since 1970.

    Returns:
        None if there is too little room for a message.
    """
    if size < MIN_FILLER:
        return None
    parts: list[bytes] = []
    while size:
        length = min(size, MAX_FILLER)
        if 0 < size - length < MIN_FILLER:
            length -= MIN_FILLER
        body = bytes(length - MIN_FILLER)
        message = StoredMessage(
            topic=FILLER_TOPIC,
            body=body or None,
            body_crc=crc32(body),
            sys_flag=_ROLLED_BACK,
            commit_log_offset=physical_offset,
            born_timestamp=store_timestamp,
            store_timestamp=store_timestamp,
        )
        parts.append(encode_stored_message(message))
        physical_offset += length
        size -= length
    return b"".join(parts)


class CommitLogWriter:
    """Writes messages of a commit log.

    Args:
        files: where its files are written.
        file_size: of each file.
    """

    def __init__(self, files: Files, *, file_size: int) -> None:
        self._stream = Stream(files, "commitlog", file_size)
        self.end: int = 0  #: offset at which the next message stands, if it fits into the file

    def write(self, offset: int, data: Data) -> None:
        """Write bytes of messages that are laid out already, in one file.

        Args:
            offset: in the log.
            data: to write.
        """
        self._stream.write(offset, data)
        self.end = offset + len(data)

    def fill_to_end(self, offset: int) -> None:
        """Put a blank from an offset to the end of its file; 8 bytes must be left there."""
        size = self._stream.file_size - offset % self._stream.file_size
        self._stream.write(offset, blank(size))
        self.end = offset + size

    def name_at(self, offset: int) -> str:
        return self._stream.name_at(offset)


# ---------------------------------------------------------------------------- queues


def queue_folder(topic: str, queue_id: int, *, is_batch: bool = False) -> str:
    """Name of the folder of a queue's files.

    Raises:
        ValueError: the topic or the queue is none that can have a folder.
    """
    if not is_folder_name(topic) or queue_id < 0:
        raise ValueError(f"no folder for queue {queue_id} of topic {topic!r}")
    return f"{'batchconsumequeue' if is_batch else 'consumequeue'}/{topic}/{queue_id}"


def is_folder_name(topic: str) -> bool:
    """Whether a topic's name can be that of a folder, and leads nowhere else."""
    return (
        topic not in {"", ".", ".."}
        and topic.isprintable()
        and "/" not in topic
        and len(topic.encode("utf-8", "surrogatepass")) <= _MAX_NAME
    )


class QueueWriter:
    """Puts units of one queue at their offsets.

    Each file gets the store timestamp of its last message as its time: brokers up to 4.9 use
    it to find the offset of a time (Java: ``MappedFileQueue.getMappedFileByTime``).

    Args:
        files: where the queue's files are written.
        folder: of the files, from ``queue_folder``.
        file_size: of each file; rounded up to whole units, as Java does.
        unit_size: bytes of a unit.
    """

    def __init__(
        self,
        files: Files,
        folder: str,
        *,
        file_size: int = QUEUE_FILE_SIZE,
        unit_size: int = UNIT_SIZE,
    ) -> None:
        self._unit_size = unit_size
        self._stream = Stream(files, folder, -(-file_size // unit_size) * unit_size)
        self._buffer = bytearray()
        self._times: dict[int, int] = {}
        self.end: int | None = None  #: number of the unit after the last one

    @property
    def units_per_file(self) -> int:
        return self._stream.file_size // self._unit_size

    @property
    def buffered(self) -> int:
        return len(self._buffer)

    def put(
        self, queue_offset: int, units: Data, store_timestamp: int, *, gap: bytes | None = None
    ) -> None:
        """Put units.

        Args:
            queue_offset: of the first unit, which is the queue offset of its message.
            units: whole units.
            store_timestamp: of the last one's message, milliseconds since 1970.
            gap: unit for each number without a message between the last unit and these; before the
                first unit, from the start of its file.  Java's pre-blank by default.
        """
        gap = pre_blank() if gap is None else gap
        start = self.end
        if start is None:
            start = queue_offset - queue_offset % self.units_per_file
        if queue_offset < start:
            end = queue_offset + len(units) // self._unit_size
            self.end = start
            self.flush()
            self._stream.write(queue_offset * self._unit_size, units)
            self.end = max(start, end)
            self._times[self._file_of(end - 1)] = store_timestamp
            return
        self.end = start
        while self.end < queue_offset:
            count = min(queue_offset - self.end, _UNITS_AT_ONCE)
            self.end = self._add(self.end, gap * count, store_timestamp)
        self.end = self._add(self.end, units, store_timestamp)

    def _file_of(self, queue_offset: int) -> int:
        return queue_offset // self.units_per_file * self._stream.file_size

    def _add(self, queue_offset: int, units: Data, store_timestamp: int) -> int:
        self._buffer += units
        self.end = end = queue_offset + len(units) // self._unit_size
        self._times[self._file_of(end - 1)] = store_timestamp
        if len(self._buffer) >= _UNITS_AT_ONCE * self._unit_size:
            self.flush()
        return end

    def flush(self) -> None:
        if self._buffer and self.end is not None:
            self._stream.write(self.end * self._unit_size - len(self._buffer), self._buffer)
            self._buffer = bytearray()
        for offset, time in self._times.items():
            self._stream.set_time(offset, time)
        self._times.clear()

    def clear(self) -> None:
        self._buffer = bytearray()
        self._times.clear()
        self._stream.clear()
        self.end = None


def pre_blank() -> bytes:
    """A unit for a queue offset without a message (Java: ``ConsumeQueue.fillPreBlank``)."""
    return encode_unit(QueueUnit(0, PRE_BLANK_SIZE, 0))


def tags_code(topic: str, tags: str | None, delay_level: str | None, store_timestamp: int) -> int:
    """The tags code of a message's unit (Java: ``CommitLog.checkMessageAndReturnSize``).

    Args:
        topic: as stored.
        tags: property ``TAGS``.
        delay_level: property ``DELAY``.
        store_timestamp: of the message.

    Returns:
        The hash of the tags; for a delayed message the time of its delivery.
    """
    if topic == SCHEDULE_TOPIC and delay_level is not None and _LEVEL.fullmatch(delay_level):
        level = min(int(delay_level), len(DELAYS))
        if level:
            return store_timestamp + 1000 * DELAYS[level - 1]
    return tags_code_of(tags)


# ---------------------------------------------------------------------------- index


def index_keys(
    topic: str, properties: Mapping[str, str | None], sys_flag: int, *, with_tags: bool
) -> list[tuple[str, str]]:
    """Topic and text of each index entry of a message (Java: ``IndexService.buildIndex``).

    Args:
        topic: as stored.
        properties: of the message.
        sys_flag: of the message; one that is rolled back has no entries.
        with_tags: whether tags are indexed, which brokers do since 5.5.
    """
    if sys_flag & _TRANSACTION_BITS == _ROLLED_BACK:
        return []
    keys: list[tuple[str, str]] = []
    unique_key = properties.get(message_const.UNIQ_KEY)
    if unique_key:
        keys.append((topic, unique_key))
    keys += [(topic, key) for key in split(properties.get(message_const.KEYS) or "", " ") if key]
    tags = properties.get(message_const.TAGS)
    if with_tags and tags:
        keys.append((f"{topic}#T", tags))
    return keys


class IndexWriter:
    """Adds keys to index files; a full one is followed by the next.

    Args:
        files: where they are written.
        geometry: slots and entries of each.
    """

    def __init__(self, files: Files, geometry: Geometry = DEFAULT_GEOMETRY) -> None:
        self._files = files
        self._geometry = geometry
        self._name = ""
        self._number = 0  # of the next entry
        self._written = 0  # entries that are in the file
        self._begin_timestamp = self._end_timestamp = 0
        self._begin_offset = self._end_offset = 0
        self._slot_count = 0
        self._slots = array("i")
        self._entries = bytearray()
        self.full_timestamp: int = 0  #: last store timestamp of the newest full file; 0 without one

    def put(self, key_hash: int, physical_offset: int, store_timestamp: int) -> None:
        """Add a key (Java: ``IndexFile.putKey``).

        Args:
            key_hash: from ``index_file.key_hash``.
            physical_offset: of the message.
            store_timestamp: of the message, milliseconds since 1970.
        """
        if not self._number or self._number >= self._geometry.entries:
            self._open(store_timestamp)
        number, begin = self._number, self._begin_timestamp
        seconds = (store_timestamp - begin) // 1000 if begin > 0 and store_timestamp > begin else 0
        slot = key_hash % self._geometry.slots
        previous = self._slots[slot]
        if seconds > _MAX_INT32:
            seconds = _MAX_INT32
        self._entries += _PACK_ENTRY(key_hash, physical_offset, seconds, previous)
        self._slots[slot] = number
        if number == 1:
            self._begin_timestamp, self._begin_offset = store_timestamp, physical_offset
        if previous == 0:
            self._slot_count += 1
        self._end_timestamp, self._end_offset = store_timestamp, physical_offset
        self._number = number + 1
        if len(self._entries) >= _ENTRIES_AT_ONCE * ENTRY_SIZE:
            self._write_entries()

    def _open(self, store_timestamp: int) -> None:
        if self._number:
            self.flush()
            self.full_timestamp = self._end_timestamp
        # the head of a file begins as that of the one before it ended, until its first entry
        self._begin_timestamp, self._begin_offset = self._end_timestamp, self._end_offset
        self._slot_count = 0
        self._name = _index_name(store_timestamp, self._name)
        self._number = self._written = 1
        self._slots = array("i", bytes(SLOT_SIZE * self._geometry.slots))

    def _write_entries(self) -> None:
        start = HEADER_SIZE + SLOT_SIZE * self._geometry.slots
        self._write(start + ENTRY_SIZE * self._written, self._entries)
        self._written = self._number
        self._entries = bytearray()

    def flush(self) -> None:
        if not self._number:
            return
        self._write_entries()
        slots = self._slots[:]
        _make_big_endian(slots)
        self._write(HEADER_SIZE, memoryview(slots).cast("B"))
        header = IndexHeader(
            self._begin_timestamp,
            self._end_timestamp,
            self._begin_offset,
            self._end_offset,
            self._slot_count,
            self._number,
        )
        self._write(0, encode_index_header(header))

    def _write(self, position: int, data: Data) -> None:
        self._files.write(f"index/{self._name}", position, data, self._geometry.file_size)


_BYTE_ORDERS: Final[dict[str, Callable[[array[int]], object]]] = {
    "little": lambda numbers: numbers.byteswap(),
    "big": len,
}
_make_big_endian: Final = _BYTE_ORDERS[sys.byteorder]


def _index_name(store_timestamp: int, previous: str) -> str:
    # Local time, 17 digits, later than that of the file before it. Java takes the time of its
    # clock, which is not much later than the first message's.
    time = datetime.fromtimestamp(max(store_timestamp, 0) // 1000)
    name = f"{time:%Y%m%d%H%M%S}{max(store_timestamp, 0) % 1000:03d}"
    return name if name > previous else f"{int(previous) + 1:017d}"


def write_file(files: Files, name: str, data: Data) -> None:
    files.write(name, 0, data, len(data))


# ---------------------------------------------------------------------------- configuration


def encode_config(value: Mapping[Any, Any]) -> bytes:
    """A configuration file as fastjson writes it: tabs, and integer keys without quotes."""
    return "".join(_json(value, "\n")).encode()


def _json(value: object, line: str) -> Iterable[str]:
    if isinstance(value, dict) and value:
        members = cast("dict[object, object]", value)
        yield "{"
        separator = ""
        for key, member in members.items():
            name = str(key) if isinstance(key, int) else json.dumps(key, ensure_ascii=False)
            yield f"{separator}{line}\t{name}:"
            yield from _json(member, line + "\t")
            separator = ","
        yield line + "}"
    else:
        yield json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def topic_table(queue_counts: Mapping[str, int], batch_topics: Iterable[str] = ()) -> bytes:
    """``topics.json`` for topics of which only the queues are known.

    Args:
        queue_counts: topic → number of queues.
        batch_topics: those whose queues are of type BatchCQ.
    """
    batch_topics = frozenset(batch_topics)
    table = {
        topic: {
            "attributes": {"queue.type": "BatchCQ"} if topic in batch_topics else {},
            "order": False,
            "perm": 6,
            "readQueueNums": count,
            "topicFilterType": "SINGLE_TAG",
            "topicName": topic,
            "topicSysFlag": 0,
            "writeQueueNums": count,
        }
        for topic, count in queue_counts.items()
    }
    version = {"counter": 1, "stateVersion": 0, "timestamp": 0}
    return encode_config({"dataVersion": version, "topicConfigTable": table})
