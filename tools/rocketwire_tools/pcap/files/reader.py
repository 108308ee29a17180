"""``CaptureReader``: the records of a capture, pcap or pcapng."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files import pcapng
from rocketwire_tools.pcap.files.pcap import PcapFormat, is_cut_head, is_head, pcap_format
from rocketwire_tools.pcap.files.records import MAX_RECORDS, Records
from rocketwire_tools.pcap.files.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterator

PCAPNG: Final = b"\x0a\x0d\x0d\x0a"  # First bytes of a pcapng file


class CaptureReader(Window):
    def __iter__(self) -> Iterator[Records]:
        try:
            yield from self._records()
        except CaptureError as error:
            if self._failure is None or error is self._failure:
                raise
            raise self._failure from error  # bytes after damaged ones are arbitrary

    def _records(self) -> Iterator[Records]:
        self._fill(24)
        if self._size < 24 and self._failure is not None:
            raise self._failure
        if self._size == 0:
            return
        head = bytes(self._view[: min(self._size, 24)])
        if head.startswith(PCAPNG):
            yield from pcapng.read(self)
            return
        if is_cut_head(head):
            self.truncated = True
            return
        classic = pcap_format(self.path, head) if self._size >= 24 else None
        if classic is None:
            raise CaptureError(self.path, 0, "this is neither a pcap nor a pcapng file")
        yield from self._classic(classic, classic.head_size)

    def _classic(self, classic: PcapFormat, offset: int) -> Iterator[Records]:
        # The records from an offset on, also those of captures that were appended with ``cat``
        while True:
            offsets, next_offset = classic.walk(self._buffer, offset, self._size)
            for first in range(0, len(offsets), MAX_RECORDS):
                part = offsets[first : first + MAX_RECORDS]
                records = classic.records(self._buffer, part, self._base)
                records.size = self._size
                yield records
            if (another := self._next_capture_format(next_offset)) is not None:
                classic, offset = another, next_offset + another.head_size
                continue
            if (why := classic.refusal(self._buffer, next_offset, self._size)) is not None:
                raise CaptureError(self.path, self._base + next_offset, why)
            if not self.advance(next_offset):
                return
            offset = 0

    def _next_capture_format(self, offset: int) -> PcapFormat | None:
        if self._size - offset < PcapFormat.head_size or not is_head(self._buffer, offset):
            return None
        return pcap_format(self.path, bytes(self._view[offset : offset + PcapFormat.head_size]))
