"""Plain files below one folder."""

from __future__ import annotations

import logging
import os
import shutil
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from rocketwire.durable_file import make_folder, replace_file, write_all

if TYPE_CHECKING:
    from pathlib import Path

    from rocketwire.durable_file import Data

LOGGER: Final = logging.getLogger("rocketwire.broker")

OPEN_FILES: Final = 64  # files that stay open between two calls

_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Disk:
    """Files below a folder; a ``rocketwire.store.writer.Files``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # whether a file is brought onto the disk before it is closed, because it is not open when
        # others are synced
        self.is_synced = False
        self.failure = ""  # why no message is stored any more; empty while all syncs succeed
        self._open: OrderedDict[str, int] = OrderedDict()
        self._unsynced: set[str] = set()

    def _path(self, name: str) -> Path:
        path = self.root / name
        if self.root not in path.parents or ".." in name.split("/"):
            raise ValueError(f"{name!r} is not below {self.root}")
        return path

    def write(self, name: str, position: int, data: Data, size: int) -> None:
        """Write bytes; a file that does not exist is created with ``size`` zeros."""
        descriptor = self._open.get(name)
        if descriptor is None:
            descriptor = self._create(name, size)
        write_all(descriptor, data, position)
        self._unsynced.add(name)

    def _create(self, name: str, size: int) -> int:
        path = self._path(name)
        try:
            descriptor = os.open(path, _FLAGS, 0o644)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, _FLAGS, 0o644)
        try:
            if os.fstat(descriptor).st_size < size:
                os.ftruncate(descriptor, size)
        except BaseException:
            os.close(descriptor)
            raise
        self._open[name] = descriptor
        if len(self._open) > OPEN_FILES:
            self._close_oldest()
        return descriptor

    def _close_oldest(self) -> None:
        name, descriptor = self._open.popitem(last=False)
        try:
            if self.is_synced and name in self._unsynced:
                os.fdatasync(descriptor)
                self._unsynced.discard(name)
        except OSError as error:
            self.give_up(error)
        finally:
            os.close(descriptor)

    def give_up(self, error: OSError) -> None:
        """Take note that a sync failed, until the process ends.

        Linux reports the error once and drops the bytes, so that the next sync succeeds without
        them: only what is read again after a restart is known to be there.
        """
        if not self.failure:
            self.failure = f"a sync failed, restart the broker: {error.strerror}"
            LOGGER.error("%s: messages are refused from now on, %s", self.root, self.failure)

    def clear_from(self, name: str, position: int) -> None:
        """Replace everything from a position on by zeros; the size stays."""
        descriptor = self._open.get(name)
        if descriptor is None:
            descriptor = self._create(name, 0)
        size = os.fstat(descriptor).st_size
        os.ftruncate(descriptor, position)
        os.ftruncate(descriptor, size)

    def set_time(self, name: str, milliseconds: int) -> None:
        time = max(milliseconds, 0) * 1_000_000
        os.utime(self._path(name), ns=(time, time), follow_symlinks=False)

    def remove(self, name: str) -> None:
        self._forget(name)
        self._path(name).unlink(missing_ok=True)

    def remove_folder(self, name: str) -> None:
        for opened in [opened for opened in self._open if opened.startswith(f"{name}/")]:
            self._forget(opened)
        shutil.rmtree(self._path(name), ignore_errors=True)

    def move(self, name: str, other: str) -> None:
        self._forget(name)
        target = self._path(other)
        target.parent.mkdir(parents=True, exist_ok=True)
        self._path(name).replace(target)

    def replace(self, name: str, data: bytes) -> None:
        """Replace a small file, whole or not at all. The old one stays as ``.bak``."""
        path = self._path(name)
        make_folder(path.parent)
        replace_file(path, data, keeps_backup=True, is_synced=self.is_synced)

    def read(self, name: str, position: int, size: int) -> bytes:
        """Return bytes of a file; fewer at its end, none if it does not exist."""
        descriptor = self._open.get(name)
        if descriptor is None:
            if not self._path(name).exists():
                return b""
            descriptor = self._create(name, 0)
        return os.pread(descriptor, size, position)

    def _forget(self, name: str) -> None:
        descriptor = self._open.pop(name, None)
        if descriptor is not None:
            os.close(descriptor)
        self._unsynced.discard(name)

    def descriptor(self, name: str) -> int | None:
        """Return the descriptor of an open file; a closed file has been synced."""
        return self._open.get(name)

    def flush(self) -> None:
        for name in list(self._unsynced):
            if name in self._open:
                os.fdatasync(self._open[name])
            self._unsynced.discard(name)

    def close(self) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()
