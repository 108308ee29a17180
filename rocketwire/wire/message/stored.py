"""``StoredMessage``: a message as brokers store it and return it.

``lazy_reader`` reads stored messages; this module has the value, encodes it, and splits inner
batches.  A message that was read lazily keeps the bytes of its fixed fields and of its properties,
and decodes them at the first access.

Java: ``MessageDecoder``, ``MessageExt``, ``MessageClientExt``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from rocketwire.errors import DecodeError, EncodeError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from rocketwire.wire.layouts.fused import MAGIC_V1, MAGIC_V2, build_stored_message
from rocketwire.wire.message.batch import MAX_BATCH_MESSAGES, decode_batch
from rocketwire.wire.message.body_compression import compress_body, compression_type
from rocketwire.wire.message.host import MAX_PORT, Host
from rocketwire.wire.message.ids import create_offset_message_id
from rocketwire.wire.message.properties import (
    UNIQUE_KEY,
    WAIT,
    decode_properties,
    encode_properties,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# Maximum bytes of a topic in the first layout; brokers use the second layout for longer topics
MAX_TOPIC_LENGTH_V1: Final = 127

_COMPRESSED: Final = int(MessageSysFlag.COMPRESSED)
_INNER_BATCH: Final = int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP)
_BORN_V6: Final = int(MessageSysFlag.BORNHOST_V6)
_STORE_V6: Final = int(MessageSysFlag.STOREHOSTADDRESS_V6)
_MAPPED_PREFIX: Final = bytes(10) + b"\xff\xff"
_NO_HOST: Final = Host(bytes(4), 0)

# Bytes from the size to the length of the body, in the first layout with IPv4 addresses
HEAD_SIZE: Final = 88
# The fields ``_HEAD_FIELDS`` in these bytes; address and port of a host are one field
_HEAD: Final = Struct(">l4xlll8xqlq8sq8slq4x")

_HEAD_FIELDS: Final = (
    "store_size",
    "body_crc",
    "queue_id",
    "flag",
    "commit_log_offset",
    "sys_flag",
    "born_timestamp",
    "born_host",
    "store_timestamp",
    "store_host",
    "reconsume_times",
    "prepared_transaction_offset",
)
_HOST_INDICES: Final = (_HEAD_FIELDS.index("born_host"), _HEAD_FIELDS.index("store_host"))


class LazyFields:
    """The slots of a stored message; those of ``_HEAD_FIELDS`` are filled at the first access."""

    __slots__ = (*_HEAD_FIELDS, "_head", "body", "properties", "queue_offset", "topic")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLimits:
    """Limits of one response."""

    #: most messages; brokers return 32 by default, at most some hundreds
    max_messages: int = 16_384
    #: most bytes of a decompressed body; Java's producers send at most 4 MiB by default
    max_body: int = 8 << 20
    max_inflated: int = 32 << 20  #: most bytes of all decompressed bodies together
    max_properties: int = 262_144  #: most properties of all messages together


DEFAULT_LIMITS: Final = StoredLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage(LazyFields):
    """A stored message (Java: ``MessageExt``)."""

    topic: str  #: topic of the message
    #: the body, or None.  Java does not distinguish an empty body from none.
    body: bytes | None = None
    flag: int = 0  #: flag of the application, int32
    properties: Mapping[str, str | None] | None = None  #: the properties, or None
    queue_id: int = 0  #: queue of the topic
    queue_offset: int = 0  #: offset in the queue
    commit_log_offset: int = 0  #: position in the broker's commit log, in bytes
    store_size: int = 0  #: size of the stored message in bytes; 0 if it was not read from bytes
    sys_flag: int = 0  #: bits of ``MessageSysFlag``
    #: checksum of the body as stored, masked to 31 bits; Java's readers ignore it
    body_crc: int = 0
    born_timestamp: int = 0  #: time of sending, milliseconds since 1970
    born_host: Host = _NO_HOST  #: address of the producer
    store_timestamp: int = 0  #: time of storing, milliseconds since 1970
    store_host: Host = _NO_HOST  #: address of the broker
    reconsume_times: int = 0  #: number of redeliveries
    prepared_transaction_offset: int = 0  #: commit-log position of the half message that it ends

    @property
    def offset_msg_id(self) -> str:
        """The broker's id of the message; messages of an inner batch have the same id.

        If the broker's address is an IPv4 address in IPv6 form, Java's id lacks twelve bytes and is
        padded with zeros, and so is this one.
        """
        text = create_offset_message_id(self.store_host, self.commit_log_offset)
        if self.sys_flag & _STORE_V6 and not self.store_host.is_ipv6:
            return text + "00" * len(_MAPPED_PREFIX)
        return text

    @property
    def msg_id(self) -> str:
        """The producer's id, or the broker's without one (Java: ``MessageClientExt``)."""
        return (self.properties or {}).get(UNIQUE_KEY) or self.offset_msg_id


def encode_stored_message(message: StoredMessage, *, compress: bool = False) -> bytes:
    """Encode a stored message (Java: ``MessageDecoder.encode``).

    Topics of more than 127 bytes use the second layout, as in brokers.  ``store_size`` is ignored,
    and ``body_crc`` is written unchanged.

    Args:
        message: the message.
        compress: whether to compress the body if ``sys_flag`` has the compressed bit; otherwise the
            body must be compressed already.

    Raises:
        EncodeError: a number or text exceeds its field, a host contradicts ``sys_flag``, or
            the compression type or its package does not exist.
    """
    body = message.body
    if compress and message.sys_flag & _COMPRESSED:
        body = _compress(body or b"", message.sys_flag)
    magic = MAGIC_V1
    if len(encode_utf8(message.topic)) > MAX_TOPIC_LENGTH_V1:
        magic = MAGIC_V2
    return build_stored_message(
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
    """Return the messages of an inner batch; return any other message itself.

    Each message has flag, body and properties of the batch's entry, consecutive queue offsets (with
    Java's overflow), and all other fields of ``message``.  The property ``WAIT`` is that of
    ``message`` (Java: ``MessageDecoder.decodeMessage``).

    Args:
        message: any message.
        max_messages: maximum number of messages to return.

    Raises:
        LimitExceededError: the batch has more messages.
        DecodeError: the body is not a batch.
    """
    if message.sys_flag & _INNER_BATCH != _INNER_BATCH:
        return (message,)
    if message.body is None:
        raise DecodeError("an inner batch without a body", path="body")
    wait = (message.properties or {}).get(WAIT) or "true"
    wait_property = {WAIT: "true" if wait.lower() == "true" else "false"}
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
            properties={**inner.properties, **wait_property},
            queue_offset=_to_int64(message.queue_offset + index),
        )
        for index, inner in enumerate(decode_batch(message.body, max_messages=max_messages))
    )


def _to_int64(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


# ---------------------------------------------------------------------------- lazy fields


def decode_raw_properties(raw: bytes) -> dict[str, str]:
    return decode_properties(decode_utf8(raw))


def _make_lazy(cls: type[LazyFields]) -> None:
    slots = vars(LazyFields)
    lazy_fields = {name: _head_property(slots[name]) for name in _HEAD_FIELDS}
    lazy_fields["properties"] = _properties_property(slots["properties"])
    for name, field in lazy_fields.items():
        setattr(cls, name, field)


def _head_property(slot: Any) -> property:
    get = slot.__get__

    def value(message: object) -> object:
        try:
            return get(message)
        except AttributeError:
            _decode_head(message)
        return get(message)

    return property(value, slot.__set__)


_get_head: Final = vars(LazyFields)["_head"].__get__
# Looked up once: every handler that asks a message for its queue gets here
_PUT_HEAD_FIELDS: Final = [vars(LazyFields)[name].__set__ for name in _HEAD_FIELDS]


def _decode_head(message: object) -> None:
    values: list[Any] = [*_HEAD.unpack(_get_head(message))]
    for index in _HOST_INDICES:
        raw = values[index]
        values[index] = Host(raw[:4], int.from_bytes(raw[4:]))
    for put, value in zip(_PUT_HEAD_FIELDS, values, strict=True):
        put(message, value)


def _properties_property(slot: Any) -> property:
    get, put = slot.__get__, slot.__set__

    def value(message: object) -> object:
        properties = get(message)
        if properties.__class__ is bytes:
            properties = decode_raw_properties(properties)
            put(message, properties)
        return properties

    return property(value, put)


_make_lazy(StoredMessage)


# ---------------------------------------------------------------------------- encoding


def _compress(body: bytes, sys_flag: int) -> bytes:
    try:
        compression = compression_type(sys_flag)
    except DecodeError as error:
        raise EncodeError(error.message, path=error.path) from error
    return compress_body(body, compression)


def _host_fields(host: Host, is_v6: int, path: str) -> tuple[bytes, int]:
    # An IPv4 address is mapped if ``sys_flag`` requires IPv6.
    address, port = host
    if is_v6 and len(address) == 4:
        address = _MAPPED_PREFIX + address
    if len(address) != (16 if is_v6 else 4):
        family = "IPv6" if is_v6 else "IPv4"
        raise EncodeError(f"{host}: sys_flag requires {family}", path=path)
    if not 0 <= port <= MAX_PORT:
        raise EncodeError(f"port {port} is not between 0 and 65535", path=path)
    return address, port
