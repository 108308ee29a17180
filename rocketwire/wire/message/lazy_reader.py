"""``StoredMessageReader``: reads stored messages, the bodies of responses to pull, pop and query.

* Ordinary messages are read lazily: the reader checks every length and keeps the bytes of the fixed
  fields and of the properties, which are decoded at the first access.  Nothing about them can be
  invalid.
* Messages with another layout, compressed bodies, inner batches and IPv6 addresses are decoded
  strictly, by the function derived from the declaration.  So are invalid messages, for their
  errors. A test compares both ways for damage at every byte.
* Consecutive messages of one size, as most programs send them, are compared with the first one and
  split by one ``Struct`` for all of them, like rows of a table.
* ``decode`` raises for an invalid message, with its number and place.  Java keeps the messages
  before it and drops the rest; ``strict=False`` does the same.
* ``read`` is for consumers: it skips invalid messages, so that they do not block later ones.  It
  ends before the message that exceeds a limit of all messages together.  The result has every
  skipped message and the unread bytes.
* What Java accepts is accepted, except that a message's size must match its fields, which Java does
  not check.  A body or properties of length zero or less count as missing.
* A decompressed body clears the compressed bit of ``sys_flag`` and keeps the bits of the type.

Java: ``MessageDecoder``, ``MessageExt``, ``MessageClientExt``.
"""

from __future__ import annotations

from functools import lru_cache
from operator import lt
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.errors import DecodeError, LimitExceededError, MissingPackageError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.checksum import crc32
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.layouts.fused import MAGIC_V1, MAGIC_V2, parse_stored_message_raw
from rocketwire.wire.message.batch import limit_exceeded, locate
from rocketwire.wire.message.body_compression import compression_type, decompress_body
from rocketwire.wire.message.host import MAX_PORT, Host
from rocketwire.wire.message.properties import MAX_PROPERTIES_BYTES
from rocketwire.wire.message.stored import (
    DEFAULT_LIMITS,
    HEAD_SIZE,
    LazyFields,
    StoredMessage,
    decode_raw_properties,
)
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredLimits

# Size, magic number, queue offset, ``sys_flag``, upper half of both ports, length of the body
_HEAD: Final = Struct(">lL12xq8xl12xH14xH14xl")
# Fields that must be equal in all rows: size with magic number, flags, ports, ..., ending
_ROW_CHECKED: Final = "Q28xl12xH14xH14xl%dx%ds%dx"
_ROW_VALUES: Final = "%ds%ds%dx%ds"  # head, body and properties of a row
_ROW_OFFSET: Final = "20xq%dx"  # queue offset of a row
# Maximum rows that are split at once: brokers return at most 32 messages by default
_MAX_ROWS: Final = 32
_PREFIX_SIZE: Final = 8  # bytes of size and magic number
_LENGTH_SIZE: Final = 2  # bytes of the properties' length

_MAX_TOPIC_LENGTH: Final = 127
# Bytes of a message without topic, body and properties
_MIN_SIZE: Final = HEAD_SIZE + 1 + _LENGTH_SIZE
_MIN_PROPERTY_SIZE: Final = 3  # bytes of a name, a separator and a value

_COMPRESSED: Final = int(MessageSysFlag.COMPRESSED)
# Flags of messages that are decoded strictly
_STRICT_FLAGS: Final = int(
    MessageSysFlag.COMPRESSED
    | MessageSysFlag.INNER_BATCH
    | MessageSysFlag.NEED_UNWRAP
    | MessageSysFlag.BORNHOST_V6
    | MessageSysFlag.STOREHOSTADDRESS_V6
)

