"""``Records``: the records of a chunk of a capture, as arrays, whatever the format of the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.buffers import Buffer

    Integers = np.ndarray[Any, Any]


CHUNK_SIZE: Final = 16 << 20
"""Bytes looked at together: small enough for the processor's caches, large enough for numpy."""


MAX_RECORD: Final = 1 << 20
"""Largest record; captures hold at most 256 KiB of a packet."""


MOST_RECORDS: Final = 32_768
"""Records looked at together, however small they are."""


PADDING: Final = 256
"""Bytes behind the buffer, so that headers can be gathered before it is known whether they are all there."""


@dataclass(slots=True)
class Records:
    """Records that lie in the buffer until the next ones are asked for.

    Attributes:
        buffer: holds them, and ``PADDING`` bytes more.
        size: bytes of it in use.
        where: offsets of the records in the file.
        data: offsets of the packets in the buffer.
        captured: bytes of each packet that are there.
        wire: bytes of each packet that there were.
        time_ns: nanoseconds since 1970.
        link: link type of each packet, or of all of them.
    """

    buffer: Buffer
    size: int
    where: Integers
    data: Integers
    captured: Integers
    wire: Integers
    time_ns: Integers
    link: Integers | int

    def take(self, some: Integers | slice) -> Records:
        """These records."""
        return Records(
            self.buffer,
            self.size,
            self.where[some],
            self.data[some],
            self.captured[some],
            self.wire[some],
            self.time_ns[some],
            self.link if isinstance(self.link, int) else self.link[some],
        )


class Format(Protocol):
    """How records lie in a file."""

    head_size: int

    def walk(self, buffer: Buffer, start: int, end: int) -> tuple[Integers, int]:
        """Find the records that are all there between two offsets, and the end of the last of them."""
        ...

    def records(self, buffer: Buffer, at: Integers, base: int) -> Records:
        """Gather what is known of records; base is where in the file the buffer begins."""
        ...


def rows_at(buffer: Buffer | Integers, offsets: Integers, size: int) -> np.ndarray[Any, Any]:
    """Gather ``size`` bytes at each offset, one row each; they may reach into the padding."""
    width = np.dtype((np.void, size))
    windows = np.ndarray((len(buffer) - size + 1,), width, buffer, strides=(1,))
    return windows[offsets].view(np.uint8).reshape(-1, size)
