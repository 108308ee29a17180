"""Which file of a store is what.

The layout of the folders is Java's (``StorePathConfigHelper``).  Nothing follows a symbolic link
inside a store, so that no path leads out of it; links are listed as ignored.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NAME_LENGTH: Final = 20
"""Digits of the name of a mapped file."""

_DATABASE: Final = "CURRENT"
"""A file that each RocksDB has, and no other folder of a store."""

_COMPACTED: Final = "compaction/position-checkpoint"
"""How far each compacted queue was compacted."""

MAX_FILES: Final = 2_000_000
"""Default limit of the files of one store, with folders and links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFile:
    """A file of a store, or the part of an archive that holds one.

    Attributes:
        path: the file, or the archive.
        offset: of the file's first byte in its stream: its name.  0 for files without such a name.
        size: bytes of the file.
        start: first byte in ``path``.
        name: path below the root of the store.
        modified: time of the last change, seconds since 1970.
        allocated: bytes that it takes on the disk; less than ``size`` for a sparse file.
        is_packed: whether it is of an archive; then nothing beside ``path`` is of the store.
    """

    path: Path
    offset: int
    size: int
    start: int = 0
    name: str = ""
    modified: float = 0.0
    allocated: int = 0
    is_packed: bool = False

    @property
    def base_name(self) -> str:
        """The name without folders."""
        return self.name.rpartition("/")[2]

    def below(self, name: str) -> StoreFile:
        """The same file with another name."""
        return replace(self, name=name, offset=offset_of_name(name.rpartition("/")[2]) or 0)

    @property
    def end(self) -> int:
        """Offset in the stream of the byte after its last one."""
        return self.offset + self.size


QueueFiles: TypeAlias = dict[tuple[str, int], list[StoreFile]]
"""Topic and queue → files by offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFolder:
    """The files of a store.

    Attributes:
        roots: folders or files that were given.
        commit_log: its files by offset; those of several paths together.
        dledger: files of a DLedger log, in the place of or after ``commit_log``.
        dledger_index: files of its index.
        dledger_state: other files of its folder (``dledger-n0/currterm``, ...), by name.
        queues: topic and queue → files by offset.
        batch_queues: the same for queues of type BatchCQ.
        extensions: the same for extensions of queues.
        compaction_logs: the same for logs of compacted topics.
        compaction_queues: the same for their queues.
        index: index files by name.
        timer_log: by offset.
        timer_wheels: files of the wheel.
        config: name below ``config`` → file.
        plain: name at the root (``checkpoint``, ``abort``, ``lock``, ...) → file.
        rocksdb: name of a folder that holds a RocksDB, below the root → its files.
        unknown: names of files that belong to nothing.
        ignored: names of symbolic links and special files.
    """

    roots: tuple[Path, ...]
    commit_log: list[StoreFile] = field(default_factory=list[StoreFile])
    dledger: list[StoreFile] = field(default_factory=list[StoreFile])
    dledger_index: list[StoreFile] = field(default_factory=list[StoreFile])
    dledger_state: dict[str, StoreFile] = field(default_factory=dict[str, StoreFile])
    queues: dict[tuple[str, int], list[StoreFile]] = field(
        default_factory=dict[tuple[str, int], list[StoreFile]]
    )
    batch_queues: dict[tuple[str, int], list[StoreFile]] = field(
        default_factory=dict[tuple[str, int], list[StoreFile]]
    )
    extensions: dict[tuple[str, int], list[StoreFile]] = field(
        default_factory=dict[tuple[str, int], list[StoreFile]]
    )
    compaction_logs: dict[tuple[str, int], list[StoreFile]] = field(
        default_factory=dict[tuple[str, int], list[StoreFile]]
    )
    compaction_queues: dict[tuple[str, int], list[StoreFile]] = field(
        default_factory=dict[tuple[str, int], list[StoreFile]]
    )
    index: list[StoreFile] = field(default_factory=list[StoreFile])
    timer_log: list[StoreFile] = field(default_factory=list[StoreFile])
    timer_wheels: list[StoreFile] = field(default_factory=list[StoreFile])
    config: dict[str, StoreFile] = field(default_factory=dict[str, StoreFile])
    plain: dict[str, StoreFile] = field(default_factory=dict[str, StoreFile])
    rocksdb: dict[str, list[StoreFile]] = field(default_factory=dict[str, list[StoreFile]])
    unknown: list[str] = field(default_factory=list[str])
    ignored: list[str] = field(default_factory=list[str])

    @property
    def is_empty(self) -> bool:
        """Whether no file holds messages."""
        return not (self.commit_log or self.dledger or self.compaction_logs)


def offset_of_name(name: str) -> int | None:
    """The offset that the name of a mapped file stands for; None for any other name."""
    if len(name) == NAME_LENGTH and name.isascii() and name.isdecimal():
        offset = int(name)
        return offset if offset < 1 << 63 else None
    return None


def is_queue_id(name: str) -> bool:
    """Whether the name of a folder is that of a queue: a number of Java's type int."""
    return name.isascii() and name.isdecimal() and int(name[:20]) < 1 << 31


