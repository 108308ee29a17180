"""Cutting frames out of streams whose segments are in order, complete and undisturbed: the fast way.

Rules of this file: the same frames as ``Stream`` finds, for less; a stream that is not plain, or stops being so, is left to it.
The segments of a chunk lie one behind the other in a virtual stream (sorted by stream), so that one position names a byte.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final

from rocketwire.wire.grammar import LENGTH_SIZE, PREFIX_SIZE, PREFIX_STRUCT
from rocketwire_tools.pcap.segments import Frame, Place
from rocketwire_tools.pcap.stream import Stream
from rocketwire_tools.pcap.sync import has_prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.pcap.buffers import Buffer

_unpack: Final[Any] = PREFIX_STRUCT.unpack_from
_NO_PREFIX: Final = (0, 0, 0, 0)


Cut = tuple[Stream, int, int, Any, int, int, "bytes | None"]
"""A frame that begins and ends in the chunk: its stream, the numbers of the records of its first and last byte, the header, its
type, the value of the length word, and the body where bodies are wanted."""


class Cutter:
    """Cuts the plain streams of one chunk.

    Args:
        buffer: holds the segments.
        data: offset of each segment's payload in the buffer.
        starts: virtual position of each segment, and as one more the end of the last.
        records: number of each segment's record.
        where: offset in the file by number of record.
        times: capture time by number of record.
        bodies: whether bodies are wanted.
    """

    def __init__(
        self,
        buffer: Buffer,
        data: list[int],
        starts: list[int],
        records: list[int],
        where: Any,
        times: Any,
        *,
        bodies: bool,
    ) -> None:
        self._buffer = buffer
        self._data = data
        self._starts = starts
        self._records = records
        self._where = where
        self._times = times
        self._bodies = bodies
        self.cuts: list[Cut] = []

    def start(self, number: int) -> int:
        """Virtual position of a segment."""
        return self._starts[number]

    def segment_of(self, position: int, low: int, high: int) -> int:
        """Number of the segment that holds a virtual position."""
        return bisect_right(self._starts, position, low, high) - 1

    def place(self, number: int) -> Place:
        """The record of a segment."""
        return self._place(self._records[number])

    def _place(self, record: int) -> Place:
        return Place(int(self._where[record]), int(self._times[record]))

    def latest(self, low: int, high: int) -> Place:
        """The record captured last of those of some segments, which may have been put in order."""
        return self._place(max(self._records[low:high]))

    def piece(self, start: int, end: int, number: int) -> bytes:
        """Bytes between two virtual positions, from segment ``number`` on."""
        starts, data = self._starts, self._data
        parts: list[bytes | bytearray] = []
        while start < end:
            stop = min(starts[number + 1], end)
            offset = data[number] + start - starts[number]
            parts.append(self._buffer[offset : offset + stop - start])
            start = stop
            number += 1
        return bytes(parts[0]) if len(parts) == 1 else b"".join(parts)

    def cut(self, stream: Stream, low: int, high: int, take: Callable[[Frame], None]) -> int:
        """Cut one stream.

        Args:
            stream: a plain one, whose next bytes are those of the segments.
            low: number of its first segment.
            high: number behind its last one.
            take: gets frames that began in an earlier chunk.

        Returns:
            The virtual position up to which it was cut; what is left is for the careful way.
        """
        starts = self._starts
        at, end = starts[low], starts[high]
        boundary = at + stream.need
        if stream.header is not None:
            low = self._finish_open(stream, low, high, take)
        if boundary >= end:
            stream.need = boundary - end
            return end
        stream.need = 0
        return self._frames(stream, boundary, low, high)

    def _finish_open(
        self, stream: Stream, low: int, high: int, take: Callable[[Frame], None]
    ) -> int:
        """Go on with the body that is open; returns the segment in which the next frame begins."""
        at, end = self._starts[low], self._starts[high]
        boundary = at + stream.need
        stop = min(boundary, end)
        number = bisect_right(self._starts, stop - 1, low, high) - 1 if stop > at else low
        body = self.piece(at, stop, low) if self._bodies else None
        if boundary <= end:
            take(stream.closes(self.latest(low, number + 1), body))
            return number
        stream.continues(self.latest(low, number + 1), body)
        return low

    def _frames(self, stream: Stream, boundary: int, number: int, high: int) -> int:
        buffer, data, starts, records = self._buffer, self._data, self._starts, self._records
        end = starts[high]
        append, bodies = self.cuts.append, self._bodies
        while boundary < end:
            stop = starts[number + 1]
            if stop <= boundary:
                number = bisect_right(starts, boundary, number, high) - 1
                stop = starts[number + 1]
            offset = data[number] + boundary - starts[number]
            if stop - boundary < PREFIX_SIZE:
                found = self._across(boundary, number, end)
            else:
                found = _unpack(buffer, offset)
            length, kind, high_byte, low_bytes = found
            header_length = high_byte << 16 | low_bytes
            if not has_prefix(length, kind, header_length):
                return boundary
            body_start = boundary + PREFIX_SIZE + header_length
            after = boundary + LENGTH_SIZE + length
            if body_start > stop:
                header = self._header_across(boundary, body_start, number, end)
                if header is None:
                    return boundary
            else:
                header = buffer[offset + PREFIX_SIZE : offset + body_start - boundary]
            last = number
            if after > stop:
                if after > end:
                    self._open(stream, header, kind, length, boundary, body_start, number, high)
                    return end
                last = bisect_right(starts, after - 1, number, high) - 1
            body = self._body(body_start, after, number, high) if bodies else None
            latest = records[number] if last == number else max(records[number : last + 1])
            append((stream, records[number], latest, header, kind, length, body))
            boundary = after
            number = last
        return end

    def _across(self, boundary: int, number: int, end: int) -> tuple[int, int, int, int]:
        """A prefix that lies in several segments; one that no frame has if it is not all there."""
        if boundary + PREFIX_SIZE > end:
            return _NO_PREFIX
        prefix = self.piece(boundary, boundary + PREFIX_SIZE, number)
        found: tuple[int, int, int, int] = _unpack(prefix, 0)
        return found

    def _header_across(
        self, boundary: int, body_start: int, number: int, end: int
    ) -> bytes | bytearray | None:
        """A header that lies in several segments; None if it is not all there."""
        if body_start > end:
            return None
        start = boundary + PREFIX_SIZE  # the prefix may end in a later segment
        return self.piece(start, body_start, bisect_right(self._starts, start, number) - 1)

    def _body(self, start: int, end: int, number: int, high: int) -> bytes | None:
        """The body between two virtual positions, where bodies are wanted."""
        if not self._bodies:
            return None
        return self.piece(start, end, bisect_right(self._starts, start, number, high) - 1)

    def _open(
        self,
        stream: Stream,
        header: Any,
        kind: int,
        length: int,
        start: int,
        body_start: int,
        number: int,
        high: int,
    ) -> None:
        """Leave a frame open whose body goes on behind the chunk."""
        end = self._starts[high]
        body = self._body(body_start, end, number, high)
        stream.open(bytes(header), kind, length, self.place(number), body)
        stream.continues(self.latest(number, high), None)
        stream.need = start + LENGTH_SIZE + length - end
