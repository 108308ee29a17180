"""``Window``: the part of a capture file that lies in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.buffers import buffer_of
from rocketwire_tools.pcap.files.records import (
    CHUNK_SIZE,
    MAX_RECORD,
    PADDING,
)

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.buffers import Buffer
    from rocketwire_tools.pcap.files.inputs import ByteSource


class Window:
    """The bytes of a capture, a buffer of them at a time.

    Args:
        path: for messages.
        source: its bytes, from the first on.
        chunk_size: bytes looked at together.
        eager: give what has come, however little, instead of waiting for a chunk.
        base: offset of the first byte, as it is to be given.

    Attributes:
        truncated: whether the last record is not all there; a capture that is being written, or
            was cut off, ends so.
    """

    def __init__(
        self,
        path: str,
        source: ByteSource,
        *,
        chunk_size: int = CHUNK_SIZE,
        eager: bool = False,
        base: int = 0,
    ) -> None:
        self._eager = eager
        self.path = path
        self.truncated = False
        self._source = source
        self._chunk = max(chunk_size, 2 * MAX_RECORD)
        self._buffer = buffer_of(self._chunk + PADDING)
        self._view = memoryview(self._buffer)[: self._chunk]
        self._size = 0
        self._base = base
        self._failure: CaptureError | None = None

    def window(self) -> tuple[Buffer, int, int]:
        """The buffer, bytes of it in use, and where in the file it begins."""
        return self._buffer, self._size, self._base

    def advance(self, used: int) -> bool:
        """Drop bytes from the front and fill up; returns False at the end of the file."""
        rest = self._size - used
        self._view[:rest] = self._view[used : self._size]
        self._size = rest
        self._base += used
        before = self._size
        self._fill(self._size + 1 if self._eager else self._chunk)
        if self._size == before:
            if self._failure is not None:
                raise self._failure
            self.truncated = rest > 0
            return False
        return True

    def skip(self, count: int) -> bool:
        """Drop bytes that need not all have been read; returns False at the end of the file."""
        while count > self._size:
            count -= self._size
            if not self.advance(self._size):
                self.truncated = True
                return False
        return self.advance(count)

    def _fill(self, least: int) -> None:
        """Read until so many bytes are there, or no more come; a pipe may give less.  A failure is kept until what
        came before it has been looked at."""
        read, view = self._source.readinto, self._view
        while self._size < least and self._failure is None:
            try:
                count = read(view[self._size :])
            except CaptureError as failure:
                self._failure = failure
                return
            if not count:
                return
            self._size += count
