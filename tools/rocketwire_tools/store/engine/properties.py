"""Properties of many messages at once, without a dict for each.

The properties of a block are joined, and their names and values are places in the joined bytes.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from rocketwire.wire.java_utf8 import decode_utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.store.engine.columns import Bools, Int64s

_NAME_END: Final = 1
_VALUE_END: Final = 2
_ROW_END: Final = 3
_FIRST_PLAIN: Final = 0x20
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)


class PropertyItems:
    """Names and values of the properties of rows, in the order of the rows.

    Items without a name or a value are left out, as Java does.

    Args:
        texts: properties of each row, as stored.

    Attributes:
        data: all of them, joined; valid UTF-8.
        row_count: number of rows.
        rows: row of each item.
        names: first byte of each item's name in ``data``.
        name_ends: the byte after its last one.
        values: first byte of each item's value.
        value_ends: the byte after its last one.
    """

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._read(b"\2".join((*texts, b"")), np.fromiter(map(len, texts), np.int64, len(texts)))

    @classmethod
    def from_joined(cls, data: bytes, lengths: Int64s) -> Self:
        """The same of texts that are joined already.

        Args:
            data: the texts, each with ``0x02`` after it.
            lengths: bytes of each text.
        """
        items = cls.__new__(cls)
        items._read(data, lengths)
        return items

    def _read(self, data: bytes, lengths: Int64s) -> None:
        self.row_count = len(lengths)
        self._lengths = lengths
        try:
            if not data.isascii():
                data.decode()
        except UnicodeDecodeError:  # Java puts U+FFFD in the place of bytes that are no text
            texts = [decode_utf8(text).encode("utf-8", "replace") for text in _split(data, lengths)]
            data = b"\2".join((*texts, b""))
            self._lengths = lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self.data = data
        row_ends = np.cumsum(lengths + 1) - 1
        numbers = np.frombuffer(data, np.uint8)
        is_end = numbers - np.uint8(_NAME_END) <= _VALUE_END - _NAME_END  # 0 becomes 255
        both = np.flatnonzero(is_end)
        marks, ends = both[0::2], both[1::2]
        are_items = (
            len(marks) == len(ends)
            and bool((numbers[marks] == _NAME_END).all())
            and bool((numbers[ends] == _VALUE_END).all())
        )
        if not are_items:
            marks, ends = both[numbers[both] == _NAME_END], both[numbers[both] == _VALUE_END]
        starts = np.empty_like(ends)
        if len(ends):
            starts[0] = 0
            starts[1:] = ends[:-1] + 1
        last_items = np.searchsorted(ends, row_ends)
        rows = np.repeat(np.arange(len(lengths)), np.diff(last_items, prepend=-1))
        if not are_items:
            filled = ends > starts
            starts, ends, rows = starts[filled], ends[filled], rows[filled]
            marks, is_item = _first_marks(marks, starts, ends)
            starts, ends, rows = starts[is_item], ends[is_item], rows[is_item]
        is_whole = (marks > starts) & (marks + 1 < ends)
        if not is_whole.all():
            starts, marks, ends, rows = (
                starts[is_whole],
                marks[is_whole],
                ends[is_whole],
                rows[is_whole],
            )
        self.rows: Int64s = rows
        self.names: Int64s = starts
        self.name_ends: Int64s = marks
        self.values: Int64s = marks + 1
        self.value_ends: Int64s = ends

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def needs_no_escape(self) -> bool:
        """Whether names and values stand in JSON as they are, and all bytes are of items."""
        numbers = self._bytes
        controls = np.count_nonzero(numbers < _FIRST_PLAIN)
        ends = np.cumsum(self._lengths + 1) - 1  # of rows; an item ends there, or before it
        empty = np.count_nonzero((self._lengths == 0) | (numbers[ends - 1] == _VALUE_END))
        return (
            controls == 2 * len(self) + empty
            and not (numbers == ord('"')).any()
            and not (numbers == ord("\\")).any()
        )

    def json_members(self) -> tuple[bytes, Int64s] | None:
        """The members of a JSON object for each row, without braces: all of them, and their ends.

        The caller looks for names that a row has twice.

        Returns:
            None if a character needs an escape, or a row has no properties.
        """
        counts = np.bincount(self.rows, minlength=self.row_count)
        if not self.needs_no_escape or not counts.all():
            return None
        ends = np.cumsum(self._lengths + 1)
        if (self._bytes[ends - 2] == _VALUE_END).any():
            return None
        text = np.frombuffer(self.data, np.uint8).copy()
        text[ends - 1] = _ROW_END
        members = text.tobytes().replace(b"\1", b'":"').replace(b"\2", b'","')
        members = members.replace(b"\3", b"")
        return members, np.cumsum(self._lengths + 2 * counts + 2 * (counts - 1))

    @cached_property
    def _bytes(self) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        return np.frombuffer(self.data, np.uint8)

    @cached_property
    def _name_sizes(self) -> Int64s:
        return self.name_ends - self.names

    def items_named(self, name: str) -> Int64s:
        """The item of a name of each row, -1 without one; of two with one name the last counts."""
        text = np.frombuffer(name.encode(), np.uint8)
        items = np.flatnonzero(self._name_sizes == len(text))
        if len(items):
            places = self.names[items][:, None] + np.arange(len(text))
            items = items[(self._bytes[places] == text).all(1)]
        result = np.full(self.row_count, -1, np.int64)
        result[self.rows[items]] = items  # of several the last one stays
        return result

    def raw_values(self, name: str) -> list[bytes | None]:
        """The value of a name of each row, as UTF-8; None without one."""
        items = self.items_named(name)
        data = self.data
        if not len(self):
            return [None] * self.row_count
        begins: list[int] = self.values[items].tolist()
        ends: list[int] = self.value_ends[items].tolist()
        if (items >= 0).all():
            return [data[a:b] for a, b in zip(begins, ends, strict=True)]
        return [
            data[a:b] if item >= 0 else None
            for item, a, b in zip(items.tolist(), begins, ends, strict=True)
        ]

    def texts(self, name: str) -> list[str | None]:
        """The value of a name of each row as text; None without one."""
        return [None if value is None else value.decode() for value in self.raw_values(name)]

    def json_objects(self) -> list[bytes] | None:
        """The properties of each row as a JSON object.

        Returns:
            None if that takes more than putting quotation marks: a character needs an escape, or a
            row has a name twice.
        """
        if not self.needs_no_escape or self.has_name_twice:
            return None
        texts = _split(self.data, self._lengths)
        text = b"\n".join((*texts, b""))
        text = text.replace(b"\2\n", b"\n").replace(b"\1", b'":"').replace(b"\2", b'","')
        return [b'{"%b"}' % part if part else b"{}" for part in text.split(b"\n")[:-1]]

    @cached_property
    def has_name_twice(self) -> bool:
        """Whether a row may have a name twice; names count as equal by length, start and end."""
        if not len(self):
            return False
        data = np.frombuffer(bytes(8) + self.data + bytes(8), np.uint8)
        words = np.ndarray((len(data) - 7,), np.uint64, buffer=data.data, strides=(1,))
        lengths = self.name_ends - self.names
        short = np.clip(8 * (8 - lengths), 0, 56).astype(np.uint64)
        starts = words[self.names + 8] << short
        ends = words[self.name_ends] >> short
        hashes = starts * _FACTOR ^ ends ^ lengths.astype(np.uint64) << np.uint64(56)
        counts = np.bincount(self.rows)
        for distance in range(1, int(counts.max())):
            is_same = hashes[distance:] == hashes[:-distance]
            if (is_same & (self.rows[distance:] == self.rows[:-distance])).any():
                return True
        return False

    def dicts(self) -> list[dict[str, str]]:
        """The properties of each row by name; of two with one name the last counts."""
        names = self._slices(self.names, self.name_ends)
        values = self._slices(self.values, self.value_ends)
        ends = np.cumsum(np.bincount(self.rows, minlength=self.row_count)).tolist()
        begins = [0, *ends][:-1]
        return [
            dict(zip(names[begin:end], values[begin:end], strict=True))
            for begin, end in zip(begins, ends, strict=True)
        ]

    def _slices(self, begins: Int64s, ends: Int64s) -> list[str]:
        places = zip(begins.tolist(), ends.tolist(), strict=True)
        data = self.data
        if data.isascii():
            text = data.decode("ascii")
            return [text[begin:end] for begin, end in places]
        return [data[begin:end].decode() for begin, end in places]


def _split(data: bytes, lengths: Int64s) -> list[bytes]:
    """The texts of ``PropertyItems.from_joined``."""
    ends = np.cumsum(lengths + 1) - 1
    places = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
    return [data[begin:end] for begin, end in places]


def _first_marks(marks: Int64s, starts: Int64s, ends: Int64s) -> tuple[Int64s, Bools]:
    """The first end of a name in each item, of those that have one, and which these are."""
    if not len(marks):
        return marks, np.zeros(len(starts), np.bool_)
    places = np.searchsorted(marks, starts)
    first = marks[np.minimum(places, len(marks) - 1)]
    is_item = (places < len(marks)) & (first < ends)
    return first[is_item], is_item
