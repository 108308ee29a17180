"""Stored messages: as brokers keep them and hand them out, one after the other, without a count.

They are the body of answers to pull, pop, peek, query and view, of the transaction check and of
direct consumption.

Rules of this file:

* ``decode_stored_messages`` raises for a message that cannot be read, with its number and its place.
  Java keeps what came before and drops the rest; ``strict=False`` does the same.
* Consumers read with ``lenient_reader``, so that one message never blocks those behind it.
* Beyond that, what Java accepts is accepted, except that the size of a message has to be that of
  its fields, which Java never compares.  A body or properties of length zero or less are not there.
* Properties are read when somebody asks for them: whoever filters, or looks at them; until then the message keeps their bytes.
* An inflated body loses the compressed bit of ``sys_flag`` and keeps the bits of the type.
* Every number of things is limited, inflated bytes above all (``StoredLimits``).

Java: ``MessageDecoder``, ``MessageExt``, ``MessageClientExt``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.checksum import crc32
from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from rocketwire.wire.layouts.functions import MAGIC_V1, MAGIC_V2, build_stored, parse_raw_stored
from rocketwire.wire.message.batch import MAX_BATCH_MESSAGES, decode_batch, locate, require
from rocketwire.wire.message.body_compression import (
    compress_body,
    compression_type,
    decompress_body,
)
from rocketwire.wire.message.host import MAX_PORT, Host
from rocketwire.wire.message.ids import create_offset_message_id
from rocketwire.wire.message.lazy_reader import SMALLEST, Known, Unread, alike_reader, read_late
from rocketwire.wire.message.properties import (
    UNIQUE_KEY,
    WAIT,
    decode_properties,
    encode_properties,
)
from rocketwire.wire.values.drafts import build_constructor, read_lazily

if TYPE_CHECKING:
    from collections.abc import Mapping


MAX_TOPIC_LENGTH_V1: Final = 127
"""Bytes of a topic that the first layout can hold; brokers write the second one for longer ones."""

_COMPRESSED: Final = int(MessageSysFlag.COMPRESSED)
_INNER_BATCH: Final = int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP)
_BORN_V6: Final = int(MessageSysFlag.BORNHOST_V6)
_STORE_V6: Final = int(MessageSysFlag.STOREHOSTADDRESS_V6)
_MAPPED_PREFIX: Final = bytes(10) + b"\xff\xff"
_SMALLEST_PROPERTY: Final = 3
"""Bytes of a name, a separator and a value."""
_NO_HOST: Final = Host(bytes(4), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLimits:
    """How much one call may read.

    Attributes:
        max_messages: most messages; brokers send 32 at once, at most some hundreds.
        max_body: most bytes of one inflated body; Java's producers send 4 MiB by default.
        max_inflated: most bytes of all inflated bodies together.
        max_properties: most properties of all messages together.
    """

    max_messages: int = 16_384
    max_body: int = 8 << 20
    max_inflated: int = 32 << 20
    max_properties: int = 262_144


DEFAULT_LIMITS: Final = StoredLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage(Unread):
    """A message with all that the broker knows of it (Java: ``MessageExt``).

    Attributes:
        topic: where it was sent.
        body: None where there is none; Java cannot tell that from an empty one.
        flag: the application's, int32.
        properties: None where there are none.
        queue_id: queue of the topic.
        queue_offset: position in that queue.
        commit_log_offset: position in the broker's commit log, in bytes.
        store_size: bytes that the message takes, as it was read; 0 if it was not.
        sys_flag: bits of ``MessageSysFlag``.
        body_crc: checksum of the body as stored, masked to 31 bits; Java's readers ignore it.
        born_timestamp: when it was sent, milliseconds since 1970.
        born_host: who sent it.
        store_timestamp: when it was stored, milliseconds since 1970.
        store_host: who stored it.
        reconsume_times: how often it has been given back.
        prepared_transaction_offset: commit-log position of the half message it decides.
    """

    topic: str
    body: bytes | None = None
    flag: int = 0
    properties: Mapping[str, str | None] | None = None
    queue_id: int = 0
    queue_offset: int = 0
    commit_log_offset: int = 0
    store_size: int = 0
    sys_flag: int = 0
    body_crc: int = 0
    born_timestamp: int = 0
    born_host: Host = _NO_HOST
    store_timestamp: int = 0
    store_host: Host = _NO_HOST
    reconsume_times: int = 0
    prepared_transaction_offset: int = 0

    @property
    def offset_msg_id(self) -> str:
        """The broker's id of the message; those of one inner batch share it.

        Where the store's address is an IPv4 one in the form of IPv6, Java's id is too short by
        twelve bytes and filled up with zeros, and so is this one.
        """
        text = create_offset_message_id(self.store_host, self.commit_log_offset)
        if self.sys_flag & _STORE_V6 and not self.store_host.is_ipv6:
            return text + "00" * len(_MAPPED_PREFIX)
        return text

    @property
    def msg_id(self) -> str:
        """The sender's id if there is one, else the broker's (Java: ``MessageClientExt``)."""
        return (self.properties or {}).get(UNIQUE_KEY) or self.offset_msg_id


def decode_stored_messages(
    data: bytes,
    *,
    decompress: bool = True,
    check_crc: bool = False,
    strict: bool = True,
    limits: StoredLimits = DEFAULT_LIMITS,
    known: Known | None = None,
) -> tuple[StoredMessage, ...]:
    """The messages in ``data``, which has to end with one.

    Args:
        data: the body of an answer.
        decompress: whether to inflate compressed bodies.
        check_crc: whether to hold each body, as stored, against its checksum.
        strict: whether a message that cannot be read raises; if not, it ends the reading, as in
            Java, and those before it are returned.
        limits: how much may come out; more always raises.
        known: what was seen of earlier answers, for who reads many from the same place; changes nothing but the time that it takes.

    Raises:
        LimitExceededError: more messages, properties or inflated bytes than ``limits`` allow.
        DecodeError: a message cannot be read, its checksum is wrong, or its compression needs a
            package that is not installed.
    """
    found: list[StoredMessage] = []
    at, end = 0, len(data)
    if known is None:
        known = Known()
    elif known.raw_topic and not check_crc and are_few(end, limits):
        at = read_alike(data, 0, known, found)
    known.was_usual, known.number = at == end, len(found)
    if at < end:
        reader = StoredReader(data, limits, known, decompress=decompress, check_crc=check_crc)
        try:
            reader.read(at, found)
        except DecodeError as error:
            if strict or isinstance(error, LimitExceededError):
                raise
    return tuple(found)


def encode_stored_message(message: StoredMessage, *, compress: bool = False) -> bytes:
    """The bytes of a stored message (Java: ``MessageDecoder.encode``).

    The layout is the first one, or the second for a topic of more than 127 bytes, as the broker's
    append path chooses.  ``store_size`` is not used, and ``body_crc`` is written as it is.

    Args:
        message: what to write.
        compress: whether to compress the body if ``sys_flag`` says that it is, by the type that it
            says; if not, the body is taken to be compressed already.

    Raises:
        EncodeError: a number or text too large for its field, a host of the other family than
            ``sys_flag`` says, or a compression type or package that does not exist.
    """
    body = message.body
    if compress and message.sys_flag & _COMPRESSED:
        body = _compressed(body or b"", message.sys_flag)
    magic = MAGIC_V1
    if len(encode_utf8(message.topic)) > MAX_TOPIC_LENGTH_V1:
        magic = MAGIC_V2
    return build_stored(
        (
            magic,
            message.body_crc,
            message.queue_id,
            message.flag,
            message.queue_offset,
            message.commit_log_offset,
            message.sys_flag,
            message.born_timestamp,
            *_host_fields(message.born_host, message.sys_flag & _BORN_V6, "born_host"),
            message.store_timestamp,
            *_host_fields(message.store_host, message.sys_flag & _STORE_V6, "store_host"),
            message.reconsume_times,
            message.prepared_transaction_offset,
            body or None,
            message.topic,
            encode_properties(message.properties) or None,
        )
    )


def unwrap_inner_batch(
    message: StoredMessage, *, max_messages: int = MAX_BATCH_MESSAGES
) -> tuple[StoredMessage, ...]:
    """The messages inside one that is an inner batch; any other message itself.

    Each takes flag, body and properties from the batch, its place in the queue by counting (which
    goes on below zero beyond the last number, as in Java), and
    topic, queue, times, hosts, ``sys_flag`` and commit-log offset from ``message``; that it was to
    be waited for is a property of each (Java: ``MessageDecoder.decodeMessage``).

    Args:
        message: any.
        max_messages: most messages to read.

    Raises:
        LimitExceededError: more messages than that.
        DecodeError: the body is no batch.
    """
    if message.sys_flag & _INNER_BATCH != _INNER_BATCH:
        return (message,)
    if message.body is None:
        raise DecodeError("an inner batch without a body", path="body")
    wait = (message.properties or {}).get(WAIT) or "true"
    waited = {WAIT: "true" if wait.lower() == "true" else "false"}
    outer = replace(
        message,
        store_size=0,
        body_crc=0,
        reconsume_times=0,
        prepared_transaction_offset=0,
    )
    return tuple(
        replace(
            outer,
            flag=inner.flag,
            body=inner.body,
            properties={**inner.properties, **waited},
            queue_offset=_as_int64(message.queue_offset + index),
        )
        for index, inner in enumerate(decode_batch(message.body, max_messages=max_messages))
    )


def _as_int64(number: int) -> int:
    """What Java's ``long`` keeps of a sum."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


