"""``stat``: messages and bytes by topic, queue, tag, hour, kind, file, producer group or size."""

from __future__ import annotations

import shutil
import sys
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire.messages import message_const
from rocketwire_tools.store import plotting, retention
from rocketwire_tools.store.engine.rows import TopicNames
from rocketwire_tools.store.engine.scan import LogScan
from rocketwire_tools.store.jobs import results
from rocketwire_tools.store.opened import are_whole, open_stores, scans_of
from rocketwire_tools.store.output import flat, json_line, time_text, write_table
from rocketwire_tools.store.queued.scans import scans_of_topics
from rocketwire_tools.store.reasons import Reason, write_reasons
from rocketwire_tools.store.selecting import selected_rows, selection_of
from rocketwire_tools.store.totals import Totals, add_rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.engine.columns import Int64s
    from rocketwire_tools.store.engine.rows import Rows
    from rocketwire_tools.store.opened import OpenedStore
    from rocketwire_tools.store.totals import Group

_HOUR: Final = 3_600_000
_GROUPS_AT_ONCE: Final = 10_000


def run(arguments: argparse.Namespace) -> int:
    """Count messages and bytes."""
    stores, totals = open_stores(arguments.paths), Totals()
    if arguments.why:
        arguments.jobs = 1  # other processes do not say which bytes they have not counted
    if arguments.plot is not None:
        plotting.require(arguments.plot)
    if arguments.expiring:
        deletion = next_deletion(stores[0], arguments)
        scans = _scans_before(stores, deletion)
        _write_deletion(deletion, is_json=arguments.json)
    elif arguments.queues:
        scans = scans_of_topics(stores, arguments)
    else:
        scans = scans_of(stores, is_compacted=arguments.compacted)
    for groups in results(arguments, scans, count):
        totals.merge(groups)
    damage = sum(region.size for scan in scans for region in scan.regions if region.is_damage)
    is_damaged = any(scan.is_damaged for scan in scans)
    _write(arguments, totals)
    if arguments.why:
        write_reasons(_reasons(arguments, scans), is_json=arguments.json)
    if arguments.plot is not None:
        groups = totals.ordered(by_name=False)
        sizes = ((" ".join(map(str, group.name)), group.size) for group in groups)
        plotting.draw(arguments.plot, arguments.by, sizes)
    if is_damaged:
        print(f"{damage} bytes are damaged or missing; rocketwire-store check", file=sys.stderr)
    return 0 if are_whole(stores) and not is_damaged else 1


_RULES: Final = {
    "messages": "records that stand at their physical offset and whose sizes add up",
    "bytes": "the sum of their total sizes, the first four bytes of each",
    "first stored": "the smallest store timestamp, at byte 56, or 68 behind an IPv6 address",
    "last stored": "the largest of these",
}


def _reasons(arguments: argparse.Namespace, scans: Sequence[LogScan]) -> Iterator[Reason]:
    """The files that were counted, what was not counted there, and the rules."""
    for name, rule in _RULES.items():
        yield Reason(why=name, rule=rule)
    rule = f"messages are grouped by {arguments.by}"
    left_out = ["system topics"] * (not arguments.system) + ["ghosts"] * (not arguments.ghosts)
    if left_out:
        rule += f"; {' and '.join(left_out)} are left out"
    yield Reason(why="by", value=arguments.by, rule=rule)
    for scan in scans:
        for file in scan.files:
            yield Reason(why="file", value=file.size, file=file.name, byte=0, rule="read whole")
        for region in scan.regions:
            reason = f"no message: {region.kind}"
            if region.reason:
                reason += f"; {region.reason}"
            yield Reason(
                why="not counted",
                value=region.size,
                file=region.file,
                byte=region.position,
                rule=reason,
            )


class Deletion(NamedTuple):
    """What a broker deletes next.

    Attributes:
        time: seconds since 1970.
        reason: which rule applies.
        files: of the log.
        next_expiry: when the oldest file that stays expires, seconds since 1970; None without one.
    """

    time: float
    reason: str
    files: list[StoreFile]
    next_expiry: float | None


def next_deletion(store: OpenedStore, arguments: argparse.Namespace) -> Deletion:
    """The next deletion of a broker on a store, by its settings among the arguments."""
    files, now = store.folder.commit_log, time.time()
    used, total = _disk(store, arguments.disk_used)
    if used > retention.FORCED_RATIO * total:
        at = now
        forced = retention.forced_files(files, used, total)
        taken = max(forced, retention.expired_files(files, at, arguments.reserved), key=len)
        reason = f"the disk is fuller than {retention.FORCED_RATIO:.0%}: the age does not count"
    else:
        is_full = used > retention.FULL_RATIO * total
        at = now if is_full else _next_hour(now, arguments.delete_when)
        taken = retention.expired_files(files, at, arguments.reserved)
        reason = f"files are kept for {arguments.reserved:g} hours"
        if is_full:
            reason += (
                f"; the disk is fuller than {retention.FULL_RATIO:.0%}: the hour does not count"
            )
    rest = files[len(taken) : -1]
    expiry = retention.expires(rest[0], arguments.reserved) if rest else None
    return Deletion(at, reason, taken, expiry)


