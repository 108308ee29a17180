"""Half messages of a task, packed for the driver: 32 bytes each, beside topic and broker; pure."""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from rocketwire.wire.message.ids import decode_offset_message_id

if TYPE_CHECKING:
    from collections.abc import Iterator

_LITTLE: Final = sys.byteorder == "little"


class Half(NamedTuple):
    """A half message: what a broker needs to end its transaction.

    Attributes:
        topic: the topic, with namespace.
        broker: name of the broker.
        key: unique key.
        queue_offset: offset in the queue of half messages.
        log_offset: offset in the commit log.
    """

    topic: str
    broker: str
    key: str
    queue_offset: int
    log_offset: int


class _Columns(msgspec.Struct, array_like=True):
    """The half messages of a topic on a broker; numbers as little-endian int64."""

    topic: str
    broker: str
    keys: list[str]
    queue_offsets: bytes
    log_offsets: bytes


class Halves:
    """Half messages, by topic and broker."""

    def __init__(self) -> None:
        """Start without half messages."""
        self._groups: dict[tuple[str, str], tuple[list[str], array[int], array[int]]] = {}

    def add(self, topic: str, broker: str, key: str, queue_offset: int, offset_msg_id: str) -> None:
        """Add a half message.

        Args:
            topic: see ``Half``.
            broker: see ``Half``.
            key: see ``Half``.
            queue_offset: see ``Half``.
            offset_msg_id: the broker's id, which contains the offset in the commit log.

        Raises:
            DecodeError: the broker's id is invalid.
        """
        log_offset = decode_offset_message_id(offset_msg_id).commit_log_offset
        group = self._groups.get((topic, broker))
        if group is None:
            group = self._groups[topic, broker] = ([], array("q"), array("q"))
        keys, queue_offsets, log_offsets = group
        keys.append(key)
        queue_offsets.append(queue_offset)
        log_offsets.append(log_offset)

    def pack(self) -> bytes:
        """Return the half messages as bytes; no bytes if there are none."""
        if not self._groups:
            return b""
        return msgspec.msgpack.encode(
            [
                _Columns(topic, broker, keys, _bytes_of(offsets), _bytes_of(log_offsets))
                for (topic, broker), (keys, offsets, log_offsets) in self._groups.items()
            ]
        )


def unpack(packed: bytes) -> Iterator[Half]:
    """Yield the half messages of ``Halves.pack``; none of empty bytes.

    Raises:
        ValueError: the bytes are damaged.
    """
    if not packed:
        return
    for columns in msgspec.msgpack.decode(packed, type=list[_Columns]):
        offsets, log_offsets = _numbers(columns.queue_offsets), _numbers(columns.log_offsets)
        for row in zip(columns.keys, offsets, log_offsets, strict=True):
            yield Half(columns.topic, columns.broker, *row)


def _bytes_of(numbers: array[int]) -> bytes:
    if not _LITTLE:
        numbers = array("q", numbers)
        numbers.byteswap()
    return numbers.tobytes()


def _numbers(data: bytes) -> array[int]:
    numbers = array("q")
    numbers.frombytes(data)
    if not _LITTLE:
        numbers.byteswap()
    return numbers
