"""Properties of many messages at once, without a dict for each.

The properties of a block are joined; names and values are positions in the joined bytes, and arrays
of Arrow share these.
"""

from __future__ import annotations

import importlib
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from rocketwire.wire.java_utf8 import decode_utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.store.engine.columns import Bools, Bytes, Int64s, Messages


pa: Any = importlib.import_module("pyarrow")  # it has no types
pc: Any = importlib.import_module("pyarrow.compute")
TEXT: Final = pa.string()
BINARY: Final = pa.binary()


def gather(data: Bytes, starts: Int64s, sizes: Int64s, is_null: Bools | None = None) -> Any:
    """Parts of less than 2 GiB as an array of Arrow; those of ``is_null`` become null."""
    count = len(starts)
    edges = np.empty(2 * count + 1, np.int32)
    edges[0:-1:2] = starts
    edges[1::2] = starts + sizes
    edges[-1] = len(data)
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(data)]
    parts = pa.Array.from_buffers(BINARY, 2 * count, buffers)
    return parts.take(pa.array(np.arange(0, 2 * count, 2), mask=is_null))


MAP: Final = pa.map_(TEXT, TEXT)
_NAME_END: Final = 1
_VALUE_END: Final = 2
_FEW_NAMES: Final = 16
"""Names for each item at which looking for equal ones is done with an array of all pairs."""


_FACTOR: Final = np.uint32(31)
_FIRST_WIDE: Final = 0x80


def string_hashes(texts: Any, begins: Int64s | None = None) -> Int64s:
    """``String.hashCode`` of each text of an array without nulls.

    It is a sum of UTF-16 code units, each with a power of 31: sums of texts are differences of one
    running sum.

    ``begins`` are hash codes of texts that stand before them.
    """
    if not len(texts):
        return np.zeros(0, np.int64)
    _, edges, data = texts.buffers()
    offsets = np.frombuffer(edges, np.int32, len(texts) + 1, 4 * texts.offset)
    units = np.frombuffer(data or b"", np.uint8)[offsets[0] : offsets[-1]]
    lengths = np.diff(offsets)
    if units.max(initial=0) >= _FIRST_WIDE:
        parts = [text.encode("utf-16-le", "surrogatepass") for text in texts.to_pylist()]
        units = np.frombuffer(b"".join(parts), "<u2")
        lengths = np.fromiter(map(len, parts), np.int32, len(parts)) >> 1
    ends = np.cumsum(lengths, dtype=np.int32)
    powers = np.power(_FACTOR, np.arange(int(lengths.max()) + 1, dtype=np.uint32))
    exponents = np.repeat(ends, lengths) - np.arange(1, len(units) + 1, dtype=np.int32)
    sums = np.zeros(len(units) + 1, np.uint32)
    np.cumsum(units * powers[exponents], dtype=np.uint32, out=sums[1:])
    hashes = sums[ends] - sums[ends - lengths]
    if begins is not None:
        hashes += begins.astype(np.uint32) * powers[lengths]
    numbers: Int64s = hashes.view(np.int32).astype(np.int64)
    return numbers


