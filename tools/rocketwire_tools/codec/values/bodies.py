"""Bodies of an operation as plain values, and back: classes, arrays of them, and other bodies.

Rules of this file: the registry has the type of each body; only the form of a registration (code
103) depends on its header and version, too.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from rocketwire.codes import RequestCode
from rocketwire.errors import DecodeError, EncodeError
from rocketwire.messages import decode_bodies, decode_body, encode_bodies, encode_body
from rocketwire.messages.operations.registry import ArrayOf, Body, Raw
from rocketwire.messages.registration import (
    RegisterBrokerBody,
    decode_register_broker_body,
    encode_register_broker_body,
)
from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from rocketwire.wire.json.fastjson import ANSWER_LIMITS, dumps, loads
from rocketwire_tools.codec.expect import Plain, expect_array, expect_text, is_array
from rocketwire_tools.codec.values.plain import from_plain, to_plain
from rocketwire_tools.codec.values.stored import (
    batch_from_plain,
    batch_to_plain,
    describe_messages,
    encode_messages,
)

if TYPE_CHECKING:
    from collections.abc import Callable


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
