"""``stat``: messages and bytes by topic, queue, tag, hour, kind or file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.messages import message_const
from rocketwire_tools.store.engine.rows import TopicNames
from rocketwire_tools.store.jobs import results
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.output import json_line, time_text, write_table
from rocketwire_tools.store.selecting import selected_rows, selection_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from rocketwire_tools.store.engine.columns import Int64s
    from rocketwire_tools.store.engine.rows import Rows
    from rocketwire_tools.store.engine.scan import LogScan

MAX_GROUPS: Final = 1_000_000
"""Groups that are counted; a store with more ends the command."""

_HOUR: Final = 3_600_000


class Totals:
    """Counts of groups.

    Attributes:
        groups: group → messages, bytes, first and last store timestamp.
    """

    def __init__(self) -> None:
        self.groups: dict[Any, list[int]] = {}

    def add(self, numbers: Int64s, names: Callable[[int], Any], rows: Rows) -> None:
        """Count rows.

        Args:
            numbers: the group of each row, as a number.
            names: the group of a number.
            rows: to count.
        """
        sizes, times = rows.column("size"), rows.column("store_timestamp")
        distinct, places = np.unique(numbers, return_inverse=True)
        counts = np.bincount(places)
        bytes_ = np.bincount(places, sizes).astype(np.int64)
        first = np.full(len(distinct), np.iinfo(np.int64).max)
        last = np.zeros(len(distinct), np.int64)
        np.minimum.at(first, places, times)
        np.maximum.at(last, places, times)
        for row, number in enumerate(distinct.tolist()):
            group = self.groups.setdefault(names(number), [0, 0, int(first[row]), 0])
            group[0] += int(counts[row])
            group[1] += int(bytes_[row])
            group[2] = min(group[2], int(first[row]))
            group[3] = max(group[3], int(last[row]))
        self._check_size()

    def merge(self, groups: dict[Any, list[int]]) -> None:
        """Add the counts of other totals."""
        for name, (messages, size, first, last) in groups.items():
            group = self.groups.setdefault(name, [0, 0, first, 0])
            group[0] += messages
            group[1] += size
            group[2] = min(group[2], first)
            group[3] = max(group[3], last)
        self._check_size()

    def _check_size(self) -> None:
        if len(self.groups) > MAX_GROUPS:
            raise OverflowError(f"more than {MAX_GROUPS} groups; choose topics or another --by")


def run(arguments: argparse.Namespace) -> int:
    """Count messages and bytes."""
    store, totals = OpenedStore(arguments.paths), Totals()
    scans = store.compaction_scans() if arguments.compacted else store.scans()
    for groups in results(arguments, scans, count):
        totals.merge(groups)
    damage = sum(region.size for scan in scans for region in scan.regions if region.is_damage)
    _write(arguments, totals)
    if damage:
        print(f"{damage} bytes are damaged or missing; rocketwire-store check", file=sys.stderr)
    return 1 if damage else 0


def count(arguments: argparse.Namespace, scan: LogScan) -> Iterator[dict[Any, list[int]]]:
    """The groups of a log."""
    selection, topics, totals = selection_of(arguments), TopicNames(), Totals()
    for rows in selected_rows(scan, selection, topics, is_folded=arguments.by != "tag"):
        numbers, names = _groups(arguments.by, rows)
        totals.add(numbers, names, rows)
    yield totals.groups


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
        return numbers, lambda number: (topics.names[number >> 32], number & 0xFFFFFFFF)
    tags: dict[str | None, int] = {}
    values = rows.property_values(message_const.TAGS)
    numbers = np.array([tags.setdefault(tag, len(tags)) for tag in values], np.int64)
    names = list(tags)
    numbers = rows.topic_numbers << 32 | numbers
    return numbers, lambda number: (topics.names[number >> 32], names[number & 0xFFFFFFFF])


_HEADERS: Final = {"queue": ("topic", "queue"), "tag": ("topic", "tag")}


def _write(arguments: argparse.Namespace, totals: Totals) -> None:
    names = _HEADERS.get(arguments.by, (arguments.by,))
    groups = sorted(totals.groups.items(), key=lambda item: (-item[1][1], str(item[0])))
    if arguments.by == "hour":
        groups.sort(key=lambda item: str(item[0]))
    for_json = arguments.json
    if for_json:
        for group, (messages, size, first, last) in groups:
            line = dict(zip(names, group, strict=True)) | {
                "messages": messages,
                "bytes": size,
                "first_stored": first,
                "last_stored": last,
            }
            sys.stdout.buffer.write(json_line(line))
        return
    rows = [
        (*group, f"{messages:,}", f"{size:,}", time_text(first), time_text(last))
        for group, (messages, size, first, last) in groups
    ]
    messages = sum(group[0] for group in totals.groups.values())
    size = sum(group[1] for group in totals.groups.values())
    rows.append(("total", *[None] * (len(names) - 1), f"{messages:,}", f"{size:,}", None, None))
    write_table((*names, "messages", "bytes", "first stored", "last stored"), rows)
