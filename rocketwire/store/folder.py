"""Which file of a store is what.

The layout of the folders is Java's (``StorePathConfigHelper``).  Nothing follows a symbolic link
inside a store, so that no path leads out of it; links are listed as ignored, and so are folders
that stand where a broker has a file.
"""

from __future__ import annotations

import errno
import os
import sys
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

NAME_LENGTH: Final = 20
"""Digits of the name of a mapped file."""

_DATABASE: Final = "CURRENT"
"""A file that each RocksDB has, and no other folder of a store."""

MAX_FILES: Final = 2_000_000
"""Default limit of the files of one store, with folders and links."""

_TOP_FOLDERS: Final = frozenset({"commitlog", "consumequeue", "config"})
"""Folders without one of which nothing is a store; beside those of DLedger's members."""

_TOP_FILES: Final = frozenset({"checkpoint", "abort", "lock", "timerwheel"})
"""Files at the root that each broker opens."""

_OFFSET: Final = attrgetter("offset")
_BETWEEN_REPORTS: Final = 1000
"""Files and folders between two reports of progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFile:
    """A file of a store.

    A store may have hundreds of thousands, so that each keeps no path of its own.
    """

    root: Path  #: folder below which ``name`` is
    #: of the file's first byte in its stream: its name.  0 for files without such a name.
    offset: int
    size: int  #: bytes of the file
    name: str  #: path below ``root``
    modified: float = 0.0  #: time of the last change, seconds since 1970
    allocated: int = 0  #: bytes that it takes on the disk; less than ``size`` for a sparse file

    @property
    def path(self) -> Path:
        return self.root / self.name

    @property
    def base_name(self) -> str:
        return self.name.rpartition("/")[2]

    @property
    def end(self) -> int:
        return self.offset + self.size


QueueFiles: TypeAlias = dict[tuple[str, int], list[StoreFile]]
"""Topic and queue → files by offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFolder:
    roots: tuple[Path, ...]  #: folders or files that were given
    #: its files by offset; those of several paths together
    commit_log: list[StoreFile] = field(default_factory=list[StoreFile])
    #: topic and queue → files by offset
    queues: dict[tuple[str, int], list[StoreFile]] = field(
        default_factory=dict[tuple[str, int], list[StoreFile]]
    )
    #: the same for queues of type BatchCQ
    batch_queues: dict[tuple[str, int], list[StoreFile]] = field(
        default_factory=dict[tuple[str, int], list[StoreFile]]
    )
    #: the same for extensions of queues
    extensions: dict[tuple[str, int], list[StoreFile]] = field(
        default_factory=dict[tuple[str, int], list[StoreFile]]
    )
    index: list[StoreFile] = field(default_factory=list[StoreFile])  #: index files by name
    timer_log: list[StoreFile] = field(default_factory=list[StoreFile])  #: by offset
    timer_wheels: list[StoreFile] = field(default_factory=list[StoreFile])  #: files of the wheel
    #: name below ``config`` → file
    config: dict[str, StoreFile] = field(default_factory=dict[str, StoreFile])
    #: name at the root (``checkpoint``, ``abort``, ``lock``, ...) → file
    plain: dict[str, StoreFile] = field(default_factory=dict[str, StoreFile])
    #: name of a folder that holds a RocksDB, below the root → its files
    rocksdb: dict[str, list[StoreFile]] = field(default_factory=dict[str, list[StoreFile]])
    unknown: list[str] = field(default_factory=list[str])  #: names of files that belong to nothing
    #: names of symbolic links, of special files, and of folders in the place of a file
    ignored: list[str] = field(default_factory=list[str])
    #: name of each folder or file whose entry cannot be read → what the system says
    unreadable: dict[str, str] = field(default_factory=dict[str, str])


def offset_of_name(name: str) -> int | None:
    if len(name) == NAME_LENGTH and name.isascii() and name.isdecimal():
        offset = int(name)
        return offset if offset < 1 << 63 else None
    return None


def files_between(files: Sequence[StoreFile], start: int, stop: int) -> Iterator[StoreFile]:
    """The files of a stream that have bytes from one offset to another.

    Args:
        files: of the stream, by offset.
        start: first offset.
        stop: offset after the last one.
    """
    index = max(bisect_right(files, start, key=_OFFSET) - 1, 0)
    while index and files[index - 1].offset == files[index].offset:  # a copy on another disk
        index -= 1
    while index < len(files) and files[index].offset < stop:
        if files[index].size and files[index].end > start:
            yield files[index]
        index += 1


