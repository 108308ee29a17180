"""``Stream``: one direction of a connection, from segments in any order to frames; the careful way.

``cutting`` does the same for many streams at once as long as nothing is out of the ordinary; whatever is, comes here.

Rules of this file: a hole in a body does not lose the frames behind it; what is kept is bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.wire.layouts.functions import LENGTH_SIZE, PREFIX_SIZE, parse_prefix
from rocketwire_tools.pcap.streams.frame_search import Scan
from rocketwire_tools.pcap.streams.reassembly import PIECE, Reassembly
from rocketwire_tools.pcap.streams.resync import (
    LARGEST,
    Protocol,
    has_prefix,
    is_header,
    protocol_of,
    proxy_header_length,
)
from rocketwire_tools.pcap.streams.segments import Frame, Place

if TYPE_CHECKING:
    from collections.abc import Callable

NOWHERE: Final = Place(0, 0)
FOREIGN: Final = (Protocol.TLS, Protocol.HTTP2, Protocol.OTHER)
"""Streams that hold no frame that can be read."""


class Stream(Reassembly):
    """One direction of a connection.

    Args:
        source: the sender, as in ``packets.Segments``.
        target: the receiver.
        number: of the stream; that of the other direction differs in the last bit.

    Attributes:
        protocol: what it speaks.
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
        "_length",
        "_missing",
        "_scan",
        "_skipping",
        "_type",
        "ended",
        "first",
        "header",
        "last",
        "need",
        "number",
        "protocol",
        "source",
        "synced",
        "target",
    )

    def __init__(self, source: int, target: int, number: int = 0) -> None:
        super().__init__()
        self.source = source
        self.target = target
        self.number = number
        self.protocol = Protocol.UNKNOWN
        self.need = 0
        self.header: bytes | None = None
        self.synced = False
        self.ended = False
        self.first = self.last = NOWHERE
        self._length = self._type = 0
        self._missing = self._gap = self._skipping = False
        self._body: list[bytes] | None = None
        self._head = bytearray()
        self._scan = Scan()

    # ---- what ``cutting`` may rely on

    @property
    def is_plain(self) -> bool:
        """Whether the next bytes in order can be cut without looking at anything but ``need``."""
        return self.protocol is Protocol.REMOTING and self._is_at_rest

    @property
    def _is_at_rest(self) -> bool:
        """Whether it is known what the next bytes in order are, and nothing waits for others."""
        return self.synced and not (self.waits or self._head or self._skipping)

    @property
    def has_nothing_open(self) -> bool:
        """Whether ``protocol``, ``synced`` and what ``goes_on`` takes are all that there is to know."""
        if self.waits or self.is_starting or self.header is not None or self._skipping:
            return False
        return not (self._head or self._scan or self._scan.passed)

    def begins(self, sequence: int, *, has_syn: bool) -> bool:
        """Take note of a stream that begins with a frame, unless it is known to have begun elsewhere.

        Args:
            sequence: of the first byte.
            has_syn: whether a SYN announced it just now.

        Returns:
            Whether the stream is plain now.
        """
        if has_syn and self.next_sequence < 0:
            self.begin(sequence)
        elif has_syn or sequence != self.next_sequence:
            return False
        if self.protocol is Protocol.UNKNOWN and self._is_at_rest:
            self.protocol = Protocol.REMOTING
        return self.is_plain

    def open(
        self,
        header: bytes,
        header_type: int,
        length: int,
        first: Place,
        last: Place,
        body: bytes | None,
    ) -> None:
        """Start a frame whose body is incomplete.

        Args:
            header: the encoded header.
            header_type: JSON or ROCKETMQ.
            length: value of the length word.
            first: record of the first byte.
            last: the latest record of those that hold its bytes so far.
            body: the captured part of the body; None if bodies are not kept.
        """
        self.header = header
        self._type = header_type
        self._length = length
        self.first = first
        self.last = last
        self._missing = self._gap = self._skipping = False
        self._body = None if body is None else [body]

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
    def kept(self) -> int:
        """Bytes of memory that it takes because something is not whole or not in order yet, roughly."""
        body = 0 if self._body is None else sum(map(len, self._body)) + PIECE * len(self._body)
        header = 0 if self.header is None else len(self.header)
        return self.held + header + body + len(self._head) + self._scan.kept

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
        held = self._first_held()
        if (self.header is None and not self._head) or self.last.time_ns < since_ns:
            return held
        return self.last.where if held is None else min(held, self.last.where)

    # ---- segments

    def begin(self, sequence: int) -> None:
        """A connection begins here (SYN), unless that is known already.

        Args:
            sequence: of its first byte; ``is_another`` said that it is not another connection's.
        """
        if self.next_sequence >= 0 and not self.is_starting:
            return  # sent again, or captured behind the first data
        self._begin(sequence)
        self.synced = True

    def finish(self, take: Callable[[Frame], None]) -> None:
        """No more will come: give what is there."""
        while self.waits:
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
        at += missing
        header = bytes(head[PREFIX_SIZE:])
        if self.protocol is Protocol.UNKNOWN:
            if not is_header(kind, header):
                self._search_head()
                return at
            self.protocol = Protocol.REMOTING
        self.open(header, kind, length, self.first, self.last, self._wanted())
        self.need = length - 4 - header_length
        head.clear()
        return at

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
            return True
        self._search_head()
        return False

    def _search_head(self) -> None:
        """What has been collected begins no frame: look for one in it and behind it."""
        self.lose()
        self._scan.add(bytes(self._head), self.first)
        self._head.clear()

    def _is_ours(self) -> bool:
        """Look at the first bytes of a connection; returns False if more are needed, or it is another one's."""
        head = self._head
        proxy = proxy_header_length(bytes(head))
        if proxy is None:
            if len(head) >= PREFIX_SIZE:  # its end is looked for as a lost frame is
                self._search_head()
            return False
        if proxy:
            self._skip(proxy)
            return False
        protocol = protocol_of(bytes(head))
        if protocol in FOREIGN:
            self.protocol = protocol
            head.clear()
            return False
        return protocol is Protocol.REMOTING

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
            self.protocol = Protocol.REMOTING  # as far as can be told
            self._skip(LENGTH_SIZE + length)
            return
        self.lose()
        head.clear()

    # ---- looking for the first frame

    def _search(self, data: bytes, place: Place, take: Callable[[Frame], None]) -> None:
        if self.protocol is Protocol.UNKNOWN and not self._scan:
            protocol = protocol_of(data)
            if protocol in (Protocol.TLS, Protocol.HTTP2):
                self.protocol = protocol
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