# ---------------------------------------------------------------------------- reading


class StoredReader:
    """One pass over the data, with what is left of each limit.

    Attributes:
        begin: where the message begins that was read last, or that raised.
        stopped_by: the error of a limit of all messages together.
    """

    def __init__(
        self,
        data: bytes,
        limits: StoredLimits,
        known: Known,
        *,
        decompress: bool,
        check_crc: bool,
        is_lenient: bool = False,
    ) -> None:
        self.begin = 0
        self.stopped_by: LimitExceededError | None = None
        self._is_lenient = is_lenient
        self._data = data
        self._limits = limits
        self._decompress = decompress
        self._check_crc = check_crc
        self._inflated_left = limits.max_inflated
        self._properties_left = limits.max_properties
        # bytes that cannot hold too many are looked into when somebody asks
        self._counts = len(data) // _SMALLEST_PROPERTY > limits.max_properties
        self._one_by_one = check_crc or not are_few(len(data), limits)
        self._known = known
        self._last: tuple[object, ...] = (None,) * 5
        self._shared = ("", _NO_HOST, _NO_HOST)

    def read(self, at: int, found: list[StoredMessage], *, skipped: int = 0) -> int:
        """Adds the messages from a position on; returns where they end.

        Raises:
            DecodeError: the message at ``begin`` cannot be read, or exceeds a limit.
        """
        data, limit, end = self._data, self._limits.max_messages, len(self._data)
        while at < end:
            begin = self.begin = at
            if len(found) + skipped >= limit:
                self._exceeded("messages", limit, at)
            try:
                at = self._next(at, found)
            except DecodeError as error:
                locate(error, len(found), at)
                raise
            if at < end and not self._one_by_one:
                known = self._known
                if known.learn(data, begin, self._shared[0]):
                    at = read_alike(data, at, known, found)
        return at

    def _exceeded(self, what: str, limit: int, offset: int | None) -> None:
        try:
            require(False, what, limit, offset)
        except LimitExceededError as error:
            self.stopped_by = error
            raise

    def _next(self, at: int, found: list[StoredMessage]) -> int:
        """Adds the message at a position; returns where it ends."""
        (
            (
                _,
                body_crc,
                queue_id,
                flag,
                queue_offset,
                commit_log_offset,
                sys_flag,
                born_timestamp,
                born_address,
                born_port,
                store_timestamp,
                store_address,
                store_port,
                reconsume_times,
                prepared_transaction_offset,
                body,
                raw_topic,
                properties,
            ),
            end,
        ) = parse_raw_stored(self._data, at)
        if body is not None and (sys_flag & _COMPRESSED or self._check_crc):
            body, sys_flag = self._opened(body, body_crc, sys_flag)
        if self._counts and properties is not None:
            self._count(properties)
        # messages that lie together mostly have these in common
        last = (raw_topic, born_address, born_port, store_address, store_port)
        if last != self._last:
            self._share(last)
        topic, born_host, store_host = self._shared
        message = _frozen(
            topic,
            body,
            flag,
            properties,
            queue_id,
            queue_offset,
            commit_log_offset,
            end - at,
            sys_flag,
            body_crc,
            born_timestamp,
            born_host,
            store_timestamp,
            store_host,
            reconsume_times,
            prepared_transaction_offset,
        )
        found.append(message)
        return end

    def _share(self, last: tuple[bytes, bytes, int, bytes, int]) -> None:
        raw_topic, born_address, born_port, store_address, store_port = last
        self._shared = (
            decode_utf8(raw_topic),
            _host(born_address, born_port, "born_host"),
            _host(store_address, store_port, "store_host"),
        )
        self._last = last

    def _count(self, properties: bytes) -> None:
        self._properties_left -= len(_properties(properties))
        if self._properties_left < 0:
            self._exceeded("properties", self._limits.max_properties, None)

    def _opened(self, body: bytes, body_crc: int, sys_flag: int) -> tuple[bytes, int]:
        """A body as it was before it was stored, and the bits that are still true of it."""
        if self._check_crc and crc32(body) != body_crc:
            raise DecodeError(f"checksum {crc32(body)} instead of {body_crc}", path="body")
        if self._decompress and sys_flag & _COMPRESSED:
            return self._inflated(body, sys_flag), sys_flag & ~_COMPRESSED
        return body, sys_flag

    def _inflated(self, body: bytes, sys_flag: int) -> bytes:
        kind = compression_type(sys_flag)
        limits = self._limits
        room = min(limits.max_body, max(self._inflated_left, 0))
        if self._is_lenient and self._inflated_left == limits.max_inflated:
            room = limits.max_body  # or a body between the two limits would never be read
        try:
            body = decompress_body(body, kind, max_size=room)
        except DecodeError as error:
            error.path, error.offset = "body", None  # its place inside the body says little
            if isinstance(error, LimitExceededError) and room < limits.max_body:
                self.stopped_by = error
            raise
        self._inflated_left -= len(body)
        return body


