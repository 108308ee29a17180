"""``Records``: the records of a chunk of a capture as arrays, independent of the file format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, Any]

CHUNK_SIZE: Final = 16 << 20
"""Bytes that are decoded together: few enough for the processor's caches, many enough for numpy."""
MAX_RECORD: Final = 1 << 20  # Largest record; captures hold at most 256 KiB of a packet
MAX_RECORDS: Final = 32_768  # Records that are decoded together at most
PADDING: Final = 256
"""Bytes after the buffer, so that headers can be gathered before their lengths are checked."""


@dataclass(slots=True)
class Records:
    """Records whose buffer is valid until the next records are read."""

    buffer: bytearray  # holds the records, and ``PADDING`` more bytes
    size: int  # bytes of the buffer in use
    file_offset: Array  # offsets of the records in the file
    data: Array  # offsets of the packets in the buffer
    captured: Array  # captured bytes of each packet
    wire: Array  # bytes that each packet had on the wire
    time_ns: Array  # nanoseconds since 1970
    link: Array | int  # link type of each packet, or of all packets

    def take(self, numbers: Array | slice) -> Records:
        return Records(
            self.buffer,
            self.size,
            self.file_offset[numbers],
            self.data[numbers],
            self.captured[numbers],
            self.wire[numbers],
            self.time_ns[numbers],
            self.link if isinstance(self.link, int) else self.link[numbers],
        )


def rows_at(buffer: bytearray | Array, offsets: Array, size: int) -> np.ndarray[Any, Any]:
    """Gather ``size`` bytes at each offset, one row each; they may reach into the padding."""
    width = np.dtype((np.void, size))
    windows = np.ndarray((len(buffer) - size + 1,), width, buffer, strides=(1,))
    return windows[offsets].view(np.uint8).reshape(-1, size)
