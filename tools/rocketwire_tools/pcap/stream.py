"""``Stream``: one direction of a connection, from segments in any order to frames; the careful way.

``cutting`` does the same for many streams at once as long as nothing is out of the ordinary; whatever is, comes here.

Rules of this file: positions are counted from the first byte that was seen, in 64 bits; the earliest captured byte wins,
for content and for time; what is kept is bounded (``Limits``).  A hole in a body does not lose the frames behind it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from rocketwire.wire.grammar import LENGTH_SIZE, PREFIX_SIZE, parse_prefix
from rocketwire_tools.pcap.scan import Scan
from rocketwire_tools.pcap.segments import Frame, Limits, Place, Segment, part, position_of
from rocketwire_tools.pcap.sync import (
    LARGEST,
    Protocol,
    has_prefix,
    protocol_of,
    proxy_header_length,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_HALF: Final = 1 << 31
_WHOLE: Final = 1 << 32
FOREIGN: Final = (Protocol.TLS, Protocol.OTHER)
"""Streams that hold no frame that can be read."""


class Stream:
    """One direction of a connection.

    Args:
        source: the sender, as in ``packets.Segments``.
        target: the receiver.
        number: of the stream; that of the other direction differs in the last bit.

    Attributes:
        protocol: what it speaks.
        next_sequence: of the byte after those that have been consumed; -1 before the first one.
        need: bytes until the next frame begins, 0 inside a prefix or header.
        header: of the frame whose body is being skipped; None between frames.
        synced: whether it is known where frames begin.
        ended: whether the sender said that no more comes.
        first: record of the first byte of the open frame, or of the prefix or header being collected.
        last: the record captured last of those that it is in.
    """

    __slots__ = (
        "_body",
        "_gap",
        "_head",
        "_held",
        "_held_bytes",
        "_length",
        "_missing",
        "_origin",
        "_position",
        "_scan",
        "_skipping",
        "_type",
        "_waiting_ns",
        "ended",
        "first",
        "header",
        "last",
        "need",
        "next_sequence",
        "number",
        "protocol",
        "source",
        "synced",
        "target",
    )

    def __init__(self, source: int, target: int, number: int = 0) -> None:
        self.source = source
        self.target = target
        self.number = number
        self.protocol = Protocol.UNKNOWN
        self.next_sequence = -1
        self.need = 0
        self.header: bytes | None = None
        self.synced = False
        self.ended = False
        self.first = self.last = Place(0, 0)
        self._length = self._type = 0
        self._missing = self._gap = self._skipping = False
        self._body: list[bytes] | None = None
        self._head = bytearray()
        self._position = self._origin = 0
        self._held: list[Segment] = []
        self._held_bytes = 0
        self._waiting_ns = 0
        self._scan = Scan()

    # ---- what ``cutting`` may rely on

    @property
    def is_plain(self) -> bool:
        """Whether the next bytes in order can be cut without looking at anything but ``need``."""
        return (
            self.synced
            and self.protocol is Protocol.REMOTING
            and not (self._held or self._head or self._skipping)
        )

    def open(
        self, header: bytes, header_type: int, length: int, first: Place, body: bytes | None
    ) -> None:
        """Take over a frame whose body has not come to its end."""
        self.header = header
        self._type = header_type
        self._length = length
        self.first = first
        self._missing = self._gap = self._skipping = False
        self._body = None if body is None else [body]

    def advance(self, length: int) -> None:
        """Take note of bytes that were consumed elsewhere."""
        self.next_sequence = (self.next_sequence + length) % _WHOLE
        self._position += length

    def continues(self, last: Place, body: bytes | None) -> None:
        """Take note of body bytes that were skipped elsewhere."""
        if last.where > self.last.where:
            self.last = last
        if body is not None and self._body is not None:
            self._body.append(body)

    def closes(self, last: Place, body: bytes | None) -> Frame:
        """The open frame, with the last part of its body."""
        self.continues(last, body)
        frame = self._frame()
        self.header = None
        return frame

    def lose(self) -> None:
        """Give up knowing where frames begin."""
        self.synced = False
        self.need = 0

    @property
    def waits(self) -> bool:
        """Whether segments wait for others."""
        return bool(self._held)

    def may_have_begun(self, end: int) -> bool:
        """Whether a frame that is not known yet may have its first byte before the record at an offset."""
        if self.protocol in FOREIGN:
            return False
        if (self.header is not None or self._head) and self.first.where < end:
            return True
        return self._scan.may_have_begun(end) or any(one.place.where < end for one in self._held)

    def waits_since(self, since_ns: int) -> int | None:
        """Offset of the first record whose frames are not all known yet, None if all are; what is older
        than the time given does not count."""
        if self._held:
            return min(one.place.where for one in self._held)
        if self.header is not None and self.last.time_ns >= since_ns:
            return self.last.where
        return None

    # ---- segments

    def begin(self, sequence: int, take: Callable[[Frame], None]) -> None:
        """A connection begins here (SYN); what was open of a former one ends.

        Args:
            sequence: of its first byte.
            take: gets frames.
        """
        if self.next_sequence >= 0:
            if sequence == self._origin:
                return  # sent again, or captured behind the first data
            self.finish(take)
        self.next_sequence = self._origin = sequence
        self._position = 0
        self.protocol = Protocol.UNKNOWN
        self.synced = True
        self.ended = False

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
            self.next_sequence = self._origin = sequence
        ahead = (sequence - self.next_sequence) % _WHOLE
        if ahead >= _HALF:
            ahead -= _WHOLE
        segment = Segment(self._position + ahead, length, data, place)
        if ahead <= 0 and not self._held:
            self._consume(segment, take)
            return
        self._hold(segment)
        self._drain(take)
        self._lose_patience(place.time_ns, limits, take)

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
            if not self._held:
                self._waiting_ns = segment.place.time_ns
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
            if held:
                self._waiting_ns = min(one.place.time_ns for one in held)

    def _lose_patience(self, now: int, limits: Limits, take: Callable[[Frame], None]) -> None:
        while self._held and (
            self._held_bytes > limits.hold_bytes
            or len(self._held) > limits.hold_segments
            or now - self._waiting_ns > limits.hold_ns
        ):
            self._jump(take)

    def _jump(self, take: Callable[[Frame], None]) -> None:
        """The hole in front of what is held will not be filled."""
        gap = self._held[0].position - self._position
        self.advance(gap)
        self._lost(gap, take, captured=False)
        self._drain(take)

    def acknowledge(self, sequence: int, take: Callable[[Frame], None]) -> None:
        """The receiver has all bytes up to there: those of them that are missing were not captured."""
        while self._held:
            behind = self._held[0].position
            ahead = (sequence - self.next_sequence) % _WHOLE
            if ahead >= _HALF or self._position + ahead < behind:
                return
            self._jump(take)

    def expire(self, now: int, limits: Limits, take: Callable[[Frame], None]) -> None:
        """Time has passed."""
        self._lose_patience(now, limits, take)

    def finish(self, take: Callable[[Frame], None]) -> None:
        """No more will come: give what is there."""
        while self._held:
            self._jump(take)
        self._resume(self._scan.pieces(last=True), take)
        if self.header is not None:
            self._missing = True
            take(self._frame())
        self._reset()

    def _reset(self) -> None:
        self.header = None
        self.need = 0
        self._skipping = False
        self._head.clear()
        self._scan.forget()
        self.synced = False

    # ---- bytes in order

    def _consume(self, segment: Segment, take: Callable[[Frame], None]) -> None:
        """Take bytes of which some may have been consumed before."""
        end = segment.position + segment.length
        if end <= self._position:
            return
        if segment.position < self._position:
            segment = part(segment, self._position, end)
        self.advance(segment.length)
        self._read(segment.data, segment.place, take)
        if len(segment.data) < segment.length:
            self._lost(segment.length - len(segment.data), take, captured=True)

    def _read(self, data: bytes, place: Place, take: Callable[[Frame], None]) -> None:
        at = 0
        while at < len(data) and self.protocol not in FOREIGN:
            if not self.synced:
                self._search(data[at:] if at else data, place, take)
                return
            if self.header is not None or self._skipping:
                at = self._skip_body(data, at, place, take)
            else:
                at = self._read_head(data, at, place)
                self._close_if_done(take)

    def _skip_body(self, data: bytes, at: int, place: Place, take: Callable[[Frame], None]) -> int:
        count = min(self.need, len(data) - at)
        if count and self.header is not None:
            if place.where > self.last.where:
                self.last = place
            if self._body is not None:
                self._body.append(data[at : at + count])
        self.need -= count
        self._close_if_done(take)
        return at + count

    def _close_if_done(self, take: Callable[[Frame], None]) -> None:
        if self.need or self._head:
            return
        if self.header is not None:
            take(self._frame())
            self.header = None
        self._skipping = False

    def _frame(self) -> Frame:
        body = None if self._body is None else b"".join(self._body)
        return Frame(
            self, self.first, self.last, self.header or b"", self._type, self._length,
            not self._missing, self._gap, body,
        )  # fmt: skip

    def _read_head(self, data: bytes, at: int, place: Place) -> int:
        """Collect a prefix and a header; returns how far."""
        head = self._head
        if not head:
            self.first = self.last = place
        elif place.where > self.last.where:
            self.last = place
        if len(head) < PREFIX_SIZE:
            missing = PREFIX_SIZE - len(head)
            head += data[at : at + missing]
            at = min(at + missing, len(data))
            if not self._prefix_is_good():
                return at
        length, kind, header_length = parse_prefix(head, 0)[0]
        missing = PREFIX_SIZE + header_length - len(head)
        head += data[at : at + missing]
        if len(head) < PREFIX_SIZE + header_length:
            return len(data)
        self.open(bytes(head[PREFIX_SIZE:]), kind, length, self.first, self._wanted())
        self.need = length - 4 - header_length
        head.clear()
        return at + missing

    wants_bodies = False
    """Whether bodies are kept; set for the class of streams that does."""

    def _wanted(self) -> bytes | None:
        return b"" if self.wants_bodies else None

    def _prefix_is_good(self) -> bool:
        """Whether what has been collected goes on to be a frame; gives up the stream if not."""
        head = self._head
        if self.protocol is Protocol.UNKNOWN and not self._is_ours():
            return False
        if len(head) < PREFIX_SIZE:
            return False
        if has_prefix(*parse_prefix(head, 0)[0]):
            self.protocol = Protocol.REMOTING
            return True
        self.lose()
        self._scan.add(bytes(head), self.first)
        head.clear()
        return False

    def _is_ours(self) -> bool:
        """Look at the first bytes of a connection; returns False if more are needed, or it is another one's."""
        head = self._head
        proxy = proxy_header_length(bytes(head))
        if proxy is None:
            return len(head) >= PREFIX_SIZE and self._skip_proxy()
        if proxy:
            self._skip(proxy)
            return False
        protocol = protocol_of(bytes(head))
        if protocol in FOREIGN:
            self.protocol = protocol
            head.clear()
            return False
        return protocol is Protocol.REMOTING

    def _skip_proxy(self) -> bool:
        """A PROXY header longer than what was collected: look for its end as for a lost frame."""
        self.lose()
        self._scan.add(bytes(self._head), self.first)
        self._head.clear()
        return False

    def _skip(self, count: int) -> None:
        self.need = max(count - len(self._head), 0)
        self._head.clear()
        self._skipping = self.need > 0

    # ---- holes

    def _lost(self, count: int, take: Callable[[Frame], None], *, captured: bool) -> None:
        """Bytes of the stream are not there; captured: the record is, cut short."""
        if self.protocol in FOREIGN:
            return
        if not self.synced:
            self._scan.forget()
            return
        if self._head:
            self._abandon_head()
        if not self.synced:
            return
        if self.header is not None or self._skipping:
            skipped = min(self.need, count)
            self.need -= skipped
            count -= skipped
            if skipped:
                self._missing = True
                self._gap = self._gap or not captured
            self._close_if_done(take)
        if count:
            self.lose()

    def _abandon_head(self) -> None:
        """A header is not all there: its frame is skipped, if its length is known."""
        head = self._head
        if len(head) >= PREFIX_SIZE:
            length = parse_prefix(head, 0)[0][0]
            self._skip(LENGTH_SIZE + length)
            return
        self.lose()
        head.clear()

    # ---- looking for the first frame

    def _search(self, data: bytes, place: Place, take: Callable[[Frame], None]) -> None:
        if (
            self.protocol is Protocol.UNKNOWN
            and not self._scan
            and protocol_of(data) is Protocol.TLS
        ):
            self.protocol = Protocol.TLS
            return
        self._scan.add(data, place)
        self._resume(self._scan.pieces(), take)
        if self._scan.passed > 2 * LARGEST and self.protocol is Protocol.UNKNOWN:
            self.protocol = Protocol.OTHER
            self._scan.forget()

    def _resume(self, pieces: list[tuple[bytes, Place]], take: Callable[[Frame], None]) -> None:
        """Go on from a frame that was found among the bytes that were searched."""
        if pieces:
            self.synced = True
            self.protocol = Protocol.REMOTING
        for data, place in pieces:
            self._read(data, place, take)
