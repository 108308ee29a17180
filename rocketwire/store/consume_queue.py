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
    from collections.abc import Iterator

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


class QueueUnit(NamedTuple):
    physical_offset: int  #: of the message in the commit log
    size: int  #: of the message there
    #: hash of its tags; the delivery time, in milliseconds since 1970, in the queues of delayed
    #: messages; the address of an extension if it is small enough
    tags_code: int

    @property
    def is_pre_blank(self) -> bool:
        return self.size == PRE_BLANK_SIZE and self.physical_offset == 0

    @property
    def points_to_message(self) -> bool:
        """Whether it points to a message, by Java's rule and without pre-blanks."""
        return self.physical_offset >= 0 and self.size > 0 and not self.is_pre_blank


class BatchUnit(NamedTuple):
    physical_offset: int  #: of the batch in the commit log
    size: int  #: of the batch there
    tags_code: int  #: hash of its tags
    store_timestamp: int  #: when it was stored, milliseconds since 1970
    base_offset: int  #: queue offset of the first message of the batch
    message_count: int  #: messages in it
    compacted_offset: int  #: -1
    reserved: int  #: 0

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
    tags_code: int  #: hash of the tags of the message
    store_timestamp: int  #: when it was stored, milliseconds since 1970
    bit_map: bytes  #: bits of the consumer filters that the message passes


def decode_units(data: bytes | memoryview) -> Iterator[QueueUnit]:
    whole = len(data) - len(data) % UNIT_SIZE
    return map(QueueUnit._make, _UNIT.iter_unpack(data[:whole]))


def decode_batch_units(data: bytes | memoryview) -> Iterator[BatchUnit]:
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
