"""What a Java broker takes for a record of its commit log, release by release.

Java's rule differs from ``commit_log``: it does not compare the physical offset, it takes a
negative body length for an empty body, and it refuses a message whose properties hold a number that
is none.
"""

from __future__ import annotations

import re
from enum import StrEnum
from struct import Struct
from typing import Final, NamedTuple

from rocketwire.messages import message_const
from rocketwire.policy.resource_names import SCHEDULE_TOPIC
from rocketwire.store.commit_log import BLANK_MAGIC, BORN_HOST_V6, STORE_HOST_V6
from rocketwire.wire.checksum import crc32
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.layouts.declarations import MAGIC_V1, MAGIC_V2
from rocketwire.wire.message.properties import decode_properties

_HEAD: Final = Struct(">iIiiiqqiq")
_INT64: Final = Struct(">q").unpack_from
_INT32: Final = Struct(">i").unpack_from
_INT16: Final = Struct(">h").unpack_from
_INT8: Final = Struct(">b").unpack_from
_JAVA_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,40}", re.ASCII)
_INT16_BITS, _INT32_BITS, _INT64_BITS = 16, 32, 64


class Release(StrEnum):
    """Releases whose recovery is predicted."""

    V4_9_4 = "4.9.4"
    V5_3_3 = "5.3.3"
    V5_5_0 = "5.5.0"


class JavaRecord(NamedTuple):
    """What Java reads at a place of a commit log (Java: ``DispatchRequest``).

    Attributes:
        size: of the message; 0 for a blank; of a broken record its size where Java skips that many
            bytes, else -1.
        reason: the rule that a broken record breaks; empty for a message and a blank.
        physical_offset: as the message has it.
        store_timestamp: milliseconds since 1970.
        queue_id: of the topic.
        queue_offset: as the message has it.
        sys_flag: as the message has it.
        topic: name.
        properties: bytes of the properties.
    """

    size: int
    reason: str = ""
    physical_offset: int = 0
    store_timestamp: int = 0
    queue_id: int = 0
    queue_offset: int = 0
    sys_flag: int = 0
    topic: bytes = b""
    properties: bytes = b""

    @property
    def is_message(self) -> bool:
        """Whether Java takes it for a message."""
        return not self.reason and self.size > 0

    @property
    def is_blank(self) -> bool:
        """Whether Java continues in the next file."""
        return not self.reason and self.size == 0


NO_RECORD: Final = "zeros stand where a message should begin"
"""Why Java stops at the end of a log, and at a hole."""

BLANK: Final = JavaRecord(0)


class MoreBytesNeededError(Exception):
    """A record reaches beyond the bytes that were given, and not beyond its file.

    Attributes:
        size: bytes that are needed.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class _BrokenError(Exception):
    """A rule of Java's is broken."""


class _Cursor:
    """Bytes of a record, read as ``java.nio.ByteBuffer`` does."""

    def __init__(self, data: bytes | memoryview, remaining: int) -> None:
        self.data = data
        self.remaining = remaining
        self.position = 0

    def take(self, size: int) -> int:
        """Move over ``size`` bytes; returns where they begin."""
        start = self.position
        if start + size > self.remaining:
            raise _BrokenError("the record reaches beyond its file")
        if start + size > len(self.data):
            raise MoreBytesNeededError(start + size)
        self.position = start + size
        return start


def read_record(
    data: bytes | memoryview,
    remaining: int,
    release: Release,
    *,
    with_body: bool = True,
) -> JavaRecord:
    """Read the record at the beginning of ``data`` (Java: ``CommitLog.checkMessageAndReturnSize``).

    Args:
        data: bytes of a file from the record on; they may end early.
        remaining: bytes of the file from the record on.
        release: of the broker.
        with_body: whether Java reads the body and compares its checksum, as recovery does; the
            thread that builds queues does not.

    Raises:
        MoreBytesNeededError: ``data`` ends before the record does.
    """
    cursor = _Cursor(data, remaining)
    try:
        return _read(cursor, release, with_body)
    except _BrokenError as error:
        return JavaRecord(-1, str(error))


