"""Bodies of an operation and stored messages as plain values, and back.

Rules of this file: the registry has the type of each body; only the form of a registration (code
103) depends on its header and version, too.  Members have their names on the wire, ascending, as
Java writes them; None is null and stays visible; values are shown as Java's JSON shows them
(constants by name, bit sets as base64, NaN as null).  A map whose keys are not texts is a list of
[key, value] pairs; an empty map is always ``{}``.  In the other direction a missing member has its
default, and an unknown one is refused as a typing error.  In a stored message
a host is ``ip:port``, a body is hex after decompression.
"""

from __future__ import annotations

import dataclasses
import math
import re
import struct
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from rocketwire.codes import RequestCode
from rocketwire.errors import CodecError, DecodeError, EncodeError, LimitExceededError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import decode_bodies, decode_body, encode_bodies, encode_body, from_json
from rocketwire.messages._codec.fields import java_name, members_of
from rocketwire.messages._codec.types import BIT_SET
from rocketwire.messages.operations.registry import CLASSES, ArrayOf, Body, Raw
from rocketwire.messages.registration import (
    RegisterBrokerBody,
    decode_register_broker_body,
    encode_register_broker_body,
)
from rocketwire.wire.checksum import crc32
from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from rocketwire.wire.json.fastjson import (
    ANSWER_LIMITS,
    BareKey,
    StrictError,
    dumps,
    loads,
    strict_dumps,
    strict_loads,
)
from rocketwire.wire.message.batch import BatchMessage, decode_batch, encode_batch
from rocketwire.wire.message.body_compression import compress_body, compression_type
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.codec.jsonl import (
    Plain,
    expect_array,
    expect_integer,
    expect_object,
    expect_text,
    hex_member,
    is_array,
    is_object,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_NUMBERS: Final = {
    "queueId": "queue_id",
    "queueOffset": "queue_offset",
    "commitLogOffset": "commit_log_offset",
    "storeSize": "store_size",
    "sysFlag": "sys_flag",
    "flag": "flag",
    "bodyCRC": "body_crc",
    "bornTimestamp": "born_timestamp",
    "storeTimestamp": "store_timestamp",
    "reconsumeTimes": "reconsume_times",
    "preparedTransactionOffset": "prepared_transaction_offset",
}
_HOSTS: Final = {"bornHost": "born_host", "storeHost": "store_host"}
_DERIVED: Final = frozenset({"storeSize", "msgId", "offsetMsgId"})
_MEMBERS: Final = frozenset({*_NUMBERS, *_HOSTS, *_DERIVED, "topic", "properties", "body"})


def describe_messages(data: bytes) -> list[Plain]:
    return [_message(message) for message in decode_stored_messages(data)]


def _message(message: StoredMessage) -> dict[str, Plain]:
    return {
        "topic": message.topic,
        **{wire: getattr(message, name) for wire, name in _NUMBERS.items()},
        **{wire: str(getattr(message, name)) for wire, name in _HOSTS.items()},
        "msgId": message.msg_id,
        "offsetMsgId": message.offset_msg_id,
        "properties": None if message.properties is None else dict(message.properties),
        "body": None if message.body is None else message.body.hex(),
    }


def encode_messages(messages: Iterable[Plain]) -> bytes:
    """Return the bytes of messages; members may be missing, sizes and ids follow from others."""
    return b"".join(map(_bytes_of, messages))


def _bytes_of(source: Plain) -> bytes:
    source = expect_object(source, "messages")
    if unknown := next((name for name in source if name not in _MEMBERS), None):
        raise EncodeError("MessageExt has no such member on the wire", path=unknown)
    numbers = {
        name: expect_integer(source[wire], wire)
        for wire, name in _NUMBERS.items()
        if wire not in _DERIVED and source.get(wire) is not None
    }
    hosts = {
        name: _host(source[wire], wire)
        for wire, name in _HOSTS.items()
        if source.get(wire) is not None
    }
    body = _body(source)
    sys_flag = numbers.get("sys_flag", 0)
    if body is not None and sys_flag & MessageSysFlag.COMPRESSED:
        body = compress_body(body, compression_type(sys_flag))
    numbers.setdefault("body_crc", crc32(body))
    properties = source.get("properties")
    members: dict[str, Any] = {**numbers, **hosts}
    message = StoredMessage(
        topic=expect_text(source.get("topic", ""), "topic"),
        body=body,
        properties=None if properties is None else texts(properties, "properties"),
        **members,
    )
    return encode_stored_message(message)


def _body(source: dict[str, Plain]) -> bytes | None:
    return hex_member(source, "body") if source.get("body") is not None else None


def batch_to_plain(data: bytes) -> list[Plain]:
    return [
        {"flag": message.flag, "properties": dict(message.properties), "body": message.body.hex()}
        for message in decode_batch(data)
    ]


def batch_from_plain(messages: Plain) -> bytes:
    sources = [expect_object(message, "messages") for message in expect_array(messages, "messages")]
    return encode_batch(
        BatchMessage(
            body=_body(source) or b"",
            flag=expect_integer(source.get("flag", 0), "flag"),
            properties=texts(source.get("properties") or {}, "properties"),
        )
        for source in sources
    )


def _host(value: Plain, path: str) -> Host:
    try:
        return Host.parse(expect_text(value, path))
    except ValueError as error:
        raise EncodeError(str(error), path=path) from error


T = TypeVar("T")

MAX_DEPTH: Final = 200
"""Maximum levels of a plain value; no class of the protocol has more than ten."""

_write_bits: Final[Any] = BIT_SET.write
_ATOMS: Final = frozenset({str, int, bool, type(None)})
_TYPE: Final = re.compile(r"([\w.\[\]]+)|([<>,])")


def to_plain(value: object, depth: int = 0) -> Plain:
    if type(value) in _ATOMS:
        return value
    if depth > MAX_DEPTH:
        message = f"more than {MAX_DEPTH} levels"
        raise LimitExceededError(message, declared=depth, limit=MAX_DEPTH)
    return _compound(value, depth + 1)


def _compound(value: Any, depth: int) -> Plain:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return _map(value, depth)
    if isinstance(value, tuple | list):
        return [to_plain(item, depth) for item in value]
    return _write_bits(value) if isinstance(value, frozenset) else _members(value, depth)


def _members(value: Any, depth: int) -> Plain:
    rows = _rows(java_name(value.__class__))
    return {wire: to_plain(getattr(value, name), depth) for wire, name in rows}


def _map(source: Mapping[Any, Any], depth: int) -> Plain:
    if all(type(key) is str for key in source):
        return {key: to_plain(item, depth) for key, item in source.items()}
    return [[_key(key, depth), to_plain(item, depth)] for key, item in source.items()]


def _key(key: object, depth: int) -> Plain:
    if isinstance(key, BareKey):
        try:
            return strict_loads(key)
        except StrictError:
            return str(key)
    return to_plain(key, depth)


@cache
def _rows(name: str) -> tuple[tuple[str, str], ...]:
    members = members_of(CLASSES[name])
    return tuple(sorted((field.wire, key) for key, field in members.items()))


class JavaType(NamedTuple):
    name: str  #: its name without arguments: ``Map``, ``List``, ``MessageQueue``, ``long``
    arguments: tuple[JavaType, ...] = ()  #: the types between the angle brackets


@cache
def java_type_of(java: str) -> JavaType:
    tokens = [match[0] for match in _TYPE.finditer(java)]
    return _java_type(tokens)


def _java_type(tokens: list[str]) -> JavaType:
    name = tokens.pop(0)
    arguments: list[JavaType] = []
    if tokens and tokens[0] == "<":
        while tokens.pop(0) != ">":
            arguments.append(_java_type(tokens))
    return JavaType(name, tuple(arguments))


def from_plain(cls: type[T], value: Plain) -> T | None:
    try:
        return from_json(cls, _restore(JavaType(java_name(cls)), value, java_name(cls)))
    except DecodeError as error:
        raise EncodeError(error.message, path=error.path) from error


def _restore(java_type: JavaType, value: Plain, path: str) -> Plain:
    # Pairs are objects again, as read from the wire.
    if is_array(value):
        if java_type.name.endswith("Map"):
            return dict(_entry(java_type, pair, path) for pair in value)
        inner = java_type.arguments[0] if java_type.arguments else java_type
        return [_restore(inner, item, f"{path}.{index}") for index, item in enumerate(value)]
    if not is_object(value):
        return value
    if java_type.name.endswith("Map"):
        inner = java_type.arguments[1]
        return {key: _restore(inner, item, f"{path}.{key}") for key, item in value.items()}
    return _record(java_type, value, path)


def _entry(java_type: JavaType, pair: Plain, path: str) -> tuple[str, Plain]:
    if not is_array(pair) or len(pair) != 2:
        raise EncodeError("not a [key, value] pair", path=path)
    key, item = pair
    if is_object(key):
        reshaped = _restore(java_type.arguments[0], key, path)
        key = BareKey(strict_dumps(reshaped).decode())
    elif isinstance(key, bool) or not isinstance(key, int | str):
        raise EncodeError("not a key of a map", path=path)
    return str(key) if isinstance(key, int) else key, _restore(java_type.arguments[1], item, path)


def _record(java_type: JavaType, value: dict[str, Plain], path: str) -> Plain:
    members = _member_types(java_type.name)
    if members is None:
        return value
    reshaped: dict[str, Plain] = {}
    for name, item in value.items():
        if name not in members:
            raise EncodeError(f"{java_type.name} has no such member", path=f"{path}.{name}")
        inner, clock = members[name]
        if not clock or item is not None:  # a missing time is printed as null
            reshaped[name] = _restore(inner, item, f"{path}.{name}")
    return reshaped


@cache
def _member_types(name: str) -> dict[str, tuple[JavaType, bool]] | None:
    cls = CLASSES.get(name)
    if cls is None:
        return None
    return {
        spelling: (java_type_of(field.form.java), field.clock)
        for field in members_of(cls).values()
        for spelling in (field.wire, *field.also)
    }


def is_body(cls: type[Any]) -> bool:
    fields = dataclasses.fields(cls)
    return bool(fields) and "member" in fields[0].metadata


def shift_offset(error: CodecError, base: int) -> CodecError:
    if error.offset is not None:
        error.offset += base
    return error


_CHECKPOINT: Final = struct.Struct(">7q")


def body_to_plain(body_type: Body, body: bytes) -> Plain:
    """Return the content of a body; None if only its sender understands it."""
    if isinstance(body_type, ArrayOf):
        return to_plain(decode_bodies(body_type.element, body, limits=ANSWER_LIMITS))
    if isinstance(body_type, Raw):
        return _READERS[body_type](body)
    return (
        None if body_type is None else to_plain(decode_body(body_type, body, limits=ANSWER_LIMITS))
    )


def body_from_plain(body_type: Body, value: Plain) -> bytes:
    if isinstance(body_type, ArrayOf):
        return encode_bodies(
            [_parse_body(body_type.element, item) for item in expect_array(value, "body.value")]
        )
    if isinstance(body_type, Raw):
        return _WRITERS[body_type](value)
    if body_type is None:
        raise EncodeError("no class is known for this body; give its hex", path="body.value")
    return encode_body(_parse_body(body_type, value))


def registration_to_plain(body: bytes, *, compressed: bool, version: int) -> Plain:
    return to_plain(decode_register_broker_body(body, compressed=compressed, version=version))


def registration_from_plain(value: Plain, *, compressed: bool, version: int) -> bytes:
    body = _parse_body(RegisterBrokerBody, value)
    return encode_register_broker_body(body, compressed=compressed, version=version)


def is_registration(code: int, body_type: Body) -> bool:
    return code == RequestCode.REGISTER_BROKER and body_type is RegisterBrokerBody


def _parse_body(cls: type[Any], value: Plain) -> Any:
    body = from_plain(cls, value)
    if body is None:
        raise EncodeError("null is not a body", path=cls.__name__)
    return body


def _one_message(body: bytes) -> Plain:
    messages = describe_messages(body)
    if len(messages) > 1:
        raise DecodeError(f"{len(messages)} messages instead of one", path="body")
    return messages[0] if messages else None


def _texts(body: bytes) -> Plain:
    value = to_plain(loads(body, limits=ANSWER_LIMITS))
    if not is_array(value):
        raise DecodeError("not an array", path="body")
    return value


def _checkpoint(body: bytes) -> Plain:
    if len(body) != _CHECKPOINT.size:
        raise DecodeError(f"{len(body)} bytes instead of {_CHECKPOINT.size}", path="body")
    return list(_CHECKPOINT.unpack(body))


def _numbers(value: Plain) -> bytes:
    try:
        return _CHECKPOINT.pack(*expect_array(value, "body.value"))
    except struct.error as error:
        raise EncodeError("not an array of seven int64", path="body.value") from error


def _opaque(value: Plain) -> bytes:
    raise EncodeError("only its sender knows this body; give its hex", path="body.value")


_READERS: Final[dict[Raw, Callable[[bytes], Plain]]] = {
    Raw.MESSAGE_BODY: lambda body: None,
    Raw.MESSAGE_BATCH: batch_to_plain,
    Raw.STORED_MESSAGE: _one_message,
    Raw.STORED_MESSAGES: describe_messages,
    Raw.PROPERTIES: decode_utf8,
    Raw.TEXT: decode_utf8,
    Raw.JSON: lambda body: to_plain(loads(body, limits=ANSWER_LIMITS)),
    Raw.JSON_TEXTS: _texts,
    Raw.TIMER_CHECKPOINT: _checkpoint,
}
_WRITERS: Final[dict[Raw, Callable[[Plain], bytes]]] = {
    Raw.MESSAGE_BODY: _opaque,
    Raw.MESSAGE_BATCH: batch_from_plain,
    Raw.STORED_MESSAGE: lambda value: encode_messages([value]),
    Raw.STORED_MESSAGES: lambda value: encode_messages(expect_array(value, "body.value")),
    Raw.PROPERTIES: lambda value: encode_utf8(expect_text(value, "body.value")),
    Raw.TEXT: lambda value: encode_utf8(expect_text(value, "body.value")),
    Raw.JSON: dumps,
    Raw.JSON_TEXTS: lambda value: dumps(expect_array(value, "body.value")),
    Raw.TIMER_CHECKPOINT: _numbers,
}