_MAGICS: Final = (MAGIC_V1.to_bytes(4), MAGIC_V2.to_bytes(4))
_QUEUE_POSITION: Final = Struct(">12xi4xq")  # queue and queue offset of a message


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableMessage:
    """A stored message that ``StoredMessageReader.read`` skipped."""

    error: DecodeError  #: the error of decoding it
    queue_id: int | None  #: its queue according to its bytes, or None if they end before that
    queue_offset: int | None  #: its offset in the queue according to its bytes, or None
    #: the message with its body as stored, if only the body cannot be read
    stored: StoredMessage | None
    size: int  #: number of skipped bytes
    ends: bool  #: whether its end is unknown, so that all later bytes were skipped too


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessages:
    """The result of ``StoredMessageReader.read``."""

    messages: tuple[StoredMessage, ...]  #: the messages, in order
    unreadable: tuple[UnreadableMessage, ...] = ()  #: the skipped messages
    #: the limit that ended the reading, or None if all bytes were read
    stopped_by: LimitExceededError | None = None
    rest: bytes = b""  #: the unread bytes; empty unless a limit ended the reading

    @property
    def rest_offset(self) -> int | None:
        return _read_queue_position(self.rest, 0)[1]


class _Draft(LazyFields):
    # It becomes a ``StoredMessage``, which is immutable.

    __slots__ = ()


class _Rows(NamedTuple):
    """Structs for consecutive messages of one size."""

    checked: Struct  #: the fields that must be equal in all messages
    values: Struct  #: head, body and properties of each message
    offsets: Struct  #: queue offset of each message


@lru_cache(maxsize=256)
def _rows(count: int, size: int, body_size: int, ending_size: int) -> _Rows:
    properties_size = size - HEAD_SIZE - body_size - ending_size
    checked = _ROW_CHECKED % (body_size, ending_size, properties_size)
    values = _ROW_VALUES % (HEAD_SIZE, body_size, ending_size, properties_size)
    offset = _ROW_OFFSET % (size - 28)
    return _Rows(*(Struct(">" + count * row) for row in (checked, values, offset)))


