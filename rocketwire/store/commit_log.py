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
_LONG_HOSTS: Final = BORN_HOST_V6 | STORE_HOST_V6
_SIZE_AND_MAGIC: Final = Struct(">iI").unpack_from
_INT16: Final = Struct(">h").unpack_from
# By the bits for long addresses: size, magic number, checksum, queue id, queue offset, physical
# offset, flags, store time, offset of the half message, size of the body.
_HEADS: Final = {
    born | stored: Struct(f">iIii4xqqi{28 if born else 16}xq{24 if stored else 12}xqi")
    for born in (0, BORN_HOST_V6)
    for stored in (0, STORE_HOST_V6)
}
_SHORT_HEAD: Final = _HEADS[0]
_MAGICS: Final = (MAGIC_V1.to_bytes(4, "big"), MAGIC_V2.to_bytes(4, "big"))

CRC_PROPERTY: Final = b"__CRC32#\x01"
"""Name of the last property of a message with its own checksum (``enabledAppendPropCRC``)."""

CRC_PROPERTY_SIZE: Final = 20


class MessageParts(NamedTuple):
    """A stored message: its numbers, and where its body and texts begin in the searched bytes."""

    size: int
    physical_offset: int  # as the message has it
    queue_id: int
    queue_offset: int
    sys_flag: int
    store_time: int
    prepared_offset: int  # physical offset of the half message that it ends
    body: int
    body_size: int  # as stored, perhaps compressed
    body_crc: int  # as the message has it
    topic: int
    topic_size: int
    properties: int
    properties_size: int


def message_parts(data: bytes | memoryview, position: int) -> MessageParts | None:
    """Find the parts of the message at ``position``; None if no message with sound sizes is there.

    Args:
        data: bytes of one file.
        position: where the message would begin.
    """
    if position < 0 or position + SMALLEST_MESSAGE > len(data):
        return None
    # Nearly all messages have short addresses, and one call that reads all numbers is much faster
    # than one for each: a broker reads its whole log at the start.
    head = _SHORT_HEAD
    fields: tuple[int, ...] = head.unpack_from(data, position)
    if fields[6] & _LONG_HOSTS:
        head = _HEADS[fields[6] & _LONG_HOSTS]
        if position + head.size > len(data):
            return None
        fields = head.unpack_from(data, position)
    size, magic, body_crc, queue_id, queue_offset, physical, flags, time, half, length = fields
    end, body = position + size, position + head.size
    topic = body + length
    if size < SMALLEST_MESSAGE or end > len(data) or length < 0 or topic + 3 > end:
        return None
    if magic == MAGIC_V1:
        topic, topic_size = topic + 1, data[topic]
    elif magic == MAGIC_V2:
        topic, topic_size = topic + 2, _INT16(data, topic)[0]
    else:
        return None
    properties = topic + topic_size + 2
    if topic_size < 0 or properties > end:
        return None
    properties_size = _INT16(data, properties - 2)[0]
    if properties_size < 0 or properties + properties_size != end:
        return None
    return MessageParts(
        size,
        physical,
        queue_id,
        queue_offset,
        flags,
        time,
        half,
        body,
        length,
        body_crc,
        topic,
        topic_size,
        properties,
        properties_size,
    )


def body_crc_holds(data: bytes | memoryview, parts: MessageParts) -> bool:
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
    if position + BLANK_SIZE > len(data):
        return None
    size, magic = _SIZE_AND_MAGIC(data, position)
    return size if magic == BLANK_MAGIC and size >= BLANK_SIZE else None


def candidates(data: bytes, position: int) -> Iterator[int]:
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