def are_few(size: int, limits: StoredLimits) -> bool:
    """Whether so many bytes cannot hold more messages or properties than allowed."""
    properties = size // _SMALLEST_PROPERTY <= limits.max_properties
    return properties and size // SMALLEST <= limits.max_messages


def _host(address: bytes, port: int, path: str) -> Host:
    if not 0 <= port <= MAX_PORT:
        raise DecodeError(f"port {port} is not between 0 and 65535", path=path)
    return Host.of(address, port)


def _properties(raw: bytes) -> dict[str, str]:
    return decode_properties(decode_utf8(raw))


_frozen: Final = build_constructor(StoredMessage)
read_alike: Final = alike_reader(StoredMessage)
read_lazily(StoredMessage, "properties", _properties)
read_late(StoredMessage)


# ---------------------------------------------------------------------------- writing


def _compressed(body: bytes, sys_flag: int) -> bytes:
    try:
        kind = compression_type(sys_flag)
    except DecodeError as error:
        raise EncodeError(error.message, path=error.path) from error
    return compress_body(body, kind)


def _host_fields(host: Host, is_v6: int, path: str) -> tuple[bytes, int]:
    """Address and port as they are written; an IPv4 address is wrapped where IPv6 is wanted."""
    address, port = host
    if is_v6 and len(address) == 4:
        address = _MAPPED_PREFIX + address
    if len(address) != (16 if is_v6 else 4):
        family = "IPv6" if is_v6 else "IPv4"
        raise EncodeError(f"{host} where sys_flag says {family}", path=path)
    if not 0 <= port <= MAX_PORT:
        raise EncodeError(f"port {port} is not between 0 and 65535", path=path)
    return address, port
