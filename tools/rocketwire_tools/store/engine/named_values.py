"""Values of a few names among the properties of many messages, without cutting all properties.

The properties of a block are copied in windows of one width and searched for the byte that ends an
item.  The eight bytes after each such byte show whether the item has a wanted name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from rocketwire_tools.store.engine.columns import records, size_classes
from rocketwire_tools.store.engine.hashes import part_hashes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from rocketwire_tools.store.engine.columns import Bytes, Int64s, Messages

    Words = npt.NDArray[np.uint64]

_ITEM_END: Final = 2
_WORD: Final = 8
_SPACE: Final = 0x20


class Values(NamedTuple):
    """Values of one name, in their order in the block."""

    rows: Int64s  # the row of each; rows without the name are missing
    starts: Int64s  # first byte of each in ``NamedValues.data``
    ends: Int64s  # the byte after its last one


class NamedValues:
    """Values of ASCII names; of two in a row the last one that is not empty counts."""

    def __init__(self, messages: Messages, names: Sequence[str]) -> None:
        self.row_count = len(messages)
        starts, sizes = messages.properties, messages.property_sizes
        classes = list(size_classes(sizes))
        total = sum(len(rows) * (width + 1) for rows, width in classes)
        # copies of the properties; ``Values`` have positions in it
        self.data: Bytes = np.zeros(total + 2 * _WORD, np.uint8)
        # the eight bytes from each position on as one number
        words_at = np.ndarray((len(self.data) - _WORD + 1,), np.uint64, self.data.data, 0, (1,))
        values_of: dict[str, list[Values]] = {name: [] for name in names}
        base = 0
        for rows, longest in classes:
            width = longest + 1
            begins = self._copy(messages.data, starts[rows], sizes[rows], base, width)
            ends = begins + sizes[rows]
            end = base + len(rows) * width
            marks = base + np.flatnonzero(self.data[base : end + 1] == _ITEM_END)
            words = words_at[marks + 1]
            for name in names:
                values = self._search(name, marks, words, (base, width), (begins, ends))
                values_of[name].append(values._replace(rows=rows[values.rows]))
            base = end
        self._values = {name: _join(parts) for name, parts in values_of.items()}

    def _copy(self, data: Bytes, starts: Int64s, sizes: Int64s, base: int, width: int) -> Int64s:
        """Copy texts into windows, each between two ends of items; returns where they begin."""
        windows = np.minimum(starts - 1, len(data) - width)
        region = self.data[base : base + len(starts) * width]
        region.view(f"V{width}")[:] = records(data, windows, np.dtype(f"V{width}"))
        begins: Int64s = base + width * np.arange(len(starts)) + (starts - windows)
        self.data[begins - 1] = _ITEM_END
        self.data[begins + sizes] = _ITEM_END
        return begins

    def _search(
        self,
        name: str,
        marks: Int64s,
        words: Words,
        region: tuple[int, int],
        texts: tuple[Int64s, Int64s],
    ) -> Values:
        pattern = name.encode() + b"\1"
        mask = np.frombuffer((b"\xff" * len(pattern))[:_WORD].ljust(_WORD, b"\0"), np.uint64)[0]
        key = np.frombuffer(pattern[:_WORD].ljust(_WORD, b"\0"), np.uint64)[0]
        items = np.flatnonzero(words == key if len(pattern) >= _WORD else words & mask == key)
        for index in range(_WORD, len(pattern)):
            after = np.minimum(marks[items] + 1 + index, len(self.data) - 1)
            items = items[self.data[after] == pattern[index]]
        items = items[items + 1 < len(marks)]
        names = marks[items] + 1
        (base, width), (begins, ends) = region, texts
        rows = np.minimum((names - base) // width, len(begins) - 1)
        starts, stops = names + len(pattern), marks[items + 1]
        # a window also has bytes before and after its text
        is_value = (names >= begins[rows]) & (starts < stops) & (stops <= ends[rows])
        if not is_value.all():
            rows, starts, stops = rows[is_value], starts[is_value], stops[is_value]
        is_last = np.append(rows[1:] != rows[:-1], np.ones(min(1, len(rows)), np.bool_))
        if not is_last.all():
            rows, starts, stops = rows[is_last], starts[is_last], stops[is_last]
        return Values(rows, starts, stops)

    def of(self, name: str) -> Values:
        return self._values[name]

    def words_of(self, name: str) -> Values:
        """The parts of the values of a name between spaces, without empty ones."""
        rows, starts, ends = self._values[name]
        spaces = np.flatnonzero(self.data == _SPACE)
        if not len(spaces) or not len(rows):
            return Values(rows, starts, ends)
        text = np.searchsorted(starts, spaces, "right") - 1
        spaces = spaces[(text >= 0) & (spaces < ends[np.maximum(text, 0)])]
        if not len(spaces):
            return Values(rows, starts, ends)
        part_starts = np.sort(np.concatenate([starts, spaces + 1]))
        part_ends = np.sort(np.concatenate([ends, spaces]))
        is_filled = part_starts < part_ends
        part_starts, part_ends = part_starts[is_filled], part_ends[is_filled]
        return Values(
            rows[np.searchsorted(starts, part_starts, "right") - 1], part_starts, part_ends
        )

    def hashes(self, values: Values, begins: Int64s | None = None) -> Int64s:
        """``String.hashCode`` of each value, none empty, behind a text with the hash ``begins``."""
        _, starts, ends = values
        return part_hashes(self.data, starts, ends - starts, begins)


def _join(parts: list[Values]) -> Values:
    if not parts:
        nothing = np.zeros(0, np.int64)
        return Values(nothing, nothing, nothing)
    if len(parts) == 1:
        return parts[0]
    return Values(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
