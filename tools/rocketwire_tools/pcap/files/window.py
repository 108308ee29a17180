"""``Window``: the part of a capture that is in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.records import CHUNK_SIZE, MAX_RECORD, PADDING

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.inputs import ByteSource


class Window:
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
