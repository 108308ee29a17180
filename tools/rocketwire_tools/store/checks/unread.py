"""Files that the disk or the system does not let the check read: one finding each, and no more.

Such files are left out before anything is read, and what other files say about them is not
compared.  A disk may also fail in the middle of a file; that is found while the file is read.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.engine.blocks import read_bytes

if TYPE_CHECKING:
    from rocketwire.store.folder import StoreFile, StoreFolder
    from rocketwire_tools.store.checks.findings import Findings
    from rocketwire_tools.store.engine.columns import Bools, Int64s

_ABORT: Final = "abort"


@dataclass(slots=True)
class Unread:
    """What was left out.

    Attributes:
        log: offsets of the log that were not read, as start and end.
        queues: topic and queue id of queues that were not read.
        others: names of other files.
        has_index: whether an index file is among them.
    """

    log: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    queues: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    others: list[str] = field(default_factory=list[str])
    has_index: bool = False

    def __bool__(self) -> bool:
        return bool(self.log or self.queues or self.others)

    def covers(self, start: int, end: int) -> bool:
        """Whether a gap in the log begins and ends with files that were not read."""
        starts, ends = {part[0] for part in self.log}, {part[1] for part in self.log}
        return start in starts and end in ends

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
    for files in (folder.commit_log, folder.dledger):
        unread.log += [(file.offset, file.end) for file in _removed(files, findings)]
    for queues in (folder.queues, folder.batch_queues, folder.extensions):
        unread.queues |= {name for name, files in queues.items() if _removed(files, findings)}
    index = _removed(folder.index, findings)
    unread.has_index = bool(index)
    unread.others += [file.name for file in index]
    for files in (folder.timer_log, folder.timer_wheels):
        unread.others += [file.name for file in _removed(files, findings)]
    for table in (folder.config, folder.plain, folder.dledger_state):
        unread.others += _removed_from_table(table, findings)
    return unread


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
            table[name] = replace(file, path=Path(os.devnull), size=0, start=0)
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