def file_at(files: Sequence[StoreFile], offset: int) -> StoreFile | None:
    return next(files_between(files, offset, offset + 1), None)


def is_queue_id(name: str) -> bool:
    return name.isascii() and name.isdecimal() and int(name[:20]) < 1 << 31


def is_name_of_file(name: str) -> bool:
    """Whether a broker has a file, and never a folder, at a name below the root of a store."""
    folder, _, base = name.rpartition("/")
    if folder == "config":
        return base.removesuffix(".bak").endswith(".json")
    if folder == "index":
        return base.isdecimal()
    if offset_of_name(base) is None:
        return name in _TOP_FILES
    return _find_adder(StoreFolder(roots=()), name) is not None


def read_folder(
    paths: Iterable[Path],
    *,
    max_files: int = MAX_FILES,
    progress: Callable[[int], None] | None = None,
) -> StoreFolder:
    """List the files of a store.  What cannot be read below a root is left out, and named.

    Args:
        paths: root folders of one store, folders with files of its commit log, or such files.
        max_files: files, folders, links and special files at most, for each root.
        progress: gets the number of these so far, now and then.

    Raises:
        FileNotFoundError: a path does not exist.
        OverflowError: a root has more than ``max_files``.
        OSError: a root cannot be read, or is a pipe, a socket or a device.
    """
    roots = tuple(Path(os.path.realpath(path, strict=True)) for path in paths)
    folder = StoreFolder(roots=roots)
    for root in roots:
        if root.is_dir():
            _add_tree(folder, root, max_files, progress)
        elif root.is_file():
            folder.commit_log.append(_store_file(root.parent, root.name, root.stat()))
        else:
            raise OSError(errno.EINVAL, "neither a folder nor a plain file", str(root))
    _sort_files(folder)
    return folder


def may_hold_records(root: Path) -> bool:
    """Whether a folder may be the root of a store, or hold files of a log, by its own entries.

    Raises:
        OSError: the folder cannot be read.
    """
    with os.scandir(root) as entries:
        return any(
            entry.name in _TOP_FOLDERS
            or entry.name.startswith("dledger-")
            or offset_of_name(entry.name) is not None
            for entry in entries
            if not entry.is_symlink()
        )


def _without_repeats(files: list[StoreFile]) -> list[StoreFile]:
    # the same file may be given twice
    ordered = sorted(files, key=_OFFSET)
    if all(file.offset != following.offset for file, following in pairwise(ordered)):
        return ordered  # a path for each of 100,000 files takes more memory than the files
    return sorted({file.path: file for file in files}.values(), key=_OFFSET)


def _add_tree(
    folder: StoreFolder, root: Path, max_files: int, progress: Callable[[int], None] | None
) -> None:
    # One pass. A file that belongs to nothing costs its name only: its size is not read.
    folders, count = [""], 0
    while folders:
        below = folders.pop()
        plain: list[os.DirEntry[str]] = []
        try:
            # a Path for each of 100,000 folders takes a quarter of the time
            with os.scandir(f"{root}/{below}" if below else root) as entries:
                for entry in entries:
                    count += 1
                    if count > max_files:
                        raise OverflowError(f"{root} has more than {max_files} files and folders")
                    if progress is not None and not count % _BETWEEN_REPORTS:
                        progress(count)
                    _sort_entry(
                        entry, _join_name(below, entry.name), folders, plain, folder.ignored
                    )
            _add_entries(folder, root, below, plain)
        except OSError as error:
            if not below:
                raise
            if not isinstance(error, FileNotFoundError):  # brokers delete folders of queues
                folder.unreadable[below] = error.strerror or str(error)


def _sort_entry(
    entry: os.DirEntry[str],
    name: str,
    folders: list[str],
    plain: list[os.DirEntry[str]],
    ignored: list[str],
) -> None:
    if entry.is_symlink():
        ignored.append(name)
    elif entry.is_dir(follow_symlinks=False):
        (ignored if is_name_of_file(name) else folders).append(name)
    elif entry.is_file(follow_symlinks=False):
        plain.append(entry)
    else:
        ignored.append(name)


