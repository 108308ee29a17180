"""``FrameSearch``: bytes in which the first frame of a stream is searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_tools.pcap.streams.reassembly import PIECE
from rocketwire_tools.pcap.streams.resync import find_frame

if TYPE_CHECKING:
    from rocketwire_tools.pcap.streams.segments import PacketRef


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
        """Bytes of memory in use, approximately."""
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
