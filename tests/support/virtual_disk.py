"""``VirtualDisk``: a folder whose system calls fail, are cut short, or end in a crash.

The functions of ``os`` that change files are wrapped from outside, so the product has no hook for it. Without a fault
they do what they always do. As in POSIX, bytes of a file are on the disk after its ``fsync``, and names in a folder
after the ``fsync`` of the folder. ``crash`` removes everything else.
"""

import errno
import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count, zip_longest
from pathlib import Path
from typing import Any, Final, Self
from unittest import mock

PAGE: Final = 4096
WRITES: Final = ("write", "pwrite")
SYNCS: Final = ("fsync", "fdatasync")
NAMES: Final = ("open", "mkdir", "rmdir", "unlink", "rename", "replace", "link")
NEED_ROOM: Final = (*WRITES, "open", "ftruncate", "mkdir", "rename", "replace", "link")
REAL: Final = {name: getattr(os, name) for name in (*WRITES, *SYNCS, *NAMES, "ftruncate", "close")}

Listing = dict[str, int]
"""Names in a folder and their inodes."""


class KilledError(BaseException):
    """The process has ended: no call does anything any more."""


class VirtualDisk:
    """A folder on a disk of a test; a context manager.

    Args:
        root: the folder, which is created. Its content is on the disk.
        calls: calls that happen before the process is killed; a write in which it is killed writes half of its bytes.

    Attributes:
        is_dead: whether the process was killed.
        is_full: whether no call gets room: a write writes half of its bytes before it fails.
        is_short: whether a write takes half of its bytes.
    """

    def __init__(self, root: Path, calls: int | None = None) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root.resolve()
        #: names of the calls that changed something, or waited for the disk
        self.calls: list[str] = []
        self.is_dead = self.is_full = self.is_short = False
        #: number of calls of ``fsync`` that fail next; the pages that they should have written are
        #: lost
        self.failing_syncs = 0
        self.on_sync: Callable[[], object] = bool  #: called before each ``fsync``
        self._last = calls
        self._lock = threading.RLock()
        self._patches = ExitStack()
        self._opened: set[int] = set()
        self._held: list[int] = []
        self._settle()

    def __enter__(self) -> Self:
        for name in REAL:
            patch = mock.patch.object(os, name, partial(self._call, name))
            self._patches.enter_context(patch)
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()
        self._settle()

    def end(self, name: str) -> None:
        raise KilledError(name)

    # ------------------------------------------------------------------ system calls

    def _call(self, name: str, *args: Any, **keywords: Any) -> Any:
        if name == "close":
            self._opened.discard(args[0])
        path = None if name == "close" or "dir_fd" in keywords else path_of(name, args[0])
        if path is None or (self.root != path and self.root not in path.parents):
            return REAL[name](*args, **keywords)
        if name in SYNCS:
            self.on_sync()
        with self._lock:
            is_change = name != "open" or (args[1] & os.O_CREAT and not path.exists())
            if is_change or self.is_dead:
                result = self._change(name, path, args, keywords)
            else:
                result = REAL[name](*args, **keywords)
            if name == "open":
                self._opened.add(result)
            return result

    def _change(self, name: str, path: Path, args: tuple[Any, ...], keywords: Any) -> Any:
        if self.is_dead or len(self.calls) == self._last:
            if name in WRITES and not self.is_dead:
                write_half(name, *args)
            self.is_dead = True
            self.end(name)
        self.calls.append(name)
        if self.is_full and name in NEED_ROOM:
            if name in WRITES:
                write_half(name, *args)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.is_short and name in WRITES:
            return write_half(name, *args)
        if name in SYNCS:
            return self._sync(path)
        if name in NAMES:
            return self._change_names(name, path, args, keywords)
        return REAL[name](*args, **keywords)

    def _change_names(self, name: str, path: Path, args: tuple[Any, ...], keywords: Any) -> Any:
        paths = [path, *(Path(name) for name in args[1:] if isinstance(name, str | Path))]
        for lost in paths:
            if lost.is_file() and not lost.is_symlink():  # the name may come back in a crash
                self._gone[lost.stat().st_ino] = lost.read_bytes()
                self._held.append(REAL["open"](lost, os.O_RDONLY))  # no new file gets its inode
        result = REAL[name](*args, **keywords)
        for folder in {changed.parent for changed in paths}:
            self._names.setdefault(folder.stat().st_ino, [{}]).append(listing(folder))
        return result

    def _sync(self, path: Path) -> None:
        if path.is_dir():
            if not self.failing_syncs:
                self._names[path.stat().st_ino] = [listing(path)]
        else:
            inode, content = path.stat().st_ino, path.read_bytes()
            old = self._bytes.get(inode, b"")
            if self.failing_syncs:
                self._lost[inode] = (old.ljust(len(content), b"\0"), content)
            elif inode in self._lost:  # as Linux does: the pages count as clean now
                content = b"".join(
                    old_page if page == lost_page else page
                    for page, old_page, lost_page in zip_longest(
                        *map(pages, (content, *self._lost[inode])), fillvalue=b""
                    )
                )
            self._bytes[inode] = old if self.failing_syncs else content
        if self.failing_syncs:
            self.failing_syncs -= 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    # ------------------------------------------------------------------ after the end

    def revive(self) -> None:
        """Let another process begin, after the first one was killed; the machine did not fail."""
        for descriptor in list(self._opened):
            path = path_of("", descriptor)
            if path is not None and self.root in path.parents:
                os.close(descriptor)
        self._opened.clear()
        self._last, self.is_dead = None, False

    def crash(self, seed: int | None = None) -> None:
        """Let the machine fail, and another process begin: only what is on the disk is left.

        Args:
            seed: by which pages and names that are not on the disk survive at random; without it none does.
        """
        choose = random.Random(seed).choice if seed is not None else first
        self.revive()
        contents = {**self._gone, **bytes_below(self.root)}
        for folder in folders_below(self.root):
            if folder.exists():
                now = listing(folder)
                kept = choose([*self._names.get(folder.stat().st_ino, [{}]), now])
                for name in now.keys() - kept.keys():
                    path = folder / name
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                for name, inode in kept.items():
                    if inode in contents:
                        (folder / name).unlink(missing_ok=True)
                        content = self._tear(choose, inode, contents[inode])
                        (folder / name).write_bytes(content)
        self._settle()

    def _tear(self, choose: Callable[[list[Any]], Any], inode: int, new: bytes) -> bytes:
        """Return the bytes of a file, of which each page was written, or was not."""
        old = self._bytes.get(inode, b"")
        size = choose([len(old), len(new)])
        both = zip(*(pages(data[:size].ljust(size, b"\0")) for data in (old, new)), strict=True)
        return b"".join(choose(list(pair)) for pair in both)

    def _settle(self) -> None:
        while self._held:
            os.close(self._held.pop())
        self._bytes = bytes_below(self.root)
        folders = folders_below(self.root)
        self._names = {folder.stat().st_ino: [listing(folder)] for folder in folders}
        self._gone: dict[int, bytes] = {}
        self._lost: dict[int, tuple[bytes, bytes]] = {}


