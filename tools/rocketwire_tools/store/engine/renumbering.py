"""Messages of DLedger's entries as they stand in a plain commit log: without the heads of entries.

A head takes 48 bytes, which no filler of a plain log can take.  So the messages move together, and
each gets the physical offset of its new place.  Its other fields stay, the queue offset among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.store import commit_log
from rocketwire.wire.checksum import crc32
from rocketwire_tools.store.engine.columns import Messages
from rocketwire_tools.store.engine.scan import Block

if TYPE_CHECKING:
    from collections.abc import Iterator

_PHYSICAL_OFFSET: Final = slice(28, 36)


def renumbered(
    block: Block, messages: Messages, offset: int, file_size: int
) -> Iterator[tuple[Block, int]]:
    """Messages with the offsets that a plain log gives them.

    Args:
        block: of a scan of DLedger's log.
        messages: those of the block that are wanted.
        offset: in the new log, after its last message.
        file_size: bytes of each file of the new log.

    Yields:
        Messages that stand together in one file, and the offset where the log ended before them: if
        it is not that of the first message, a blank fills the rest of the file.

    Raises:
        ValueError: a message is larger than a file.
    """
    positions, sizes = messages.positions.tolist(), messages.sizes.tolist()
    first = 0
    while first < len(sizes):
        end = offset
        if sizes[first] > file_size - offset % file_size - commit_log.BLANK_SIZE:
            offset += -offset % file_size
        last, room = first, file_size - offset % file_size - commit_log.BLANK_SIZE
        while last < len(sizes) and sizes[last] <= room:
            room -= sizes[last]
            last += 1
        if last == first:
            raise ValueError(f"a message has {sizes[first]} bytes, too many for a file of the log")
        data = bytearray()
        starts: list[int] = []
        for position, size in zip(positions[first:last], sizes[first:last], strict=True):
            message = bytearray(block.view[position : position + size])
            message[_PHYSICAL_OFFSET] = (offset + len(data)).to_bytes(8, "big")
            _renew_checksum(message)
            starts.append(len(data))
            data += message
        view = memoryview(data)
        moved = Messages(np.frombuffer(view, np.uint8), np.array(starts, np.int64))
        yield Block(block.file, offset, moved, view, block.state), end
        offset += len(data)
        first = last


def _renew_checksum(message: bytearray) -> None:
    """Write the checksum of a message with another offset (Java: ``MessageExtEncoder``)."""
    checksums = commit_log.message_crc(memoryview(message), 0, len(message))
    if checksums is None:
        return
    end = len(message) - commit_log.CRC_PROPERTY_SIZE
    number = f"{crc32(bytes(message[:end])):010d}"[::-1]
    start = end + len(commit_log.CRC_PROPERTY)
    message[start : start + len(number)] = number.encode()
