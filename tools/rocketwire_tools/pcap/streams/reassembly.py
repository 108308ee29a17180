"""``Reassembly``: puts the segments of one direction of a connection in order.

Positions have 64 bits. The earliest captured byte wins. Memory is bounded by ``Limits``. A hole
waits for a retransmission, whether the capture missed a packet or cut it short. If the beginning of
a stream was not captured, earlier bytes are accepted for a short time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from rocketwire_tools.pcap.streams.resync import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    hold_ns: int = 3_000_000_000  # nanoseconds of capture time that segments after a hole wait
    hold_bytes: int = 4 << 20  # bytes that wait, for each stream
    hold_segments: int = 8192  # segments that wait, for each stream


class PacketRef(NamedTuple):
    file_offset: int
    time_ns: int


class Segment(NamedTuple):
    position: int  # of the first byte
    length: int  # bytes on the wire
    data: bytes  # the captured bytes, from the first on
    packet: PacketRef  # the record


class Direction(Protocol):
    number: int
    source: int
    target: int


class Frame(NamedTuple):
    """A frame whose header was captured."""

    stream: Direction  # its stream
    first: PacketRef  # record of its first byte
    last: PacketRef  # the latest record of its captured bytes
    header: bytes  # the encoded header
    header_type: int  # JSON or ROCKETMQ
    length: int  # value of the length word
    is_complete: bool  # whether the whole body was captured
    gap: bool  # whether bytes were lost between the peers and the capture
    body: bytes | None  # the captured part of the body, if bodies are kept


def position_of(segment: Segment) -> int:
    return segment.position


def part(segment: Segment, start: int, end: int) -> Segment:
    return Segment(
        start,
        end - start,
        segment.data[start - segment.position : end - segment.position],
        segment.packet,
    )


_HALF: Final = 1 << 31
WHOLE: Final = 1 << 32  # Number of sequence numbers
LOOK_BACK: Final = 256 << 10
"""Bytes that may come before the first captured one, if the SYN was not captured."""
LOOK_BACK_NS: Final = 200_000_000
WINDOW: Final = 1 << 30
"""Bytes that a sender may be ahead of its receiver (RFC 7323, 2.3), and so may send again."""
PIECE: Final = 256  # Bytes of memory of an object without its content, approximately


class Cut(NamedTuple):
    """Bytes on the wire that were not captured."""

    start: int  # position of the first byte
    end: int  # position after the last byte
    time_ns: int  # their time


class Reassembly(ABC):
    __slots__ = (
        "_cuts",
        "_held",
        "_held_bytes",
        "_position",
        "is_starting",
        "next_sequence",
        "origin",
    )

    def __init__(self) -> None:
        self.next_sequence = -1  # of the next byte; -1 before the first one
        self._position = 0
        self.origin = -1  # of the first byte, -1 if unknown
        self.is_starting = False  # whether earlier bytes than the first captured ones may come
        self._held: list[Segment] = []
        self._held_bytes = 0
        self._cuts: list[Cut] = []

    @abstractmethod
    def _read(self, data: bytes, packet: PacketRef, take: Callable[[Frame], None]) -> None:
        """Process the next bytes."""

    @abstractmethod
    def _skip_missing(self, count: int, take: Callable[[Frame], None], *, captured: bool) -> None:
        """Skip missing bytes; ``captured`` if their record was cut short."""

    # ---- the beginning

    def resume(self, sequence: int, origin: int) -> None:
        """Continue a stream of which nothing waits."""
        self.next_sequence = sequence
        self.origin = origin

    def starts_another_connection(self, sequence: int) -> bool:
        """Whether a connection that begins with a sequence number is another one."""
        if self.next_sequence < 0 or sequence == self.origin:
            return False
        return not self._is_in_front(sequence)

    def is_of_another_connection(self, sequence: int) -> bool:
        """Whether bytes belong to another connection without captured SYN: they precede all known
        bytes, so are no retransmission, or are too far ahead.
        """
        if self.next_sequence < 0:
            return False
        ahead = (sequence - self.next_sequence) % WHOLE
        if ahead < _HALF:
            return ahead > LARGEST and ahead > self._reach() + LARGEST
        consumed = (self.next_sequence - self.origin) % WHOLE if self.origin >= 0 else 0
        return WHOLE - ahead > min(consumed + LOOK_BACK, WINDOW)

    def _reach(self) -> int:
        ends = [segment.position + segment.length for segment in self._held[-1:]]
        ends += [segment.end for segment in self._cuts[-1:]]
        return max(ends, default=self._position) - self._position

    def _is_in_front(self, sequence: int) -> bool:
        # Whether the captured bytes may follow a beginning at this sequence number
        ahead = (sequence - self.next_sequence) % WHOLE
        return self.is_starting and self._position + ahead <= self._held[0].position

    def _begin(self, sequence: int) -> None:
        if self.is_starting:
            self._position = self._held[0].position - self._bytes_to(sequence)
            self.is_starting = False
        self.next_sequence = self.origin = sequence

    def _bytes_to(self, sequence: int) -> int:
        first_held = self.next_sequence + self._held[0].position - self._position
        return (first_held - sequence) % WHOLE

    def advance(self, length: int) -> None:
        self.next_sequence = (self.next_sequence + length) % WHOLE
        self._position += length

    # ---- segments

    @property
    def held(self) -> int:
        """Bytes of memory of waiting segments, approximately."""
        pieces = len(self._held) + len(self._cuts)
        return self._held_bytes + PIECE * pieces

    @property
    def waits(self) -> bool:
        """Whether missing bytes may still come."""
        return bool(self._held or self._cuts)

    def add(
        self,
        sequence: int,  # of its first byte
        data: bytes,  # its captured bytes
        length: int,  # its bytes on the wire
        packet: PacketRef,  # its record
        limits: Limits,  # bounds of the wait for missing segments
        take: Callable[[Frame], None],  # receives completed frames
    ) -> None:
        if self.next_sequence < 0:
            self.is_starting = True
            self.next_sequence = (sequence - LOOK_BACK) % WHOLE
        ahead = (sequence - self.next_sequence) % WHOLE
        if ahead >= _HALF:
            ahead -= WHOLE
        segment = Segment(self._position + ahead, len(data), data, packet)
        if len(data) < length:
            start = max(segment.position + len(data), self._position)
            self._note_cut(start, segment.position + length, packet)
        if ahead > 0 or self._held:
            self._hold(segment)
            self._drain(take)
        else:
            self._consume(segment, take)
        if self.waits:
            self._skip_overdue(packet.time_ns, limits, take)

    def _note_cut(self, start: int, end: int, packet: PacketRef) -> None:
        if end <= start:
            return
        if self._cuts and self._cuts[-1].end == start:
            self._cuts[-1] = self._cuts[-1]._replace(end=end)
        else:
            self._cuts.append(Cut(start, end, packet.time_ns))

    def _hold(self, segment: Segment) -> None:
        # Keep the bytes that no earlier segment has
        segments = self._held
        end = segment.position + segment.length
        number = bisect_right(segments, segment.position, key=position_of)
        if number:
            previous = segments[number - 1]
            segment = part(segment, max(segment.position, previous.position + previous.length), end)
        while segment.length > 0:
            number = bisect_right(segments, segment.position, key=position_of)
            following = segments[number] if number < len(segments) else None
            stop = end if following is None else min(following.position, end)
            self._keep(part(segment, segment.position, stop), number)
            if following is None:
                return
            segment = part(segment, min(following.position + following.length, end), end)

    def _keep(self, segment: Segment, number: int) -> None:
        if segment.length > 0 and segment.position + segment.length > self._position:
            self._held.insert(number, segment)
            self._held_bytes += len(segment.data)

    def _drain(self, take: Callable[[Frame], None]) -> None:
        segments = self._held
        count = 0
        while count < len(segments) and segments[count].position <= self._position:
            self._held_bytes -= len(segments[count].data)
            self._consume(segments[count], take)
            count += 1
        if count:
            del segments[:count]

    def _consume(self, segment: Segment, take: Callable[[Frame], None]) -> None:
        end = segment.position + segment.length
        if end > self._position:
            if segment.position < self._position:
                segment = part(segment, self._position, end)
            self.advance(segment.length)
            self._read(segment.data, segment.packet, take)
        while self._cuts and self._cuts[0].end <= self._position:
            del self._cuts[0]

    # ---- holes

    def _skip_overdue(self, now: int, limits: Limits, take: Callable[[Frame], None]) -> None:
        while self.waits and (
            self._held_bytes > (LOOK_BACK if self.is_starting else limits.hold_bytes)
            or len(self._held) + len(self._cuts) > limits.hold_segments
            or now - self._since() > (LOOK_BACK_NS if self.is_starting else limits.hold_ns)
        ):
            self._skip_hole(take)

    def _since(self) -> int:
        return self._held[0].packet.time_ns if self._held else self._cuts[0].time_ns

    def _after_hole(self) -> int:
        return self._held[0].position if self._held else max(cut.end for cut in self._cuts)

    def _skip_hole(self, take: Callable[[Frame], None]) -> None:
        start, end = self._position, max(self._after_hole(), self._position)
        self.advance(end - start)
        if self.is_starting:
            self.is_starting = False
            self.origin = self.next_sequence
        else:
            for count, captured in self._pieces(start, end):
                self._skip_missing(count, take, captured=captured)
        self._cuts = [cut for cut in self._cuts if cut.end > end]
        self._drain(take)

    def _pieces(self, start: int, end: int) -> Iterator[tuple[int, bool]]:
        # The parts of a hole: bytes, and whether their record was captured
        for cut in sorted(self._cuts):
            if cut.end <= start or cut.start >= end:
                continue
            if cut.start > start:
                yield cut.start - start, False
                start = cut.start
            stop = min(cut.end, end)
            yield stop - start, True
            start = stop
        if end > start:
            yield end - start, False

    def acknowledge(self, sequence: int, take: Callable[[Frame], None]) -> None:
        """Skip holes before an acknowledged sequence number: the capture missed their bytes."""
        while self.waits:
            ahead = (sequence - self.next_sequence) % WHOLE
            if ahead >= _HALF or self._position + ahead < self._after_hole():
                return
            self._skip_hole(take)

    def expire(self, now: int, limits: Limits, take: Callable[[Frame], None]) -> None:
        self._skip_overdue(now, limits, take)

    def _first_held(self) -> int | None:
        return min((segment.packet.file_offset for segment in self._held), default=None)
