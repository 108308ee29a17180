"""Checks of arguments and settings: types and ranges, with one-line errors.

A bool is not accepted as a number. A value is shown with at most 80 characters, a secret never.

Java: the compiler, and ``DefaultMQPushConsumerImpl.checkConfig``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, Self, TypeAlias

from rocketwire.controls import is_secret_name
from rocketwire.errors import IllegalTypeError, IllegalValueError
from rocketwire.nearest import did_you_mean

Rule: TypeAlias = Callable[[str, object], object]
"""Checks the value of a setting: (name, value)."""

_MAX_LENGTH: Final = 80


def shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 3]}..."


def type_error(name: str, expected: str, value: object) -> IllegalTypeError:
    actual = "None" if value is None else f"{shown(value)} ({type(value).__name__})"
    if value is not None and is_secret_name(name):
        actual = f"a value of type {type(value).__name__}"
    return IllegalTypeError(f"{name}: expected {expected}, got {actual}")


def check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise type_error(name, "a text (str)", value)


def check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise type_error(name, "True or False", value)


def optional(rule: Rule) -> Rule:
    def check(name: str, value: object) -> None:
        if value is not None:
            rule(name, value)

    return check


def instance_of(*classes: type[Any], expected: str) -> Rule:
    def check(name: str, value: object) -> None:
        if not isinstance(value, classes):
            raise type_error(name, expected, value)

    return check


def integer_in(minimum: int | None = None, maximum: int | None = None) -> Rule:
    def check(name: str, value: object) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            raise type_error(name, "a whole number (int)", value)
        if (minimum is not None and value < minimum) or (maximum is not None and value > maximum):
            bounds = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
            raise IllegalValueError(f"{name}: expected a number {bounds}, got {shown(value)}")

    return check


def seconds(*, zero: bool = False, minimum: float = 0.0, maximum: float | None = None) -> Rule:
    """Return a rule for seconds: more than 0, or also 0, or in a range, bounds included."""
    expected = "of at least 0 seconds" if zero else "of more than 0 seconds"
    if maximum is not None:
        expected = f"of {minimum:g} to {maximum:g} seconds"

    def check(name: str, value: object) -> None:
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise type_error(name, "a number of seconds (float)", value)
        fits = value >= minimum and (zero or value > 0) and (maximum is None or value <= maximum)
        if not fits:  # NaN does not fit either
            raise IllegalValueError(f"{name}: expected a number {expected}, got {shown(value)}")

    return check


SOME_SECONDS: Final = seconds()

# The check of a setting by its annotation: a ``float`` is a number of seconds
_RULE_OF_TYPE: Final[Mapping[str, Rule]] = {
    "bool": check_flag,
    "str": check_text,
    "str | None": optional(check_text),
    "int": integer_in(minimum=1),
    "int | None": optional(integer_in(minimum=1)),
    "float": SOME_SECONDS,
    "float | None": optional(SOME_SECONDS),
}


def check_settings(settings: object, rules: Mapping[str, Rule] = {}) -> None:
    owner = type(settings)
    for name, annotation in owner.__annotations__.items():
        rule = rules.get(name) or _RULE_OF_TYPE[annotation]
        rule(f"{owner.__name__}.{name}", getattr(settings, name))


class Settings:
    """Base class of configs: an unknown setting is rejected with the nearest names."""

    __slots__ = ()

    def __new__(cls, *_: object, **values: object) -> Self:
        check_setting_names(values, cls.__annotations__)
        return super().__new__(cls)


# Settings that other libraries name otherwise
_OTHER_NAMES: Final = {
    "timeout": ("send_msg_timeout", "consume_timeout", "mq_client_api_timeout"),
    "concurrency": ("consume_thread_max",),
    "access_key": ("credentials",),
    "secret_key": ("credentials",),
    "name_servers": ("namesrv_addr",),
}


def check_setting_names(names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            others = [other for other in _OTHER_NAMES.get(name, ()) if other in known]
            hint = did_you_mean(others[0] if others else name, known, count=1 if others else 3)
            raise IllegalTypeError(f"{name}: there is no such setting{hint}")


def check_config(value: object, expected: type[Any]) -> None:
    if value is not None and not isinstance(value, expected):
        raise type_error("config", f"a {expected.__name__}", value)
