"""Files that the disk or the system does not let the check read: one finding each, and no more.

Such files are left out before anything is read, and other files are not compared with them.  A
disk may also fail in the middle of a file; that is found while the file is read.
"""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketwire.store.folder import is_name_of_file, is_queue_id
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.checks.view import LOG_END
from rocketwire_tools.store.engine.blocks import read_bytes

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from rocketwire.store.folder import StoreFile, StoreFolder
    from rocketwire_tools.store.checks.view import StoreView, Unread

_ABORT: Final = "abort"
_QUEUE_FOLDERS: Final = ("consumequeue", "batchconsumequeue", "consumequeue_ext")


def leave_out_unreadable(view: StoreView) -> Iterator[Finding]:
    folder = view.folder
    for name, reason in folder.unreadable.items():
        text = f"the folder cannot be read: {reason}"
        yield Finding(kind=FindingKind.FILE, text=text, file=name)
        _note_folder(view.unread, name)
    for name in filter(is_name_of_file, folder.ignored):
        text = "it is a folder, a link, a pipe or a device, which is never read"
        yield Finding(kind=FindingKind.FILE, text=text, file=name)
    yield from _leave_out_files(folder, view.unread)


def _leave_out_files(folder: StoreFolder, unread: Unread) -> Iterator[Finding]:
    for file in (yield from _remove(folder.commit_log)):
        unread.log.append((file.offset, file.end))
    for queues in (folder.queues, folder.batch_queues, folder.extensions):
        for queue, files in queues.items():
            if (yield from _remove(files)):
                unread.queues.add(queue)
    for file in (yield from _remove(folder.index)):
        unread.has_index = True
        unread.others.append(file.name)
    for files in (folder.timer_log, folder.timer_wheels):
        unread.others += [file.name for file in (yield from _remove(files))]
    yield from _leave_out_named(folder.config, unread)
    yield from _leave_out_named(folder.plain, unread)


def _leave_out_named(table: dict[str, StoreFile], unread: Unread) -> Iterator[Finding]:
    for name, file in [*table.items()]:
        if (yield from _remove([file])):
            unread.others.append(name)
            del table[name]
            if name == _ABORT:  # its existence shows that the broker was killed
                table[name] = replace(file, root=Path("/dev"), name="null", size=0)


def _note_folder(unread: Unread, name: str) -> None:
    """Note what stands in a folder that cannot be listed, or in a file without a size."""
    parts = name.split("/")
    if parts[0] == "commitlog":
        unread.log.append((0, LOG_END))
    elif parts[0] not in _QUEUE_FOLDERS:
        unread.has_index |= parts[0] == "index"
        unread.others.append(name)
    elif len(parts) == 1:
        unread.has_topics = True
    elif len(parts) > 2 and is_queue_id(parts[2]):
        unread.queues.add((parts[1], int(parts[2])))
    else:
        unread.topics.add(parts[1])


def _remove(files: list[StoreFile]) -> Generator[Finding, None, list[StoreFile]]:
    removed: list[StoreFile] = []
    for file in files:
        try:
            read_bytes(file, 0, 1)
        except OSError as error:
            removed.append(file)
            if error.errno != errno.ENOENT:  # brokers delete files that expire
                yield unread_finding(file.name, error)
    if removed:
        files[:] = [file for file in files if file not in removed]
    return removed


def unread_finding(name: str, error: OSError) -> Finding:
    is_gone = error.errno == errno.ENOENT
    text = f"the file cannot be read: {error.strerror or error}"
    if is_gone:
        text = "the file was deleted while the store was read"
    return Finding(kind=FindingKind.FILE, text=text, is_damage=not is_gone, file=name)
