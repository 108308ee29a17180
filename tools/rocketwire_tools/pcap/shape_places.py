"""``ShapePlaces``: where in the headers of each shape numbers and texts are.

Rules of this file: only numpy.  Numbers are read eight digits at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.header_bytes import rows_of
from rocketwire_tools.pcap.shape import MOST_DIGITS, MOST_OPAQUE_DIGITS, NUMBERS

if TYPE_CHECKING:
    from rocketwire_tools.pcap.shape import Shape

    Array = np.ndarray[Any, Any]

_FEW: Final = 64
_NUMBERS: Final = len(NUMBERS) + 1
_OPAQUE: Final = NUMBERS.index("opaque")
_LEAST: Final = -(1 << 31)
_MOST: Final = (1 << 31) - 1
_SMALLEST: Final = (0, 0, *(10**digits for digits in range(1, MOST_OPAQUE_DIGITS)))
"""The smallest number of so many digits."""
_KEPT: Final = np.array([(1 << 64) - (1 << 64 - 8 * digits) for digits in range(9)], np.uint64)
"""By a number of digits: which of eight bytes they are, if they are the last."""


class ShapePlaces:
    """Shapes; they do not become fewer.

    Attributes:
        topic_start: where the topic of each begins.
        topic_length: its length, less than 0 if it is not there.
        group_start: where the group begins.
        group_length: its length, likewise.
        named: see ``Shape``.
        has_queue: whether there is a queue.
        language: number of the language.
        remark: number of the remark.
    """

    def __init__(self) -> None:
        self._count = 0
        self._ends = np.zeros((_FEW, _NUMBERS), np.int64)
        self._kept = np.zeros((_FEW, _NUMBERS), np.uint64)
        self._signs = np.zeros((_FEW, _NUMBERS), np.int64)
        self._has_negative = False
        self._smallest = np.zeros((_FEW, _NUMBERS), np.int64)
        self._more = np.zeros(_FEW, np.int64)
        self.topic_start = np.zeros(_FEW, np.int64)
        self.topic_length = np.zeros(_FEW, np.int64)
        self.group_start = np.zeros(_FEW, np.int64)
        self.group_length = np.zeros(_FEW, np.int64)
        self.named = np.zeros(_FEW, np.int8)
        self.has_queue = np.zeros(_FEW, np.bool_)
        self.language = np.zeros(_FEW, np.int32)
        self.remark = np.zeros(_FEW, np.int32)

    def __len__(self) -> int:
        return self._count

    def add(self, shape: Shape, language: int, remark: int) -> int:
        """Take a shape with the numbers of its language and its remark; returns its own."""
        number, self._count = self._count, self._count + 1
        if number == len(self.named):
            self._grow()
        *numbers, queue = shape.numbers
        self._ends[number] = [one.end for one in shape.numbers]
        self._kept[number] = _KEPT[[min(one.digits, MOST_DIGITS) for one in shape.numbers]]
        self._signs[number] = [-1 if one.negative else 1 for one in shape.numbers]
        self._has_negative |= any(one.negative for one in shape.numbers)
        self._smallest[number] = [*(_SMALLEST[one.digits] for one in numbers), 0]
        self._more[number] = max(numbers[_OPAQUE].digits - MOST_DIGITS, 0)
        topic, group = shape.texts
        self.topic_start[number], self.topic_length[number] = topic
        self.group_start[number], self.group_length[number] = group
        self.named[number] = shape.named
        self.has_queue[number] = queue.digits > 0
        self.language[number], self.remark[number] = language, remark
        return number

    def _grow(self) -> None:
        for name in _OF_SHAPES:
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.zeros_like(old)]))

    def integers(self, data: Array, start: Array, shapes: Array) -> tuple[Array, Array]:
        """Those of ``shape.NUMBERS`` and the queue of headers, a row for each; and whether they are what JSON calls integers, of 32
        bits.

        Args:
            data: has the headers.
            start: where each begins.
            shapes: the number of the shape of each.
        """
        end = start[:, None] + self._ends.take(shapes, axis=0)
        values, good = _integers(data, end, self._kept.take(shapes, axis=0))
        more = self._more.take(shapes)
        some = np.flatnonzero(more)
        if len(some):
            high, fine = _integers(data, end[some, _OPAQUE] - MOST_DIGITS, _KEPT[more[some]])
            values[some, _OPAQUE] += high * 10**MOST_DIGITS
            good[some, _OPAQUE] &= fine
        good &= values >= self._smallest.take(shapes, axis=0)
        if self._has_negative:
            values *= self._signs.take(shapes, axis=0)
        if len(some):  # of fewer digits all have 32 bits
            opaque = values[some, _OPAQUE]
            good[some, _OPAQUE] &= (opaque >= _LEAST) & (opaque <= _MOST)
        all_good: Array = np.logical_and.reduce(good, axis=1)
        return values, all_good


_OF_SHAPES: Final = (
    "_ends", "_kept", "_signs", "_smallest", "_more", "topic_start", "topic_length", "group_start", "group_length", "named",
    "has_queue", "language", "remark",
)  # fmt: skip
"""Arrays with an entry for each shape."""


def _integers(data: Array, end: Array, kept: Array) -> tuple[Array, Array]:
    """Numbers of at most eight digits, and whether these are digits.

    Args:
        data: has them.
        end: offsets behind the last digit.
        kept: of ``_KEPT``, for each.
    """
    words = rows_of(data, end - MOST_DIGITS, MOST_DIGITS).view("<u8").reshape(end.shape)
    words ^= 0x3030303030303030
    words &= kept
    good = ((words + 0x7676767676767676) | words) & 0x8080808080808080 == 0
    for bits, factor, mask in _HALVES:
        words = (words * factor + (words >> bits)) & mask
    return words.view(np.int64), good


_HALVES: Final = tuple(
    (np.uint64(bits), np.uint64(factor), np.uint64(mask))
    for bits, factor, mask in (
        (8, 10, 0x00FF00FF00FF00FF),
        (16, 100, 0x0000FFFF0000FFFF),
        (32, 10_000, 0x00000000FFFFFFFF),
    )
)
"""Two digits become a number below a hundred, two of those one below ten thousand, and two of those the number."""
