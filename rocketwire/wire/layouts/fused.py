"""Functions that parse and build the layouts of ``declarations``; ``derive`` writes this file.

``parse_x(buf, pos, end)`` reads a layout from ``pos`` and returns its value and the position after
it.  A record is a tuple of its fields, without those that the builder computes.  Slices have the
type of the buffer.  A parser raises, with the field's path and the position:
``TruncatedError`` if a length or a field passes ``end``, ``LimitExceededError`` if a count is too
large for the remaining bytes, and ``DecodeError`` for other invalid data.

``build_x`` takes such a value, or the fields of a record.  It raises ``EncodeError`` with the
field's path for a value that the layout cannot hold.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from rocketwire.wire.buffer import Buffer
from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from rocketwire.wire.layouts import errors
from rocketwire.wire.layouts.entries import build_entries, decode_buffer, parse_entries

BufferT = TypeVar("BufferT", bound=Buffer)

MAX_EXT_FIELDS: Final = 0x4000
MAGIC_V1: Final = 0xDAA320A7
MAGIC_V2: Final = 0xDAA320AB
LENGTH_SIZE: Final = 4
PREFIX_SIZE: Final = 8
ITEM_LENGTH_SIZE: Final = 4
REMARK_LENGTH_SIZE: Final = 4
EXT_FIELDS_LENGTH_SIZE: Final = 4
PREFIX_STRUCT: Final = struct.Struct(">lBBH")
BINARY_HEADER_FIXED: Final[tuple[tuple[str, str], ...]] = (
    ("code", "i2"),
    ("language", "u1"),
    ("version", "i2"),
    ("opaque", "i4"),
    ("flag", "i4"),
)
"""Fields of fixed size: name, and ``i`` or ``u`` with the size in bytes."""

pack_Llllqqlq: Final = struct.Struct(">Llllqqlq").pack
pack_b: Final = struct.Struct(">b").pack
pack_h: Final = struct.Struct(">h").pack
pack_hBhlll: Final = struct.Struct(">hBhlll").pack
pack_l: Final = struct.Struct(">l").pack
pack_lBBH: Final = struct.Struct(">lBBH").pack
pack_llll: Final = struct.Struct(">llll").pack
pack_llql: Final = struct.Struct(">llql").pack
pack_lq: Final = struct.Struct(">lq").pack
unpack_L: Final = struct.Struct(">L").unpack_from
unpack_h: Final = struct.Struct(">h").unpack_from
unpack_hBhlll: Final = struct.Struct(">hBhlll").unpack_from
unpack_l: Final = struct.Struct(">l").unpack_from
unpack_lBBH: Final = struct.Struct(">lBBH").unpack_from
unpack_llll: Final = struct.Struct(">llll").unpack_from
unpack_lllqqlq: Final = struct.Struct(">lllqqlq").unpack_from
unpack_llql: Final = struct.Struct(">llql").unpack_from
unpack_lq: Final = struct.Struct(">lq").unpack_from


def parse_length(buf: BufferT, pos: int = 0, end: int | None = None) -> tuple[int, int]:
    """The first word of a frame: the number of bytes after it."""
    if end is None or end > len(buf):
        end = len(buf)
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "")
    (length,) = unpack_l(buf, pos)
    pos += 4
    return length, pos


def parse_prefix(
    buf: BufferT, pos: int = 0, end: int | None = None
) -> tuple[tuple[int, int, int], int]:
    """The first two words of a frame."""
    if end is None or end > len(buf):
        end = len(buf)
    # length: Int32sb, header_type: Int8ub, header_length: Int24ub
    if pos + 8 > end:
        raise errors.too_short(buf, pos, end, "lBI", "length header_type header_length")
    (length, header_type, header_length_high, header_length) = unpack_lBBH(buf, pos)
    pos += 8
    header_length |= header_length_high << 16
    return (length, header_type, header_length), pos


def parse_envelope(
    buf: BufferT, pos: int = 0, end: int | None = None
) -> tuple[tuple[int, BufferT, BufferT], int]:
    """A frame (Java: ``RemotingCommand.encode``, ``NettyDecoder``)."""
    if end is None or end > len(buf):
        end = len(buf)
    # length: Rebuild(Int32sb, len(header) + len(body) + 4), header_type: Int8ub,
    # header_length: Rebuild(Int24ub, len(header))
    if pos + 8 > end:
        raise errors.too_short(buf, pos, end, "lBI", "length header_type header_length")
    (length, header_type, header_length_high, header_length) = unpack_lBBH(buf, pos)
    pos += 8
    header_length |= header_length_high << 16
    # header: Bytes(header_length)
    header_end = pos + header_length
    if header_end > end or header_length < 0:
        raise errors.bad_length(buf, pos, end, header_length, "header")
    header = buf[pos:header_end]
    pos = header_end
    # body: Bytes(length - header_length - 4)
    body_length = length - header_length - 4
    body_end = pos + body_length
    if body_end > end or body_length < 0:
        raise errors.bad_length(buf, pos, end, body_length, "body")
    body = buf[pos:body_end]
    pos = body_end
    return (header_type, header, body), pos


def parse_binary_header(
    buf: BufferT, pos: int = 0, end: int | None = None
) -> tuple[tuple[int, int, int, int, int, str, dict[str, str] | None], int]:
    """The ROCKETMQ header (Java: ``RocketMQSerializable``)."""
    if end is None or end > len(buf):
        end = len(buf)
    text = decode_utf8 if buf.__class__ is bytes else decode_buffer
    # code: Int16sb, language: Int8ub, version: Int16sb, opaque: Int32sb, flag: Int32sb,
    # remark: Prefixed(Int32sb, JavaText)
    if pos + 17 > end:
        raise errors.too_short(buf, pos, end, "hBhlll", "code language version opaque flag remark")
    (code, language, version, opaque, flag, remark_length) = unpack_hBhlll(buf, pos)
    pos += 17
    remark_end = pos + remark_length
    if remark_end > end or remark_length < 0:
        raise errors.bad_length(buf, pos, end, remark_length, "remark")
    remark = text(buf[pos:remark_end])
    pos = remark_end
    # ext_fields: JavaEntries(Int32sb, Int16sb, Int32sb)
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "ext_fields")
    (ext_fields_length,) = unpack_l(buf, pos)
    pos += 4
    ext_fields = None
    if ext_fields_length > 0:
        ext_fields_end = pos + ext_fields_length
        if ext_fields_end > end:
            raise errors.bad_length(buf, pos, end, ext_fields_length, "ext_fields")
        ext_fields, pos = parse_entries(buf, pos, ext_fields_end, end, MAX_EXT_FIELDS, "ext_fields")
    return (code, language, version, opaque, flag, remark, ext_fields), pos


def parse_register_item(buf: BufferT, pos: int = 0, end: int | None = None) -> tuple[BufferT, int]:
    """A part of a registration, such as a topic."""
    if end is None or end > len(buf):
        end = len(buf)
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "")
    (register_item_length,) = unpack_l(buf, pos)
    pos += 4
    register_item_end = pos + register_item_length
    if register_item_end > end or register_item_length < 0:
        raise errors.bad_length(buf, pos, end, register_item_length, "")
    register_item = buf[pos:register_item_end]
    pos = register_item_end
    return register_item, pos


def parse_register_body(
    buf: BufferT, pos: int = 0, end: int | None = None
) -> tuple[tuple[BufferT, list[BufferT], BufferT], int]:
    """Inflated registration of brokers before V5_0_0 (Java: ``RegisterBrokerBody.decode``)."""
    if end is None or end > len(buf):
        end = len(buf)
    # data_version: Prefixed(Int32sb, GreedyBytes)
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "data_version")
    (data_version_length,) = unpack_l(buf, pos)
    pos += 4
    data_version_end = pos + data_version_length
    if data_version_end > end or data_version_length < 0:
        raise errors.bad_length(buf, pos, end, data_version_length, "data_version")
    data_version = buf[pos:data_version_end]
    pos = data_version_end
    # topics: StrictArray(Int32sb, Prefixed(Int32sb, GreedyBytes))
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "topics")
    (topics_count,) = unpack_l(buf, pos)
    pos += 4
    if topics_count * 4 > end - pos:
        raise errors.bad_count(topics_count, end - pos, 4, "topics", pos)
    topics = []
    for _ in range(topics_count):
        if pos + 4 > end:
            raise errors.too_short(buf, pos, end, "l", "topics[]")
        (topics_item_length,) = unpack_l(buf, pos)
        pos += 4
        topics_item_end = pos + topics_item_length
        if topics_item_end > end or topics_item_length < 0:
            raise errors.bad_length(buf, pos, end, topics_item_length, "topics[]")
        topics_item = buf[pos:topics_item_end]
        pos = topics_item_end
        topics.append(topics_item)
    # filter_servers: Prefixed(Int32sb, GreedyBytes)
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "filter_servers")
    (filter_servers_length,) = unpack_l(buf, pos)
    pos += 4
    filter_servers_end = pos + filter_servers_length
    if filter_servers_end > end or filter_servers_length < 0:
        raise errors.bad_length(buf, pos, end, filter_servers_length, "filter_servers")
    filter_servers = buf[pos:filter_servers_end]
    pos = filter_servers_end
    return (data_version, topics, filter_servers), pos


def parse_register_body_with_mappings(
    buf: BufferT, pos: int = 0, end: int | None = None
) -> tuple[tuple[BufferT, list[BufferT], BufferT, list[BufferT]], int]:
    """``REGISTER_BODY`` with the queue mappings, which exist from protocol version 413 on."""
    if end is None or end > len(buf):
        end = len(buf)
    # data_version: Prefixed(Int32sb, GreedyBytes)
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "data_version")
    (data_version_length,) = unpack_l(buf, pos)
    pos += 4
    data_version_end = pos + data_version_length
    if data_version_end > end or data_version_length < 0:
        raise errors.bad_length(buf, pos, end, data_version_length, "data_version")
    data_version = buf[pos:data_version_end]
    pos = data_version_end
    # topics: StrictArray(Int32sb, Prefixed(Int32sb, GreedyBytes))
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "topics")
    (topics_count,) = unpack_l(buf, pos)
    pos += 4
    if topics_count * 4 > end - pos:
        raise errors.bad_count(topics_count, end - pos, 4, "topics", pos)
    topics = []
    for _ in range(topics_count):
        if pos + 4 > end:
            raise errors.too_short(buf, pos, end, "l", "topics[]")
        (topics_item_length,) = unpack_l(buf, pos)
        pos += 4
        topics_item_end = pos + topics_item_length
        if topics_item_end > end or topics_item_length < 0:
            raise errors.bad_length(buf, pos, end, topics_item_length, "topics[]")
        topics_item = buf[pos:topics_item_end]
        pos = topics_item_end
        topics.append(topics_item)
    # filter_servers: Prefixed(Int32sb, GreedyBytes)
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "filter_servers")
    (filter_servers_length,) = unpack_l(buf, pos)
    pos += 4
    filter_servers_end = pos + filter_servers_length
    if filter_servers_end > end or filter_servers_length < 0:
        raise errors.bad_length(buf, pos, end, filter_servers_length, "filter_servers")
    filter_servers = buf[pos:filter_servers_end]
    pos = filter_servers_end
    # mappings: StrictArray(Int32sb, Prefixed(Int32sb, GreedyBytes))
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "mappings")
    (mappings_count,) = unpack_l(buf, pos)
    pos += 4
    if mappings_count * 4 > end - pos:
        raise errors.bad_count(mappings_count, end - pos, 4, "mappings", pos)
    mappings = []
    for _ in range(mappings_count):
        if pos + 4 > end:
            raise errors.too_short(buf, pos, end, "l", "mappings[]")
        (mappings_item_length,) = unpack_l(buf, pos)
        pos += 4
        mappings_item_end = pos + mappings_item_length
        if mappings_item_end > end or mappings_item_length < 0:
            raise errors.bad_length(buf, pos, end, mappings_item_length, "mappings[]")
        mappings_item = buf[pos:mappings_item_end]
        pos = mappings_item_end
        mappings.append(mappings_item)
    return (data_version, topics, filter_servers, mappings), pos


def parse_register_head(
    buf: BufferT, pos: int = 0, end: int | None = None
) -> tuple[tuple[BufferT, int], int]:
    """The parts of ``REGISTER_BODY`` before its topics."""
    if end is None or end > len(buf):
        end = len(buf)
    # data_version: Prefixed(Int32sb, GreedyBytes)
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "data_version")
    (data_version_length,) = unpack_l(buf, pos)
    pos += 4
    data_version_end = pos + data_version_length
    if data_version_end > end or data_version_length < 0:
        raise errors.bad_length(buf, pos, end, data_version_length, "data_version")
    data_version = buf[pos:data_version_end]
    pos = data_version_end
    # topics: Int32sb
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "topics")
    (topics,) = unpack_l(buf, pos)
    pos += 4
    return (data_version, topics), pos


def parse_register_tail(
    buf: BufferT, pos: int = 0, end: int | None = None
) -> tuple[tuple[BufferT], int]:
    """The parts of ``REGISTER_BODY`` after its topics."""
    if end is None or end > len(buf):
        end = len(buf)
    # filter_servers: Prefixed(Int32sb, GreedyBytes)
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "filter_servers")
    (filter_servers_length,) = unpack_l(buf, pos)
    pos += 4
    filter_servers_end = pos + filter_servers_length
    if filter_servers_end > end or filter_servers_length < 0:
        raise errors.bad_length(buf, pos, end, filter_servers_length, "filter_servers")
    filter_servers = buf[pos:filter_servers_end]
    pos = filter_servers_end
    return (filter_servers,), pos


def parse_register_tail_with_mappings(
    buf: BufferT, pos: int = 0, end: int | None = None
) -> tuple[tuple[BufferT, list[BufferT]], int]:
    """The parts of ``REGISTER_BODY_WITH_MAPPINGS`` after its topics."""
    if end is None or end > len(buf):
        end = len(buf)
    # filter_servers: Prefixed(Int32sb, GreedyBytes)
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "filter_servers")
    (filter_servers_length,) = unpack_l(buf, pos)
    pos += 4
    filter_servers_end = pos + filter_servers_length
    if filter_servers_end > end or filter_servers_length < 0:
        raise errors.bad_length(buf, pos, end, filter_servers_length, "filter_servers")
    filter_servers = buf[pos:filter_servers_end]
    pos = filter_servers_end
    # mappings: StrictArray(Int32sb, Prefixed(Int32sb, GreedyBytes))
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "mappings")
    (mappings_count,) = unpack_l(buf, pos)
    pos += 4
    if mappings_count * 4 > end - pos:
        raise errors.bad_count(mappings_count, end - pos, 4, "mappings", pos)
    mappings = []
    for _ in range(mappings_count):
        if pos + 4 > end:
            raise errors.too_short(buf, pos, end, "l", "mappings[]")
        (mappings_item_length,) = unpack_l(buf, pos)
        pos += 4
        mappings_item_end = pos + mappings_item_length
        if mappings_item_end > end or mappings_item_length < 0:
            raise errors.bad_length(buf, pos, end, mappings_item_length, "mappings[]")
        mappings_item = buf[pos:mappings_item_end]
        pos = mappings_item_end
        mappings.append(mappings_item)
    return (filter_servers, mappings), pos


def parse_stored_message(buf: BufferT, pos: int = 0, end: int | None = None) -> (
    tuple[tuple[int, int, int, int, int, int, int, int, BufferT, int, int, BufferT, int, int,
    int, BufferT | None, str, str | None], int]
):
    """A message as brokers store and send it (Java: ``MessageDecoder``)."""
    if end is None or end > len(buf):
        end = len(buf)
    text = decode_utf8 if buf.__class__ is bytes else decode_buffer
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "")
    (stored_message_length,) = unpack_l(buf, pos)
    pos += 4
    stored_message_length -= 4
    stored_message_end = pos + stored_message_length
    if stored_message_end > end or stored_message_length < 0:
        raise errors.bad_length(buf, pos, end, stored_message_length, "")
    # magic: OneOf(Int32ub, (MAGIC_V1, MAGIC_V2))
    if pos + 4 > stored_message_end:
        raise errors.too_short(buf, pos, stored_message_end, "L", "magic")
    (magic,) = unpack_L(buf, pos)
    pos += 4
    if magic != MAGIC_V1 and magic != MAGIC_V2:
        raise errors.invalid(buf, pos, stored_message_end, "magic")
    # body_crc: Int32sb, queue_id: Int32sb, flag: Int32sb, queue_offset: Int64sb,
    # physical_offset: Int64sb, sys_flag: Int32sb, born_timestamp: Int64sb
    if pos + 40 > stored_message_end:
        raise errors.too_short(
            buf, pos, stored_message_end, "lllqqlq",
            "body_crc queue_id flag queue_offset physical_offset sys_flag born_timestamp"
        )
    (
        body_crc, queue_id, flag, queue_offset, physical_offset, sys_flag, born_timestamp
    ) = unpack_lllqqlq(buf, pos)
    pos += 40
    # born_address: IfThenElse(sys_flag & 16, Bytes(16), Bytes(4))
    if sys_flag & 16:
        born_address_end = pos + 16
        if born_address_end > stored_message_end:
            raise errors.bad_length(buf, pos, stored_message_end, 16, "born_address")
        born_address = buf[pos:born_address_end]
        pos = born_address_end
    else:
        born_address_end = pos + 4
        if born_address_end > stored_message_end:
            raise errors.bad_length(buf, pos, stored_message_end, 4, "born_address")
        born_address = buf[pos:born_address_end]
        pos = born_address_end
    # born_port: Int32sb, store_timestamp: Int64sb
    if pos + 12 > stored_message_end:
        raise errors.too_short(buf, pos, stored_message_end, "lq", "born_port store_timestamp")
    (born_port, store_timestamp) = unpack_lq(buf, pos)
    pos += 12
    # store_address: IfThenElse(sys_flag & 32, Bytes(16), Bytes(4))
    if sys_flag & 32:
        store_address_end = pos + 16
        if store_address_end > stored_message_end:
            raise errors.bad_length(buf, pos, stored_message_end, 16, "store_address")
        store_address = buf[pos:store_address_end]
        pos = store_address_end
    else:
        store_address_end = pos + 4
        if store_address_end > stored_message_end:
            raise errors.bad_length(buf, pos, stored_message_end, 4, "store_address")
        store_address = buf[pos:store_address_end]
        pos = store_address_end
    # store_port: Int32sb, reconsume_times: Int32sb, prepared_transaction_offset: Int64sb,
    # body: OptionalPrefixed(Int32sb, GreedyBytes)
    if pos + 20 > stored_message_end:
        raise errors.too_short(
            buf, pos, stored_message_end, "llql",
            "store_port reconsume_times prepared_transaction_offset body"
        )
    (store_port, reconsume_times, prepared_transaction_offset, body_length) = unpack_llql(buf, pos)
    pos += 20
    body = None
    if body_length:
        body_end = pos + body_length
        if body_end > stored_message_end or body_length < 0:
            raise errors.bad_length(buf, pos, stored_message_end, body_length, "body")
        body = buf[pos:body_end]
        pos = body_end
    # topic: IfThenElse(magic == MAGIC_V2, Prefixed(Int16sb, JavaText), Prefixed(Int8sb, JavaText))
    if magic == MAGIC_V2:
        if pos + 2 > stored_message_end:
            raise errors.too_short(buf, pos, stored_message_end, "h", "topic")
        (topic_length,) = unpack_h(buf, pos)
        pos += 2
        topic_end = pos + topic_length
        if topic_end > stored_message_end or topic_length < 0:
            raise errors.bad_length(buf, pos, stored_message_end, topic_length, "topic")
        topic = text(buf[pos:topic_end])
        pos = topic_end
    else:
        if pos + 1 > stored_message_end:
            raise errors.too_short(buf, pos, stored_message_end, "b", "topic")
        topic_length = (buf[pos] ^ 128) - 128  # signed
        pos += 1
        topic_end = pos + topic_length
        if topic_end > stored_message_end or topic_length < 0:
            raise errors.bad_length(buf, pos, stored_message_end, topic_length, "topic")
        topic = text(buf[pos:topic_end])
        pos = topic_end
    # properties: OptionalPrefixed(Int16sb, JavaText)
    if pos + 2 > stored_message_end:
        raise errors.too_short(buf, pos, stored_message_end, "h", "properties")
    (properties_length,) = unpack_h(buf, pos)
    pos += 2
    properties = None
    if properties_length:
        properties_end = pos + properties_length
        if properties_end > stored_message_end or properties_length < 0:
            raise errors.bad_length(buf, pos, stored_message_end, properties_length, "properties")
        properties = text(buf[pos:properties_end])
        pos = properties_end
    if pos != stored_message_end:
        raise errors.bytes_left(buf, pos, stored_message_end, "")
    return (
        magic, body_crc, queue_id, flag, queue_offset, physical_offset, sys_flag,
        born_timestamp, born_address, born_port, store_timestamp, store_address, store_port,
        reconsume_times, prepared_transaction_offset, body, topic, properties
    ), pos


def parse_stored_message_raw(buf: BufferT, pos: int = 0, end: int | None = None) -> (
    tuple[tuple[int, int, int, int, int, int, int, int, BufferT, int, int, BufferT, int, int,
    int, BufferT | None, BufferT, BufferT | None], int]
):
    """``STORED_MESSAGE`` with topic and properties as bytes, which most callers do not need."""
    if end is None or end > len(buf):
        end = len(buf)
    if pos + 4 > end:
        raise errors.too_short(buf, pos, end, "l", "")
    (stored_message_raw_length,) = unpack_l(buf, pos)
    pos += 4
    stored_message_raw_length -= 4
    stored_message_raw_end = pos + stored_message_raw_length
    if stored_message_raw_end > end or stored_message_raw_length < 0:
        raise errors.bad_length(buf, pos, end, stored_message_raw_length, "")
    # magic: OneOf(Int32ub, (MAGIC_V1, MAGIC_V2))
    if pos + 4 > stored_message_raw_end:
        raise errors.too_short(buf, pos, stored_message_raw_end, "L", "magic")
    (magic,) = unpack_L(buf, pos)
    pos += 4
    if magic != MAGIC_V1 and magic != MAGIC_V2:
        raise errors.invalid(buf, pos, stored_message_raw_end, "magic")
    # body_crc: Int32sb, queue_id: Int32sb, flag: Int32sb, queue_offset: Int64sb,
    # physical_offset: Int64sb, sys_flag: Int32sb, born_timestamp: Int64sb
    if pos + 40 > stored_message_raw_end:
        raise errors.too_short(
            buf, pos, stored_message_raw_end, "lllqqlq",
            "body_crc queue_id flag queue_offset physical_offset sys_flag born_timestamp"
        )
    (
        body_crc, queue_id, flag, queue_offset, physical_offset, sys_flag, born_timestamp
    ) = unpack_lllqqlq(buf, pos)
    pos += 40
    # born_address: IfThenElse(sys_flag & 16, Bytes(16), Bytes(4))
    if sys_flag & 16:
        born_address_end = pos + 16
        if born_address_end > stored_message_raw_end:
            raise errors.bad_length(buf, pos, stored_message_raw_end, 16, "born_address")
        born_address = buf[pos:born_address_end]
        pos = born_address_end
    else:
        born_address_end = pos + 4
        if born_address_end > stored_message_raw_end:
            raise errors.bad_length(buf, pos, stored_message_raw_end, 4, "born_address")
        born_address = buf[pos:born_address_end]
        pos = born_address_end
    # born_port: Int32sb, store_timestamp: Int64sb
    if pos + 12 > stored_message_raw_end:
        raise errors.too_short(buf, pos, stored_message_raw_end, "lq", "born_port store_timestamp")
    (born_port, store_timestamp) = unpack_lq(buf, pos)
    pos += 12
    # store_address: IfThenElse(sys_flag & 32, Bytes(16), Bytes(4))
    if sys_flag & 32:
        store_address_end = pos + 16
        if store_address_end > stored_message_raw_end:
            raise errors.bad_length(buf, pos, stored_message_raw_end, 16, "store_address")
        store_address = buf[pos:store_address_end]
        pos = store_address_end
    else:
        store_address_end = pos + 4
        if store_address_end > stored_message_raw_end:
            raise errors.bad_length(buf, pos, stored_message_raw_end, 4, "store_address")
        store_address = buf[pos:store_address_end]
        pos = store_address_end
    # store_port: Int32sb, reconsume_times: Int32sb, prepared_transaction_offset: Int64sb,
    # body: OptionalPrefixed(Int32sb, GreedyBytes)
    if pos + 20 > stored_message_raw_end:
        raise errors.too_short(
            buf, pos, stored_message_raw_end, "llql",
            "store_port reconsume_times prepared_transaction_offset body"
        )
    (store_port, reconsume_times, prepared_transaction_offset, body_length) = unpack_llql(buf, pos)
    pos += 20
    body = None
    if body_length:
        body_end = pos + body_length
        if body_end > stored_message_raw_end or body_length < 0:
            raise errors.bad_length(buf, pos, stored_message_raw_end, body_length, "body")
        body = buf[pos:body_end]
        pos = body_end
    # topic: IfThenElse(magic == MAGIC_V2, Prefixed(Int16sb, GreedyBytes), Prefixed(Int8sb, GreedyBytes))
    if magic == MAGIC_V2:
        if pos + 2 > stored_message_raw_end:
            raise errors.too_short(buf, pos, stored_message_raw_end, "h", "topic")
        (topic_length,) = unpack_h(buf, pos)
        pos += 2
        topic_end = pos + topic_length
        if topic_end > stored_message_raw_end or topic_length < 0:
            raise errors.bad_length(buf, pos, stored_message_raw_end, topic_length, "topic")
        topic = buf[pos:topic_end]
        pos = topic_end
    else:
        if pos + 1 > stored_message_raw_end:
            raise errors.too_short(buf, pos, stored_message_raw_end, "b", "topic")
        topic_length = (buf[pos] ^ 128) - 128  # signed
        pos += 1
        topic_end = pos + topic_length
        if topic_end > stored_message_raw_end or topic_length < 0:
            raise errors.bad_length(buf, pos, stored_message_raw_end, topic_length, "topic")
        topic = buf[pos:topic_end]
        pos = topic_end
    # properties: OptionalPrefixed(Int16sb, GreedyBytes)
    if pos + 2 > stored_message_raw_end:
        raise errors.too_short(buf, pos, stored_message_raw_end, "h", "properties")
    (properties_length,) = unpack_h(buf, pos)
    pos += 2
    properties = None
    if properties_length:
        properties_end = pos + properties_length
        if properties_end > stored_message_raw_end or properties_length < 0:
            raise errors.bad_length(
                buf, pos, stored_message_raw_end, properties_length, "properties"
            )
        properties = buf[pos:properties_end]
        pos = properties_end
    if pos != stored_message_raw_end:
        raise errors.bytes_left(buf, pos, stored_message_raw_end, "")
    return (
        magic, body_crc, queue_id, flag, queue_offset, physical_offset, sys_flag,
        born_timestamp, born_address, born_port, store_timestamp, store_address, store_port,
        reconsume_times, prepared_transaction_offset, body, topic, properties
    ), pos


def parse_batch(
    buf: BufferT, pos: int = 0, end: int | None = None
) -> tuple[list[tuple[int, BufferT, str]], int]:
    """The body of a batch send (Java: ``MessageDecoder.encodeMessage``); two fields are unused."""
    if end is None or end > len(buf):
        end = len(buf)
    text = decode_utf8 if buf.__class__ is bytes else decode_buffer
    batch = []
    while pos < end:
        if pos + 4 > end:
            raise errors.too_short(buf, pos, end, "l", "[]")
        (batch_item_length,) = unpack_l(buf, pos)
        pos += 4
        batch_item_length -= 4
        batch_item_end = pos + batch_item_length
        if batch_item_end > end or batch_item_length < 0:
            raise errors.bad_length(buf, pos, end, batch_item_length, "[]")
        # magic: Rebuild(Int32sb, 0), body_crc: Rebuild(Int32sb, 0), flag: Int32sb,
        # body: Prefixed(Int32sb, GreedyBytes)
        if pos + 16 > batch_item_end:
            raise errors.too_short(
                buf, pos, batch_item_end, "llll", "[].magic [].body_crc [].flag [].body"
            )
        (magic, body_crc, flag, body_length) = unpack_llll(buf, pos)
        pos += 16
        body_end = pos + body_length
        if body_end > batch_item_end or body_length < 0:
            raise errors.bad_length(buf, pos, batch_item_end, body_length, "[].body")
        body = buf[pos:body_end]
        pos = body_end
        # properties: Prefixed(Int16sb, JavaText)
        if pos + 2 > batch_item_end:
            raise errors.too_short(buf, pos, batch_item_end, "h", "[].properties")
        (properties_length,) = unpack_h(buf, pos)
        pos += 2
        properties_end = pos + properties_length
        if properties_end > batch_item_end or properties_length < 0:
            raise errors.bad_length(buf, pos, batch_item_end, properties_length, "[].properties")
        properties = text(buf[pos:properties_end])
        pos = properties_end
        if pos != batch_item_end:
            raise errors.bytes_left(buf, pos, batch_item_end, "[]")
        batch.append((flag, body, properties))
    return batch, pos


def build_envelope(header_type: int, header: bytes, body: bytes) -> bytes:
    """A frame (Java: ``RemotingCommand.encode``, ``NettyDecoder``)."""
    # length: Rebuild(Int32sb, len(header) + len(body) + 4)
    length = len(header) + len(body) + 4
    # header_type: Int8ub, header_length: Rebuild(Int24ub, len(header))
    header_length = len(header)
    try:
        length_to_header_length = pack_lBBH(
            length, header_type, header_length >> 16, header_length & 0xFFFF
        )
    except struct.error as error:
        raise errors.out_of_range(
            "lBI", "length header_type header_length", length, header_type, header_length
        ) from error
    # header: Bytes(header_length), body: Bytes(length - header_length - 4)
    return b"".join((length_to_header_length, header, body))


def build_binary_header(
    code: int, language: int, version: int, opaque: int, flag: int, remark: str,
    ext_fields: Mapping[str, str] | None
) -> bytes:
    """The ROCKETMQ header (Java: ``RocketMQSerializable``)."""
    # code: Int16sb, language: Int8ub, version: Int16sb, opaque: Int32sb, flag: Int32sb,
    # remark: Prefixed(Int32sb, JavaText)
    remark_data = encode_utf8(remark)
    try:
        code_to_remark_length = pack_hBhlll(code, language, version, opaque, flag, len(remark_data))
    except struct.error as error:
        raise errors.out_of_range(
            "hBhlll", "code language version opaque flag remark", code, language, version,
            opaque, flag, len(remark_data)
        ) from error
    # ext_fields: JavaEntries(Int32sb, Int16sb, Int32sb)
    ext_fields_data = build_entries(ext_fields, "ext_fields") if ext_fields else b""
    try:
        ext_fields_length_packed = pack_l(len(ext_fields_data))
    except struct.error as error:
        raise errors.out_of_range("l", "ext_fields", len(ext_fields_data)) from error
    return b"".join((code_to_remark_length, remark_data, ext_fields_length_packed, ext_fields_data))


def build_register_body(
    data_version: bytes, topics: Sequence[bytes], filter_servers: bytes
) -> bytes:
    """Inflated registration of brokers before V5_0_0 (Java: ``RegisterBrokerBody.decode``)."""
    # data_version: Prefixed(Int32sb, GreedyBytes)
    try:
        data_version_length_packed = pack_l(len(data_version))
    except struct.error as error:
        raise errors.out_of_range("l", "data_version", len(data_version)) from error
    # topics: StrictArray(Int32sb, Prefixed(Int32sb, GreedyBytes))
    try:
        topics_count_packed = pack_l(len(topics))
    except struct.error as error:
        raise errors.out_of_range("l", "topics", len(topics)) from error
    topics_parts = []
    for topics_item in topics:
        try:
            topics_item_length_packed = pack_l(len(topics_item))
        except struct.error as error:
            raise errors.out_of_range("l", "topics[]", len(topics_item)) from error
        topics_parts += (topics_item_length_packed, topics_item)
    # filter_servers: Prefixed(Int32sb, GreedyBytes)
    try:
        filter_servers_length_packed = pack_l(len(filter_servers))
    except struct.error as error:
        raise errors.out_of_range("l", "filter_servers", len(filter_servers)) from error
    return b"".join((
        data_version_length_packed, data_version, topics_count_packed, b"".join(topics_parts),
        filter_servers_length_packed, filter_servers
    ))


def build_register_body_with_mappings(
    data_version: bytes, topics: Sequence[bytes], filter_servers: bytes,
    mappings: Sequence[bytes]
) -> bytes:
    """``REGISTER_BODY`` with the queue mappings, which exist from protocol version 413 on."""
    # data_version: Prefixed(Int32sb, GreedyBytes)
    try:
        data_version_length_packed = pack_l(len(data_version))
    except struct.error as error:
        raise errors.out_of_range("l", "data_version", len(data_version)) from error
    # topics: StrictArray(Int32sb, Prefixed(Int32sb, GreedyBytes))
    try:
        topics_count_packed = pack_l(len(topics))
    except struct.error as error:
        raise errors.out_of_range("l", "topics", len(topics)) from error
    topics_parts = []
    for topics_item in topics:
        try:
            topics_item_length_packed = pack_l(len(topics_item))
        except struct.error as error:
            raise errors.out_of_range("l", "topics[]", len(topics_item)) from error
        topics_parts += (topics_item_length_packed, topics_item)
    # filter_servers: Prefixed(Int32sb, GreedyBytes)
    try:
        filter_servers_length_packed = pack_l(len(filter_servers))
    except struct.error as error:
        raise errors.out_of_range("l", "filter_servers", len(filter_servers)) from error
    # mappings: StrictArray(Int32sb, Prefixed(Int32sb, GreedyBytes))
    try:
        mappings_count_packed = pack_l(len(mappings))
    except struct.error as error:
        raise errors.out_of_range("l", "mappings", len(mappings)) from error
    mappings_parts = []
    for mappings_item in mappings:
        try:
            mappings_item_length_packed = pack_l(len(mappings_item))
        except struct.error as error:
            raise errors.out_of_range("l", "mappings[]", len(mappings_item)) from error
        mappings_parts += (mappings_item_length_packed, mappings_item)
    return b"".join((
        data_version_length_packed, data_version, topics_count_packed, b"".join(topics_parts),
        filter_servers_length_packed, filter_servers, mappings_count_packed,
        b"".join(mappings_parts)
    ))


def build_stored_message(
    stored_message: tuple[int, int, int, int, int, int, int, int, bytes, int, int, bytes, int,
    int, int, bytes | None, str, str | None]
) -> bytes:
    """A message as brokers store and send it (Java: ``MessageDecoder``)."""
    (
        magic, body_crc, queue_id, flag, queue_offset, physical_offset, sys_flag,
        born_timestamp, born_address, born_port, store_timestamp, store_address, store_port,
        reconsume_times, prepared_transaction_offset, body, topic, properties
    ) = stored_message
    # magic: OneOf(Int32ub, (MAGIC_V1, MAGIC_V2))
    if magic != MAGIC_V1 and magic != MAGIC_V2:
        raise errors.bad_value("magic")
    # body_crc: Int32sb, queue_id: Int32sb, flag: Int32sb, queue_offset: Int64sb,
    # physical_offset: Int64sb, sys_flag: Int32sb, born_timestamp: Int64sb
    try:
        magic_to_born_timestamp = pack_Llllqqlq(
            magic, body_crc, queue_id, flag, queue_offset, physical_offset, sys_flag,
            born_timestamp
        )
    except struct.error as error:
        raise errors.out_of_range(
            "Llllqqlq",
            "magic body_crc queue_id flag queue_offset physical_offset sys_flag born_timestamp",
            magic, body_crc, queue_id, flag, queue_offset, physical_offset, sys_flag,
            born_timestamp
        ) from error
    # born_address: IfThenElse(sys_flag & 16, Bytes(16), Bytes(4))
    if sys_flag & 16:
        if len(born_address) != 16:
            raise errors.bad_size("born_address", len(born_address), 16)
    else:
        if len(born_address) != 4:
            raise errors.bad_size("born_address", len(born_address), 4)
    # born_port: Int32sb, store_timestamp: Int64sb
    try:
        born_port_to_store_timestamp = pack_lq(born_port, store_timestamp)
    except struct.error as error:
        raise errors.out_of_range(
            "lq", "born_port store_timestamp", born_port, store_timestamp
        ) from error
    # store_address: IfThenElse(sys_flag & 32, Bytes(16), Bytes(4))
    if sys_flag & 32:
        if len(store_address) != 16:
            raise errors.bad_size("store_address", len(store_address), 16)
    else:
        if len(store_address) != 4:
            raise errors.bad_size("store_address", len(store_address), 4)
    # store_port: Int32sb, reconsume_times: Int32sb, prepared_transaction_offset: Int64sb,
    # body: OptionalPrefixed(Int32sb, GreedyBytes)
    body_data = b"" if body is None else body
    try:
        store_port_to_body_length = pack_llql(
            store_port, reconsume_times, prepared_transaction_offset, len(body_data)
        )
    except struct.error as error:
        raise errors.out_of_range(
            "llql", "store_port reconsume_times prepared_transaction_offset body", store_port,
            reconsume_times, prepared_transaction_offset, len(body_data)
        ) from error
    # topic: IfThenElse(magic == MAGIC_V2, Prefixed(Int16sb, JavaText), Prefixed(Int8sb, JavaText))
    if magic == MAGIC_V2:
        topic_data = encode_utf8(topic)
        try:
            topic_length_packed = pack_h(len(topic_data))
        except struct.error as error:
            raise errors.out_of_range("h", "topic", len(topic_data)) from error
    else:
        topic_data = encode_utf8(topic)
        try:
            topic_length_packed = pack_b(len(topic_data))
        except struct.error as error:
            raise errors.out_of_range("b", "topic", len(topic_data)) from error
    # properties: OptionalPrefixed(Int16sb, JavaText)
    properties_data = b"" if properties is None else encode_utf8(properties)
    try:
        properties_length_packed = pack_h(len(properties_data))
    except struct.error as error:
        raise errors.out_of_range("h", "properties", len(properties_data)) from error
    stored_message_data = b"".join((
        magic_to_born_timestamp, born_address, born_port_to_store_timestamp, store_address,
        store_port_to_body_length, body_data, topic_length_packed, topic_data,
        properties_length_packed, properties_data
    ))
    try:
        stored_message_length_packed = pack_l(len(stored_message_data) + 4)
    except struct.error as error:
        raise errors.out_of_range("l", "", len(stored_message_data) + 4) from error
    return b"".join((stored_message_length_packed, stored_message_data))


def build_batch(batch: Sequence[tuple[int, bytes, str]]) -> bytes:
    """The body of a batch send (Java: ``MessageDecoder.encodeMessage``); two fields are unused."""
    batch_parts = []
    for batch_item in batch:
        (flag, body, properties) = batch_item
        # magic: Rebuild(Int32sb, 0), body_crc: Rebuild(Int32sb, 0), flag: Int32sb,
        # body: Prefixed(Int32sb, GreedyBytes)
        try:
            magic_to_body_length = pack_llll(0, 0, flag, len(body))
        except struct.error as error:
            raise errors.out_of_range(
                "llll", "[].magic [].body_crc [].flag [].body", 0, 0, flag, len(body)
            ) from error
        # properties: Prefixed(Int16sb, JavaText)
        properties_data = encode_utf8(properties)
        try:
            properties_length_packed = pack_h(len(properties_data))
        except struct.error as error:
            raise errors.out_of_range("h", "[].properties", len(properties_data)) from error
        batch_item_data = b"".join((
            magic_to_body_length, body, properties_length_packed, properties_data
        ))
        try:
            batch_item_length_packed = pack_l(len(batch_item_data) + 4)
        except struct.error as error:
            raise errors.out_of_range("l", "[]", len(batch_item_data) + 4) from error
        batch_parts += (batch_item_length_packed, batch_item_data)
    return b"".join(batch_parts)