def read_folder(paths: Iterable[Path], *, max_files: int = MAX_FILES) -> StoreFolder:
    """List the files of a store.

    Args:
        paths: root folders of one store, folders with files of its commit log, or such files.
        max_files: as of ``list_files``, for each root.

    Raises:
        FileNotFoundError: a path does not exist.
        OverflowError: as ``list_files``.
        OSError: a folder cannot be read, or a path is a pipe, a socket or a device.
    """
    roots = tuple(Path(os.path.realpath(path, strict=True)) for path in paths)
    folder = StoreFolder(roots=roots)
    for root in roots:
        if root.is_dir():
            add_files(folder, list(list_files(root, folder.ignored, max_files=max_files)))
        elif root.is_file():
            folder.commit_log.append(_store_file(root, root.name))
        else:
            raise OSError(errno.EINVAL, "neither a folder nor a plain file", str(root))
    sort_files(folder)
    return folder


def add_files(folder: StoreFolder, files: Sequence[StoreFile]) -> None:
    """Put the files of one root where they belong; ``sort_files`` has to follow.

    Args:
        folder: of the store.
        files: all files below the root.
    """
    databases = {
        file.name.rpartition("/")[0] for file in files if file.name.endswith(f"/{_DATABASE}")
    }
    for file in files:
        below = file.name.rpartition("/")[0]
        if below in databases:
            folder.rocksdb.setdefault(below, []).append(file)
        else:
            _assign(folder, file)


def _without_repeats(files: list[StoreFile]) -> list[StoreFile]:
    """The files by offset; a file that was given twice stands once."""
    places = {(file.path, file.start): file for file in files}
    return sorted(places.values(), key=lambda file: file.offset)


def list_files(
    root: Path, ignored: list[str], *, max_files: int = MAX_FILES
) -> Iterator[StoreFile]:
    """All plain files below a folder.

    Args:
        root: the folder.
        ignored: gets the names of symbolic links and special files.
        max_files: files, folders, links and special files at most.

    Raises:
        OverflowError: there are more than ``max_files``.
    """
    folders, count = [""], 0
    while folders:
        below = folders.pop()
        with os.scandir(root / below) as entries:
            for entry in entries:
                count += 1
                if count > max_files:
                    raise OverflowError(f"{root} has more than {max_files} files and folders")
                name = f"{below}/{entry.name}" if below else entry.name
                if entry.is_symlink():
                    ignored.append(name)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif entry.is_file(follow_symlinks=False):
                    yield _store_file(Path(entry.path), name, entry.stat(follow_symlinks=False))
                else:
                    ignored.append(name)


def _store_file(path: Path, name: str, status: os.stat_result | None = None) -> StoreFile:
    status = path.stat() if status is None else status
    return StoreFile(
        path=path,
        offset=offset_of_name(path.name) or 0,
        size=status.st_size,
        name=name,
        modified=status.st_mtime,
        allocated=status.st_blocks * 512,
    )


def _assign(folder: StoreFolder, file: StoreFile) -> None:
    parts = file.name.split("/")
    is_mapped = offset_of_name(parts[-1]) is not None
    if len(parts) == 1 and is_mapped:
        folder.commit_log.append(file)
    elif len(parts) == 1:
        _assign_top(folder, file)
    elif is_mapped and parts[0] == "commitlog" and len(parts) == 2:
        folder.commit_log.append(file)
    elif parts[0].startswith("dledger-"):
        _assign_dledger(folder, file, parts)
    elif is_mapped and parts[0] == "timerlog":
        folder.timer_log.append(file)
    elif parts[0] == "index" and len(parts) == 2 and parts[1].isdecimal():
        folder.index.append(file)
    elif parts[0] == "config":
        folder.config["/".join(parts[1:])] = file
    elif not (is_mapped and _assign_queue(folder, file, parts)):
        _assign_other(folder, file)


def _assign_dledger(folder: StoreFolder, file: StoreFile, parts: list[str]) -> None:
    is_mapped = offset_of_name(parts[-1]) is not None
    if is_mapped and parts[1] == "data":
        folder.dledger.append(file)
    elif is_mapped and parts[1] == "index":
        folder.dledger_index.append(file)
    elif len(parts) == 2:
        folder.dledger_state[file.name] = file
    else:
        folder.unknown.append(file.name)


def _assign_other(folder: StoreFolder, file: StoreFile) -> None:
    if file.name == _COMPACTED:
        folder.plain[file.name] = file
    else:
        folder.unknown.append(file.name)


def _assign_top(folder: StoreFolder, file: StoreFile) -> None:
    if file.name.partition(".")[0] == "timerwheel":
        folder.timer_wheels.append(file)
    else:
        folder.plain[file.name] = file


def _assign_queue(folder: StoreFolder, file: StoreFile, parts: list[str]) -> bool:
    tables = {
        "consumequeue": folder.queues,
        "batchconsumequeue": folder.batch_queues,
        "consumequeue_ext": folder.extensions,
        "compactionLog": folder.compaction_logs,
        "compactionCq": folder.compaction_queues,
    }
    if parts[0] == "compaction":
        parts = parts[1:]
    table = tables.get(parts[0])
    if table is None or len(parts) != 4 or not is_queue_id(parts[2]):
        return False
    table.setdefault((parts[1], int(parts[2])), []).append(file)
    return True


def sort_files(folder: StoreFolder) -> None:
    """Bring the files of a store into their order."""
    lists = [folder.commit_log, folder.dledger, folder.dledger_index, folder.timer_log]
    for table in (
        folder.queues,
        folder.batch_queues,
        folder.extensions,
        folder.compaction_logs,
        folder.compaction_queues,
    ):
        lists += table.values()
    for files in lists:
        files[:] = _without_repeats(files)
    folder.index.sort(key=lambda file: file.name)
    folder.unknown.sort()
    folder.ignored.sort()
