"""Bodies of an operation as plain values, and back: classes, arrays of them, and what is no class.

Rules of this file: the registry says what a body holds; a registration (code 103) is the one body
whose form depends on its header and version too.
"""

from __future__ import annotations

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
from rocketwire_tools.codec.expect import a_text, an_array, is_array
from rocketwire_tools.codec.values.plain import from_plain, to_plain
from rocketwire_tools.codec.values.stored import (
    batch_from_plain,
    batch_to_plain,
    stored_from_plain,
    stored_to_plain,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.codec.expect import Plain

_CHECKPOINTS: Final = 7


def body_to_plain(kind: Body, body: bytes) -> Plain:
    """What a body says; None where it holds what only its sender understands.

    Raises:
        DecodeError: the bytes are something else than ``kind``.
    """
    if isinstance(kind, ArrayOf):
        return to_plain(decode_bodies(kind.element, body, limits=ANSWER_LIMITS))
    if isinstance(kind, Raw):
        return _READERS[kind](body)
    return None if kind is None else to_plain(decode_body(kind, body, limits=ANSWER_LIMITS))


def body_from_plain(kind: Body, value: Plain) -> bytes:
    """The bytes that say ``value``.

    Raises:
        EncodeError: there are none.
    """
    if isinstance(kind, ArrayOf):
        return encode_bodies(
            [_required(kind.element, item) for item in an_array(value, "body.value")]
        )
    if isinstance(kind, Raw):
        return _WRITERS[kind](value)
    if kind is None:
        raise EncodeError("no class is known for this body; give its hex", path="body.value")
    return encode_body(_required(kind, value))


def registration_to_plain(body: bytes, *, compressed: bool, version: int) -> Plain:
    """What the body of a registration says, in whichever form it has.

    Raises:
        DecodeError: it cannot be read.
    """
    return to_plain(decode_register_broker_body(body, compressed=compressed, version=version))


def registration_from_plain(value: Plain, *, compressed: bool, version: int) -> bytes:
    """The body of a registration.

    Raises:
        EncodeError: the value is none.
    """
    body = _required(RegisterBrokerBody, value)
    return encode_register_broker_body(body, compressed=compressed, version=version)


def is_registration(code: int, kind: Body) -> bool:
    """Whether the body of this request is the one that its header describes."""
    return code == RequestCode.REGISTER_BROKER and kind is RegisterBrokerBody


def _required(cls: type[Any], value: Plain) -> Any:
    made = from_plain(cls, value)
    if made is None:
        raise EncodeError("null is no body", path=cls.__name__)
    return made


# ---------------------------------------------------------------------------- no classes


def _one_message(body: bytes) -> Plain:
    messages = stored_to_plain(body)
    if len(messages) > 1:
        raise DecodeError(f"{len(messages)} messages instead of one", path="body")
    return messages[0] if messages else None


def _texts(body: bytes) -> Plain:
    value = to_plain(loads(body, limits=ANSWER_LIMITS))
    if not is_array(value):
        raise DecodeError("not an array", path="body")
    return value


def _checkpoint(body: bytes) -> Plain:
    if len(body) != 8 * _CHECKPOINTS:
        raise DecodeError(f"{len(body)} bytes instead of {8 * _CHECKPOINTS}", path="body")
    return [int.from_bytes(body[at : at + 8], "big", signed=True) for at in range(0, len(body), 8)]


def _numbers(value: Plain) -> bytes:
    try:
        return b"".join(
            item.to_bytes(8, "big", signed=True) for item in an_array(value, "body.value")
        )
    except (AttributeError, OverflowError) as error:
        raise EncodeError("not an array of int64", path="body.value") from error


def _opaque(value: Plain) -> bytes:
    raise EncodeError("only its sender knows this body; give its hex", path="body.value")


_READERS: Final[dict[Raw, Callable[[bytes], Plain]]] = {
    Raw.MESSAGE_BODY: lambda body: None,
    Raw.MESSAGE_BATCH: batch_to_plain,
    Raw.STORED_MESSAGE: _one_message,
    Raw.STORED_MESSAGES: stored_to_plain,
    Raw.PROPERTIES: decode_utf8,
    Raw.TEXT: decode_utf8,
    Raw.JSON: lambda body: to_plain(loads(body, limits=ANSWER_LIMITS)),
    Raw.JSON_TEXTS: _texts,
    Raw.TIMER_CHECKPOINT: _checkpoint,
}
_WRITERS: Final[dict[Raw, Callable[[Plain], bytes]]] = {
    Raw.MESSAGE_BODY: _opaque,
    Raw.MESSAGE_BATCH: batch_from_plain,
    Raw.STORED_MESSAGE: lambda value: stored_from_plain([value]),
    Raw.STORED_MESSAGES: lambda value: stored_from_plain(an_array(value, "body.value")),
    Raw.PROPERTIES: lambda value: encode_utf8(a_text(value, "body.value")),
    Raw.TEXT: lambda value: encode_utf8(a_text(value, "body.value")),
    Raw.JSON: dumps,
    Raw.JSON_TEXTS: lambda value: dumps(an_array(value, "body.value")),
    Raw.TIMER_CHECKPOINT: _numbers,
}
