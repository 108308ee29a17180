"""Hand-written versions of the codec's hot functions without a grammar: the reference of
``bench/codec.py``.

They have the same results and bounds checks as ours; the library does not use them.
"""

# The results of struct and orjson have no types, and none are added, as in typical hand-written
# code.
# pyright: basic

from __future__ import annotations

import struct
from typing import Any

import orjson

from rocketwire.codes import LanguageCode

PREFIX = struct.Struct(">iI").unpack_from
INT = struct.Struct(">i").unpack_from
SHORT = struct.Struct(">h").unpack_from
STORED = struct.Struct(">iIiiiqqiq4siq4siiqi").unpack_from
BINARY = struct.Struct(">hBhiii").unpack_from
BINARY_SIZE = struct.calcsize(">hBhiii")
STORED_SIZE = struct.calcsize(">iIiiiqqiq4siq4siiqi")
PACK_PREFIX = struct.Struct(">iI").pack
LANGUAGES = dict(LanguageCode.__members__)


def envelope(
    buf: bytes, pos: int = 0, end: int | None = None
) -> tuple[tuple[int, bytes, bytes], int]:
    if end is None:
        end = len(buf)
    if pos + 8 > end:
        raise ValueError("short")
    length, mark = PREFIX(buf, pos)
    header_end = pos + 8 + (mark & 0xFFFFFF)
    stop = pos + 4 + length
    if stop > end or header_end > stop:
        raise ValueError("length")
    return (mark >> 24, buf[pos + 8 : header_end], buf[header_end:stop]), stop


def json_header(header: bytes) -> tuple[Any, ...]:
    value = orjson.loads(header)
    if type(value) is not dict:
        raise ValueError("not an object")
    get = value.get
    code, version, opaque, flag = (
        get("code", 0),
        get("version", 0),
        get("opaque", 0),
        get("flag", 0),
    )
    for number in (code, version, opaque, flag):
        if type(number) is not int or not -0x80000000 <= number <= 0x7FFFFFFF:
            raise ValueError("number")
    ext = get("extFields")
    if ext is not None:
        for text in ext.values():
            if type(text) is not str:
                raise ValueError("text")
    return code, LANGUAGES.get(get("language", "JAVA")), version, opaque, flag, get("remark"), ext


def binary_header(buf: bytes, pos: int = 0, end: int | None = None) -> tuple[tuple[Any, ...], int]:
    if end is None:
        end = len(buf)
    if pos + BINARY_SIZE > end:
        raise ValueError("short")
    *fields, length = BINARY(buf, pos)
    pos += BINARY_SIZE
    stop = pos + length
    if length < 0 or stop + 4 > end:
        raise ValueError("remark")
    remark = buf[pos:stop].decode()
    (length,) = INT(buf, stop)
    pos = stop + 4
    stop = pos + length
    if length < 0 or stop > end:
        raise ValueError("map")
    ext: dict[str, str] = {}
    while pos < stop:
        if pos + 2 > stop:
            raise ValueError("key")
        (length,) = SHORT(buf, pos)
        key_end = pos + 2 + length
        if length < 0 or key_end + 4 > stop:
            raise ValueError("key")
        key = buf[pos + 2 : key_end].decode()
        (length,) = INT(buf, key_end)
        pos = key_end + 4 + length
        if length < 0 or pos > stop:
            raise ValueError("value")
        ext[key] = buf[key_end + 4 : pos].decode()
    return (*fields, remark, ext), pos


def build(header_type: int, header: bytes, body: bytes) -> bytes:
    if len(header) > 0xFFFFFF:
        raise ValueError("header")
    return PACK_PREFIX(4 + len(header) + len(body), header_type << 24 | len(header)) + header + body


def read_stored_message(
    buf: bytes, pos: int = 0, end: int | None = None
) -> tuple[tuple[Any, ...], int]:
    if end is None:
        end = len(buf)
    if pos + STORED_SIZE > end:
        raise ValueError("short")
    size, *fields, body_length = STORED(buf, pos)
    stop = pos + size
    if size < STORED_SIZE or stop > end or fields[0] != 0xDAA320A7 or fields[6] & 0x30:
        raise ValueError("message")
    pos += STORED_SIZE
    body_end = pos + body_length
    if body_length < 0 or body_end >= stop:
        raise ValueError("body")
    body = buf[pos:body_end]
    topic_length = buf[body_end]
    topic_end = body_end + 1 + topic_length
    if topic_length > 127 or topic_end + 2 > stop:
        raise ValueError("topic")
    topic = buf[body_end + 1 : topic_end].decode()
    (properties_length,) = SHORT(buf, topic_end)
    if properties_length < 0 or topic_end + 2 + properties_length != stop:
        raise ValueError("properties")
    return (*fields, body, topic, buf[topic_end + 2 : stop].decode()), stop


def register_topics(body: bytes) -> dict[str, bytes]:
    """Inflated registration: topic name to the rest of its text."""
    end = len(body)
    (length,) = INT(body, 0)
    pos = 4 + length
    if length < 0 or pos + 4 > end:
        raise ValueError("data version")
    (count,) = INT(body, pos)
    pos += 4
    if count < 0 or count * 4 > end - pos:
        raise ValueError("count")
    topics: dict[str, bytes] = {}
    for _ in range(count):
        if pos + 4 > end:
            raise ValueError("short")
        (length,) = INT(body, pos)
        pos += 4
        stop = pos + length
        if length < 0 or stop > end:
            raise ValueError("topic")
        name, _blank, settings = body[pos:stop].partition(b" ")
        topics[name.decode()] = settings
        pos = stop
    return topics
