"""The types of a message's parts: what is wrong, in one line.  Imported for messages that look unusual.

Java: the compiler.
"""

# What an application gives may be anything.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Collection, Mapping

from rocketwire.client.arguments import wrong_type
from rocketwire.errors import IllegalMessageTypeError


def checked_body(body: object) -> bytes:
    """The body as bytes; a ``bytearray`` and a ``memoryview`` are copied.

    Raises:
        IllegalMessageTypeError: it is something else.
    """
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    hint = ", as text.encode()" if isinstance(body, str) else ""
    raise _error("body", f"bytes{hint}", body)


def check_parts(**parts: object) -> None:
    """Check all parts but the body, by their names in ``Message``.

    Raises:
        IllegalMessageTypeError: the first that has the wrong type.
    """
    for name, value in parts.items():
        _CHECKS[name](name, value)


def _error(name: str, expected: str, value: object) -> IllegalMessageTypeError:
    return IllegalMessageTypeError(str(wrong_type(f"Message.{name}", expected, value)))


def _text(name: str, value: object) -> None:
    if not isinstance(value, str):
        hint = f"; decode it, as {name}.decode()" if isinstance(value, bytes) else ""
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
    for number, key in enumerate(value):
        if not isinstance(key, str):
            raise _error(f"{name}[{number}]", "a text (str)", key)


def _properties(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise _error(name, "a mapping of text to text", value)
    for key, each in value.items():
        if not isinstance(key, str):
            raise _error(name, "names that are texts (str)", key)
        if not isinstance(each, str):
            raise _error(f"{name}[{key!r}]", "a text (str)", each)


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
