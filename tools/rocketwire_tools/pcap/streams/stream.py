"""``Stream``: one direction of a connection, from segments in any order to frames.

This is the sequential path. ``vector_cutter`` processes many streams at once while their segments
are in order.

A hole in a body does not lose the frames after it. Memory is bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.wire.layouts.fused import LENGTH_SIZE, PREFIX_SIZE, parse_prefix
from rocketwire_tools.pcap.streams.reassembly import PIECE, Frame, PacketRef, Reassembly
from rocketwire_tools.pcap.streams.resync import (
    LARGEST,
    Protocol,
    find_frame,
    has_prefix,
    is_header,
    protocol_of,
    proxy_header_length,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class FrameSearch:
    """Contiguous bytes of a stream in which a frame may begin."""

    __slots__ = ("_data", "_packets", "passed")

    def __init__(self) -> None:
        self._data = bytearray()
        self._packets: list[tuple[int, PacketRef]] = []
        self.passed = 0  # bytes that were searched and dropped

    def __len__(self) -> int:
        return len(self._data)

    @property
    def kept(self) -> int:
        return len(self._data) + PIECE * len(self._packets)

    def may_have_begun(self, end: int) -> bool:
        """Whether a frame may begin in a record before an offset."""
        return bool(self._packets) and self._packets[0][1].file_offset < end and 0 in self._data

    def add(self, data: bytes, packet: PacketRef) -> None:
        self._packets.append((len(self._data), packet))
        self._data += data

    def forget(self) -> None:
        """Drop all bytes, because the next ones do not follow them."""
        self._data.clear()
        self._packets.clear()
        self.passed = 0

    def pieces(self, *, last: bool = False) -> list[tuple[bytes, PacketRef]]:
        """Take the bytes from the first frame on, with their records; empty if there is no frame
        yet.
        """
        if not self._data:
            return []
        offset, is_frame = find_frame(self._data, 0, last=last)
        if not is_frame:
            self._drop(offset)
            return []
        data, packets = bytes(self._data), self._packets
        ends = [start for start, _ in packets[1:]] + [len(data)]
        self._data, self._packets, self.passed = bytearray(), [], 0
        return [
            (data[max(start, offset) : end], packet)
            for (start, packet), end in zip(packets, ends, strict=True)
            if end > offset
        ]

    def _drop(self, count: int) -> None:
        if not count:
            return
        self.passed += count
        del self._data[:count]
        packets = [(max(start - count, 0), packet) for start, packet in self._packets]
        while len(packets) > 1 and packets[1][0] == 0:
            packets.pop(0)
        self._packets = packets


NOWHERE: Final = PacketRef(0, 0)
FOREIGN: Final = (Protocol.TLS, Protocol.HTTP2, Protocol.OTHER)
"""Protocols of streams without readable frames."""


class Stream(Reassembly):
    """One direction of a connection."""

    __slots__ = (
        "_body",
        "_gap",
        "_head",
        "_length",
        "_missing",
        "_search_buffer",
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
        self.protocol = Protocol.UNKNOWN  # of the stream
        self.need = 0  # bytes until the next frame begins, 0 inside a prefix or header
        # of the frame whose body is being skipped; None between frames
        self.header: bytes | None = None
        self.synced = False  # whether the next frame boundary is known
        self.ended = False  # whether the sender has sent FIN or RST
        # records of the first byte of the open frame, prefix or header, and of its latest byte
        self.first = self.last = NOWHERE
        self._length = self._type = 0
        self._missing = self._gap = self._skipping = False
        self._body: list[bytes] | None = None
        self._head = bytearray()
        self._search_buffer = FrameSearch()

    # ---- for the vectorised path

    @property
    def is_vectorisable(self) -> bool:
        """Whether the next bytes in order can be cut with ``need`` alone."""
        return self.protocol is Protocol.REMOTING and self._is_at_rest

    @property
    def _is_at_rest(self) -> bool:
        # Whether the next bytes in order are known, and nothing waits for others
        return self.synced and not (self.waits or self._head or self._skipping)

    @property
    def has_nothing_open(self) -> bool:
        """Whether ``protocol``, ``synced`` and the arguments of ``resume`` are the whole state."""
        if self.waits or self.is_starting or self.header is not None or self._skipping:
            return False
        return not (self._head or self._search_buffer or self._search_buffer.passed)

    def begins(self, sequence: int, *, has_syn: bool) -> bool:
        """Start a stream with a frame, unless it began elsewhere; returns whether the stream can be
        vectorised now."""
        if has_syn and self.next_sequence < 0:
            self.begin(sequence)
        elif has_syn or sequence != self.next_sequence:
            return False
        if self.protocol is Protocol.UNKNOWN and self._is_at_rest:
            self.protocol = Protocol.REMOTING
        return self.is_vectorisable

    def open(
        self,
        header: bytes,  # the encoded header
        header_type: int,  # JSON or ROCKETMQ
        length: int,  # value of the length word
        first: PacketRef,  # record of the first byte
        last: PacketRef,  # the latest record of those that hold its bytes so far
        body: bytes | None,  # the captured part of the body; None if bodies are not kept
    ) -> None:
        """Start a frame whose body is incomplete."""
        self.header = header
        self._type = header_type
        self._length = length
        self.first = first
        self.last = last
        self._missing = self._gap = self._skipping = False
        self._body = None if body is None else [body]

    def continues(self, last: PacketRef, body: bytes | None) -> None:
        """Add skipped body bytes of the vectorised path."""
        if last.file_offset > self.last.file_offset:
            self.last = last
        if body is not None and self._body is not None:
            self._body.append(body)

    def closes(self, last: PacketRef, body: bytes | None) -> Frame:
        """Complete the open frame with the last part of its body."""
        self.continues(last, body)
        frame = self._frame()
        self.header = None
        return frame

    def lose(self) -> None:
        """Forget the frame boundaries."""
        self.synced = False
        self.need = 0

    @property
    def kept(self) -> int:
        body = 0 if self._body is None else sum(map(len, self._body)) + PIECE * len(self._body)
        header = 0 if self.header is None else len(self.header)
        return self.held + header + body + len(self._head) + self._search_buffer.kept

    def may_have_begun(self, end: int) -> bool:
        """Whether an incomplete frame may have its first byte before the record at an offset."""
        if self.protocol in FOREIGN:
            return False
        if (self.header is not None or self._head) and self.first.file_offset < end:
            return True
        return self._search_buffer.may_have_begun(end) or any(
            segment.packet.file_offset < end for segment in self._held
        )

    def waits_since(self, since_ns: int) -> int | None:
        """Offset of the first record with incomplete frames, None if there is none; ignores
        frames that are older than the given time."""
        first_held = self._first_held()
        if (self.header is None and not self._head) or self.last.time_ns < since_ns:
            return first_held
        return (
            self.last.file_offset if first_held is None else min(first_held, self.last.file_offset)
        )

    # ---- segments

    def begin(self, sequence: int) -> None:
        """Process a SYN, unless the beginning is known."""
        if self.next_sequence >= 0 and not self.is_starting:
            return  # a retransmission, or captured after the first data
        self._begin(sequence)
        self.synced = True

    def finish(self, take: Callable[[Frame], None]) -> None:
        """Return incomplete frames, because no more bytes will come."""
        while self.waits:
            self._skip_hole(take)
        self._resume(self._search_buffer.pieces(last=True), take)
        if self.header is not None:
            self._missing = True
            take(self._frame())
        self._reset()

    def _reset(self) -> None:
        self.header = None
        self.need = 0
        self._skipping = False
        self._head.clear()
        self._search_buffer.forget()
        self.synced = False

    # ---- bytes in order

    def _read(self, data: bytes, packet: PacketRef, take: Callable[[Frame], None]) -> None:
        offset = 0
        while offset < len(data) and self.protocol not in FOREIGN:
            if not self.synced:
                self._search(data[offset:] if offset else data, packet, take)
                return
            if self.header is not None or self._skipping:
                offset = self._skip_body(data, offset, packet, take)
            else:
                offset = self._read_head(data, offset, packet)
                self._close_if_done(take)

    def _skip_body(
        self, data: bytes, offset: int, packet: PacketRef, take: Callable[[Frame], None]
    ) -> int:
        count = min(self.need, len(data) - offset)
        if count and self.header is not None:
            if packet.file_offset > self.last.file_offset:
                self.last = packet
            if self._body is not None:
                self._body.append(data[offset : offset + count])
        self.need -= count
        self._close_if_done(take)
        return offset + count

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

    def _read_head(self, data: bytes, offset: int, packet: PacketRef) -> int:
        head = self._head
        if not head:
            self.first = self.last = packet
        elif packet.file_offset > self.last.file_offset:
            self.last = packet
        if len(head) < PREFIX_SIZE:
            missing = PREFIX_SIZE - len(head)
            head += data[offset : offset + missing]
            offset = min(offset + missing, len(data))
            if not self._prefix_is_good():
                return offset
        length, header_type, header_length = parse_prefix(head, 0)[0]
        missing = PREFIX_SIZE + header_length - len(head)
        head += data[offset : offset + missing]
        if len(head) < PREFIX_SIZE + header_length:
            return len(data)
        offset += missing
        header = bytes(head[PREFIX_SIZE:])
        if self.protocol is Protocol.UNKNOWN:
            if not is_header(header_type, header):
                self._search_head()
                return offset
            self.protocol = Protocol.REMOTING
        self.open(header, header_type, length, self.first, self.last, self._next_needed())
        self.need = length - 4 - header_length
        head.clear()
        return offset

    wants_bodies = False  # Whether bodies are kept; overridden by ``flows.KeepingStream``

    def _next_needed(self) -> bytes | None:
        return b"" if self.wants_bodies else None

    def _prefix_is_good(self) -> bool:
        # Whether the collected bytes may be a frame; otherwise the frame boundaries are forgotten
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
        self.lose()
        self._search_buffer.add(bytes(self._head), self.first)
        self._head.clear()

    def _is_ours(self) -> bool:
        # Check the first bytes of a connection; returns False if more are needed, or if the
        # protocol is another one
        head = self._head
        proxy = proxy_header_length(bytes(head))
        if proxy is None:
            if len(head) >= PREFIX_SIZE:  # too short: search the first frame
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

    def _skip_missing(self, count: int, take: Callable[[Frame], None], *, captured: bool) -> None:
        if self.protocol in FOREIGN:
            return
        if not self.synced:
            self._search_buffer.forget()
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
        # Skip a frame with an incomplete header, if its length is known
        head = self._head
        if len(head) >= PREFIX_SIZE:
            length = parse_prefix(head, 0)[0][0]
            self.protocol = Protocol.REMOTING  # by the prefix alone
            self._skip(LENGTH_SIZE + length)
            return
        self.lose()
        head.clear()

    # ---- search for the first frame

    def _search(self, data: bytes, packet: PacketRef, take: Callable[[Frame], None]) -> None:
        if self.protocol is Protocol.UNKNOWN and not self._search_buffer:
            protocol = protocol_of(data)
            if protocol in (Protocol.TLS, Protocol.HTTP2):
                self.protocol = protocol
                return
        self._search_buffer.add(data, packet)
        self._resume(self._search_buffer.pieces(), take)
        if self._search_buffer.passed > 2 * LARGEST and self.protocol is Protocol.UNKNOWN:
            self.protocol = Protocol.OTHER
            self._search_buffer.forget()

    def _resume(self, pieces: list[tuple[bytes, PacketRef]], take: Callable[[Frame], None]) -> None:
        if pieces:
            self.synced = True
            self.protocol = Protocol.REMOTING
        for data, packet in pieces:
            self._read(data, packet, take)
