"""Type checks of a message's attributes, after the fast check has failed.

Java: the compiler.
"""

# An application can pass any object.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Collection, Mapping

from rocketwire.client.arguments import wrong_type
from rocketwire.errors import IllegalMessageError, IllegalMessageTypeError


def convert_body(body: object) -> bytes:
    """Return the body as bytes; a ``bytearray`` or ``memoryview`` is copied.

    Raises:
        IllegalMessageTypeError: it has another type.
    """
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    hint = ", for example text.encode()" if isinstance(body, str) else ""
    raise _error("body", f"bytes{hint}", body)


def check_parts(**parts: object) -> None:
    """Check all attributes of a ``Message`` except the body, by name.

    Raises:
        IllegalMessageTypeError: for the first attribute with a wrong type.
        IllegalMessageError: there are two delays.
    """
    for name, value in parts.items():
        _CHECKS[name](name, value)
    given = {**parts, "delay_level": parts["delay_level"] or None}
    delays = [name for name in _DELAYS if given[name] is not None]
    if len(delays) > 1:
        raise IllegalMessageError(f"a message has one delay, not both {' and '.join(delays)}")


def _error(name: str, expected: str, value: object) -> IllegalMessageTypeError:
    return IllegalMessageTypeError(str(wrong_type(f"Message.{name}", expected, value)))


def _text(name: str, value: object) -> None:
    if not isinstance(value, str):
        hint = f"; use {name}.decode()" if isinstance(value, bytes) else ""
        raise _error(name, f"a text (str){hint}", value)


def _maybe_text(name: str, value: object) -> None:
    if value is not None:
        _text(name, value)


def _whole(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _error(name, "a whole number (int)", value)


def _maybe_whole(name: str, value: object) -> None:
    if value is not None:
        _whole(name, value)


def _flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise _error(name, "True or False", value)


def _keys(name: str, value: object) -> None:
    if isinstance(value, str):
        return
    if isinstance(value, (bytes, bytearray, memoryview)) or not isinstance(value, Collection):
        raise _error(name, "a text or a sequence of texts", value)
    for index, key in enumerate(value):
        if not isinstance(key, str):
            raise _error(f"{name}[{index}]", "a text (str)", key)


def _properties(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise _error(name, "a mapping of text to text", value)
    for key, text in value.items():
        if not isinstance(key, str):
            raise _error(name, "names that are texts (str)", key)
        if not isinstance(text, str):
            raise _error(f"{name}[{key!r}]", "a text (str)", text)


_DELAYS = ("delay_level", "delay_seconds", "delay_millis", "deliver_millis")

_CHECKS = {
    "topic": _text,
    "tags": _maybe_text,
    "keys": _keys,
    "flag": _whole,
    "properties": _properties,
    "wait_store_msg_ok": _flag,
    "delay_level": _whole,
    "delay_seconds": _maybe_whole,
    "delay_millis": _maybe_whole,
    "deliver_millis": _maybe_whole,
    "sharding_key": _maybe_text,
}
