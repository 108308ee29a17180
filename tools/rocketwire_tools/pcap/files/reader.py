"""``CaptureReader``: the records of a capture, pcap or pcapng."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.pcap import PcapFormat, is_cut_head, is_head, pcap_format
from rocketwire_tools.pcap.files.records import (
    CHUNK_SIZE,
    MAX_RECORD,
    MAX_RECORDS,
    PADDING,
    Records,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.files.inputs import ByteSource

PCAPNG: Final = b"\x0a\x0d\x0d\x0a"  # First bytes of a pcapng file


class CaptureReader:
    """Reads one capture, one buffer at a time."""

    def __init__(
        self,
        path: str,  # for error messages
        source: ByteSource,  # the bytes of the capture
        *,
        chunk_size: int = CHUNK_SIZE,  # bytes that are decoded together
        # process the available bytes at once instead of waiting for a whole chunk
        eager: bool = False,
        base: int = 0,  # offset of the first byte in the results
    ) -> None:
        self._eager = eager
        self.path = path
        # whether the last record is incomplete, because the capture is still being written or was
        # cut off
        self.truncated = False
        self._source = source
        self._chunk = max(chunk_size, 2 * MAX_RECORD)
        self._buffer = bytearray(self._chunk + PADDING)
        self._view = memoryview(self._buffer)[: self._chunk]
        self._size = 0
        self._base = base
        self._failure: CaptureError | None = None

    def window(self) -> tuple[bytearray, int, int]:
        """The buffer, the number of its bytes in use, and its offset in the file."""
        return self._buffer, self._size, self._base

    def advance(self, used: int) -> bool:
        """Drop bytes from the front and refill the buffer; returns False at the end of the file."""
        unused = self._size - used
        self._view[:unused] = self._view[used : self._size]
        self._size = unused
        self._base += used
        old_size = self._size
        self._fill(self._size + 1 if self._eager else self._chunk)
        if self._size == old_size:
            if self._failure is not None:
                raise self._failure
            self.truncated = unused > 0
            return False
        return True

    def skip(self, count: int) -> bool:
        """Drop bytes, also unread ones; returns False at the end of the file."""
        while count > self._size:
            count -= self._size
            if not self.advance(self._size):
                self.truncated = True
                return False
        return self.advance(count)

    def _fill(self, min_size: int) -> None:
        # Read until the buffer has ``min_size`` bytes or the source ends. An error is kept until
        # the bytes before it have been processed.
        read, view = self._source.readinto, self._view
        while self._size < min_size and self._failure is None:
            try:
                count = read(view[self._size :])
            except CaptureError as failure:
                self._failure = failure
                return
            if not count:
                return
            self._size += count

    # ---- records

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
            from rocketwire_tools.pcap.files import pcapng

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
