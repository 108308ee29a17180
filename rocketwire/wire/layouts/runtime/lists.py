"""A counted list of pieces with a four-byte length before each, read without a step of Python for
any of them.

Rules of this file: the reader here only says yes or no.  What is damaged is read again by the fused
loop, which checks each length before it uses it and says what is wrong and where.
"""

from __future__ import annotations

from io import BytesIO
from itertools import repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire.wire.buffer import Buffer

_MAX_END = 0x80000000
"""Below it a length with the highest bit set passes the end of any buffer, whatever its sign."""

_number_of = int.from_bytes
"""Of four bytes; to look them up takes longer, for each time their hash is new."""

_RUN = 4096
"""Pieces that are read without a look at where they ended; at most so many are made of nothing."""


def read_pieces(
    buf: Buffer, start: int, end: int, count: int
) -> tuple[list[bytes], int] | tuple[None, int]:
    """Reads ``count`` pieces, each behind its length.

    A stream gives in turn four bytes and as many as they say; at the end of the buffer it goes on
    with nothing, which is a length of zero and an empty piece.  So a piece that is not empty had
    all of its length before it, and nothing before it was cut: it is enough to look at the last.

    Args:
        buf: the bytes; any other kind of buffer is not read, for its slices have its own type.
        start: position of the first length.
        end: position that no piece may pass, at most that of the end of ``buf``.
        count: number of pieces; below zero is none.

    Returns:
        The pieces and the position after them; None and ``start`` where they do not all end within
        ``end``, or the last of them is empty and ends with the buffer.
    """
    if type(buf) is not bytes or end >= _MAX_END:
        return None, start
    stream = BytesIO(buf)
    stream.seek(start)
    read = stream.read
    pieces: list[bytes] = []
    while len(pieces) < count:
        heads = map(read, repeat(4, min(count - len(pieces), _RUN)))
        pieces += map(read, map(_number_of, heads))
        if not pieces[-1] and stream.tell() >= len(buf):
            return None, start
    stop = stream.tell()
    if pieces:
        size = len(pieces[-1])
        head = stop - size
        if stop > end or _number_of(buf[head - 4 : head]) != size:
            return None, start
    return pieces, stop
