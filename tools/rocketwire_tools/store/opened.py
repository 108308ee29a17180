"""A store as its files show it: which kind, which settings, and whether a broker uses it now."""

from __future__ import annotations

import fcntl
import itertools
import os
import re
from collections import Counter
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rocketwire.errors import DecodeError
from rocketwire.store.checkpoint import Checkpoint, decode_checkpoint
from rocketwire.store.config_files import MAX_SIZE, decode_config
from rocketwire.store.folder import StoreFile, StoreFolder, is_name_of_file, read_folder
from rocketwire_tools.store.engine.blocks import open_blocks, open_file, read_bytes
from rocketwire_tools.store.engine.scan import LogScan
from rocketwire_tools.store.sources.databases import Database, DatabaseError
from rocketwire_tools.store.sources.rocksdb import RocksQueues, read_tables
from rocketwire_tools.terminal import ProgressLine, print_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

T = TypeVar("T")

MAX_PLAIN_FILE: Final = 1 << 20  # bytes that are read of ``checkpoint`` and the like
_PROCESS_ID: Final = 64  # bytes that are read of ``abort``
_MAX_NAMED: Final = 20  # files and folders that are named; a store has thousands of queues
_ALWAYS_THERE: Final = "rocksdbstore"  # a RocksDB that brokers of 5.5 create, and few of them use
_SEPARATE_QUEUES: Final = "consumequeue_rocksdb"
"""Folder of brokers with ``useSeparateStorePathForRocksdbCQ``."""


def _resolve(path: Path) -> Path:
    return Path(os.path.realpath(path))


_DLEDGER: Final = (
    "is a log of DLedger, which is not read here; a Java broker reads it: start one on a copy"
)
_COMPACTED: Final = "is the log of a compacted topic, which is not read here; give the commit log"
_OTHER_LOG: Final = re.compile(r"/dledger-[^/]+/data(/|$)|/compactionLog(/|$)")

_ARCHIVE: Final = re.compile(r"\.(tar|tgz|tbz2?|txz|tar\.\w+)$", re.IGNORECASE)


def is_root(path: Path) -> bool:
    names = ("commitlog", "config", "consumequeue", "checkpoint")
    return path.is_dir() and any((path / name).exists() for name in names)


def _require_readable(path: Path) -> None:
    if _OTHER_LOG.search(str(path)):
        raise ValueError(f"{path} {_DLEDGER if '/dledger-' in str(path) else _COMPACTED}")
    # the name decides: a look into the file could inflate gigabytes
    if path.is_file() and _ARCHIVE.search(path.name):
        raise ValueError(f"{path} is an archive; unpack it first: tar xf {path}")


def open_stores(paths: Iterable[Path]) -> list[OpenedStore]:
    paths = list({_resolve(path): path for path in paths}.values())
    if len(paths) > 1 and all(map(is_root, paths)):
        return [OpenedStore([path]) for path in paths]
    return [OpenedStore(paths)]


def _report_unread(unread: Mapping[str, str]) -> None:
    for name, reason in itertools.islice(unread.items(), _MAX_NAMED):
        print_error(f"{name} is not read: {reason}")
    if len(unread) > _MAX_NAMED:
        print_error(f"{len(unread) - _MAX_NAMED} more files and folders are not read")


def without_tails(files: Sequence[StoreFile]) -> list[StoreFile]:
    """Files of a log without the bytes that one has too many, and that stand in the next file.

    Such a file is longer than the distance to the next one, which more files have as their size.
    """
    sizes = Counter(file.size for file in files)
    cut: list[StoreFile] = []
    for file, following in pairwise(files):
        distance = following.offset - file.offset
        is_long = distance < file.size and sizes[distance] > sizes[file.size]
        cut.append(replace(file, size=distance) if is_long else file)
    return [*cut, *files[-1:]]


def are_whole(stores: Iterable[OpenedStore]) -> bool:
    return not any(store.unread for store in stores)


class NoStoreError(ValueError):
    """A path is no store."""