class PropertyItems:
    """Names and values of the properties of rows, in the order of the rows.

    Items without a name or a value are left out, as Java does.
    """

    def __init__(self, data: bytes, lengths: Int64s) -> None:
        """Read texts of some lengths, each with ``0x02`` after it."""
        try:
            if not data.isascii():
                data.decode()
        except UnicodeDecodeError:  # Java puts U+FFFD in the place of bytes that are no text
            texts = [decode_utf8(text).encode("utf-8", "replace") for text in _split(data, lengths)]
            data, lengths = _join(texts)
        self.data = data  # all of them, joined; valid UTF-8
        self.row_count = len(lengths)
        self._lengths = lengths
        row_ends = np.cumsum(lengths + 1) - 1
        numbers = self._bytes
        marks, ends = np.flatnonzero(numbers == _NAME_END), np.flatnonzero(numbers == _VALUE_END)
        starts = np.append(0, ends[:-1] + 1)[: len(ends)]
        last_items = np.searchsorted(ends, row_ends)
        rows = np.repeat(np.arange(len(lengths)), np.diff(last_items, prepend=-1))
        # the first end of a name in each item, if there is one
        indexes = np.searchsorted(marks, starts)
        marks = np.append(marks, len(data))[indexes]
        is_whole = (marks > starts) & (marks + 1 < ends)
        if not is_whole.all():
            starts, marks, ends = starts[is_whole], marks[is_whole], ends[is_whole]
            rows = rows[is_whole]
        self.rows: Int64s = rows  # row of each item
        # positions in ``data`` of each item: of name, value, and the byte after the last
        self.names: Int64s = starts
        self.name_ends: Int64s = marks
        self.values: Int64s = marks + 1
        self.value_ends: Int64s = ends

    @classmethod
    def of_texts(cls, texts: Sequence[bytes]) -> Self:
        return cls(*_join(texts))

    @classmethod
    def of_messages(cls, messages: Messages) -> Self:
        data, starts, sizes = messages.data, messages.properties, messages.property_sizes
        last = data[np.minimum(starts + sizes, len(data)) - 1]
        if len(starts) and sizes.all() and (last == _VALUE_END).all():  # as a broker writes them
            joined = gather(data, starts, sizes).buffers()[2].to_pybytes()
            return cls(joined[: int(sizes.sum())], sizes - 1)
        spans = zip(starts.tolist(), (starts + sizes).tolist(), strict=True)
        return cls.of_texts([data[begin:end].tobytes() for begin, end in spans])

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _bytes(self) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        return np.frombuffer(self.data, np.uint8)

    @cached_property
    def _parts(self) -> Any:
        """Four texts for each item: name, what is between, value, and what is before the next."""
        edges = np.zeros(4 * len(self) + 1, np.int32)
        edges[0:-1:4] = self.names
        edges[1::4] = self.name_ends
        edges[2::4] = self.values
        edges[3::4] = self.value_ends
        edges[-1] = edges[-2] if len(self) else 0
        buffers = [None, pa.py_buffer(edges), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(TEXT, 4 * len(self), buffers)

    @cached_property
    def _names(self) -> Any:
        return self._parts.take(pa.array(np.arange(0, 4 * len(self), 4)))

    @cached_property
    def _name_numbers(self) -> tuple[Int64s, list[str]]:
        encoded = self._names.dictionary_encode()
        return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()

    def array(self, name: str) -> Any:
        numbers, names = self._name_numbers
        if name not in names:
            return pa.nulls(self.row_count, TEXT)
        items = np.flatnonzero(numbers == names.index(name))
        item_of_row = np.full(self.row_count, -1, np.int64)
        item_of_row[self.rows[items]] = items  # of several the last one stays
        is_missing = item_of_row < 0
        mask = is_missing if is_missing.any() else None
        return self._parts.take(pa.array(4 * item_of_row + 2, mask=mask))

    @cached_property
    def has_name_twice(self) -> bool:
        numbers, names = self._name_numbers
        pairs = self.rows * len(names) + numbers
        if self.row_count * len(names) > _FEW_NAMES * len(self):
            return len(np.unique(pairs)) < len(pairs)
        return bool(len(pairs)) and int(np.bincount(pairs).max()) > 1

    def maps(self) -> Any:
        if self.has_name_twice:
            return pa.array([list(properties.items()) for properties in self.dicts()], MAP)
        counts = np.bincount(self.rows, minlength=self.row_count)
        offsets = pa.array(np.append(0, np.cumsum(counts)).astype(np.int32))
        values = self._parts.take(pa.array(np.arange(2, 4 * len(self), 4)))
        return pa.MapArray.from_arrays(offsets, self._names, values)

    def dicts(self) -> list[dict[str, str]]:
        names = self._slices(self.names, self.name_ends)
        values = self._slices(self.values, self.value_ends)
        ends = np.cumsum(np.bincount(self.rows, minlength=self.row_count)).tolist()
        begins = [0, *ends][:-1]
        return [
            dict(zip(names[begin:end], values[begin:end], strict=True))
            for begin, end in zip(begins, ends, strict=True)
        ]

    def _slices(self, begins: Int64s, ends: Int64s) -> list[str]:
        spans = zip(begins.tolist(), ends.tolist(), strict=True)
        data = self.data
        if data.isascii():
            text = data.decode("ascii")
            return [text[begin:end] for begin, end in spans]
        return [data[begin:end].decode() for begin, end in spans]


def _join(texts: Sequence[bytes]) -> tuple[bytes, Int64s]:
    return b"\2".join((*texts, b"")), np.fromiter(map(len, texts), np.int64, len(texts))


def _split(data: bytes, lengths: Int64s) -> list[bytes]:
    ends = np.cumsum(lengths + 1) - 1
    spans = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
    return [data[begin:end] for begin, end in spans]
