"""The log read once for ``check``: checksums, queue offsets, queues and index against it.

What later steps need is kept in bounded form: counts of messages by stretches of the log, and the
first message of each file that Java takes for none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.store import commit_log
from rocketwire.store.folder import file_at
from rocketwire.wire.layouts.declarations import MAGIC_V1, MAGIC_V2
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.checks.queue_groups import groups_of
from rocketwire_tools.store.checks.unread import Unread
from rocketwire_tools.store.engine.blocks import read_bytes
from rocketwire_tools.store.engine.checksums import body_crcs
from rocketwire_tools.store.engine.columns import records
from rocketwire_tools.store.engine.rows import Rows, TopicNames
from rocketwire_tools.store.engine.scan import RegionKind, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocketwire_tools.store.checks.findings import Findings
    from rocketwire_tools.store.checks.index_check import IndexCheck
    from rocketwire_tools.store.checks.queue_check import QueueCheck
    from rocketwire_tools.store.checks.queue_groups import QueueGroups
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.scan import Block, LogScan, Region

_CRC_NAME: Final = int.from_bytes(commit_log.CRC_PROPERTY[:8], "big")
_HEAD: Final = 88


@dataclass(slots=True)
class Stretch:
    """Messages of the log that stand together.

    Attributes:
        start: offset of the first one in the stream.
        messages: how many.
        size: their bytes.
    """

    start: int
    messages: int
    size: int


@dataclass(slots=True)
class LogCheck:
    """One pass through the log of a store.

    Attributes:
        findings: where to add what is found.
        queues: the queues' files; None without.
        index: the index files; None without.
        is_moving: whether a broker writes while this reads.
        unread: what cannot be read and is not compared.
        stretches: the messages of the log, without ghosts.
        ghosts: messages and bytes behind the end of the log.
        newest: largest store timestamp, milliseconds since 1970.
        damaged_messages: messages with a wrong checksum.
        next_offsets: queue, as in ``QueueGroups.keys`` → queue offset after the last message.
        broken: offset of a file → that of its first message with a wrong checksum.
        first_stored: offset of a file → store timestamp of the message with which it begins.
    """

    findings: Findings
    queues: QueueCheck | None = None
    index: IndexCheck | None = None
    is_moving: bool = False
    unread: Unread = field(default_factory=Unread)
    stretches: list[Stretch] = field(default_factory=list["Stretch"])
    ghosts: list[int] = field(default_factory=lambda: [0, 0])
    newest: int = 0
    damaged_messages: int = 0
    topics: TopicNames = field(default_factory=TopicNames)
    next_offsets: dict[int, int] = field(default_factory=dict[int, int])
    broken: dict[int, int] = field(default_factory=dict[int, int])
    first_stored: dict[int, int] = field(default_factory=dict[int, int])
    _states: dict[int, State] = field(default_factory=dict[int, State])
    _starts_at_zero: bool = False

    # -------------------------------------------------------------- the pass

    def run(self, scan: LogScan, blocks: Iterable[Block]) -> None:
        """Read a log.

        Args:
            scan: of the log.
            blocks: its blocks, as they come.
        """
        self._starts_at_zero = bool(scan.files) and scan.files[0].offset == 0
        regions, unread = 0, len(self.unread.log)
        for block in blocks:
            if unread < len(self.unread.log):
                unread = len(self.unread.log)
                self._forget_offsets()
            while regions < len(scan.regions):
                self._states[regions] = block.state
                self._pass_over(scan.regions[regions])
                regions += 1
            self._see(block)
        self._report_regions(scan)

    def _pass_over(self, region: Region) -> None:
        """Forget where queues stand if a file that cannot be read has their next messages."""
        if self._is_unread(region):
            self._forget_offsets()

    def _forget_offsets(self) -> None:
        self.next_offsets.clear()
        self._starts_at_zero = False

    def _is_unread(self, region: Region) -> bool:
        """Whether files that cannot be read have the bytes of a region."""
        is_gap = region.kind is RegionKind.GAP
        return (is_gap and self.unread.has_log_folder) or self.unread.covers(
            region.start, region.end
        )

    @property
    def messages(self) -> int:
        """Messages of the log, without ghosts."""
        return sum(stretch.messages for stretch in self.stretches)

    @property
    def size(self) -> int:
        """Their bytes."""
        return sum(stretch.size for stretch in self.stretches)

    @property
    def end(self) -> int:
        """Offset after the last message that is no ghost."""
        return max((stretch.start + stretch.size for stretch in self.stretches), default=0)

    def behind(self, offset: int) -> tuple[int, int]:
        """Messages and bytes from an offset of the log on."""
        behind = [stretch for stretch in self.stretches if stretch.start >= offset]
        return (
            sum(stretch.messages for stretch in behind),
            sum(stretch.size for stretch in behind),
        )

    def _see(self, block: Block) -> None:
        if block.state is State.GHOST:
            self.ghosts[0] += len(block.messages)
            self.ghosts[1] += int(block.messages.sizes.sum())
            return
        messages = block.messages
        stored = messages.numbers("store_timestamp")
        self.newest = max(self.newest, int(stored.max()))
        if block.base + int(messages.positions[0]) == block.file.offset:
            self.first_stored[block.file.offset] = int(stored[0])
        rows = Rows(block, self.topics)
        holds, is_exact = self._checksums(rows)
        self._add_stretches(block, is_exact)
        if not holds.all():
            self._report_checksums(rows, holds)
        self._check_message_crc(rows)
        self._check_queues(rows)
        if self.index is not None:
            self.index.see(rows)

    # -------------------------------------------------------------- checksums

    def _checksums(self, rows: Rows) -> tuple[Bools, Bools]:
        """Whether each body has its checksum, and whether Java finds it so."""
        messages = rows.messages
        crcs = body_crcs(messages) & commit_log.CRC_MASK
        stored = messages.numbers("body_crc")
        is_empty = messages.body_sizes == 0
        is_exact: Bools = (crcs == stored) | is_empty
        holds: Bools = (crcs == (stored & commit_log.CRC_MASK)) | is_empty
        return holds, is_exact

    def _add_stretches(self, block: Block, is_exact: Bools) -> None:
        """Count messages; a stretch begins at each place where Java may cut.

        Java reads a file from its beginning, so that is its first message with a wrong checksum.
        """
        messages = block.messages
        starts, file = [0], block.file.offset
        if not is_exact.all() and file not in self.broken:
            first = int(np.argmin(is_exact))
            self.broken[file] = block.base + int(messages.positions[first])
            starts = sorted({0, first})
        for start, end in zip(starts, [*starts[1:], len(messages)], strict=True):
            offset = block.base + int(messages.positions[start])
            size = int(messages.sizes[start:end].sum())
            last = self.stretches[-1] if self.stretches else None
            may_go_on = start == 0 and offset != file
            if may_go_on and last is not None and last.start + last.size == offset:
                last.messages += end - start
                last.size += size
            else:
                self.stretches.append(Stretch(offset, end - start, size))

    def _report_checksums(self, rows: Rows, holds: Bools) -> None:
        broken = np.flatnonzero(~holds).tolist()
        self.damaged_messages += len(broken)
        room = self.findings.room(FindingKind.BODY_CRC)
        for row in broken[:room]:
            self._add(rows, row, FindingKind.BODY_CRC, "the body has another CRC-32")
        self.findings.count(FindingKind.BODY_CRC, len(broken[room:]))

    def _check_message_crc(self, rows: Rows) -> None:
        messages = rows.messages
        ends = messages.positions + messages.sizes - commit_log.CRC_PROPERTY_SIZE
        names = records(messages.data, ends, np.dtype([("name", ">u8")]))["name"]
        for row in np.flatnonzero(names == _CRC_NAME).tolist():
            position, size = int(messages.positions[row]), int(messages.sizes[row])
            crcs = commit_log.message_crc(rows.data, position, size)
            if crcs is not None and crcs[0] != crcs[1]:
                text = f"__CRC32# is {crcs[0]}, the message has {crcs[1]}"
                self._add(rows, row, FindingKind.MESSAGE_CRC, text)

    def _add(self, rows: Rows, row: int, kind: FindingKind, text: str) -> None:
        messages, block = rows.messages, rows.block
        offset = block.base + int(messages.positions[row])
        self.findings.add(
            Finding(
                kind=kind,
                text=text,
                file=block.file.name,
                position=offset - block.file.offset,
                size=int(messages.sizes[row]),
                physical_offset=offset,
                topic=self.topics.names[int(rows.topic_numbers[row])],
                queue_id=int(messages.heads["queue_id"][row]),
                queue_offset=int(messages.heads["queue_offset"][row]),
            )
        )

    # -------------------------------------------------------------- queue offsets

    def _check_queues(self, rows: Rows) -> None:
        groups = groups_of(rows)
        if groups is None:
            return
        expected = self._expected(groups)
        follow = groups.all_of_each(expected == groups.offsets)
        queues = self.queues
        whole = follow if queues is None else queues.are_whole(rows, groups)
        for number, name in enumerate(groups.names):
            if follow[number] and queues is None:
                continue
            part = groups.part(number)
            group, offsets = groups.rows[part], groups.offsets[part]
            if not follow[number]:
                self._report_offsets(rows, group, offsets, expected[part])
            if queues is not None and whole[number]:
                queues.see_whole(name, int(offsets[0]), len(offsets))
            elif queues is not None:
                queues.see(rows, name, group, offsets, groups.steps[part])
        if queues is not None:
            queues.see_lmq(rows)

    def _expected(self, groups: QueueGroups) -> Int64s:
        """The queue offset that each message should have."""
        ends = groups.offsets + groups.steps
        firsts = groups.bounds[:-1]
        expected = np.empty_like(ends)
        expected[1:] = ends[:-1]
        for queue, place, offset, end in zip(
            groups.keys,
            firsts.tolist(),
            groups.offsets[firsts].tolist(),
            ends[groups.bounds[1:] - 1].tolist(),
            strict=True,
        ):
            first = 0 if self._starts_at_zero else offset
            expected[place] = self.next_offsets.get(queue, first)
            self.next_offsets[queue] = end
        return expected

    def _report_offsets(self, rows: Rows, group: Int64s, offsets: Int64s, expected: Int64s) -> None:
        for place in np.flatnonzero(expected != offsets).tolist():
            row, offset, wanted = int(group[place]), int(offsets[place]), int(expected[place])
            if offset > wanted:
                text = f"{offset - wanted} messages of the queue are missing before this one"
                count = offset - wanted
            elif offset == 0:
                text = f"the queue begins anew at 0 after {wanted - 1}; its topic was deleted"
                self._add_queue_offset(rows, row, text, 1, is_damage=False)
                continue
            else:
                text, count = f"the queue had reached {wanted} before this message", 1
            self._add_queue_offset(rows, row, text, count)

    def _add_queue_offset(
        self, rows: Rows, row: int, text: str, count: int, *, is_damage: bool = True
    ) -> None:
        if not self.findings.room(FindingKind.QUEUE_OFFSET, is_damage=is_damage):
            self.findings.count(FindingKind.QUEUE_OFFSET, 1, count, is_damage=is_damage)
            return
        messages, block = rows.messages, rows.block
        offset = block.base + int(messages.positions[row])
        self.findings.add(
            Finding(
                kind=FindingKind.QUEUE_OFFSET,
                text=text,
                is_damage=is_damage,
                file=block.file.name,
                position=offset - block.file.offset,
                physical_offset=offset,
                topic=self.topics.names[int(rows.topic_numbers[row])],
                queue_id=int(messages.heads["queue_id"][row]),
                queue_offset=int(messages.heads["queue_offset"][row]),
                count=count,
            )
        )

    # -------------------------------------------------------------- regions

    def _report_regions(self, scan: LogScan) -> None:
        last = _last_data(scan.regions)
        for number, region in enumerate(scan.regions):
            is_gap = region.kind is RegionKind.GAP
            if not region.is_damage or (is_gap and self._is_unread(region)):
                continue
            state = self._states.get(number)
            is_last = number >= last and state is None
            self.findings.add(self._finding(scan, region, state, is_last=is_last))
        if scan.regions_left_out:
            text = f"{scan.regions_left_out} more places that hold no message"
            self.findings.add(
                Finding(kind=FindingKind.UNREADABLE, text=text, count=scan.regions_left_out)
            )

    def _finding(
        self, scan: LogScan, region: Region, state: State | None, *, is_last: bool
    ) -> Finding:
        kinds = {
            RegionKind.GAP: FindingKind.GAP,
            RegionKind.HOLE: FindingKind.HOLE,
            RegionKind.DAMAGE: FindingKind.UNREADABLE,
        }
        kind, text, is_damage = kinds[region.kind], region.reason, True
        if self.unread.covers(region.start, region.end):
            kind = FindingKind.FILE
        elif region.kind is RegionKind.GAP:
            text = f"{region.size} bytes of the log are missing: no file has them"
        elif state is State.GHOST:
            kind, is_damage = FindingKind.GHOST, False
            text = f"old messages follow the end of the log; {region.reason}"
        elif not region.size and region.kind is RegionKind.DAMAGE:
            kind, is_damage = FindingKind.LOG_FILE, not self.is_moving
        elif is_last and region.kind is RegionKind.DAMAGE:
            kind = FindingKind.TORN
            text = f"the last message is incomplete; {region.reason}"
            if self.is_moving:
                text, is_damage = f"a broker writes here; {region.reason}", False
            elif not _is_own(scan, region):
                kind, is_damage = FindingKind.GHOST, False
                text = "the rest of old messages follows the end of the log"
        return Finding(
            kind=kind,
            text=text,
            is_damage=is_damage,
            file=region.file,
            position=region.position,
            size=region.size,
            physical_offset=region.start,
        )


def _last_data(regions: Sequence[Region]) -> int:
    """Number of the last region that is damage, if only ends follow it, or an empty file."""
    for number in range(len(regions) - 1, -1, -1):
        if regions[number].kind is not RegionKind.END and regions[number].size:
            return number
    return 0


def has_torn_end(scan: LogScan) -> bool:
    """Whether the last message of a log that was read is incomplete, or its last file is empty."""
    return any(
        region.kind is RegionKind.DAMAGE
        and region.start >= scan.end
        and (not region.size or _is_own(scan, region))
        for region in scan.regions
    )


def _is_own(scan: LogScan, region: Region) -> bool:
    """Whether the bytes at the end of a log are a message that belongs there."""
    file = file_at(scan.files, region.start)
    if file is None:
        return False
    try:
        head = read_bytes(file, region.start - file.offset, _HEAD)
    except OSError:
        return True
    magic = int.from_bytes(head[4:8], "big")
    offset = int.from_bytes(head[28:36], "big", signed=True)
    return offset == region.start or magic in (MAGIC_V1, MAGIC_V2)