class OpenedStore:
    """A store; standard error names folders and small files that cannot be read."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.folder = self._read(list(paths))  # its files
        _report_unread(self.folder.unreadable)
        self._unopened: dict[str, str] = {}
        self._databases: dict[str, Database | None] = {}
        if not (self.folder.commit_log or self.folder.queues or self.folder.config):
            names = ", ".join(str(root) for root in self.folder.roots)
            raise NoStoreError(f"{names}: no commit log, queue or configuration of a broker")
        misplaced = filter(is_name_of_file, self.folder.ignored)
        unread = dict.fromkeys(misplaced, "it is no plain file")
        _report_unread(unread)
        # name of each folder and small file that was passed over → the reason
        self.unread = self.folder.unreadable | unread

    def _read(self, paths: list[Path]) -> StoreFolder:
        if len({_resolve(path) for path in paths if is_root(path)}) > 1:
            raise ValueError("these are several stores; give this command one of them")
        for path in map(_resolve, paths):
            _require_readable(path)
        with ProgressLine("{:,} files and folders") as line:
            folder = read_folder(paths, progress=line.show)
        if any(name.startswith("dledger-") for name in folder.unknown):
            raise ValueError(f"{folder.roots[0]} {_DLEDGER}")
        return folder

    def scans(self, *, start: int = 0, stop: int = 1 << 63) -> list[LogScan]:
        if not self.folder.commit_log:
            return []
        files = without_tails(self.folder.commit_log)
        return [LogScan(files=files, start=start, stop=stop)]

    def read(self, file: StoreFile, *, max_size: int = MAX_PLAIN_FILE) -> bytes:
        """A small file, as it is now: brokers write such files anew.

        Raises ``DecodeError`` if it is larger than ``max_size``.
        """
        file = replace(file, size=file.path.stat(follow_symlinks=False).st_size)
        if file.size > max_size:
            raise DecodeError(f"{file.name} has {file.size} bytes, more than {max_size}")
        with open_blocks(file, block_size=1) as blocks:
            return bytes(blocks.read(0, file.size))

    def decode(
        self,
        file: StoreFile | None,
        decode: Callable[[bytes], T],
        *,
        max_size: int = MAX_PLAIN_FILE,
    ) -> T | None:
        if file is None:
            return None
        try:
            return decode(self.read(file, max_size=max_size))
        except DecodeError:
            return None
        except OSError as error:
            self.pass_over(file, error)
            return None

    def pass_over(self, file: StoreFile, error: OSError) -> None:
        """Name a small file that cannot be read, once; one that a broker has deleted is not."""
        if not isinstance(error, FileNotFoundError) and file.name not in self.unread:
            self.unread[file.name] = error.strerror or str(error)
            print_error(f"{file.name} is not read: {self.unread[file.name]}")

    def config(self, name: str) -> tuple[dict[str, Any], str] | None:
        """A JSON file of ``config``, or the table of a RocksDB in its place, and where it stands.

        As Java does, ``NAME.bak`` is read if ``NAME`` is missing, empty or no JSON.  Of a file and
        a RocksDB the one that was written last counts.
        """
        table = self.rocks_config.get(name)
        for candidate in (name, f"{name}.bak"):
            file = self.folder.config.get(candidate)
            if file is None or not file.size:
                continue
            if table is not None and any(
                each.modified >= file.modified for each in self.folder.rocksdb[table[1]]
            ):
                return table
            content = self.decode(file, decode_config, max_size=MAX_SIZE)
            if content is not None:
                return content, f"config/{candidate}"
        return table

    def database(self, name: str) -> Database | None:
        files = self.folder.rocksdb.get(name, [])
        has_records = any(file.size and file.name.endswith((".sst", ".log")) for file in files)
        if not files or (name == _ALWAYS_THERE and not has_records):
            return None
        if name not in self._databases:
            self._databases[name] = None
            try:
                self._databases[name] = Database(files, name)
            except ImportError as error:
                extra = "pip install 'rocketwire[store-rocksdb]'"
                print_error(f"{name} is not read, only the log is: {error}; {extra}")
            except DatabaseError as error:
                self._unopened[name] = str(error)
                print_error(f"{name} is not read, only the log is: {error}")
        return self._databases[name]

    @property
    def unreadable(self) -> dict[str, str]:
        opened = {name: each for name, each in self._databases.items() if each is not None}
        failed = {name: each.failure for name, each in opened.items() if each.failure}
        return self._unopened | failed

    @cached_property
    def rocks_config(self) -> dict[str, tuple[dict[str, Any], str]]:
        names = [name for name in self.folder.rocksdb if name.startswith("config/")]
        databases = {name: self.database(name) for name in sorted(names)}
        return read_tables({name: each for name, each in databases.items() if each is not None})

    @cached_property
    def rocks_queues(self) -> RocksQueues | None:
        is_separate = _SEPARATE_QUEUES in self.folder.rocksdb
        name = _SEPARATE_QUEUES if is_separate else "consumequeue"
        database = self.database(name)
        return None if database is None else RocksQueues(database)

    @property
    def queue_names(self) -> set[tuple[str, int]]:
        in_rocksdb = self.rocks_queues.ends if self.rocks_queues is not None else {}
        return {*self.folder.queues, *self.folder.batch_queues, *in_rocksdb}

    @cached_property
    def checkpoint(self) -> Checkpoint | None:
        return self.decode(self.folder.plain.get("checkpoint"), decode_checkpoint)

    @cached_property
    def abort(self) -> bytes | None:
        """The beginning of ``abort``, which an orderly shutdown removes; None without the file."""
        file = self.folder.plain.get("abort")
        if file is None:
            return None
        try:
            return read_bytes(file, 0, _PROCESS_ID)
        except OSError as error:  # its existence is enough
            self.pass_over(file, error)
            return b""

    def is_in_use(self) -> bool:
        file = self.folder.plain.get("lock")
        if file is None:
            return False
        try:
            descriptor = open_file(file)
        except OSError as error:
            self.pass_over(file, error)
            return False
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, 1)
        except OSError:
            return True
        else:
            return False
        finally:
            os.close(descriptor)
