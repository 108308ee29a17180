"""Plain files below one folder.

``about_to`` is called before each system call that changes a file, so that tests can end the
process, or fill the disk, at each of them.
"""

from __future__ import annotations

import os
import shutil
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from rocketwire.store.writer import Data

OPEN_FILES: Final = 64
"""Files that stay open between two calls."""

_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Disk:
    """Files below a folder; a ``rocketwire.store.writer.Files``.

    Args:
        root: the folder.

    Attributes:
        root: see above.
        is_synced: whether a file is brought onto the disk before it is closed, because it is not
            open when others are synced.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.is_synced = False
        self._open: OrderedDict[str, int] = OrderedDict()
        self._unsynced: set[str] = set()

    def about_to(self, call: str) -> None:
        """Do nothing; tests raise an error here.

        Args:
            call: name of the system call.
        """

    @staticmethod
    def pwrite(descriptor: int, data: Data, position: int) -> int:
        """Write bytes, perhaps not all; return how many."""
        return os.pwrite(descriptor, data, position)

    # ------------------------------------------------------------------ writing

    def write(self, name: str, position: int, data: Data, size: int) -> None:
        """Write bytes; a file that does not exist is created with ``size`` zeros.

        Raises:
            OSError: the disk is full, or fails; some of the bytes may be written.
        """
        descriptor = self._open.get(name)
        if descriptor is None:
            descriptor = self._create(name, size)
        self.about_to("pwrite")
        written = self.pwrite(descriptor, data, position)
        if written < len(data):
            view = memoryview(data)
            while written < len(view):
                written += self.pwrite(descriptor, view[written:], position + written)
        self._unsynced.add(name)

    def _create(self, name: str, size: int) -> int:
        path = self.root / name
        self.about_to("open")
        try:
            descriptor = os.open(path, _FLAGS, 0o644)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, _FLAGS, 0o644)
        try:
            if os.fstat(descriptor).st_size < size:
                self._resize(descriptor, size)
        except BaseException:
            os.close(descriptor)
            raise
        self._open[name] = descriptor
        if len(self._open) > OPEN_FILES:
            self._close_oldest()
        return descriptor

    def _resize(self, descriptor: int, size: int) -> None:
        self.about_to("ftruncate")
        os.ftruncate(descriptor, size)

    def _close_oldest(self) -> None:
        name, descriptor = self._open.popitem(last=False)
        if self.is_synced and name in self._unsynced:
            os.fdatasync(descriptor)
            self._unsynced.discard(name)
        os.close(descriptor)

    def clear_from(self, name: str, position: int) -> None:
        """Replace everything from a position on by zeros; the size stays."""
        descriptor = self._open.get(name)
        if descriptor is None:
            descriptor = self._create(name, 0)
        size = os.fstat(descriptor).st_size
        self._resize(descriptor, position)
        self._resize(descriptor, size)

    def set_time(self, name: str, milliseconds: int) -> None:
        """Set when a file was changed last, in milliseconds since 1970."""
        time = max(milliseconds, 0) * 1_000_000
        os.utime(self.root / name, ns=(time, time), follow_symlinks=False)

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        self._forget(name)
        self.about_to("unlink")
        (self.root / name).unlink(missing_ok=True)

    def remove_folder(self, name: str) -> None:
        """Remove a folder with its files, if it exists."""
        for opened in [opened for opened in self._open if opened.startswith(f"{name}/")]:
            self._forget(opened)
        self.about_to("rmtree")
        shutil.rmtree(self.root / name, ignore_errors=True)

    def move(self, name: str, other: str) -> None:
        """Give a file another name."""
        self._forget(name)
        target = self.root / other
        self.about_to("rename")
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).replace(target)

    def replace(self, name: str, data: bytes, *, is_synced: bool = False) -> None:
        """Replace a small file; there is no moment without it. The old one stays as ``.bak``."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new, backup = path.with_name(f"{path.name}.tmp"), path.with_name(f"{path.name}.bak")
        self.about_to("write")
        with new.open("wb", buffering=0) as file:
            file.write(data)
            if is_synced:
                os.fsync(file.fileno())
        if path.exists():
            self.about_to("unlink")
            backup.unlink(missing_ok=True)
            self.about_to("link")
            os.link(path, backup)
        self.about_to("rename")
        new.replace(path)

    # ------------------------------------------------------------------ reading

    def read(self, name: str, position: int, size: int) -> bytes:
        """Return bytes of a file; fewer at its end, none if it does not exist."""
        descriptor = self._open.get(name)
        if descriptor is None:
            if not (self.root / name).exists():
                return b""
            descriptor = self._create(name, 0)
        return os.pread(descriptor, size, position)

    # ------------------------------------------------------------------ ends

    def _forget(self, name: str) -> None:
        descriptor = self._open.pop(name, None)
        if descriptor is not None:
            os.close(descriptor)
        self._unsynced.discard(name)

    def descriptor(self, name: str) -> int | None:
        """Return the descriptor of a file, if it is open; one that is not has been synced."""
        return self._open.get(name)

    def sync(self, name: str) -> None:
        """Wait until a file's bytes are on the disk."""
        descriptor = self._open.get(name)
        if descriptor is not None:
            os.fdatasync(descriptor)
            self._unsynced.discard(name)

    def flush(self) -> None:
        """Wait until all bytes that were written are on the disk."""
        for name in list(self._unsynced):
            self.sync(name)

    def close(self) -> None:
        """Close all files."""
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()
