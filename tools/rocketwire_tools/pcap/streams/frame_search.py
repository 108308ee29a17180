"""``FrameSearch``: bytes in which the first frame of a stream is searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_tools.pcap.streams.reassembly import PIECE
from rocketwire_tools.pcap.streams.resync import find_frame

if TYPE_CHECKING:
    from rocketwire_tools.pcap.streams.segments import Place


class FrameSearch:
    """Contiguous bytes of a stream in which a frame may begin."""

    __slots__ = ("_data", "_places", "passed")

    def __init__(self) -> None:
        self._data = bytearray()
        self._places: list[tuple[int, Place]] = []
        self.passed = 0  # bytes that were searched and dropped

    def __len__(self) -> int:
        return len(self._data)

    @property
    def kept(self) -> int:
        """Bytes of memory in use, approximately."""
        return len(self._data) + PIECE * len(self._places)

    def may_have_begun(self, end: int) -> bool:
        """Whether a frame may begin in a record before an offset."""
        return bool(self._places) and self._places[0][1].where < end and 0 in self._data

    def add(self, data: bytes, place: Place) -> None:
        self._places.append((len(self._data), place))
        self._data += data

    def forget(self) -> None:
        """Drop all bytes, because the next ones do not follow them."""
        self._data.clear()
        self._places.clear()
        self.passed = 0

    def pieces(self, *, last: bool = False) -> list[tuple[bytes, Place]]:
        """Take the bytes from the first frame on, with their records; empty if there is no frame
        yet.
        """
        if not self._data:
            return []
        offset, is_frame = find_frame(self._data, 0, last=last)
        if not is_frame:
            self._drop(offset)
            return []
        data, places = bytes(self._data), self._places
        ends = [start for start, _ in places[1:]] + [len(data)]
        self._data, self._places, self.passed = bytearray(), [], 0
        return [
            (data[max(start, offset) : end], place)
            for (start, place), end in zip(places, ends, strict=True)
            if end > offset
        ]

    def _drop(self, count: int) -> None:
        if not count:
            return
        self.passed += count
        del self._data[:count]
        places = [(max(start - count, 0), place) for start, place in self._places]
        while len(places) > 1 and places[1][0] == 0:
            places.pop(0)
        self._places = places
