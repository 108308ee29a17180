"""``Reassembly``: the segments of one direction of a connection, brought into order.

Rules of this file: positions are counted in 64 bits; the earliest captured byte wins; what is kept is bounded (``Limits``).  A
hole waits to be filled, whether the capture missed a packet or cut it short: it may be sent again.  So do the bytes in front
of a stream whose beginning was not captured, for a short time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire_tools.pcap.streams.resync import LARGEST
from rocketwire_tools.pcap.streams.segments import Frame, Limits, Place, Segment, part, position_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HALF: Final = 1 << 31
WHOLE: Final = 1 << 32
"""Sequence numbers that there are."""
LOOK_BACK: Final = 256 << 10
"""Bytes that may come before the first one that was captured, where the SYN was not."""
LOOK_BACK_NS: Final = 200_000_000
WINDOW: Final = 1 << 30
"""Bytes that a sender may be ahead of its receiver at most (RFC 7323, 2.3), and so of what it sends again."""
PIECE: Final = 256
"""Bytes of memory that an object takes beside what it holds, roughly."""


class Cut(NamedTuple):
    """Bytes that went by and were not kept.

    Attributes:
        start: position of the first one.
        end: position behind the last one.
        time_ns: when they went by.
    """

    start: int
    end: int
    time_ns: int


class Reassembly(ABC):
    """Segments in any order to bytes in order.

    Attributes:
        next_sequence: of the byte after those that have been consumed; -1 before the first one.
        origin: of the first byte, -1 while that is not known.
        is_starting: whether bytes may come that were sent before the first ones that were captured.
    """

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
        self.next_sequence = -1
        self._position = 0
        self.origin = -1
        self.is_starting = False
        self._held: list[Segment] = []
        self._held_bytes = 0
        self._cuts: list[Cut] = []

    @abstractmethod
    def _read(self, data: bytes, place: Place, take: Callable[[Frame], None]) -> None:
        """Take the next bytes."""

    @abstractmethod
    def _lost(self, count: int, take: Callable[[Frame], None], *, captured: bool) -> None:
        """The next bytes are not there; captured: the record is, cut short."""

    # ---- the beginning

    def goes_on(self, sequence: int, origin: int) -> None:
        """Take up a stream of which nothing waits.

        Args:
            sequence: of the next byte.
            origin: of the first one.
        """
        self.next_sequence = sequence
        self.origin = origin

    def is_another(self, sequence: int) -> bool:
        """Whether a connection that begins with a sequence number is not the one that is known."""
        if self.next_sequence < 0 or sequence == self.origin:
            return False
        return not self._is_in_front(sequence)

    def is_elsewhere(self, sequence: int) -> bool:
        """Whether bytes are none of this connection's, but of another one whose SYN was not captured: they are in front of all that
        is known, and so were not sent again, or so far behind it that nothing can go on there.

        Args:
            sequence: of the first of them.
        """
        if self.next_sequence < 0:
            return False
        ahead = (sequence - self.next_sequence) % WHOLE
        if ahead < _HALF:
            return ahead > LARGEST and ahead > self._reach() + LARGEST
        known = (self.next_sequence - self.origin) % WHOLE if self.origin >= 0 else 0
        return WHOLE - ahead > min(known + LOOK_BACK, WINDOW)

    def _reach(self) -> int:
        """Bytes from the next one to behind the last that went by."""
        ends = [one.position + one.length for one in self._held[-1:]]
        ends += [one.end for one in self._cuts[-1:]]
        return max(ends, default=self._position) - self._position

    def _is_in_front(self, sequence: int) -> bool:
        """Whether what was captured so far may be what follows a beginning there."""
        ahead = (sequence - self.next_sequence) % WHOLE
        return self.is_starting and self._position + ahead <= self._held[0].position

    def _begin(self, sequence: int) -> None:
        """A connection begins here."""
        if self.is_starting:
            self._position = self._held[0].position - self._bytes_to(sequence)
            self.is_starting = False
        self.next_sequence = self.origin = sequence

    def _bytes_to(self, sequence: int) -> int:
        """Bytes from a sequence number in front of what is held up to that."""
        held = self.next_sequence + self._held[0].position - self._position
        return (held - sequence) % WHOLE

    def advance(self, length: int) -> None:
        """Take note of bytes that were consumed."""
        self.next_sequence = (self.next_sequence + length) % WHOLE
        self._position += length

    # ---- segments

    @property
    def held(self) -> int:
        """Bytes of memory that what waits takes, roughly."""
        pieces = len(self._held) + len(self._cuts)
        return self._held_bytes + PIECE * pieces

    @property
    def waits(self) -> bool:
        """Whether bytes are missing that may yet come."""
        return bool(self._held or self._cuts)

    def add(
        self,
        sequence: int,
        data: bytes,
        length: int,
        place: Place,
        limits: Limits,
        take: Callable[[Frame], None],
    ) -> None:
        """Take a segment, in any order.

        Args:
            sequence: of its first byte.
            data: the captured bytes.
            length: how many were sent.
            place: the record.
            limits: how long to wait for missing ones.
            take: gets frames.
        """
        if self.next_sequence < 0:
            self.is_starting = True
            self.next_sequence = (sequence - LOOK_BACK) % WHOLE
        ahead = (sequence - self.next_sequence) % WHOLE
        if ahead >= _HALF:
            ahead -= WHOLE
        segment = Segment(self._position + ahead, len(data), data, place)
        if len(data) < length:
            start = max(segment.position + len(data), self._position)
            self._note_cut(start, segment.position + length, place)
        if ahead > 0 or self._held:
            self._hold(segment)
            self._drain(take)
        else:
            self._consume(segment, take)
        if self.waits:
            self._lose_patience(place.time_ns, limits, take)

    def _note_cut(self, start: int, end: int, place: Place) -> None:
        if end <= start:
            return
        if self._cuts and self._cuts[-1].end == start:
            self._cuts[-1] = self._cuts[-1]._replace(end=end)
        else:
            self._cuts.append(Cut(start, end, place.time_ns))

    def _hold(self, segment: Segment) -> None:
        """Keep what no earlier segment has."""
        held = self._held
        end = segment.position + segment.length
        number = bisect_right(held, segment.position, key=position_of)
        if number:
            before = held[number - 1]
            segment = part(segment, max(segment.position, before.position + before.length), end)
        while segment.length > 0:
            number = bisect_right(held, segment.position, key=position_of)
            after = held[number] if number < len(held) else None
            stop = end if after is None else min(after.position, end)
            self._keep(part(segment, segment.position, stop), number)
            if after is None:
                return
            segment = part(segment, min(after.position + after.length, end), end)

    def _keep(self, segment: Segment, number: int) -> None:
        if segment.length > 0 and segment.position + segment.length > self._position:
            self._held.insert(number, segment)
            self._held_bytes += len(segment.data)

    def _drain(self, take: Callable[[Frame], None]) -> None:
        held = self._held
        count = 0
        while count < len(held) and held[count].position <= self._position:
            self._held_bytes -= len(held[count].data)
            self._consume(held[count], take)
            count += 1
        if count:
            del held[:count]

    def _consume(self, segment: Segment, take: Callable[[Frame], None]) -> None:
        """Take bytes of which some may have been consumed before."""
        end = segment.position + segment.length
        if end > self._position:
            if segment.position < self._position:
                segment = part(segment, self._position, end)
            self.advance(segment.length)
            self._read(segment.data, segment.place, take)
        while self._cuts and self._cuts[0].end <= self._position:
            del self._cuts[0]

    # ---- holes

    def _lose_patience(self, now: int, limits: Limits, take: Callable[[Frame], None]) -> None:
        while self.waits and (
            self._held_bytes > (LOOK_BACK if self.is_starting else limits.hold_bytes)
            or len(self._held) + len(self._cuts) > limits.hold_segments
            or now - self._since() > (LOOK_BACK_NS if self.is_starting else limits.hold_ns)
        ):
            self._jump(take)

    def _since(self) -> int:
        return self._held[0].place.time_ns if self._held else self._cuts[0].time_ns

    def _behind(self) -> int:
        """Position behind the first hole."""
        return self._held[0].position if self._held else max(one.end for one in self._cuts)

    def _jump(self, take: Callable[[Frame], None]) -> None:
        """The hole in front of what is held will not be filled."""
        start, end = self._position, max(self._behind(), self._position)
        self.advance(end - start)
        if self.is_starting:
            self.is_starting = False
            self.origin = self.next_sequence
        else:
            for count, captured in self._pieces(start, end):
                self._lost(count, take, captured=captured)
        self._cuts = [one for one in self._cuts if one.end > end]
        self._drain(take)

    def _pieces(self, start: int, end: int) -> Iterator[tuple[int, bool]]:
        """The parts of a hole, and whether they went by."""
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
        """The receiver has all bytes up to there: those of them that are missing were not captured."""
        while self.waits:
            ahead = (sequence - self.next_sequence) % WHOLE
            if ahead >= _HALF or self._position + ahead < self._behind():
                return
            self._jump(take)

    def expire(self, now: int, limits: Limits, take: Callable[[Frame], None]) -> None:
        """Time has passed."""
        self._lose_patience(now, limits, take)

    def _first_held(self) -> int | None:
        """Offset of the first of the records that wait."""
        return min((one.place.where for one in self._held), default=None)
