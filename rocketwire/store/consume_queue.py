"""Units of consume queues: pointers into the commit log, in the order of a queue.

A queue's file holds units of one size.  The number of a unit of a plain queue is the queue offset
of its message; a queue of type BatchCQ has a unit for each batch, which names its own offsets.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.policy.java_strings import string_hash
from rocketwire.store import layouts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNIT_SIZE: Final = 20
"""Java: ``ConsumeQueue.CQ_STORE_UNIT_SIZE``."""

BATCH_UNIT_SIZE: Final = 46
"""Java: ``BatchConsumeQueue.CQ_STORE_UNIT_SIZE``."""

PRE_BLANK_SIZE: Final = 0x7FFFFFFF
"""Size in a unit of offsets that a queue never had (Java: ``ConsumeQueue.fillPreBlank``)."""

MAX_EXTENSION_ADDRESS: Final = -2147483649
"""A tags code up to this one is an address of an extension (Java: ``ConsumeQueueExt.MAX_ADDR``)."""

_EXTENSION_BASE: Final = -(1 << 63)
_UNIT: Final = Struct(layouts.format_of(layouts.QUEUE_UNIT))
_BATCH_UNIT: Final = Struct(layouts.format_of(layouts.BATCH_UNIT))
_EXTENSION: Final = Struct(layouts.format_of(layouts.QUEUE_EXTENSION))
_MANY: Final = 1024
_UNIT_OFFSETS: Final = Struct(">" + f"q{UNIT_SIZE - 8}x" * _MANY)
_BATCH_UNIT_OFFSETS: Final = Struct(">" + f"q{BATCH_UNIT_SIZE - 8}x" * _MANY)
"""Offsets of many units at once; units that are read one by one take five times as long."""

_SIGNS: Final = bytes(128) + b"\1" * 128


class QueueUnit(NamedTuple):
    """A unit of a plain queue.

    Attributes:
        physical_offset: of the message in the commit log.
        size: of the message there.
        tags_code: hash of its tags; the delivery time, in milliseconds since 1970, in the queues of
            delayed messages; the address of an extension where it is small enough.
    """

    physical_offset: int
    size: int
    tags_code: int

    @property
    def is_pre_blank(self) -> bool:
        """Whether it stands for an offset that the queue never had."""
        return self.size == PRE_BLANK_SIZE and self.physical_offset == 0

    @property
    def points_to_message(self) -> bool:
        """Whether it points to a message, by Java's rule and without pre-blanks."""
        return self.physical_offset >= 0 and self.size > 0 and not self.is_pre_blank


class BatchUnit(NamedTuple):
    """A unit of a queue of type BatchCQ, or of a compacted topic.

    Attributes:
        physical_offset: of the batch in the commit log.
        size: of the batch there.
        tags_code: hash of its tags.
        store_timestamp: when it was stored, milliseconds since 1970.
        base_offset: queue offset of the first message of the batch.
        message_count: messages in it.
        compacted_offset: -1.
        reserved: 0.
    """

    physical_offset: int
    size: int
    tags_code: int
    store_timestamp: int
    base_offset: int
    message_count: int
    compacted_offset: int
    reserved: int

    @property
    def points_to_message(self) -> bool:
        """Whether it points to a batch (Java: ``BatchConsumeQueue.isBatchUnitValid``)."""
        return (
            self.physical_offset >= 0
            and self.size > 0
            and self.base_offset >= 0
            and self.message_count > 0
        )


class QueueExtension(NamedTuple):
    """An extension of a unit (Java: ``ConsumeQueueExt.CqExtUnit``).

    Attributes:
        tags_code: hash of the tags of the message.
        store_timestamp: when it was stored, milliseconds since 1970.
        bit_map: bits of the consumer filters that the message passes.
    """

    tags_code: int
    store_timestamp: int
    bit_map: bytes


