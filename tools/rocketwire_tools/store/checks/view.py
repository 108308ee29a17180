"""A store as the steps of a check see it, with what earlier steps have learned."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire_tools.store.checks.findings import Findings
from rocketwire_tools.store.engine.scan import RegionKind

if TYPE_CHECKING:
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.scan import LogScan
    from rocketwire_tools.store.opened import OpenedStore


LOG_END: Final = 1 << 63
"""An offset after every log: the end of a folder whose files cannot be listed."""


class StoreView:
    def __init__(self, store: OpenedStore) -> None:
        self.store = store
        self.folder = store.folder  # its files; the first step removes those that cannot be read
        self.findings = Findings()  # what the steps have found so far
        self.unread = Unread()  # what cannot be read and is not compared
        self.scan: LogScan | None = None  # the pass through the log; None if there is no log
        self.log = LogFacts()  # counts and positions of the log
        self.unqueued = 0  # messages that the broker had not yet put into their queues
        self.index_entries = 0  # entries of index files that were compared
        # where a broker would cut the log; None if the log is empty or not all was read
        self.start: NextStart | None = None

    @cached_property
    def is_in_use(self) -> bool:
        return self.store.is_in_use()

    @cached_property
    def may_lag(self) -> bool:
        """Whether the newest messages may be in no queue: a broker writes, or was killed."""
        return self.is_in_use or self.store.abort is not None

    @property
    def log_start(self) -> int:
        files = self.folder.commit_log
        return files[0].offset if files else 0

    @property
    def newest_end(self) -> int | None:
        """Offset in the log from which on a running broker has written more; None without one."""
        return self.log.end if self.is_in_use else None

    @cached_property
    def has_queues(self) -> bool:
        folder, store = self.folder, self.store
        has_rocksdb = any(name.startswith("consumequeue") for name in folder.rocksdb)
        is_root = bool(folder.plain or folder.config) and not has_rocksdb
        return bool(store.queue_names) or store.rocks_queues is not None or is_root


class LogFacts:
    def __init__(self) -> None:
        # messages that stand together without ghosts: offset of the first, number, and bytes. A run
        # begins at each position where Java may cut the log.
        self.runs: list[list[int]] = []
        self.ghosts = [0, 0]  # old messages after the end of the log, and their bytes
        self.newest = 0  # largest store timestamp, milliseconds since 1970
        self.damaged_messages = 0  # messages with a wrong checksum
        # offset of a file → that of its first message with a wrong checksum
        self.broken: dict[int, int] = {}
        # offset of a file → store timestamp of the message with which it begins
        self.first_stored: dict[int, int] = {}

    def add(self, offset: int, messages: int, size: int, *, is_new_run: bool) -> None:
        last = self.runs[-1] if self.runs else None
        if last is not None and not is_new_run and last[0] + last[2] == offset:
            last[1] += messages
            last[2] += size
        else:
            self.runs.append([offset, messages, size])

    def count_from(self, offset: int) -> tuple[int, int]:
        runs = [run for run in self.runs if run[0] >= offset]
        return sum(run[1] for run in runs), sum(run[2] for run in runs)

    @property
    def messages(self) -> int:
        return self.count_from(0)[0]

    @property
    def size(self) -> int:
        return self.count_from(0)[1]

    @property
    def end(self) -> int:
        return max((start + size for start, _, size in self.runs), default=0)


@dataclass(slots=True)
class Unread:
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
        return self.has_topics or queue in self.queues or queue[0] in self.topics

    def covers(self, start: int, end: int) -> bool:
        starts, ends = {part[0] for part in self.log}, {part[1] for part in self.log}
        return start in starts and end in ends

    @property
    def has_log_folder(self) -> bool:
        """Whether a folder of the log was not read, which may have any file."""
        return (0, LOG_END) in self.log

    def find_offsets(self, offsets: Int64s) -> Bools:
        result = np.zeros(len(offsets), np.bool_)
        for start, end in self.log:
            result |= (offsets >= start) & (offsets < end)
        return result


@dataclass(frozen=True, slots=True)
class NextStart:
    is_clean: bool  # whether the last broker was shut down cleanly: it removed ``abort``
    cut: int  # offset at which the log would be cut
    messages: int  # readable messages that follow there
    size: int  # their bytes

    def lines(self) -> tuple[str, str]:
        clean = "The broker was shut down cleanly."
        unclean = "The broker was not shut down cleanly: it left the file abort."
        text = f"A broker would cut the log at {self.cut:,}: "
        if self.messages:
            text += (
                f"{self.messages:,} readable messages with {self.size:,} bytes follow there."
                " Copy the store before you start a broker."
            )
        else:
            text += "no readable message follows there."
        return clean if self.is_clean else unclean, text


_READ_FILES: Final = 3
"""Files that a broker reads which was shut down cleanly (Java: ``CommitLog.recoverNormally``)."""

_NO_RECORD: Final = (RegionKind.END, RegionKind.HOLE, RegionKind.DAMAGE)


def find_next_start(view: StoreView) -> NextStart | None:
    # A broker reads the newest files of the log only, and cuts it at the first record there that
    # is no message.  Which files it reads depends on its release; these are the usual ones.
    scan, log, store = view.scan, view.log, view.store
    if scan is None or view.unread or view.is_in_use:
        return None
    is_clean = store.abort is None
    offsets = [file.offset for file in scan.files]
    start = offsets[-_READ_FILES:][0] if is_clean else _first_unflushed(view, offsets)
    positions = [region.start for region in scan.regions if region.kind in _NO_RECORD]
    positions += log.broken.values()
    cut = min((position for position in positions if position >= start), default=log.end)
    return NextStart(is_clean, cut, *log.count_from(cut))


def _first_unflushed(view: StoreView, offsets: list[int]) -> int:
    checkpoint = view.store.checkpoint
    for offset in reversed(offsets):
        stored = view.log.first_stored.get(offset)
        if checkpoint is None or stored is None:
            continue
        if checkpoint.queue_physical_offset > 0:
            is_flushed = offset <= checkpoint.queue_physical_offset
        else:
            is_flushed = stored <= checkpoint.min_timestamp
        if is_flushed:
            return offset
    return offsets[0]
