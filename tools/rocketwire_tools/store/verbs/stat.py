"""``stat``: messages and bytes by topic, queue, tag, hour, kind, file, producer group or size."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from rocketwire.messages import message_const
from rocketwire_tools.store.output import json_line, time_text, write_table
from rocketwire_tools.store.selecting import SelectedLogs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from rocketwire_tools.store.engine.columns import Int64s
    from rocketwire_tools.store.engine.rows import Rows

GroupName: TypeAlias = tuple[Any, ...]
Counts: TypeAlias = list[int]  # messages, bytes, first and last store timestamp
_HOUR: Final = 3_600_000
MAX_GROUPS: Final = 250_000  # each takes some 400 bytes of memory, and more for a long name


def run(arguments: argparse.Namespace) -> int:
    logs, counts = SelectedLogs(arguments), dict[GroupName, Counts]()
    for rows in logs.rows(is_folded=arguments.by not in ("tag", "group", "size")):
        _count(counts, *_groups(arguments.by, rows), rows)
        if len(counts) > MAX_GROUPS:
            text = f"more than {MAX_GROUPS:,} groups by {arguments.by}; export the messages instead"
            raise ValueError(text)
    is_by_name = arguments.by in ("hour", "size")
    _write(arguments, _sort(counts, by_name=is_by_name))
    if logs.is_damaged:
        damage = sum(scan.damaged_bytes for scan in logs.scans)
        print(f"{damage} bytes are damaged or missing; rocketwire-store check", file=sys.stderr)
    return 0 if logs.are_whole else 1


def _groups(by: str, rows: Rows) -> tuple[Int64s, Callable[[int], Any]]:
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
        return classes.astype(np.int64), lambda number: (0 if number < 0 else 1 << number,)
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
    return ((number & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


_HEADERS: Final = {
    "queue": ("topic", "queue"),
    "tag": ("topic", "tag"),
    "group": ("producer group",),
    "size": ("body up to",),
}


def _write(arguments: argparse.Namespace, groups: list[Group]) -> None:
    names = _HEADERS.get(arguments.by, (arguments.by,))
    if not arguments.json:
        header = (*names, "messages", "bytes", "first stored", "last stored")
        write_table(header, _table(groups, len(names)))
        return
    for group in groups:
        line = dict(zip(names, group.name, strict=True)) | {
            "messages": group.messages,
            "bytes": group.size,
            "first_stored": group.first,
            "last_stored": group.last,
        }
        sys.stdout.buffer.write(json_line(line))


def _table(groups: Iterable[Group], parts_of_name: int) -> Iterator[tuple[object, ...]]:
    messages = size = 0
    for group in groups:
        messages += group.messages
        size += group.size
        times = time_text(group.first), time_text(group.last)
        yield (*group.name, f"{group.messages:,}", f"{group.size:,}", *times)
    empty = [None] * (parts_of_name - 1)
    yield ("total", *empty, f"{messages:,}", f"{size:,}", None, None)


class Group(NamedTuple):
    name: GroupName  # its parts, such as topic and queue
    messages: int  # of the group
    size: int  # bytes of the messages
    first: int  # smallest store timestamp
    last: int  # largest store timestamp


def _count(
    groups: dict[GroupName, Counts], numbers: Int64s, names: Callable[[int], GroupName], rows: Rows
) -> None:
    sizes, times = rows.column("store_size"), rows.column("store_timestamp")
    distinct, inverse = np.unique(numbers, return_inverse=True)
    counts = np.bincount(inverse)
    bytes_ = np.bincount(inverse, sizes).astype(np.int64)
    first = np.full(len(distinct), np.iinfo(np.int64).max)
    last = np.zeros(len(distinct), np.int64)
    np.minimum.at(first, inverse, times)
    np.maximum.at(last, inverse, times)
    columns = (distinct, counts, bytes_, first, last)
    for number, *added in zip(*(column.tolist() for column in columns), strict=True):
        group = groups.setdefault(names(number), [0, 0, added[2], added[3]])
        group[0] += added[0]
        group[1] += added[1]
        group[2] = min(group[2], added[2])
        group[3] = max(group[3], added[3])


def _sort(groups: dict[GroupName, Counts], *, by_name: bool) -> list[Group]:
    def key(group: Group) -> tuple[Any, ...]:
        name = json.dumps(group.name)
        # of two numbers the one with more digits is the larger one, and times have equally many
        return (group.name == (None,), len(name), name) if by_name else (-group.size, name)

    return sorted((Group(name, *counts) for name, counts in groups.items()), key=key)
