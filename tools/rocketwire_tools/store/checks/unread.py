"""Files that the disk or the system does not let the check read: one finding each, and no more.

Such files are left out before anything is read, and other files are not compared with them.  A
disk may also fail in the middle of a file; that is found while the file is read.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.store.folder import is_file_place, is_queue_id
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.engine.blocks import read_bytes

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from rocketwire.store.folder import StoreFile, StoreFolder
    from rocketwire_tools.store.checks.view import StoreView
    from rocketwire_tools.store.engine.columns import Bools, Int64s

LOG_END: Final = 1 << 63
"""An offset after every log: the end of a folder whose files cannot be listed."""

_ABORT: Final = "abort"
_QUEUE_FOLDERS: Final = ("consumequeue", "batchconsumequeue", "consumequeue_ext")


@dataclass(slots=True)
class Unread:
    """The files that were left out."""

    # offsets of the log that were not read, as start and end
    log: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    # topic and queue id of queues that were not read
    queues: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    # topics with queues in a folder that was not read
    topics: set[str] = field(default_factory=set[str])
    has_topics: bool = False  # whether a folder of topics was not read
    others: list[str] = field(default_factory=list[str])  # names of other files
    has_index: bool = False  # whether an index file is among them

    def __bool__(self) -> bool:
        return bool(self.log or self.queues or self.topics or self.has_topics or self.others)

    def has_queue(self, queue: tuple[str, int]) -> bool:
        """Whether a queue was not read, or perhaps not all of it."""
        return self.has_topics or queue in self.queues or queue[0] in self.topics

    def covers(self, start: int, end: int) -> bool:
        """Whether a gap in the log begins and ends with files that were not read."""
        starts, ends = {part[0] for part in self.log}, {part[1] for part in self.log}
        return start in starts and end in ends

    @property
    def has_log_folder(self) -> bool:
        """Whether a folder of the log was not read, which may have any file."""
        return (0, LOG_END) in self.log

    def has_offset(self, offset: int) -> bool:
        """Whether an offset of the log was not read."""
        return any(start <= offset < end for start, end in self.log)

    def find_offsets(self, offsets: Int64s) -> Bools:
        """Return which offsets of the log were not read."""
        result = np.zeros(len(offsets), np.bool_)
        for start, end in self.log:
            result |= (offsets >= start) & (offsets < end)
        return result


def leave_out_unreadable(view: StoreView) -> Iterator[Finding]:
    """Remove the files of a store that cannot be read."""
    folder = view.folder
    for name, reason in folder.unreadable.items():
        text = f"the folder cannot be read: {reason}"
        yield Finding(kind=FindingKind.FILE, text=text, file=name)
        _note_folder(view.unread, name)
    for name in filter(is_file_place, folder.ignored):
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
    """Return the finding of a file that cannot be read; a note if the file is gone meanwhile."""
    is_gone = error.errno == errno.ENOENT
    text = f"the file cannot be read: {error.strerror or error}"
    if is_gone:
        text = "the file was deleted while the store was read"
    return Finding(kind=FindingKind.FILE, text=text, is_damage=not is_gone, file=name)
