"""Stored messages as a consumer reads them: one that cannot be read never blocks those behind it.

Rules of this file: a message that cannot be read is skipped by its size.  A limit of all messages
together ends the reading in front of the message that exceeds it.  Nothing is dropped in silence:
the result names every message that was skipped, and has the bytes that were not read.

Java's reader (``MessageDecoder.decodes``) drops all that follows a message that it cannot read.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError, MissingPackageError
from rocketwire.wire.layouts.functions import MAGIC_V1, MAGIC_V2
from rocketwire.wire.message.lazy_reader import SMALLEST, Known
from rocketwire.wire.message.stored import (
    DEFAULT_LIMITS,
    StoredReader,
    are_few,
    decode_stored_messages,
    read_alike,
)
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from rocketwire.errors import LimitExceededError
    from rocketwire.wire.message.stored import StoredLimits, StoredMessage

_LENGTH_SIZE: Final = 4
_MAGICS: Final = (MAGIC_V1.to_bytes(4), MAGIC_V2.to_bytes(4))
_PLACE: Final = Struct(">12xi4xq")
"""Queue and queue offset, from the beginning of a message on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableMessage:
    """A stored message that ``read_stored_messages`` skipped.

    Attributes:
        error: why it cannot be read.
        queue_id: its queue, as far as its bytes can be trusted; None if they end before that.
        queue_offset: its position in the queue, likewise.
        stored: the message with its body as it was stored, if all but the body can be read.
        size: bytes that were skipped.
        ends: whether its end is unknown, so that all bytes behind it were skipped as well.
    """

    error: DecodeError
    queue_id: int | None
    queue_offset: int | None
    stored: StoredMessage | None
    size: int
    ends: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessages:
    """What ``read_stored_messages`` made of an answer.

    Attributes:
        messages: those that were read, in order.
        unreadable: those that were skipped.
        stopped_by: the limit that ended the reading; None if all bytes were read.
        rest: the bytes behind the last message that was read or skipped; empty unless a limit
            ended the reading.
    """

    messages: tuple[StoredMessage, ...]
    unreadable: tuple[UnreadableMessage, ...] = ()
    stopped_by: LimitExceededError | None = None
    rest: bytes = b""

    @property
    def rest_offset(self) -> int | None:
        """Queue offset of the first message of ``rest``; None if there is none."""
        return _place_of(self.rest, 0)[1]


def read_stored_messages(
    data: bytes, *, limits: StoredLimits = DEFAULT_LIMITS, known: Known | None = None
) -> StoredMessages:
    """Read as many messages as can be read and as the limits allow, for a consumer.

    A message that cannot be read is skipped: its size says where the next one begins.  A limit of
    all messages together ends the reading in front of the message that exceeds it.  One message
    is always read or skipped, so that the next pull begins further on.

    Args:
        data: the body of an answer.
        limits: how much may come out.  The first body is held to ``max_body`` alone.
        known: as of ``decode_stored_messages``.

    Raises:
        MissingPackageError: a body needs a package that is not installed.
    """
    found: list[StoredMessage] = []
    at, end = 0, len(data)
    if known is None:
        known = Known()
    elif known.raw_topic and are_few(end, limits):
        at = read_alike(data, 0, known, found)
    known.was_usual, known.number = at == end, len(found)
    if at == end:
        return StoredMessages(messages=tuple(found))
    reader = StoredReader(data, limits, known, decompress=True, check_crc=False, is_lenient=True)
    unreadable: list[UnreadableMessage] = []
    stopped_by: LimitExceededError | None = None
    while at < end and stopped_by is None:
        try:
            at = reader.read(at, found, skipped=len(unreadable))
        except MissingPackageError:
            raise
        except DecodeError as error:
            at = reader.begin
            if error is reader.stopped_by and (found or unreadable):
                stopped_by = reader.stopped_by
            else:
                unreadable.append(_unreadable(data, at, error))
                at += unreadable[-1].size
    return StoredMessages(
        messages=tuple(found),
        unreadable=tuple(unreadable),
        stopped_by=stopped_by,
        rest=data[at:],
    )


def _unreadable(data: bytes, at: int, error: DecodeError) -> UnreadableMessage:
    """The message at a position, which raised; up to the end of the data if its size is invalid."""
    queue_id, queue_offset = _place_of(data, at)
    size = int.from_bytes(data[at : at + _LENGTH_SIZE])
    stop = at + size
    ends = size < SMALLEST or not (stop == len(data) or data[stop + 4 : stop + 8] in _MAGICS)
    stored: StoredMessage | None = None
    if not ends:
        try:
            (stored,) = decode_stored_messages(data[at:stop], decompress=False)
        except DecodeError:
            stored = None
    return UnreadableMessage(
        error=error,
        queue_id=queue_id,
        queue_offset=queue_offset,
        stored=stored,
        size=len(data) - at if ends else size,
        ends=ends,
    )


def _place_of(data: bytes, at: int) -> tuple[int | None, int | None]:
    """Queue and queue offset of the message at a position; None if the data ends before them."""
    if len(data) - at < _PLACE.size:
        return None, None
    queue_id, queue_offset = _PLACE.unpack_from(data, at)
    return queue_id, queue_offset
