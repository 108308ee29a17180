"""Records of classic pcap files, a chunk at a time.

Python follows the chain of records, and numpy gathers their headers. A length is checked before it
is used.

Formats: both byte orders, micro- and nanoseconds, and the variant with larger record headers.
``pcapng`` reads the other format (draft-ietf-opsawg-pcapng).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire_tools.pcap.files.records import (
    MAX_RECORD,
    Records,
    rows_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.files.records import Array


class PcapFormat:
    head_size = 24

    def __init__(
        self, path: str, order: str, *, nanoseconds: bool, link: int, record_header: int
    ) -> None:
        self._path = path
        self.order = order  # byte order
        self._unit = 1 if nanoseconds else 1000
        self._link = link
        self.record_header = record_header  # bytes of a record header
        self.fractions = 10**9 if nanoseconds else 10**6  # fractions in a second
        self._captured = struct.Struct(f"{order}8xI").unpack_from
        # two bytes of the seconds change every 18 hours

    def walk(self, buffer: bytearray, start: int, end: int) -> tuple[Array, int]:
        """Find the complete records between two offsets, up to an invalid length or the header of
        another file; returns their offsets and the end of the last one."""
        offsets = np.fromiter(self._chain(buffer, start, end - self.record_header), np.int64)
        if not len(offsets):
            return offsets, start
        latest = int(offsets[-1])
        (captured,) = self._captured(buffer, latest)
        next_offset: int = latest + self.record_header + captured
        if next_offset > end:
            offsets, next_offset = offsets[:-1], latest
        for index in range(max(len(offsets) - _BEHIND_HEAD, 0), len(offsets)):
            if is_head(buffer, int(offsets[index])):
                return offsets[:index], int(offsets[index])
        return offsets, next_offset

    def _chain(self, buffer: bytearray, offset: int, last: int) -> Iterator[int]:
        captured, header = self._captured, self.record_header
        while offset <= last:
            yield offset
            offset += captured(buffer, offset)[0] + header

    def refusal(self, buffer: bytearray, offset: int, end: int) -> str | None:
        """Why the record at an offset is invalid; None if it may be valid."""
        if end - offset < self.record_header:
            return None
        (captured,) = self._captured(buffer, offset)
        if captured > MAX_RECORD:
            return f"a record claims {captured} bytes, {MAX_RECORD} is the limit"
        return None

    def records(self, buffer: bytearray, offsets: Array, base: int) -> Records:
        words = rows_at(buffer, offsets, 16).view(f"{self.order}u4").astype(np.int64)
        return Records(
            buffer=buffer,
            size=0,
            file_offset=offsets + base,
            data=offsets + self.record_header,
            captured=words[:, 2],
            wire=np.maximum(words[:, 3], words[:, 2]),
            time_ns=words[:, 0] * 1_000_000_000 + words[:, 1] * self._unit,
            link=self._link,
        )


_MAGICS: Final = {
    0xA1B2C3D4: (False, 16),
    0xA1B23C4D: (True, 16),
    0xA1B2CD34: (False, 24),
}
"""Whether fractions are nanoseconds, and the size of a record header, by magic number."""

_HEADS: Final = frozenset(
    struct.pack(f"{order}IHH", magic, 2, 4) for magic in _MAGICS for order in "<>"
)
"""Magic number and version: the first bytes of every file. A record with these bytes would be of
the years 2055 or 2077."""
_BEHIND_HEAD: Final = 3
"""Records to search for a file header. As a record, a file header has no data. The next record
would begin within the header, and its length leads nowhere."""


def is_head(buffer: bytearray, offset: int) -> bool:
    return bytes(buffer[offset : offset + 8]) in _HEADS


def is_cut_head(data: bytes) -> bool:
    return len(data) < PcapFormat.head_size and any(head.startswith(data[:8]) for head in _HEADS)


def pcap_format(path: str, head: bytes) -> PcapFormat | None:
    """The format that a file's first 24 bytes declare; None if it is not classic pcap."""
    for order in "<>":
        magic, _, _, _, _, _, link = struct.unpack(f"{order}IHHIIII", head)
        if magic in _MAGICS:
            nanoseconds, header = _MAGICS[magic]
            return PcapFormat(
                path, order, nanoseconds=nanoseconds, link=link & 0xFFFF, record_header=header
            )
    return None
