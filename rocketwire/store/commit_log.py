"""Records of a commit log: messages, and the blanks at the end of full files.

A commit log is one stream of bytes, cut into files of one size; the name of a file is the offset of
its first byte.  Functions here take bytes of one file and the stream's offset of the first of them.

A record counts as a message only if all of these hold, for bodies may hold whole stored messages,
and old bytes stay in a file after Java has cut a log:

* its magic number is one of two, and its size fits into the file;
* its fields add up to its size (Java: ``CommitLog.checkMessageAndReturnSize``);
* its physical offset is the place where it stands.  Java does not compare it.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.wire.checksum import crc32
from rocketwire.wire.layouts.declarations import MAGIC_V1, MAGIC_V2

if TYPE_CHECKING:
    from collections.abc import Iterator

BLANK_MAGIC: Final = 0xCBD43194
"""Java: ``CommitLog.BLANK_MAGIC_CODE``."""

BLANK_SIZE: Final = 8
"""A message leaves at least this many bytes of its file (Java: ``END_FILE_MIN_BLANK_LENGTH``)."""

SMALLEST_MESSAGE: Final = 91
"""Bytes of a message without topic, body and properties."""

MAX_MESSAGE_SIZE: Final = 64 << 20
"""Default limit of one message; brokers take 4 MiB by default (``maxMessageSize``)."""

CRC_MASK: Final = 0x7FFFFFFF

BORN_HOST_V6: Final = 0x10
STORE_HOST_V6: Final = 0x20
_V6_EXTRA: Final = 12

_SIZE_AND_MAGIC: Final = Struct(">iI").unpack_from
_INT32: Final = Struct(">i").unpack_from
_INT16: Final = Struct(">h").unpack_from
_HEAD: Final = Struct(">iIiiiqqiq").unpack_from
_HEAD_SIZE: Final = 48
_MAGICS: Final = (MAGIC_V1.to_bytes(4, "big"), MAGIC_V2.to_bytes(4, "big"))

CRC_PROPERTY: Final = b"__CRC32#\x01"
"""Name of the last property of a message with its own checksum (``enabledAppendPropCRC``)."""

CRC_PROPERTY_SIZE: Final = 20


class MessageParts(NamedTuple):
    """Where the parts of a stored message stand.

    Attributes:
        size: bytes of the whole message.
        physical_offset: its offset in the stream, as the message has it.
        body: first byte of the body, in the bytes that were searched.
        body_size: bytes of the stored (perhaps compressed) body.
        topic: first byte of the topic.
        topic_size: bytes of the topic.
        properties: first byte of the properties.
        properties_size: bytes of the properties.
        body_crc: checksum of the stored body, as the message has it.
    """

    size: int
    physical_offset: int
    body: int
    body_size: int
    topic: int
    topic_size: int
    properties: int
    properties_size: int
    body_crc: int


def message_parts(data: bytes | memoryview, position: int) -> MessageParts | None:
    """Find the parts of the message at ``position``; None if no message with sound sizes is there.

    Args:
        data: bytes of one file.
        position: where the message would begin.
    """
    end = len(data)
    if position < 0 or position + SMALLEST_MESSAGE > end:
        return None
    size, magic, body_crc, _, _, _, physical_offset, sys_flag, _ = _HEAD(data, position)
    if magic not in (MAGIC_V1, MAGIC_V2) or size < SMALLEST_MESSAGE or position + size > end:
        return None
    end = position + size
    body = position + _HEAD_SIZE + 40
    body += _V6_EXTRA * (bool(sys_flag & BORN_HOST_V6) + bool(sys_flag & STORE_HOST_V6))
    if body + 3 > end:
        return None
    body_size = int(_INT32(data, body - 4)[0])
    topic = body + body_size
    if body_size < 0 or topic + 3 > end:
        return None
    is_short = magic == MAGIC_V1
    topic_size = data[topic] if is_short else int(_INT16(data, topic)[0])
    topic += 1 if is_short else 2
    properties = topic + topic_size + 2
    if topic_size < 0 or properties > end:
        return None
    properties_size = int(_INT16(data, properties - 2)[0])
    if properties_size < 0 or properties + properties_size != end:
        return None
    return MessageParts(
        size,
        physical_offset,
        body,
        body_size,
        topic,
        topic_size,
        properties,
        properties_size,
        body_crc,
    )


def body_crc_holds(data: bytes | memoryview, parts: MessageParts) -> bool:
    """Whether the checksum of the body is right; an empty body has none."""
    if parts.body_size == 0:
        return True
    return crc32(data[parts.body : parts.body + parts.body_size]) == parts.body_crc & CRC_MASK


def message_crc(data: bytes | memoryview, position: int, size: int) -> tuple[int, int] | None:
    """The checksum ``__CRC32#`` of a message as stored and as calculated; None without one.

    Args:
        data: bytes of one file.
        position: first byte of the message.
        size: of the message.
    """
    end = position + size
    tail = bytes(data[end - CRC_PROPERTY_SIZE : end])
    digits = tail[len(CRC_PROPERTY) : -1]
    if not tail.startswith(CRC_PROPERTY) or not digits.isdigit():
        return None
    calculated = crc32(data[position : end - CRC_PROPERTY_SIZE])
    return int(digits[::-1]), calculated


def walk(data: bytes | memoryview, position: int, stop: int) -> tuple[list[int], int]:
    """Positions of the records from ``position`` on, by their sizes and magic numbers alone.

    Args:
        data: bytes of one file.
        position: first byte of a message.
        stop: no message reaches beyond it.

    Returns:
        Positions of messages, and where the next record would begin: a blank, the end of the data,
        a message that reaches beyond ``stop``, or damage.
    """
    positions: list[int] = []
    append = positions.append
    unpack = _SIZE_AND_MAGIC
    last = stop - BLANK_SIZE
    while position <= last:
        size, magic = unpack(data, position)
        if magic != MAGIC_V1 and magic != MAGIC_V2:
            break
        end = position + size
        if size < SMALLEST_MESSAGE or end > stop:
            break
        append(position)
        position = end
    return positions, position


def blank_size(data: bytes | memoryview, position: int) -> int | None:
    """Bytes of the blank at ``position``; None if none is there."""
    if position + BLANK_SIZE > len(data):
        return None
    size, magic = _SIZE_AND_MAGIC(data, position)
    return size if magic == BLANK_MAGIC and size >= BLANK_SIZE else None


def candidates(data: bytes, position: int) -> Iterator[int]:
    """Positions from ``position`` on where the magic number of a message stands in its place."""
    offsets = [data.find(magic, position + 4) for magic in _MAGICS]
    while True:
        present = [offset for offset in offsets if offset >= 0]
        if not present:
            return
        nearest = min(present)
        yield nearest - 4
        index = offsets.index(nearest)
        offsets[index] = data.find(_MAGICS[index], nearest + 1)


def is_message(data: bytes | memoryview, position: int, base: int) -> bool:
    """Whether a whole message stands at ``position``: sizes, physical offset and checksum hold.

    Args:
        data: bytes of one file.
        position: where the message would begin.
        base: offset in the stream of the first byte of ``data``.
    """
    parts = message_parts(data, position)
    return (
        parts is not None
        and parts.physical_offset == base + position
        and body_crc_holds(data, parts)
    )


def next_message(data: bytes, position: int, base: int) -> int | None:
    """Find the first message from ``position`` on with valid sizes, physical offset and checksum.

    Args:
        data: bytes of one file.
        position: where to begin; messages are not aligned.
        base: offset in the stream of the first byte of ``data``.
    """
    for candidate in candidates(data, position):
        if is_message(data, candidate, base):
            return candidate
    return None
