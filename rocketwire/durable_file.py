"""Files that are on the disk when a function returns, and whole whenever they are read.

A new file is written, synced and renamed, and then its folder is synced: without the last step the
rename may be lost. ``write`` of the operating system may write less than it is given.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Generator
from pathlib import Path
from typing import Final

Data = bytes | bytearray | memoryview
PathLike = str | os.PathLike[str]

_NO_LINKS_HERE: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS})


def write_all(descriptor: int, data: Data, position: int | None = None) -> None:
    """Write all bytes; to the file's own position if that is None."""
    view = memoryview(data)
    while view:
        if position is None:
            written = os.write(descriptor, view)
        else:
            written = os.pwrite(descriptor, view, position)
            position += written
        view = view[written:]


def sync_path(path: PathLike) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: PathLike, mode: int = 0o700) -> None:
    """Create a folder and those above it, if they are missing, durably."""
    folder = Path(path)
    if folder.is_dir():
        return
    make_folder(folder.parent, mode)
    try:
        folder.mkdir(mode)
    except FileExistsError:
        if not folder.is_dir():
            raise  # a file; another process may have made the folder meanwhile
    sync_path(folder.parent)


@contextlib.contextmanager
def open_replacement(
    path: PathLike,
    mode: int,
    *,
    suffix: str = ".tmp",
    keeps_backup: bool = False,
    is_synced: bool = True,
) -> Generator[int]:
    """Open a new file, which takes the place of ``path`` when the block ends without an error.

    There is no moment without a file. After an error the old file is as before; if only the last
    sync fails, ``path`` is the new file.

    Args:
        suffix: of the name of the new file; a file of that name is removed.
        keeps_backup: whether the old file stays as ``<path>.bak``.
        is_synced: whether to wait for the disk. Without it the file survives a kill of the process,
            and a failure of the machine may leave it empty.
    """
    path = Path(path)
    new = path.with_name(path.name + suffix)
    new.unlink(missing_ok=True)  # of a process that was killed
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(new, flags, mode)
    try:
        try:
            yield descriptor
            if is_synced:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if keeps_backup and path.exists():
            _keep_backup(path, suffix)
        os.rename(new, path)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink()
        raise
    if is_synced:
        sync_path(path.parent)


def _keep_backup(path: Path, suffix: str) -> None:
    backup = path.with_name(f"{path.name}.bak")
    link = backup.with_name(backup.name + suffix)
    link.unlink(missing_ok=True)
    os.link(path, link)
    os.rename(link, backup)
    link.unlink(missing_ok=True)  # if both were the same file already, the rename did nothing


def replace_file(
    path: PathLike,
    content: Data,
    mode: int = 0o644,
    *,
    suffix: str = ".tmp",
    keeps_backup: bool = False,
    is_synced: bool = True,
) -> None:
    with open_replacement(
        path, mode, suffix=suffix, keeps_backup=keeps_backup, is_synced=is_synced
    ) as descriptor:
        write_all(descriptor, content)


def rename_new(source: PathLike, target: PathLike) -> None:
    """Give a synced file or folder its name, durably, unless something has this name."""
    source, target = Path(source), Path(target)
    try:
        if source.is_dir():
            source.rename(target)  # replaces an empty folder at most
        else:
            _link_or_rename(source, target)
    except OSError as error:
        if error.errno in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}:
            raise FileExistsError(errno.EEXIST, "File exists", str(target)) from None
        raise
    sync_path(target.parent)


def _link_or_rename(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS_HERE or target.exists():
            raise
        source.rename(target)
    else:
        source.unlink()
