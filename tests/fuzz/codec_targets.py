"""Fuzz targets of the codec: bytes in, values or a ``DecodeError`` out."""

import contextlib
import zlib

from rocketwire.codes import LanguageCode
from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.operations.registry import CLASSES
from rocketwire.messages.registration import decode_register_broker_body
from rocketwire.sql92 import IllegalExpressionError, compile_expression
from rocketwire.wire.binary_header import decode_binary_header, encode_binary_header
from rocketwire.wire.command import CommandDecoder
from rocketwire.wire.json.fastjson import loads
from rocketwire.wire.json_header import decode_json_header, encode_json_header
from rocketwire.wire.message.batch import decode_batch
from rocketwire.wire.message.ids import (
    create_offset_message_id,
    decode_offset_message_id,
    decode_unique_key,
)
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.properties import decode_properties, encode_properties
from rocketwire.wire.message.stored import StoredLimits, unwrap_inner_batch
from tests.fuzz import seeds

FRAME_LIMIT = 1 << 16


def read_frame(data: bytes) -> None:
    decoder = CommandDecoder(max_frame_length=FRAME_LIMIT)
    step = 1 + (data[0] if data else 0)
    for start in range(1, len(data), step):
        decoder.feed(data[start : start + step])
        while decoder.next_command() is not None:
            pass
        assert decoder.buffered <= FRAME_LIMIT + step


def seed_frame() -> list[bytes]:
    return [bytes((step,)) + frame for frame in seeds.frames() for step in (7, 255)]


def read_json_header(data: bytes) -> None:
    # Any bytes are a JSON header, which can be written and read again, or a ``DecodeError``.
    fields = decode_json_header(data)
    if not isinstance(fields.language, LanguageCode) or fields.language.is_known:
        assert decode_json_header(encode_json_header(**fields._asdict())) == fields


def seed_json_header() -> list[bytes]:
    return [
        *seeds.headers(0),
        b'{"extFields":{"$ref":"$"}}',
        b"{'code':1,}",
        b'{"language":"3","opaque":1e3}',
    ]


def read_binary_header(data: bytes) -> None:
    # Any bytes are a binary header, which can be written and read again, or a ``DecodeError``.
    fields, used = decode_binary_header(data)
    assert 0 <= used <= len(data)
    # replaced bytes have grown
    if all(len(key.encode()) <= 0x7FFF for key in fields.ext_fields or ()):
        reread, _ = decode_binary_header(encode_binary_header(**fields._asdict()))
        assert reread == fields._replace(ext_fields=fields.ext_fields or None)


def seed_binary_header() -> list[bytes]:
    return seeds.headers(1) or [bytes(21)]


FASTJSON_NAMES = (
    "TopicRouteData",
    "ConsumerRunningInfo",
    "RegisterBrokerBody",
    "BatchAckMessageRequestBody",
    "TopicStatsTable",
    "AclInfo",
)


def read_fastjson(data: bytes) -> None:
    way = data[0] if data else 0
    text = data[1:]
    if way < len(FASTJSON_NAMES):
        body = decode_body(CLASSES[FASTJSON_NAMES[way]], text)
        if body is not None:
            encode_body(body)
    else:
        loads(text)


def seed_fastjson() -> list[bytes]:
    return [
        bytes((way,)) + body
        for body in seeds.json_bodies()
        for way in range(len(FASTJSON_NAMES) + 1)
    ]


REGISTER_BODY_VERSIONS = (0, 36, 37, 412, 413, 513, -1, 1000)
REGISTER_BODY_LIMIT = 1 << 20


def read_register_body(data: bytes) -> None:
    way = data[0] if data else 0
    body = data[1:]
    if way & 0xC0 == 0x40:
        body = zlib.compress(body, 1)
    decode_register_broker_body(
        body,
        compressed=way & 0xC0 != 0,
        version=REGISTER_BODY_VERSIONS[way & 7],
        max_inflated=REGISTER_BODY_LIMIT,
    )


def seed_register_body() -> list[bytes]:
    taken = [
        bytes((0x85 if body.startswith(b"x") else 5,)) + body for body in seeds.registrations()
    ]
    unpacked = [
        b"\x45" + zlib.decompress(body)
        for body in seeds.registrations()
        if body.startswith(b"x\xda")
    ]
    empty = (
        b"\x45"
        + b"".join(len(part).to_bytes(4, "big") + part for part in (b"{}", b""))
        + b"\0\0\0\2[]\0\0\0\0"
    )
    return [*taken, *unpacked, empty]


def read_properties(data: bytes) -> None:
    # Any text is properties, which can be written and read again, and a message id or a ``DecodeError``.
    text = data.decode("utf-8", "replace")
    properties = decode_properties(text)
    assert decode_properties(encode_properties(properties)) == properties
    for decode in (decode_unique_key, decode_offset_message_id):
        try:
            decode(text)
        except DecodeError:
            continue
    store_host, offset = decode_offset_message_id(text)
    assert decode_offset_message_id(create_offset_message_id(store_host, offset)) == (
        store_host,
        offset,
    )


def seed_properties() -> list[bytes]:
    return [
        b"TAGS\1a\2KEYS\1k\2WAIT\1true",
        b"0A00000100002A9F0000000000001234",
        b"20010DB8" + b"0" * 48,
    ]


STORED_MESSAGE_LIMITS = StoredLimits(max_body=1 << 20, max_inflated=1 << 20)


def read_stored_message(data: bytes) -> None:
    for message in decode_stored_messages(data, strict=False, limits=STORED_MESSAGE_LIMITS):
        try:
            unwrap_inner_batch(message)
        except DecodeError:
            continue
    with contextlib.suppress(DecodeError):
        decode_batch(data)
    decode_stored_messages(data, check_crc=True, limits=STORED_MESSAGE_LIMITS)


def seed_stored_message() -> list[bytes]:
    return seeds.message_seeds()


SQL92_MESSAGES: tuple[dict[str, str], ...] = (
    {},
    {"a": "3", "b": "x", "TAGS": "paid"},
    {"a": "-0.0", "b": "NaN", "c": "9" * 5000},
    {"a": "0x1p9999", "b": "\u0663", "c": "1e999"},
)


def read_sql92(data: bytes) -> None:
    # Any text is an SQL92 expression or refused; an expression lets a message pass, or not.
    text, _, properties = data.decode("utf-8", "replace").partition("\0")
    try:
        passes = compile_expression(text)
    except IllegalExpressionError:
        return
    for message in (*SQL92_MESSAGES, decode_properties(properties)):
        assert passes(message) in (True, False)


def seed_sql92() -> list[bytes]:
    return [
        b"a > 2.5 AND b = 'it''s' or not (c between -1 and 3L)\0a\x013\x02",
        b"a in ('1','2') or b not in ('x') and c is not null",
        b"b contains 'x' or b not startswith 'y' or TAGS endswith 'z'\0TAGS\x01xyz\x02",
        b"a <> b -- c\n and a <= +3 /* d */ or true = c",
        b"a = -9223372036854775807 or .5e3 >= a",
        b"not " * 90 + b"a",
        b"(" * 90 + b"a" + b")" * 90,
        b" or ".join([b"a=1"] * 500),
    ]
