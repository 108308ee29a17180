"""Fields of many stored messages at once, as numpy arrays.

The head of a message has one of four layouts, because each of its two hosts takes four bytes or
sixteen.  A block of a commit log mostly has one layout; then its heads are copied in one step.
"""

from __future__ import annotations

from functools import cached_property
from struct import calcsize
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from isal import isal_zlib

from rocketwire.store import layouts
from rocketwire.store.commit_log import BORN_HOST_V6, STORE_HOST_V6
from rocketwire.wire.layouts.declarations import MAGIC_V2

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

Int64s: TypeAlias = "npt.NDArray[np.int64]"
Bools: TypeAlias = "npt.NDArray[np.bool_]"
Bytes: TypeAlias = "npt.NDArray[np.uint8]"

_isal: Any = isal_zlib  # eight times as fast as zlib; it ships no types
_crc32: Final[Callable[[memoryview], int]] = _isal.crc32

_V6: Final = BORN_HOST_V6 | STORE_HOST_V6
_SYS_FLAG: Final = 36
NUMBERS: Final = (
    ("size", ">i4"),
    ("magic", ">u4"),
    ("body_crc", ">i4"),
    ("queue_id", ">i4"),
    ("flag", ">i4"),
    ("queue_offset", ">i8"),
    ("physical_offset", ">i8"),
    ("sys_flag", ">i4"),
    ("born_timestamp", ">i8"),
    ("store_timestamp", ">i8"),
    ("reconsume_times", ">i4"),
    ("prepared_transaction_offset", ">i8"),
    ("body_size", ">i4"),
)
"""Numbers of a head in their order, as numpy's types."""


def _layout(born_size: int, store_size: int) -> np.dtype[np.void]:
    offsets: list[int] = []
    position = 0
    for name, code in NUMBERS:
        offsets.append(position)
        position += int(code[-1])
        if name == "born_timestamp":
            position += born_size + 4
        elif name == "store_timestamp":
            position += store_size + 4
    return np.dtype(
        {
            "names": [name for name, _ in NUMBERS],
            "formats": [code for _, code in NUMBERS],
            "offsets": offsets,
            "itemsize": position,
        }
    )


LAYOUTS: Final = {
    0: _layout(4, 4),
    BORN_HOST_V6: _layout(16, 4),
    STORE_HOST_V6: _layout(4, 16),
    _V6: _layout(16, 16),
}
"""Bits of the system flag → layout of the head."""


def record_type(declaration: Any) -> np.dtype[np.void]:
    """numpy's type of a record of fixed size that ``rocketwire.store.layouts`` declares."""
    return np.dtype(
        [(name, f">i{calcsize(code)}") for name, code in layouts.fields_of(declaration)]
    )


def records(data: Bytes, positions: Int64s, layout: np.dtype[Any]) -> npt.NDArray[np.void]:
    if not len(positions):
        return np.empty(0, layout)
    windows = np.ndarray(
        (len(data) - layout.itemsize + 1,), f"V{layout.itemsize}", buffer=data.data, strides=(1,)
    )
    return windows[positions].view(layout)


def distinct(values: Int64s) -> tuple[Int64s, Int64s]:
    if len(values) and (values == values[0]).all():
        return values[:1], np.zeros(len(values), np.int64)
    unique, numbers = np.unique(values, return_inverse=True)
    return unique, numbers


class Messages:
    def __init__(self, data: Bytes, positions: Int64s) -> None:
        self.data = data  # bytes of the block
        # first byte of each message in ``data``; each has its whole size there
        self.positions = positions
        self._numbers: dict[str, Int64s] = {}

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def layout_bits(self) -> Int64s:
        return (self.data[self.positions + _SYS_FLAG + 3] & _V6).astype(np.int64)

    @cached_property
    def heads(self) -> npt.NDArray[np.void]:
        bits = self.layout_bits
        layouts = np.unique(bits)
        if len(layouts) == 1:
            return records(self.data, self.positions, LAYOUTS[int(layouts[0])])
        heads = np.empty(len(self), list(NUMBERS))
        for layout in layouts.tolist():
            rows = bits == layout
            part = records(self.data, self.positions[rows], LAYOUTS[layout])
            for name, _ in NUMBERS:
                heads[name][rows] = part[name]
        return heads

    def numbers(self, name: str) -> Int64s:
        numbers = self._numbers.get(name)
        if numbers is None:
            numbers = self._numbers[name] = self.heads[name].astype(np.int64)
            numbers.flags.writeable = False
        return numbers

    @cached_property
    def sizes(self) -> Int64s:
        return self.numbers("size")

    @cached_property
    def bodies(self) -> Int64s:
        extra = ((self.layout_bits & BORN_HOST_V6) != 0).astype(np.int64)
        extra += (self.layout_bits & STORE_HOST_V6) != 0
        bodies: Int64s = self.positions + 88 + 12 * extra
        return bodies

    @cached_property
    def body_sizes(self) -> Int64s:
        return self.numbers("body_size")

    @cached_property
    def body_crcs(self) -> Int64s:
        starts, view = self.bodies, self.data.data
        parts = map(slice, starts.tolist(), (starts + self.body_sizes).tolist())
        return np.fromiter(map(_crc32, map(view.__getitem__, parts)), np.int64, len(self))

    @cached_property
    def _topics(self) -> tuple[Int64s, Int64s]:
        last = len(self.data) - 1
        lengths = self.bodies + self.body_sizes
        lengths = np.clip(lengths, 0, self.positions + self.sizes - 1)
        first = self.data[lengths].astype(np.int64)
        sizes = np.where(first < 128, first, -1)
        is_long = self.heads["magic"] == MAGIC_V2
        if is_long.any():
            second = self.data[np.minimum(lengths + 1, last)].astype(np.int64)
            sizes = np.where(is_long, first << 8 | second, sizes)
        return lengths + 1 + is_long, sizes

    @property
    def topics(self) -> Int64s:
        return self._topics[0]

    @property
    def topic_sizes(self) -> Int64s:
        return self._topics[1]

    @cached_property
    def properties(self) -> Int64s:
        return self.topics + self.topic_sizes + 2

    @cached_property
    def property_sizes(self) -> Int64s:
        last = len(self.data) - 1
        starts = np.clip(self.properties - 2, 0, last)
        return self.data[starts].astype(np.int64) << 8 | self.data[
            np.minimum(starts + 1, last)
        ].astype(np.int64)

    def are_sound(self, base: int) -> Bools:
        """Whether the fields of each message add up to its size, and name its own offset.

        ``base`` is the offset in the stream of the first byte of ``data``.
        """
        at_home = self.numbers("physical_offset") == self.positions + base
        ends = self.properties + self.property_sizes == self.positions + self.sizes
        sizes = (self.body_sizes >= 0) & (self.topic_sizes >= 0) & (self.property_sizes < 1 << 15)
        sound: Bools = at_home & ends & sizes
        return sound

    def choose(self, rows: Bools | Int64s) -> Messages:
        return Messages(self.data, self.positions[rows])