def _read(cursor: _Cursor, release: Release, with_body: bool) -> JavaRecord:
    data = cursor.data
    size, magic = _size_and_magic(cursor, release)
    if magic == BLANK_MAGIC:
        return BLANK
    head = _HEAD.unpack_from(data, cursor.take(_HEAD.size - 8) - 8)
    _, _, body_crc, queue_id, _, queue_offset, physical_offset, sys_flag, _ = head
    _part(cursor, 20 if sys_flag & BORN_HOST_V6 else 8, size, "host")
    (store_timestamp,) = _INT64(data, cursor.take(8))
    _part(cursor, 20 if sys_flag & STORE_HOST_V6 else 8, size, "host")
    cursor.take(12)
    _pass_body(cursor, size, body_crc, with_body)
    unpack, width = (_INT8, 1) if magic == MAGIC_V1 else (_INT16, 2)
    (topic_size,) = unpack(data, cursor.take(width))
    topic = _part(cursor, topic_size, size, "topic")
    (properties_size,) = _INT16(data, cursor.take(2))
    # a negative length counts as none (Java: MessageExtEncoder.calMsgLength)
    properties = _part(cursor, max(0, properties_size), size, "properties")
    _check_numbers(topic, properties, release)
    end = cursor.position
    if end != size:
        return JavaRecord(size, f"the size is {size}, the fields have {end} bytes")
    return JavaRecord(
        size,
        "",
        physical_offset,
        store_timestamp,
        queue_id,
        queue_offset,
        sys_flag,
        topic,
        properties,
    )


def _size_and_magic(cursor: _Cursor, release: Release) -> tuple[int, int]:
    data, is_old = cursor.data, release is Release.V4_9_4
    if cursor.remaining <= 4 and not is_old:
        raise _BrokenError("the file ends")
    (size,) = _INT32(data, cursor.take(4))
    if size > cursor.remaining and not is_old:
        raise _BrokenError(f"the size {size} reaches beyond the file")
    magic = _INT32(data, cursor.take(4))[0] & 0xFFFFFFFF
    if magic == BLANK_MAGIC:
        return size, magic
    if not size and not magic:
        raise _BrokenError(NO_RECORD)
    if magic != MAGIC_V1 and (magic != MAGIC_V2 or is_old):
        raise _BrokenError(f"the magic number {magic:#010x} is none of a message")
    if size < 0:
        raise _BrokenError(f"the size {size} is negative")
    return size, magic


def _pass_body(cursor: _Cursor, size: int, body_crc: int, with_body: bool) -> None:
    (body_size,) = _INT32(cursor.data, cursor.take(4))
    if body_size <= 0:  # Java takes a negative length for none
        return
    if with_body and body_size > size:
        raise _BrokenError(f"the body of {body_size} bytes is larger than the size {size}")
    body = cursor.take(body_size)
    if with_body and crc32(cursor.data[body : body + body_size]) != body_crc:
        raise _BrokenError("the checksum of the body is wrong")


def _part(cursor: _Cursor, part_size: int, size: int, name: str) -> bytes:
    # Java copies each part into an array of the size of the message
    if not 0 <= part_size <= size:
        raise _BrokenError(f"the {name} of {part_size} bytes does not fit into the size {size}")
    start = cursor.take(part_size)
    return bytes(cursor.data[start : start + part_size])


def _check_numbers(topic: bytes, properties: bytes, release: Release) -> None:
    """Refuse what Java cannot parse: it does so while it reads the record."""
    has_batch = message_const.INNER_NUM.encode() in properties
    if topic != SCHEDULE_TOPIC.encode() and (not has_batch or release is Release.V4_9_4):
        return
    values = decode_properties(decode_utf8(properties))
    delay = values.get(message_const.DELAY)
    if topic == SCHEDULE_TOPIC.encode() and delay is not None:
        _check_number(message_const.DELAY, delay, _INT32_BITS)
    if has_batch and release is not Release.V4_9_4:
        base, count = (values.get(message_const.INNER_BASE), values.get(message_const.INNER_NUM))
        if base is not None and count is not None:
            _check_number(message_const.INNER_BASE, base, _INT64_BITS)
            _check_number(message_const.INNER_NUM, count, _INT16_BITS)


def _check_number(name: str, text: str, bits: int) -> None:
    limit = 1 << (bits - 1)
    if not _JAVA_INTEGER.fullmatch(text) or not -limit <= int(text) < limit:
        raise _BrokenError(f"the property {name} is {text[:40]!r}, which is no number")
