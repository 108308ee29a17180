"""Messages and bytes by group.

A store can have millions of groups, such as tags: then they lie in a temporary file.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from rocketwire_tools.store.sources.temporary import TemporaryDatabase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocketwire_tools.store.engine.columns import Int64s
    from rocketwire_tools.store.engine.rows import Rows

GroupName: TypeAlias = tuple[Any, ...]
Counts: TypeAlias = list[int]
"""Messages, bytes, first and last store timestamp."""

MOST_IN_MEMORY: Final = 50_000
"""Groups; some 20 MB."""

_TABLE: Final = """
CREATE TABLE groups (
    name TEXT PRIMARY KEY, messages INTEGER, bytes INTEGER, first INTEGER, last INTEGER
) WITHOUT ROWID
"""

_MERGE: Final = """
INSERT INTO groups VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET
    messages = messages + excluded.messages, bytes = bytes + excluded.bytes,
    first = min(first, excluded.first), last = max(last, excluded.last)
"""

_ALL: Final = "SELECT name, messages, bytes, first, last FROM groups"


class Group(NamedTuple):
    """The counts of a group."""

    name: GroupName  # its parts, such as topic and queue
    messages: int  # of the group
    size: int  # bytes of the messages
    first: int  # smallest store timestamp
    last: int  # largest store timestamp


def add_rows(
    groups: dict[GroupName, Counts], numbers: Int64s, names: Callable[[int], GroupName], rows: Rows
) -> None:
    """Count rows in ``groups``; ``numbers`` are the groups of the rows, ``names`` theirs."""
    sizes, times = rows.column("store_size"), rows.column("store_timestamp")
    distinct, places = np.unique(numbers, return_inverse=True)
    counts = np.bincount(places)
    bytes_ = np.bincount(places, sizes).astype(np.int64)
    first = np.full(len(distinct), np.iinfo(np.int64).max)
    last = np.zeros(len(distinct), np.int64)
    np.minimum.at(first, places, times)
    np.maximum.at(last, places, times)
    columns = (distinct.tolist(), counts.tolist(), bytes_.tolist(), first.tolist(), last.tolist())
    for number, *added in zip(*columns, strict=True):
        _merge(groups, names(number), added)


def _merge(groups: dict[GroupName, Counts], name: GroupName, added: Counts) -> None:
    group = groups.get(name)
    if group is None:
        groups[name] = added
        return
    group[0] += added[0]
    group[1] += added[1]
    group[2] = min(group[2], added[2])
    group[3] = max(group[3], added[3])


class Totals:
    """Counts of groups."""

    def __init__(self) -> None:
        self._groups: dict[GroupName, Counts] = {}
        self._database = TemporaryDatabase(_TABLE)

    def merge(self, groups: dict[GroupName, Counts]) -> None:
        for name, counts in groups.items():
            _merge(self._groups, name, counts)
        if len(self._groups) > MOST_IN_MEMORY:
            self._write()

    def _write(self) -> None:
        lines = ((json.dumps(name), *counts) for name, counts in self._groups.items())
        self._database.insert(_MERGE, lines)
        self._groups.clear()

    def sort(self, *, by_name: bool) -> Iterator[Group]:
        """The groups by name, one without a name last, or by bytes."""
        self._write()
        # of two numbers the one with more digits is the larger one, and times have equally many
        order = "name = '[null]', length(name), name" if by_name else "bytes DESC, name"
        for name, *counts in self._database.select(f"{_ALL} ORDER BY {order}"):
            yield Group(tuple(json.loads(name)), *counts)