def path_of(name: str, target: Any) -> Path | None:
    if name in NAMES:
        return Path(os.fsdecode(target)).absolute()
    with suppress(OSError):
        return Path(os.readlink(f"/proc/self/fd/{target}"))
    return None


def write_half(name: str, descriptor: int, data: bytes, *position: int) -> int:
    return int(REAL[name](descriptor, data[: (len(data) + 1) // 2], *position))


def first(choices: list[Any]) -> Any:
    return choices[0]


def pages(data: bytes) -> list[bytes]:
    return [data[start : start + PAGE] for start in range(0, len(data), PAGE)]


def listing(folder: Path) -> Listing:
    return {path.name: path.stat(follow_symlinks=False).st_ino for path in folder.iterdir()}


def folders_below(root: Path) -> list[Path]:
    return [root, *(path for path in sorted(root.rglob("*")) if path.is_dir())]


def bytes_below(root: Path) -> dict[int, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.stat().st_ino: path.read_bytes() for path in files}


def run_until_crashes(
    folder: Path,
    work: Callable[[Path, list[Any]], object],
    seeds: Sequence[int | None] = (None, 1, 2),
) -> Iterator[tuple[Path, list[Any]]]:
    """Let some work run up to each of its calls in turn, at which the machine fails.

    Args:
        folder: where each run gets a folder.
        work: a function of its folder, and of a list in which it notes what it has finished.
        seeds: of the crashes at each call.

    Yields:
        The folder after the crash, and what the work had noted.
    """
    for calls in count():
        is_whole = False
        for seed in seeds:
            notes: list[Any] = []
            with VirtualDisk(folder / f"{calls}-{seed}", calls) as disk:
                with suppress(KilledError):
                    work(disk.root, notes)
                is_whole = not disk.is_dead
                disk.crash(seed)
            yield disk.root, notes
        if is_whole:
            return
