"""The log, read once: checksums, order, and queues and index entries against its messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.store import commit_log
from rocketwire.store.folder import file_at
from rocketwire.wire.layouts.declarations import MAGIC_V1, MAGIC_V2
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.checks.index_check import IndexCheck
from rocketwire_tools.store.checks.queue_check import QueueCheck
from rocketwire_tools.store.engine.blocks import read_bytes
from rocketwire_tools.store.engine.columns import records
from rocketwire_tools.store.engine.queues import group_by_queue
from rocketwire_tools.store.engine.rows import Rows, TopicNames
from rocketwire_tools.store.engine.scan import RegionKind, State
from rocketwire_tools.store.output import with_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.store.checks.view import StoreView
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.queues import QueueGroups
    from rocketwire_tools.store.engine.scan import Block, LogScan, Region

_CRC_NAME: Final = int.from_bytes(commit_log.CRC_PROPERTY[:8], "big")
_HEAD: Final = 88


def compare_with_log(view: StoreView) -> Iterator[Finding]:
    """Read the log once, and compare queues and index entries with each block of messages."""
    order, queues, index = LogOrder(view), QueueCheck(view), IndexCheck(view)
    yield from index.open_files()
    topics = TopicNames()
    for scan in view.store.scans():
        view.scan, scan.unreadable = scan, view.unread.log
        for block in with_progress(scan):
            order.pass_regions(scan, block.state)
            if block.state is State.GHOST:
                view.log.ghosts[0] += len(block.messages)
                view.log.ghosts[1] += int(block.messages.sizes.sum())
                continue
            rows = Rows(block, topics)
            groups = group_by_queue(rows)
            yield from _check_checksums(view, rows)
            yield from order.compare(rows, groups)
            if view.has_queues:
                yield from queues.compare(rows, groups)
            yield from index.compare(rows)
        yield from order.report_regions(scan)
    if view.has_queues:
        yield from queues.finish()
    yield from index.finish()


def _check_checksums(view: StoreView, rows: Rows) -> Iterator[Finding]:
    messages = rows.messages
    crcs, stored = messages.body_crcs & commit_log.CRC_MASK, messages.numbers("body_crc")
    is_empty = messages.body_sizes == 0
    _add_runs(view, rows.block, (crcs == stored) | is_empty)
    is_wrong = ~((crcs == (stored & commit_log.CRC_MASK)) | is_empty)
    if is_wrong.any():
        view.log.damaged_messages += int(is_wrong.sum())
        for row in np.flatnonzero(is_wrong).tolist():
            yield _finding_at(rows, row, FindingKind.BODY_CRC, "the body has another CRC-32")
    ends = messages.positions + messages.sizes - commit_log.CRC_PROPERTY_SIZE
    names = records(messages.data, ends, np.dtype([("name", ">u8")]))["name"]
    for row in np.flatnonzero(names == _CRC_NAME).tolist():
        position, size = int(messages.positions[row]), int(messages.sizes[row])
        both = commit_log.message_crc(rows.data, position, size)
        if both is not None and both[0] != both[1]:
            text = f"__CRC32# is {both[0]}, the message has {both[1]}"
            yield _finding_at(rows, row, FindingKind.MESSAGE_CRC, text)


def _add_runs(view: StoreView, block: Block, is_exact: Bools) -> None:
    """Count messages; a run begins at each position where Java may cut."""
    log, messages, file = view.log, block.messages, block.file.offset
    stored = messages.numbers("store_timestamp")
    log.newest = max(log.newest, int(stored.max()))
    starts = [0]
    if not is_exact.all() and file not in log.broken:
        first = int(np.argmin(is_exact))
        log.broken[file] = block.base + int(messages.positions[first])
        starts = sorted({0, first})
    for start, end in zip(starts, [*starts[1:], len(messages)], strict=True):
        offset = block.base + int(messages.positions[start])
        is_file_start = offset == file
        if is_file_start:
            log.first_stored[file] = int(stored[0])
        size = int(messages.sizes[start:end].sum())
        log.add(offset, end - start, size, is_new_run=start > 0 or is_file_start)


def _finding_at(rows: Rows, row: int, kind: FindingKind, text: str) -> Finding:
    messages, block = rows.messages, rows.block
    offset = block.base + int(messages.positions[row])
    return Finding(
        kind=kind,
        text=text,
        file=block.file.name,
        position=offset - block.file.offset,
        size=int(messages.sizes[row]),
        physical_offset=offset,
        topic=rows.topics.names[int(rows.topic_numbers[row])],
        queue_id=int(messages.heads["queue_id"][row]),
        queue_offset=int(messages.heads["queue_offset"][row]),
    )


class LogOrder:
    def __init__(self, view: StoreView) -> None:
        self._view = view
        self._unread_parts = len(view.unread.log)
        self._states: list[State] = []  # of the messages after each region so far
        self._starts_at_zero = bool(view.folder.commit_log) and view.log_start == 0
        self._next_offsets: dict[int, int] = {}  # by queue, as in ``QueueGroups.keys``

    def pass_regions(self, scan: LogScan, state: State) -> None:
        regions, parts = scan.regions[len(self._states) :], len(self._view.unread.log)
        if parts > self._unread_parts or any(map(self._is_unread, regions)):
            self._next_offsets.clear()
            self._starts_at_zero = False
        self._unread_parts = parts
        self._states += [state] * len(regions)

    def _is_unread(self, region: Region) -> bool:
        unread = self._view.unread
        is_gap = region.kind is RegionKind.GAP
        return (is_gap and unread.has_log_folder) or unread.covers(region.start, region.end)

    def compare(self, rows: Rows, groups: QueueGroups) -> Iterator[Finding]:
        expected = self._expect(groups)
        for index in np.flatnonzero(expected != groups.offsets).tolist():
            offset, expected_offset = int(groups.offsets[index]), int(expected[index])
            count, is_damage = 1, True
            if offset > expected_offset:
                count = offset - expected_offset
                text = f"{count} messages of the queue are missing before this one"
            elif offset == 0:
                text = (
                    f"the queue begins anew at 0 after {expected_offset - 1}; its topic was deleted"
                )
                is_damage = False
            else:
                text = f"the queue had reached {expected_offset} before this message"
            finding = _finding_at(rows, int(groups.rows[index]), FindingKind.QUEUE_OFFSET, text)
            yield replace(finding, size=0, count=count, is_damage=is_damage)

    def _expect(self, groups: QueueGroups) -> Int64s:
        ends = groups.offsets + groups.steps
        firsts = groups.bounds[:-1]
        expected = np.empty_like(ends)
        expected[1:] = ends[:-1]
        for queue, index, offset, end in zip(
            groups.keys,
            firsts.tolist(),
            groups.offsets[firsts].tolist(),
            ends[groups.bounds[1:] - 1].tolist(),
            strict=True,
        ):
            first = 0 if self._starts_at_zero else offset
            expected[index] = self._next_offsets.get(queue, first)
            self._next_offsets[queue] = end
        return expected

    def report_regions(self, scan: LogScan) -> Iterator[Finding]:
        # of the last region that is damage, if only ends follow it, or an empty file
        sizes = [region.size * (region.kind is not RegionKind.END) for region in scan.regions]
        last = max((index for index, size in enumerate(sizes) if size), default=0)
        for index, region in enumerate(scan.regions):
            is_gap = region.kind is RegionKind.GAP
            if not region.is_damage or (is_gap and self._is_unread(region)):
                continue
            state = self._states[index] if index < len(self._states) else None
            yield self._region_finding(scan, region, state, is_last=index >= last and not state)
        if scan.regions_left_out:
            text = f"{scan.regions_left_out} more places that hold no message"
            yield Finding(kind=FindingKind.UNREADABLE, text=text, count=scan.regions_left_out)

    def _region_finding(
        self, scan: LogScan, region: Region, state: State | None, *, is_last: bool
    ) -> Finding:
        kinds = {
            RegionKind.GAP: FindingKind.GAP,
            RegionKind.HOLE: FindingKind.HOLE,
            RegionKind.DAMAGE: FindingKind.UNREADABLE,
        }
        is_moving = self._view.is_in_use
        kind, text, is_damage = kinds[region.kind], region.reason, True
        if self._view.unread.covers(region.start, region.end):
            kind = FindingKind.FILE
        elif region.kind is RegionKind.GAP:
            text = f"{region.size} bytes of the log are missing: no file has them"
        elif state is State.GHOST:
            kind, is_damage = FindingKind.GHOST, False
            text = f"old messages follow the end of the log; {region.reason}"
        elif not region.size and region.kind is RegionKind.DAMAGE:
            kind, is_damage = FindingKind.LOG_FILE, not is_moving
        elif is_last and region.kind is RegionKind.DAMAGE:
            kind = FindingKind.TORN
            text = f"the last message is incomplete; {region.reason}"
            if is_moving:
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


def has_torn_end(scan: LogScan) -> bool:
    return any(
        region.kind is RegionKind.DAMAGE
        and region.start >= scan.end
        and (not region.size or _is_own(scan, region))
        for region in scan.regions
    )


def _is_own(scan: LogScan, region: Region) -> bool:
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
