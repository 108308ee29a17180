"""What a Java broker finds at its start, of a store that is opened here."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from rocketwire.errors import DecodeError
from rocketwire.policy.resource_names import LMQ_PREFIX
from rocketwire.store.consume_queue import BATCH_UNIT_SIZE, UNIT_SIZE
from rocketwire.store.folder import is_file_place, is_queue_id, offset_of_name
from rocketwire.store.index_file import HEADER_SIZE, decode_index_header
from rocketwire.store.recovery import FolderEntry, StoreImage
from rocketwire.store.timers import SLOT_SIZE, SLOTS
from rocketwire_tools.store.engine.blocks import FileBlocks, open_blocks, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from rocketwire.store.built_queues import QueueReader, Topic
    from rocketwire.store.folder import StoreFile, StoreFolder
    from rocketwire.store.java_records import Release
    from rocketwire_tools.store.opened import OpenedStore

ROCKS_FOLDERS = ("consumequeue", "consumequeue_rocksdb")
"""Folders in which brokers keep a RocksDB of queues; the second one since 5.5."""

BATCH_QUEUE_TYPE = "BatchCQ"
_FEW = 64
"""Bytes: those of a unit."""
_KEPT_UNITS = 1 << 14
"""Units of queues that are kept for the next release."""

_DEFAULT_LOG_FILE = 1 << 30
_DEFAULT_QUEUE_FILE = 300_000 * UNIT_SIZE
_DEFAULT_BATCH_QUEUE_FILE = 300_000 * BATCH_UNIT_SIZE


def image_of(
    store: OpenedStore,
    *,
    checked: Callable[[int, Release], tuple[int, int]] = lambda _offset, _release: (0, -1),
    builds_queues: bool = True,
) -> StoreImage:
    """The store as a broker finds it; sizes of files are those that most files have.

    Args:
        store: with a commit log of plain files.  If it has queues in files and in RocksDB, those in
            files count, as with Java's default settings.
        checked: as of ``StoreImage``.
        builds_queues: as of ``StoreImage``.
    """
    folder = store.folder
    log = {file.offset: file for file in folder.commit_log}
    return StoreImage(
        log=log_entries(store),
        log_file_size=usual_size(folder.commit_log, _DEFAULT_LOG_FILE),
        read_log=_log_reader(log),
        queues=_queue_entries(store, "consumequeue", folder.queues),
        queue_file_size=usual_size(_all(folder.queues), _DEFAULT_QUEUE_FILE),
        read_queue=_queue_reader(folder.queues),
        batch_queues=_queue_entries(store, "batchconsumequeue", folder.batch_queues),
        batch_queue_file_size=usual_size(_all(folder.batch_queues), _DEFAULT_BATCH_QUEUE_FILE),
        read_batch_queue=_queue_reader(folder.batch_queues),
        rocks=None if folder.queues or folder.batch_queues else store.rocks_queues,
        rocks_folders=[name for name in ROCKS_FOLDERS if name in folder.rocksdb],
        batch_topics=batch_topics(store),
        checkpoint=_checkpoint(store),
        has_abort=store.abort is not None,
        index_ends=_index_ends(folder.index),
        unopened=_unopened(folder),
        dispatches_lmq=any(topic.startswith(LMQ_PREFIX) for topic, _ in folder.queues),
        checked=checked,
        builds_queues=builds_queues,
    )


def usual_size(files: Iterable[StoreFile], default: int) -> int:
    """The size that most files have, of equally many the larger one; empty files do not count."""
    counts: dict[int, int] = {}
    for file in files:
        if file.size:
            counts[file.size] = counts.get(file.size, 0) + 1
    return max(counts, key=lambda size: (counts[size], size), default=default)


def _all(table: Mapping[Topic, Sequence[StoreFile]]) -> Iterable[StoreFile]:
    return (file for files in table.values() for file in files)


def log_entries(store: OpenedStore) -> list[FolderEntry]:
    """Everything in the folders of the commit log."""
    if store.is_packed:
        strange = [name for name in store.folder.unknown if name.startswith("commitlog/")]
        names = [FolderEntry(name.rpartition("/")[2], 0) for name in strange]
        return [*_file_entries(store.folder.commit_log), *names]
    folders = {file.path.parent for file in store.folder.commit_log}
    if not folders and "commitlog" not in store.folder.unreadable:
        folders = {root / "commitlog" for root in store.folder.roots}
    return [entry for folder in sorted(folders) for entry in _entries(folder)]


def _file_entries(files: Iterable[StoreFile]) -> list[FolderEntry]:
    return [FolderEntry(file.base_name, file.size) for file in files]


def _entries(folder: Path) -> list[FolderEntry]:
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return [
            FolderEntry(entry.name, entry.stat().st_size, entry.is_dir())
            for entry in entries
            if not entry.is_symlink()
        ]


class _QueueEntries(Mapping["Topic", "Sequence[FolderEntry]"]):
    """Everything in the folders of queues, made when it is asked for: a store has 50,000 of them.

    Args:
        files: of the queues.
        folders: all entries of those folders that hold something else than files of a queue.
    """

    def __init__(
        self,
        files: Mapping[Topic, Sequence[StoreFile]],
        folders: Mapping[Topic, Sequence[FolderEntry]],
    ) -> None:
        self._files = files
        self._folders = folders

    def __getitem__(self, queue: Topic) -> Sequence[FolderEntry]:
        entries = self._folders.get(queue)
        return _file_entries(self._files[queue]) if entries is None else entries

    def __iter__(self) -> Iterator[Topic]:
        yield from self._files
        yield from (queue for queue in self._folders if queue not in self._files)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _queue_entries(
    store: OpenedStore, name: str, table: Mapping[Topic, Sequence[StoreFile]]
) -> Mapping[Topic, Sequence[FolderEntry]]:
    """Everything in the folders of the queues, empty folders included.

    A folder is read again only if it holds more than files of a queue.
    """
    folder = store.folder
    queues: dict[Topic, list[FolderEntry]] = {}
    if store.is_packed:
        return _QueueEntries(table, queues)
    places = [(each.split("/"), True) for each in folder.empty]
    places += [(each.split("/"), False) for each in folder.unknown + folder.ignored]
    mixed: set[str] = set()
    for parts, is_folder in places:
        if parts[0] != name or len(parts) < 3 or not is_queue_id(parts[2]):
            continue
        if len(parts) > 3:
            mixed.add("/".join(parts[:3]))
        elif is_folder:
            queue = (parts[1], int(parts[2]))
            if queue not in table:
                queues[queue] = []
    for each in sorted(mixed):
        _, topic, queue_id = each.split("/")
        entries = [entry for root in folder.roots for entry in _entries(root / each)]
        queues[topic, int(queue_id)] = entries
    return _QueueEntries(table, queues)


def _log_reader(files: Mapping[int, StoreFile]) -> Callable[[int, int, int], bytes]:
    def read(offset: int, position: int, size: int) -> bytes:
        return _read(files.get(offset), position, size)

    return read


def _queue_reader(table: Mapping[Topic, Sequence[StoreFile]]) -> QueueReader:
    @lru_cache(maxsize=_KEPT_UNITS)  # each release looks at the same units
    def unit(queue: Topic, offset: int, position: int, size: int) -> bytes:
        file = _file_at(table.get(queue, ()), offset)
        return b"" if file is None else read_bytes(file, position, size)

    def read(queue: Topic, offset: int, position: int, size: int) -> bytes:
        if size <= _FEW:
            return unit(queue, offset, position, size)
        file = _file_at(table.get(queue, ()), offset)
        if file is None:
            return b""
        with open_blocks(file, block_size=1) as blocks:
            return blocks.read_data(position, size)

    return read


def _file_at(files: Sequence[StoreFile], offset: int) -> StoreFile | None:
    """The file that begins at an offset of its queue."""
    place = bisect_left(files, offset, key=attrgetter("offset"))
    return files[place] if place < len(files) and files[place].offset == offset else None


def _read(file: StoreFile | None, position: int, size: int) -> bytes:
    if file is None:
        return b""
    with open_blocks(file, block_size=1) as blocks:
        return read_range(blocks, position, size)


def read_range(blocks: FileBlocks, position: int, size: int) -> bytes:
    """Bytes of a file; fewer at its end."""
    return bytes(blocks.read(position, size)) if size > 0 else b""


def _checkpoint(store: OpenedStore) -> bytes:
    file = store.folder.plain.get("checkpoint")
    try:
        return b"" if file is None else store.read(file)
    except DecodeError:
        return b""


def _index_ends(files: Sequence[StoreFile]) -> dict[str, int]:
    ends: dict[str, int] = {}
    for file in files:
        head = _read(file, 0, HEADER_SIZE).ljust(HEADER_SIZE, b"\0")
        ends[file.base_name] = decode_index_header(head).end_timestamp
    return ends


def _unopened(folder: StoreFolder) -> dict[str, str]:
    """Files that a broker opens and cannot use; folders in its log and its queues it skips."""
    folders = (
        name
        for name in filter(is_file_place, folder.ignored)
        if name.rpartition("/")[0] in ("", "index") and offset_of_name(name) is None
    )
    reasons = {
        name: "is a folder"
        for name in folders
        if any((root / name).is_dir() for root in folder.roots)
    }
    for file, size in timers_of_other_size(folder):
        if file.size:  # Java deletes an empty one if it is the last
            reasons[file.name] = f"has {file.size} bytes instead of {size}"
    return reasons


def timers_of_other_size(folder: StoreFolder) -> list[tuple[StoreFile, int]]:
    """Files of timer log and wheel that have another size than they should, and that size."""
    log = folder.timer_log
    counts = Counter(after.offset - file.offset for file, after in pairwise(log))
    counts.update(file.size for file in log if file.size)
    usual = max(counts, key=lambda size: (counts[size], size), default=0)
    sizes = [(file, usual) for file in folder.timer_log]
    sizes += [(file, SLOTS * SLOT_SIZE) for file in folder.timer_wheels]
    return [(file, size) for file, size in sizes if file.size != size]


def configured_topics(store: OpenedStore) -> dict[str, Any]:
    """Topics of ``topics.json`` and their settings."""
    config = store.config("topics.json")
    return _object(config[0] if config else None, "topicConfigTable")


def batch_topics(store: OpenedStore) -> frozenset[str]:
    """Topics whose queues are of type BatchCQ, by ``topics.json``."""
    return frozenset(
        topic
        for topic, settings in configured_topics(store).items()
        if _object(settings, "attributes").get("queue.type") == BATCH_QUEUE_TYPE
    )


def _object(value: object, name: str) -> dict[str, Any]:
    """An object inside of another; an empty one if it is none."""
    inner = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
