"""Files that the disk or the system does not let the check read: one finding each, and no more.

Such files are left out before anything is read, and what other files say about them is not
compared.  A disk may also fail in the middle of a file; that is found while the file is read.
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
    from rocketwire.store.folder import StoreFile, StoreFolder
    from rocketwire_tools.store.checks.findings import Findings
    from rocketwire_tools.store.engine.columns import Bools, Int64s

LOG_END: Final = 1 << 63
"""Offset behind every log: that of a folder whose files nobody can list."""

_ABORT: Final = "abort"
_QUEUE_FOLDERS: Final = ("consumequeue", "batchconsumequeue", "consumequeue_ext")


@dataclass(slots=True)
class Unread:
    """What was left out.

    Attributes:
        log: offsets of the log that were not read, as start and end.
        queues: topic and queue id of queues that were not read.
        topics: topics with queues in a folder that was not read.
        has_topics: whether a folder of topics was not read.
        others: names of other files.
        has_index: whether an index file is among them.
    """

    log: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    queues: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    topics: set[str] = field(default_factory=set[str])
    has_topics: bool = False
    others: list[str] = field(default_factory=list[str])
    has_index: bool = False

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

    def holds(self, offsets: Int64s) -> Bools:
        """Which offsets of the log were not read."""
        result = np.zeros(len(offsets), np.bool_)
        for start, end in self.log:
            result |= (offsets >= start) & (offsets < end)
        return result


def leave_out_unreadable(folder: StoreFolder, findings: Findings) -> Unread:
    """Remove the files of a store that cannot be read, with a finding for each.

    Args:
        folder: the files; those that cannot be read are removed.
        findings: gets the findings.
    """
    unread = Unread()
    for name, reason in folder.unreadable.items():
        text = f"the folder cannot be read: {reason}"
        findings.add(Finding(kind=FindingKind.FILE, text=text, file=name))
        _note_folder(unread, name)
    for name in folder.ignored:
        if is_file_place(name):
            text = "it is a folder, a link, a pipe or a device, which is never read"
            findings.add(Finding(kind=FindingKind.FILE, text=text, file=name))
    removed = _removed(folder.commit_log, findings)
    unread.log += [(file.offset, file.end) for file in removed]
    for queues in (folder.queues, folder.batch_queues, folder.extensions):
        unread.queues |= {name for name, files in queues.items() if _removed(files, findings)}
    index = _removed(folder.index, findings)
    unread.has_index = bool(index)
    unread.others += [file.name for file in index]
    for files in (folder.timer_log, folder.timer_wheels):
        unread.others += [file.name for file in _removed(files, findings)]
    for table in (folder.config, folder.plain):
        unread.others += _removed_from_table(table, findings)
    return unread


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


def _removed(files: list[StoreFile], findings: Findings) -> list[StoreFile]:
    """Remove what cannot be read from a list; returns it."""
    readable: list[StoreFile] = []
    removed: list[StoreFile] = []
    for file in files:
        (readable if _is_readable(file, findings) else removed).append(file)
    files[:] = readable
    return removed


def _removed_from_table(table: dict[str, StoreFile], findings: Findings) -> list[str]:
    removed = [name for name, file in table.items() if not _is_readable(file, findings)]
    for name in removed:
        file = table.pop(name)
        if name == _ABORT:  # that it is there says enough
            table[name] = replace(file, root=Path("/dev"), name="null", size=0)
    return removed


def _is_readable(file: StoreFile, findings: Findings) -> bool:
    """Whether a file can be read; if not, a finding says why, unless the file is gone."""
    try:
        read_bytes(file, 0, 1)
    except OSError as error:
        if error.errno != errno.ENOENT:  # brokers delete files that expire
            add_unread(findings, file.name, error)
        return False
    return True


def add_unread(findings: Findings, name: str, error: OSError) -> None:
    """Add the finding of a file that cannot be read; it is a note if the file is gone meanwhile."""
    is_gone = error.errno == errno.ENOENT
    text = (
        "the file was deleted while the store was read"
        if is_gone
        else f"the file cannot be read: {reason_of(error)}"
    )
    findings.add(Finding(kind=FindingKind.FILE, text=text, is_damage=not is_gone, file=name))


def reason_of(error: OSError) -> str:
    """What the system says about a failure."""
    return error.strerror or str(error)
