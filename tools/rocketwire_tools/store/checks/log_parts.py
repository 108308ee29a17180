"""Parts of a log that other processes check.

A part counts if nothing at all is to be said about it, and if it begins where the parts before it
end: in the log, in each queue, and in each index file.  Then one process would have noted the same.
From the first part on of which that is not true, one process checks the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketwire_tools.store.checks.findings import Findings
from rocketwire_tools.store.checks.log_check import FileProgress, LogCheck, Stretch
from rocketwire_tools.store.checks.queue_groups import QUEUE_MASK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.store.checks.index_check import IndexPart
    from rocketwire_tools.store.checks.queue_check import QueuePart
    from rocketwire_tools.store.engine.scan import LogScan


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """A part of a log without findings.

    Attributes:
        start: offset of its first message.
        file: offset of its file.
        stretches: as of ``LogCheck``.
        progress: of its file.
        newest: largest store timestamp.
        topics: names as stored; the numbers below are places in this list.
        first_offsets: queue, as in ``QueueGroups.keys`` → queue offset of the first message.
        next_offsets: likewise, after the last message.
        queues: what the queues have of it; None without queues.
        index: what the index files have of it; None without index files.
    """

    start: int
    file: int
    stretches: list[Stretch]
    progress: FileProgress
    newest: int
    topics: list[bytes]
    first_offsets: dict[int, int]
    next_offsets: dict[int, int]
    queues: QueuePart | None
    index: IndexPart | None


def checked_part(whole: LogCheck, scan: LogScan) -> LogPart | None:
    """Check a part of a log; None if there is anything to say about it.

    Args:
        whole: the check of the log; its queues and index files are used, and forget everything.
        scan: of the part, which lies in one file.

    Raises:
        OSError: an index file cannot be read.
    """
    findings = Findings()
    queues, index = whole.queues, whole.index
    starts: list[int] = []
    if queues is not None:
        queues.findings = findings
        queues.begin_part()
    if index is not None:
        index.findings = findings
        starts = index.begin_part(scan.start)
    file = next(file.offset for file in scan.files if file.offset <= scan.start < file.end)
    check = LogCheck(findings=findings, queues=queues, index=index, is_moving=whole.is_moving)
    check.files[file] = FileProgress(scan.start - file)
    check.read(scan, scan)
    progress = check.files[file]
    queue_part = None if queues is None else queues.part()
    index_part = None if index is None else index.part(starts)
    if (
        (findings.counts or progress.is_broken or len(check.files) > 1 or any(check.ghosts))
        or (queues is not None and queue_part is None)
        or (index is not None and index_part is None)
    ):
        return None
    return LogPart(
        start=scan.start,
        file=file,
        stretches=check.stretches,
        progress=progress,
        newest=check.newest,
        topics=check.topics.stored(),
        first_offsets=check.first_offsets,
        next_offsets=check.next_offsets,
        queues=queue_part,
        index=index_part,
    )


def add_part(whole: LogCheck, part: LogPart) -> bool:
    """Note what another process has checked.

    Args:
        whole: the check of the log, which has everything before the part.
        part: the next one.

    Returns:
        Whether the part goes on where the check stands; if not, nothing is noted but names.
    """
    numbers = [whole.topics.number(name) for name in part.topics]
    for queue, offset in part.first_offsets.items():
        if whole.expected_offset(_renumbered(queue, numbers), offset) != offset:
            return False
    progress = whole.files.setdefault(part.file, FileProgress())
    if part.file + progress.position != part.start or progress.is_broken:
        return False
    is_next = whole.index is None or part.index is None or whole.index.add_part(part.index)
    if not is_next:
        return False
    if whole.queues is not None and part.queues is not None:
        whole.queues.add_part(part.queues)
    progress.position = part.progress.position
    if progress.old_position is None:
        progress.old_position = part.progress.old_position
    whole.newest = max(whole.newest, part.newest)
    for queue, offset in part.next_offsets.items():
        whole.next_offsets[_renumbered(queue, numbers)] = offset
    for number, stretch in enumerate(part.stretches):
        may_go_on = number == 0 and stretch.start != part.file
        whole.add_stretch(stretch, may_go_on=may_go_on)
    return True


def _renumbered(queue: int, numbers: Sequence[int]) -> int:
    """The key of a queue whose topic has another number here."""
    return numbers[queue >> 32] << 32 | (queue & QUEUE_MASK)