def _disk(store: OpenedStore, percent: float | None) -> tuple[int, int]:
    """Bytes in use, and bytes, of the broker's disk; of that of the store without a percentage."""
    usage = shutil.disk_usage(store.folder.roots[0])
    total = usage.used + usage.free  # as in Java; what is set aside for root does not count
    if percent is not None:
        return int(total * percent / 100), total
    return (0 if store.is_packed else usage.used), total


def _next_hour(now: float, hours: Sequence[int]) -> float:
    """The next time at which a clock shows one of some hours; now if it shows one."""
    clock = datetime.fromtimestamp(now)
    if clock.hour in hours:
        return now
    start = clock.replace(minute=0, second=0, microsecond=0)
    later = (start + timedelta(hours=step) for step in range(1, 25))
    return next(each for each in later if each.hour in hours).timestamp()


def _scans_before(stores: Sequence[OpenedStore], deletion: Deletion) -> list[LogScan]:
    if len(stores) > 1 or stores[0].is_dledger:
        raise ValueError("--expiring takes one store, with a commit log of plain files")
    files = deletion.files
    return [LogScan(files=files)] if files else []


def _write_deletion(deletion: Deletion, *, is_json: bool) -> None:
    size = sum(file.size for file in deletion.files)
    values = {
        "deletion": time_text(int(deletion.time * 1000)),
        "rule": deletion.reason,
        "files": len(deletion.files),
        "file_bytes": size,
        "next_file_expires": time_text(int((deletion.next_expiry or 0) * 1000)),
    }
    if is_json:
        sys.stdout.buffer.write(json_line(values))
    else:
        write_table(("", ""), flat(values))
        print()


def count(
    arguments: argparse.Namespace, scan: LogScan
) -> Iterator[dict[tuple[Any, ...], list[int]]]:
    """The groups of a log, in pieces: one group can be in several of them."""
    is_folded = arguments.by not in ("tag", "group", "size")
    selection, topics = selection_of(arguments), TopicNames()
    groups: dict[tuple[Any, ...], list[int]] = {}
    for rows in selected_rows(scan, selection, topics, is_folded=is_folded):
        numbers, names = _groups(arguments.by, rows)
        add_rows(groups, numbers, names, rows)
        if len(groups) > _GROUPS_AT_ONCE:
            yield groups
            groups = {}
    yield groups


def _groups(by: str, rows: Rows) -> tuple[Int64s, Callable[[int], Any]]:
    """The group of each row as a number, and the name of each number."""
    topics = rows.topics
    if by == "topic":
        return rows.topic_numbers, lambda number: (topics.names[number],)
    if by == "kind":
        return rows.topic_numbers, lambda number: (str(topics.kinds[number]),)
    if by == "hour":
        return rows.column("store_timestamp") // _HOUR, lambda number: (time_text(number * _HOUR),)
    if by == "file":
        name = rows.block.file.name
        return np.zeros(len(rows), np.int64), lambda _: (name,)
    if by == "queue":
        queues = rows.column("queue_id")
        numbers = rows.topic_numbers << 32 | queues & 0xFFFFFFFF
        return numbers, lambda number: (topics.names[number >> 32], _queue_id(number))
    if by == "size":
        sizes = rows.body_lengths
        classes = np.where(sizes > 0, np.frexp(np.maximum(sizes, 1) - 0.5)[1], -1)
        return classes.astype(np.int64), lambda number: (_size_class(number),)
    tags: dict[str | None, int] = {}
    name = message_const.TAGS if by == "tag" else message_const.PRODUCER_GROUP
    values = rows.property_values(name)
    numbers = np.array([tags.setdefault(tag, len(tags)) for tag in values], np.int64)
    names = list(tags)
    if by == "group":
        return numbers, lambda number: (names[number],)
    numbers = rows.topic_numbers << 32 | numbers
    return numbers, lambda number: (topics.names[number >> 32], names[number & 0xFFFFFFFF])


def _queue_id(number: int) -> int:
    """The lowest 32 bits as a number of Java's type int; damaged ones are negative."""
    return ((number & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


def _size_class(number: int) -> int:
    """The largest body of a class: 0, 1, 2, 4, 8, ..."""
    return 0 if number < 0 else 1 << number


_HEADERS: Final = {
    "queue": ("topic", "queue"),
    "tag": ("topic", "tag"),
    "group": ("producer group",),
    "size": ("body up to",),
}


def _write(arguments: argparse.Namespace, totals: Totals) -> None:
    names = _HEADERS.get(arguments.by, (arguments.by,))
    groups = totals.ordered(by_name=arguments.by in ("hour", "size"))
    if arguments.json:
        for group in groups:
            line = dict(zip(names, group.name, strict=True)) | {
                "messages": group.messages,
                "bytes": group.size,
                "first_stored": group.first,
                "last_stored": group.last,
            }
            sys.stdout.buffer.write(json_line(line))
        return
    write_table(
        (*names, "messages", "bytes", "first stored", "last stored"), _Table(groups, len(names))
    )


class _Table:
    """The rows of a table of groups, and their sum."""

    def __init__(self, groups: Iterable[Group], parts_of_name: int) -> None:
        self._groups = groups
        self._parts_of_name = parts_of_name

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        messages = size = 0
        for group in self._groups:
            messages += group.messages
            size += group.size
            times = time_text(group.first), time_text(group.last)
            yield (*group.name, f"{group.messages:,}", f"{group.size:,}", *times)
        empty = [None] * (self._parts_of_name - 1)
        yield ("total", *empty, f"{messages:,}", f"{size:,}", None, None)