def decode_units(data: bytes | memoryview) -> Iterator[QueueUnit]:
    """The units of a queue's file, unwritten ones included; a cut last unit is ignored."""
    whole = len(data) - len(data) % UNIT_SIZE
    return map(QueueUnit._make, _UNIT.iter_unpack(data[:whole]))


def decode_batch_units(data: bytes | memoryview) -> Iterator[BatchUnit]:
    """The units of a file of a batch queue, unwritten ones included."""
    whole = len(data) - len(data) % BATCH_UNIT_SIZE
    return map(BatchUnit._make, _BATCH_UNIT.iter_unpack(data[:whole]))


def encode_unit(unit: QueueUnit) -> bytes:
    """A unit as ``ConsumeQueue.putMessagePositionInfo`` writes it."""
    return _UNIT.pack(*unit)


def encode_batch_unit(unit: BatchUnit) -> bytes:
    """A unit as ``BatchConsumeQueue.putBatchMessagePositionInfo`` writes it."""
    return _BATCH_UNIT.pack(*unit)


def extension_offset(tags_code: int) -> int | None:
    """Offset in the extension's stream to which a tags code points; None for a plain tags code."""
    return tags_code - _EXTENSION_BASE if tags_code <= MAX_EXTENSION_ADDRESS else None


def decode_extension(data: bytes | memoryview, position: int) -> QueueExtension | None:
    """The extension at ``position`` of its file; None at the end of the data, or for damage."""
    if position < 0 or position + _EXTENSION.size > len(data):
        return None
    size, tags_code, store_timestamp, bit_map_size = _EXTENSION.unpack_from(data, position)
    end = position + _EXTENSION.size + bit_map_size
    if bit_map_size < 0 or size != _EXTENSION.size + bit_map_size or end > len(data):
        return None
    return QueueExtension(tags_code, store_timestamp, bytes(data[position + _EXTENSION.size : end]))


def tags_code(tags: str | None) -> int:
    """The hash of a message's tags; 0 without tags (Java: ``tagsString2tagsCode``)."""
    return string_hash(tags) if tags else 0


def first_invalid(data: bytes, unit_size: int) -> int:
    """Position of the first unit that Java takes for the end of a queue; the end without one.

    A unit is valid if its offset is not negative and its size is positive; one of a batch must
    have a base that is not negative and a positive count too.

    Args:
        data: whole units.
        unit_size: of one unit, which says what kind it is.
    """
    count = len(data) // unit_size
    if not count:
        return 0
    is_batch = unit_size == BATCH_UNIT_SIZE
    data = data[: count * unit_size]
    firsts = (0, 8, 28, 36) if is_batch else (0, 8)
    places = [_joined(data, firsts, unit_size).translate(_SIGNS).find(1)]
    places.append(_joined(data, range(8, 12), unit_size).find(0))
    if is_batch:
        places.append(_joined(data, (36, 37), unit_size).find(0))
    return min((place for place in places if place >= 0), default=count) * unit_size


def first_from(data: bytes, unit_size: int, offset: int) -> int | None:
    """Position of the first unit that points to an offset or behind it; None without one."""
    layout, many = (
        (_UNIT, _UNIT_OFFSETS) if unit_size == UNIT_SIZE else (_BATCH_UNIT, _BATCH_UNIT_OFFSETS)
    )
    for start in range(0, len(data), many.size):
        part = data[start : start + many.size]
        if len(part) == many.size and max(many.unpack(part)) < offset:
            continue
        for number, unit in enumerate(layout.iter_unpack(part)):
            if unit[0] >= offset:
                return start + number * unit_size
    return None


def _joined(data: bytes, columns: Iterable[int], unit_size: int) -> bytes:
    """For each unit the bits of some of its bytes, put together with *or*."""
    bits = 0
    for column in columns:
        bits |= int.from_bytes(data[column::unit_size], "big")
    return bits.to_bytes(len(data) // unit_size, "big")
