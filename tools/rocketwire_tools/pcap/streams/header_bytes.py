"""``HeaderBytes``: the bytes of many headers without an object for each.

Each header has room for a multiple of ``STEP`` bytes, and at least one byte after it. The remaining
room has spaces and a line feed, so that JSON headers are lines. Large pieces are not copied when
parts are joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire_tools.pcap.files.records import Array

STEP: Final = 64
BEHIND: Final = 128  # Bytes after the last header, so that rows of bytes can be gathered
_LARGE: Final = 1 << 21  # Pieces with as many bytes are not copied
_TOGETHER: Final = 2048
"""Headers that are copied at once, so that they stay in the processor's cache."""
_OF_HEADER: Final = np.arange(STEP) < np.arange(STEP)[:, None]
_KEPT: Final = np.where(_OF_HEADER, np.uint8(255), np.uint8(0)).view(np.uint64)
"""Mask of the header's bytes in the last step of its room, by their number."""
_REST: Final = np.where(_OF_HEADER, b"", [*[b" "] * (STEP - 1), b"\n"]).view(np.uint64)
"""Bytes after the header in the last step of its room, by the number of the header's bytes."""


@dataclass(slots=True)
class HeaderBytes:
    pieces: tuple[Array, ...]  # contain the headers, and maybe other bytes
    start: Array  # offset of each header in the concatenated pieces
    length: Array  # bytes of each header

    def __len__(self) -> int:
        return len(self.start)

    @property
    def room(self) -> Array:
        return room_of(self.length)

    def take(self, order: Array | slice) -> HeaderBytes:
        return HeaderBytes(self.pieces, self.start[order], self.length[order])

    def split(self) -> Iterator[tuple[Array, Array, Array]]:
        """Yield each piece, the indices of its headers, and their offsets in it."""
        if len(self.pieces) == 1 and len(self):
            yield self.pieces[0], np.arange(len(self)), self.start
            return
        end = 0
        for piece in self.pieces:
            begin, end = end, end + len(piece)
            numbers = np.flatnonzero((self.start >= begin) & (self.start < end))
            if len(numbers):
                yield piece, numbers, self.start[numbers] - begin

    def tolist(self) -> list[bytes]:
        headers = [b""] * len(self)
        for piece, numbers, start in self.split():
            text = piece.data
            ends = (start + self.length[numbers]).tolist()
            for number, a, b in zip(numbers.tolist(), start.tolist(), ends, strict=True):
                headers[number] = bytes(text[a:b])
        return headers

    def without_others(self) -> HeaderBytes:
        every = list(self.split())
        if len(every) == len(self.pieces):
            return self
        start, end = np.empty_like(self.start), 0
        for piece, numbers, within in every:
            start[numbers] = within + end
            end += len(piece)
        return HeaderBytes(tuple(piece for piece, _, _ in every), start, self.length)

    def pack(self) -> HeaderBytes:
        every = list(self.split())
        if not every:
            return HeaderBytes((), self.start, self.length)
        copied = _concatenate(
            [gather(piece, start, self.length[numbers]) for piece, numbers, start in every]
        )
        return copied.take(np.argsort(np.concatenate([numbers for _, numbers, _ in every])))


def room_of(length: Array) -> Array:
    """Bytes reserved for headers of these lengths."""
    return (length // STEP + 1) * STEP


def gather(buffer: Any, offsets: Array, length: Array) -> HeaderBytes:
    """Copy headers from a buffer that has at least ``STEP`` bytes after the last one."""
    steps = length // STEP + 1
    ends = np.cumsum(steps)
    begins = ends - steps
    total = int(ends[-1]) if len(ends) else 0
    data = np.empty(total * STEP + BEHIND, np.uint8)
    data[-BEHIND:] = 0
    windows = np.ndarray((len(buffer) - STEP + 1,), f"V{STEP}", buffer, strides=(1,))
    rows = data[: total * STEP].view(f"V{STEP}")
    words = data.view(np.uint64).reshape(-1, STEP // 8)
    for first in range(0, len(offsets), _TOGETHER):
        part = slice(first, first + _TOGETHER)
        begin, end = int(begins[first]), int(ends[part][-1])
        source = np.repeat(offsets[part] - begins[part] * STEP, steps[part])
        source += np.arange(begin * STEP, end * STEP, STEP)
        rows[begin:end] = windows[source]
        last, remainder = ends[part] - 1, length[part] % STEP
        words[last] = words[last] & _KEPT.take(remainder, axis=0) | _REST.take(remainder, axis=0)
    return HeaderBytes((data,), begins * STEP, length)


def header_bytes(headers: Sequence[bytes | bytearray]) -> HeaderBytes:
    length = np.array([len(header) for header in headers], np.int64)
    room = room_of(length)
    blanks = (room - 1).tolist()
    rows = [header.ljust(size) + b"\n" for header, size in zip(headers, blanks, strict=True)]
    data = np.frombuffer(b"".join([*rows, bytes(BEHIND)]), np.uint8)
    return HeaderBytes((data,), np.cumsum(room) - room, length)


def concatenate(parts: Sequence[HeaderBytes]) -> HeaderBytes:
    """Concatenate parts; parts with many other bytes are copied."""
    parts = [part.without_others() for part in parts]
    return _concatenate([part if _is_full(part) else part.pack() for part in parts])


def _is_full(part: HeaderBytes) -> bool:
    # Whether at most three quarters of the bytes are not of these headers. A copy of fuller parts
    # would take longer than it saves.
    return 4 * int(part.room.sum()) >= sum(map(len, part.pieces))


def _concatenate(parts: Sequence[HeaderBytes]) -> HeaderBytes:
    sizes = [sum(map(len, part.pieces)) for part in parts]
    offsets = np.cumsum([0, *sizes[:-1]])
    return HeaderBytes(
        tuple(_merge_small([piece for part in parts for piece in part.pieces])),
        np.concatenate([part.start + first for part, first in zip(parts, offsets, strict=True)]),
        np.concatenate([part.length for part in parts]),
    )


def _merge_small(pieces: Sequence[Array]) -> Iterator[Array]:
    small: list[Array] = []
    for piece in pieces:
        if len(piece) < _LARGE:
            small.append(piece)
            continue
        if small:
            yield np.concatenate(small)
            small = []
        yield piece
    if small:
        yield np.concatenate(small)
