"""Type checks of a message's attributes, after the fast check has failed (Java: the compiler)."""

# An application can pass any object.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from rocketwire.client.arguments import (
    Rule,
    check_flag,
    check_text,
    integer_in,
    optional,
    type_error,
)
from rocketwire.errors import IllegalMessageError, IllegalMessageTypeError, IllegalTypeError


def convert_body(body: object) -> bytes:
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    hint = ", for example text.encode()" if isinstance(body, str) else ""
    raise IllegalMessageTypeError(str(type_error("Message.body", f"bytes{hint}", body)))


def check_parts(**parts: object) -> None:
    for name, value in parts.items():
        try:
            _CHECKS[name](f"Message.{name}", value)
        except IllegalTypeError as error:
            raise IllegalMessageTypeError(str(error)) from None
    given = {**parts, "delay_level": parts["delay_level"] or None}
    delays = [name for name in _DELAYS if given[name] is not None]
    if len(delays) > 1:
        raise IllegalMessageError(f"a message has one delay, not both {' and '.join(delays)}")


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        hint = f"; use {name.rpartition('.')[2]}.decode()" if isinstance(value, bytes) else ""
        raise type_error(name, f"a text (str){hint}", value)


def _check_keys(name: str, value: object) -> None:
    if isinstance(value, str):
        return
    if isinstance(value, (bytes, bytearray, memoryview)) or not isinstance(value, Collection):
        raise type_error(name, "a text or a sequence of texts", value)
    for index, key in enumerate(value):
        check_text(f"{name}[{index}]", key)


def _check_properties(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise type_error(name, "a mapping of text to text", value)
    for key, text in value.items():
        if not isinstance(key, str):
            raise type_error(name, "names that are texts (str)", key)
        check_text(f"{name}[{key!r}]", text)


_DELAYS = ("delay_level", "delay_seconds", "delay_millis", "deliver_millis")

_CHECKS: Final[Mapping[str, Rule]] = {
    "topic": _check_text,
    "tags": optional(_check_text),
    "keys": _check_keys,
    "flag": integer_in(),
    "properties": optional(_check_properties),
    "wait_store_msg_ok": check_flag,
    "delay_level": integer_in(),
    "delay_seconds": optional(integer_in()),
    "delay_millis": optional(integer_in()),
    "deliver_millis": optional(integer_in()),
    "sharding_key": optional(_check_text),
}