class StoredMessageReader:
    """Reads the stored messages of responses, best from one queue.

    It remembers topic and layout of the last messages, which only saves time.

    Args:
        limits: limits of one response.
        decompress: whether to decompress bodies.
        check_crc: whether to compare each body, as stored, with its checksum.
    """

    def __init__(
        self,
        limits: StoredLimits = DEFAULT_LIMITS,
        *,
        decompress: bool = True,
        check_crc: bool = False,
    ) -> None:
        self._limits = limits
        self._decompress = decompress
        self._check_crc = check_crc
        self._topic = ""
        self._raw_topic: bytes = b""  # with its length
        self._endings: dict[int, bytes] = {}  # raw topic and length of the properties, by size
        self._row_size: int = 0
        self._shared_bytes: tuple[object, ...] = (None,) * 5
        self._shared = ("", _NO_HOST, _NO_HOST)
        #: whether all messages of the last response were read lazily: none is compressed, an inner
        #: batch, or has IPv6 addresses.  Only then are the others valid.
        self.is_ordinary: bool = True
        self.ascends: bool = True  #: whether each queue offset is larger than the previous one
        self.count: int = 0  #: number of messages of the last response
        self.body_size: int = 0  #: bytes of their bodies

    def decode(self, data: bytes, *, strict: bool = True) -> tuple[StoredMessage, ...]:
        """Decode all messages.

        Args:
            data: the messages.
            strict: whether an invalid message raises; otherwise the messages before it are
                returned, as in Java.

        Raises:
            LimitExceededError: more messages, properties or decompressed bytes than the limits
                allow, whether strict or not.
            DecodeError: a message is invalid, its checksum is wrong, or its compression needs a
                package that is not installed.
        """
        messages: list[StoredMessage] = []
        position, end = self._start(data, messages), len(data)
        try:
            while position < end:
                position = self._read_next(data, position, messages)
        except DecodeError as error:
            if strict or isinstance(error, LimitExceededError):
                raise
        return tuple(messages)

    def read(self, data: bytes) -> StoredMessages:
        """Read all messages that are valid and within the limits, for a consumer.

        An invalid message is skipped by its size.  At least one message is always read or skipped,
        so that the next pull begins later.  The first body may have ``max_body`` bytes, whatever
        ``max_inflated`` is.

        Args:
            data: the messages.

        Raises:
            MissingPackageError: a body needs a package that is not installed.
        """
        messages: list[StoredMessage] = []
        position, end = self._start(data, messages, is_lenient=True), len(data)
        if position == end:
            return StoredMessages(messages=tuple(messages))
        unreadable: list[UnreadableMessage] = []
        stopped_by: LimitExceededError | None = None
        while position < end and stopped_by is None:
            try:
                position = self._read_next(data, position, messages, skipped=len(unreadable))
            except MissingPackageError:
                raise
            except DecodeError as error:
                if error is self._limit_error and (messages or unreadable):
                    stopped_by = self._limit_error
                else:
                    unreadable.append(_unreadable(data, position, error))
                    position += unreadable[-1].size
        return StoredMessages(
            messages=tuple(messages),
            unreadable=tuple(unreadable),
            stopped_by=stopped_by,
            rest=data[position:],
        )

    def _start(
        self, data: bytes, messages: list[StoredMessage], *, is_lenient: bool = False
    ) -> int:
        limits, size = self._limits, len(data)
        self._is_lenient = is_lenient
        self._limit_error: LimitExceededError | None = None
        self._inflated_left = limits.max_inflated
        self._properties_left = limits.max_properties
        # data that cannot exceed a limit need not be counted
        self._counts_properties = size // _MIN_PROPERTY_SIZE > limits.max_properties
        fits = not self._counts_properties and size // _MIN_SIZE <= limits.max_messages
        self._is_lazy = fits and not self._check_crc
        self.body_size = 0
        self._newest = -1
        self.ascends = True
        position = self._read_lazily(data, 0, messages) if self._is_lazy else 0
        self.is_ordinary = position == size
        self.count = len(messages)
        return position

    # ------------------------------------------------------------------ lazily

    def _read_lazily(self, data: bytes, position: int, messages: list[StoredMessage]) -> int:
        if self._raw_topic:
            position = self._read_topic(data, position, messages)
        while position < len(data) and self._learn_topic(data, position):
            position = self._read_topic(data, position, messages)
        return position

    def _learn_topic(self, data: bytes, position: int) -> bool:
        if len(data) - position < _MIN_SIZE:
            return False
        _, magic, _, sys_flag, _, _, body_size = _HEAD.unpack_from(data, position)
        begin = position + HEAD_SIZE + body_size
        if magic != MAGIC_V1 or sys_flag & _STRICT_FLAGS or not 0 <= body_size <= len(data) - begin:
            return False
        raw_topic = data[begin : begin + 1 + data[begin]] if begin < len(data) else b""
        length = len(raw_topic) - 1
        if raw_topic == self._raw_topic or not 0 <= length <= _MAX_TOPIC_LENGTH:
            return False
        self._raw_topic = raw_topic
        self._topic = decode_utf8(raw_topic[1:])
        self._endings.clear()
        return True

    def _ending(self, size: int) -> bytes:
        properties_size = size - HEAD_SIZE - len(self._raw_topic) - _LENGTH_SIZE
        if not 0 <= properties_size <= MAX_PROPERTIES_BYTES:
            return b""
        ending = self._endings[size] = self._raw_topic + properties_size.to_bytes(_LENGTH_SIZE)
        return ending

    def _read_topic(self, data: bytes, position: int, messages: list[Any]) -> int:
        # The loop of every consumer: it has no calls that are not necessary.
        unpack, ending_of, topic = _HEAD.unpack_from, self._endings.get, self._topic
        add, starts, end = messages.append, data.startswith, len(data)
        ending_size = len(self._raw_topic) + _LENGTH_SIZE
        last_bodiless: int | None = None
        ending, last_size, in_rows = b"", self._row_size, True
        total, newest, ascends = self.body_size, self._newest, self.ascends
        while position + _MIN_SIZE <= end:
            size, magic, queue_offset, sys_flag, born, store, body_size = unpack(data, position)
            stop = position + size
            if magic != MAGIC_V1 or sys_flag & _STRICT_FLAGS or born or store:
                break
            if body_size < 0 or stop > end:
                break
            bodiless = size - body_size
            if bodiless != last_bodiless:
                last_bodiless = bodiless
                if not (ending := ending_of(bodiless) or self._ending(bodiless)):
                    break
            body = position + HEAD_SIZE
            body_end = body + body_size
            if not starts(ending, body_end):
                break
            if (
                size == last_size
                and in_rows
                and starts(data[position : position + _PREFIX_SIZE], stop)
            ):
                limit = min((end - position) // size, _MAX_ROWS)
                row = (size << 32 | MAGIC_V1, sys_flag, 0, 0, body_size, ending)
                rows, rises = self._read_rows(data, position, limit, row, messages)
                if rows:
                    self._row_size = size
                    position += rows * size
                    total += rows * body_size
                    ascends = ascends and rises and queue_offset > newest
                    newest = messages[-1].queue_offset
                    continue
                in_rows = False
            last_size = size
            message: Any = _Draft()
            message.topic = topic
            message.body = data[body:body_end] or None
            message.properties = data[body_end + ending_size : stop] or None
            message.queue_offset = queue_offset
            message._head = data[position:body]
            message.__class__ = StoredMessage
            add(message)
            position = stop
            total += body_size
            ascends = ascends and queue_offset > newest
            newest = queue_offset
        self.body_size, self._newest, self.ascends = total, newest, ascends
        return position

    def _read_rows(
        self, data: bytes, position: int, limit: int, row: tuple[Any, ...], messages: list[Any]
    ) -> tuple[int, bool]:
        # Their number, which is 0 if less than two match, and whether their queue offsets ascend.
        size, body_size, ending = row[0] >> 32, row[4], row[5]
        rows = _rows(limit, size, body_size, len(ending))
        if rows.checked.unpack_from(data, position) != row * limit:
            fewer = _count_rows(data, position, size, limit)
            return (
                self._read_rows(data, position, fewer, row, messages)
                if 1 < fewer < limit
                else (0, False)
            )
        topic, add = self._topic, messages.append
        values = iter(rows.values.unpack_from(data, position))
        offsets = rows.offsets.unpack_from(data, position)
        for queue_offset, head, body, properties in zip(
            offsets, values, values, values, strict=True
        ):
            message: Any = _Draft()
            message.topic = topic
            message.body = body or None
            message.properties = properties or None
            message.queue_offset = queue_offset
            message._head = head
            message.__class__ = StoredMessage
            add(message)
        is_range = offsets == tuple(range(offsets[0], offsets[0] + limit))
        return limit, is_range or all(map(lt, offsets, offsets[1:]))

    # ------------------------------------------------------------------ strictly

    def _read_next(
        self, data: bytes, position: int, messages: list[StoredMessage], *, skipped: int = 0
    ) -> int:
        limit = self._limits.max_messages
        if len(messages) + skipped >= limit:
            raise self._exceed("messages", limit, position)
        try:
            position = self._decode_strictly(data, position, messages)
        except DecodeError as error:
            locate(error, len(messages), position)
            raise
        return self._read_lazily(data, position, messages) if self._is_lazy else position

    def _exceed(self, unit: str, limit: int, offset: int | None) -> LimitExceededError:
        error = self._limit_error = limit_exceeded(unit, limit, offset)
        return error

    def _decode_strictly(self, data: bytes, position: int, messages: list[Any]) -> int:
        fields, end = parse_stored_message_raw(data, position)
        body_crc, sys_flag, body, raw_topic, properties = (
            fields[1],
            fields[6],
            fields[15],
            fields[16],
            fields[17],
        )
        if body is not None and (sys_flag & _COMPRESSED or self._check_crc):
            body, sys_flag = self._open_body(body, body_crc, sys_flag)
        if self._counts_properties and properties is not None:
            self._properties_left -= len(decode_raw_properties(properties))
            if self._properties_left < 0:
                raise self._exceed("properties", self._limits.max_properties, None)
        message: Any = _Draft()
        # consecutive messages mostly share topic and hosts
        shared_bytes = (raw_topic, *fields[8:10], *fields[11:13])
        if shared_bytes != self._shared_bytes:
            self._shared = (
                decode_utf8(raw_topic),
                _host(fields[8], fields[9], "born_host"),
                _host(fields[11], fields[12], "store_host"),
            )
            self._shared_bytes = shared_bytes
        message.topic, message.born_host, message.store_host = self._shared
        message.body = body
        message.properties = properties
        message.store_size = end - position
        message.body_crc = body_crc
        message.sys_flag = sys_flag
        _, _, message.queue_id, message.flag, message.queue_offset = fields[:5]
        message.commit_log_offset = fields[5]
        message.born_timestamp = fields[7]
        message.store_timestamp = fields[10]
        message.reconsume_times, message.prepared_transaction_offset = fields[13:15]
        message.__class__ = StoredMessage
        messages.append(message)
        return end

    def _open_body(self, body: bytes, body_crc: int, sys_flag: int) -> tuple[bytes, int]:
        if self._check_crc and crc32(body) != body_crc:
            raise DecodeError(f"checksum {crc32(body)} instead of {body_crc}", path="body")
        if self._decompress and sys_flag & _COMPRESSED:
            return self._inflate(body, sys_flag), sys_flag & ~_COMPRESSED
        return body, sys_flag

    def _inflate(self, body: bytes, sys_flag: int) -> bytes:
        compression = compression_type(sys_flag)
        limits = self._limits
        room = min(limits.max_body, max(self._inflated_left, 0))
        if self._is_lenient and self._inflated_left == limits.max_inflated:
            room = limits.max_body  # a body between the two limits has to be readable
        try:
            body = decompress_body(body, compression, max_size=room)
        except DecodeError as error:
            error.path, error.offset = "body", None  # the offset inside the body does not help
            if isinstance(error, LimitExceededError) and room < limits.max_body:
                self._limit_error = error
            raise
        self._inflated_left -= len(body)
        return body


def decode_stored_messages(
    data: bytes,
    *,
    decompress: bool = True,
    check_crc: bool = False,
    strict: bool = True,
    limits: StoredLimits = DEFAULT_LIMITS,
) -> tuple[StoredMessage, ...]:
    """Decode all messages of a response.

    Args:
        data: the messages.
        decompress: whether to decompress bodies.
        check_crc: whether to compare each body, as stored, with its checksum.
        strict: as for ``StoredMessageReader.decode``.
        limits: limits of the response.

    Raises:
        LimitExceededError, DecodeError: as ``StoredMessageReader.decode``.
    """
    reader = StoredMessageReader(limits, decompress=decompress, check_crc=check_crc)
    return reader.decode(data, strict=strict)


_NO_HOST: Final = Host(bytes(4), 0)


def _host(address: bytes, port: int, path: str) -> Host:
    if not 0 <= port <= MAX_PORT:
        raise DecodeError(f"port {port} is not between 0 and 65535", path=path)
    return Host.of(address, port)


def _count_rows(data: bytes, position: int, size: int, limit: int) -> int:
    prefix, count = data[position : position + _PREFIX_SIZE], 1
    while count < limit and data.startswith(prefix, position + count * size):
        count += 1
    return count


def _unreadable(data: bytes, position: int, error: DecodeError) -> UnreadableMessage:
    # It extends to the end of the data if its size is invalid.
    queue_id, queue_offset = _read_queue_position(data, position)
    size = int.from_bytes(data[position : position + 4])
    stop = position + size
    ends = size < _MIN_SIZE or not (stop == len(data) or data[stop + 4 : stop + 8] in _MAGICS)
    stored: StoredMessage | None = None
    if not ends:
        try:
            (stored,) = decode_stored_messages(data[position:stop], decompress=False)
        except DecodeError:
            stored = None
    return UnreadableMessage(
        error=error,
        queue_id=queue_id,
        queue_offset=queue_offset,
        stored=stored,
        size=len(data) - position if ends else size,
        ends=ends,
    )


def _read_queue_position(data: bytes, position: int) -> tuple[int | None, int | None]:
    if len(data) - position < _QUEUE_POSITION.size:
        return None, None
    queue_id, queue_offset = _QUEUE_POSITION.unpack_from(data, position)
    return queue_id, queue_offset