def plain_files(folder: Path) -> list[StoreFile]:
    """The plain files of one folder, without those of folders in it.

    Raises:
        OSError: the folder cannot be read.
    """
    with os.scandir(folder) as entries:
        plain = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
    files = (_file_of(folder, entry, entry.name) for entry in plain)
    return [file for file in files if file is not None]


def _is_database(below: str, names: Sequence[str]) -> bool:
    # a folder of a log is no RocksDB
    if not below or below == "config" or _DATABASE not in names:
        return False
    return not any(offset_of_name(name) is not None for name in names)


def _join_name(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _add_entries(
    folder: StoreFolder, root: Path, below: str, entries: list[os.DirEntry[str]]
) -> None:
    is_database = _is_database(below, [entry.name for entry in entries])
    while entries:
        entry = entries.pop()  # it keeps its status as long as it lives
        name = _join_name(below, entry.name)
        add_file = None if is_database else _find_adder(folder, name)
        if add_file is None and not is_database:
            folder.unknown.append(name)
            continue
        try:
            file = _file_of(root, entry, name)
        except PermissionError:  # which is the folder's
            raise
        except OSError as error:
            folder.unreadable[name] = error.strerror or str(error)
            continue
        if file is None:
            continue
        if add_file is None:
            folder.rocksdb.setdefault(below, []).append(file)
        else:
            add_file(file)


def _file_of(root: Path, entry: os.DirEntry[str], name: str) -> StoreFile | None:
    # None if the file is gone: brokers delete files that expire
    try:
        return _store_file(root, name, entry.stat(follow_symlinks=False))
    except FileNotFoundError:
        return None


def _store_file(root: Path, name: str, status: os.stat_result) -> StoreFile:
    return StoreFile(
        root=root,
        offset=offset_of_name(name.rpartition("/")[2]) or 0,
        size=_shared(status.st_size),
        name=name,
        modified=status.st_mtime,
        allocated=_shared(status.st_blocks * 512),
    )


@lru_cache
def _shared(number: int) -> int:
    # most files of queues have the same sizes: equal numbers become one object
    return number


def _find_adder(folder: StoreFolder, name: str) -> Callable[[StoreFile], None] | None:
    parts = name.split("/")
    is_mapped = offset_of_name(parts[-1]) is not None
    if len(parts) == 1:
        return folder.commit_log.append if is_mapped else _find_top_adder(folder, name)
    if is_mapped and parts[0] == "commitlog" and len(parts) == 2:
        return folder.commit_log.append
    if is_mapped and parts[0] == "timerlog":
        return folder.timer_log.append
    if parts[0] == "index" and len(parts) == 2 and parts[1].isdecimal():
        return folder.index.append
    if parts[0] == "config":
        return partial(folder.config.__setitem__, "/".join(parts[1:]))
    return _find_queue_adder(folder, parts) if is_mapped else None


def _find_top_adder(folder: StoreFolder, name: str) -> Callable[[StoreFile], None]:
    if name.partition(".")[0] == "timerwheel":
        return folder.timer_wheels.append
    return partial(folder.plain.__setitem__, name)


def _find_queue_adder(folder: StoreFolder, parts: list[str]) -> Callable[[StoreFile], None] | None:
    tables = {
        "consumequeue": folder.queues,
        "batchconsumequeue": folder.batch_queues,
        "consumequeue_ext": folder.extensions,
    }
    table = tables.get(parts[0])
    if table is None or len(parts) != 4 or not is_queue_id(parts[2]):
        return None
    return partial(_add_to_queue, table, (sys.intern(parts[1]), int(parts[2])))


def _add_to_queue(table: QueueFiles, queue: tuple[str, int], file: StoreFile) -> None:
    files = table.get(queue)
    if files is None:
        table[queue] = [file]  # most queues have one, and append makes room for four
    else:
        files.append(file)


def _sort_files(folder: StoreFolder) -> None:
    lists = [folder.commit_log, folder.timer_log]
    for table in (folder.queues, folder.batch_queues, folder.extensions):
        lists += table.values()
    for files in lists:
        if len(files) > 1:
            files[:] = _without_repeats(files)
    folder.index.sort(key=lambda file: file.name)
    folder.unknown.sort()
    folder.ignored.sort()
