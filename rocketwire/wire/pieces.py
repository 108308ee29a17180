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
    from rocketwire.wire.layout import Buffer

_MAX_END = 0x80000000
"""Below it a length with the highest bit set passes the end of any buffer, whatever its sign."""


class _Lengths(dict[bytes, int]):
    """The number that four bytes say; the usual ones are looked up."""

    def __missing__(self, head: bytes) -> int:
        if len(head) < 4:
            raise EOFError
        return int.from_bytes(head, "big")


_length_of = _Lengths({length.to_bytes(4, "big"): length for length in range(512)}).__getitem__


def read_pieces(
    buf: Buffer, start: int, end: int, count: int
) -> tuple[list[bytes], int] | tuple[None, int]:
    """Reads ``count`` pieces, each behind its length.

    A stream gives in turn four bytes and as many as they say, and stops giving at the end of the
    buffer.  Had any piece but the last been cut there, nothing would be left for the next length;
    so it is enough to look at the last one.

    Args:
        buf: the bytes; any other kind of buffer is not read, for its slices have its own type.
        start: position of the first length.
        end: position that no piece may pass, at most that of the end of ``buf``.
        count: number of pieces; below zero is none.

    Returns:
        The pieces and the position after them; None and ``start`` where they do not all end within
        ``end``.
    """
    if type(buf) is not bytes or end >= _MAX_END:
        return None, start
    stream = BytesIO(buf)
    stream.seek(start)
    read = stream.read
    try:
        pieces = list(map(read, map(_length_of, map(read, repeat(4, count)))))
    except EOFError:
        return None, start
    stop = stream.tell()
    if pieces:
        size = len(pieces[-1])
        head = stop - size
        if stop > end or _length_of(buf[head - 4 : head]) != size:
            return None, start
    return pieces, stop
