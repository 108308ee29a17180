"""What an application gives to the clients: types and bounds are checked where it is given, in one line that says what is expected.

Rules of this file: a bool is not a number; a value is shown in at most 80 characters, and a secret not at all.

Java: the compiler, and ``DefaultMQPushConsumerImpl.checkConfig``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rocketwire.errors import IllegalTypeError, IllegalValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Rule: TypeAlias = Callable[[str, object], object]
    """Checks the value of a setting; the text is its name."""

_LONGEST: Final = 80


def shown(value: object) -> str:
    """A value as an error shows it: at most 80 characters."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def wrong_type(name: str, expected: str, value: object) -> IllegalTypeError:
    """The error for a value of the wrong type."""
    given = "None" if value is None else f"{shown(value)} ({type(value).__name__})"
    return IllegalTypeError(f"{name}: expected {expected}, got {given}")


def check_text(name: str, value: object) -> None:
    """Raises ``IllegalTypeError`` unless the value is a ``str``."""
    if not isinstance(value, str):
        raise wrong_type(name, "a text (str)", value)


def check_flag(name: str, value: object) -> None:
    """Raises ``IllegalTypeError`` unless the value is a ``bool``."""
    if not isinstance(value, bool):
        raise wrong_type(name, "True or False", value)


def optional(rule: Rule) -> Rule:
    """The rule, or None."""

    def check(name: str, value: object) -> None:
        if value is not None:
            rule(name, value)

    return check


def instance_of(*classes: type[Any], expected: str) -> Rule:
    """An instance of one of these classes."""

    def check(name: str, value: object) -> None:
        if not isinstance(value, classes):
            raise wrong_type(name, expected, value)

    return check


def whole(least: int | None = None, most: int | None = None) -> Rule:
    """An ``int`` within bounds; both bounds are included."""

    def check(name: str, value: object) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            raise wrong_type(name, "a whole number (int)", value)
        if (least is not None and value < least) or (most is not None and value > most):
            bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
            raise IllegalValueError(f"{name}: expected a number {bounds}, got {shown(value)}")

    return check


def seconds(*, zero: bool = False, least: float = 0.0, most: float | None = None) -> Rule:
    """A number of seconds: more than 0, or also 0, or within bounds that are included."""
    expected = "of at least 0 seconds" if zero else "of more than 0 seconds"
    if most is not None:
        expected = f"of {least:g} to {most:g} seconds"

    def check(name: str, value: object) -> None:
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise wrong_type(name, "a number of seconds (float)", value)
        fits = value >= least and (zero or value > 0) and (most is None or value <= most)
        if not fits:  # nor does NaN
            raise IllegalValueError(f"{name}: expected a number {expected}, got {shown(value)}")

    return check


SOME_SECONDS: Final = seconds()
FLAG: Final = check_flag
TEXT: Final = check_text
MAYBE_TEXT: Final = optional(check_text)


def check_settings(settings: object, rules: Mapping[str, Rule]) -> None:
    """Check the attributes of a settings object, each by its rule.

    Raises:
        IllegalTypeError, IllegalValueError: the first that does not fit.
    """
    owner = type(settings).__name__
    for name, rule in rules.items():
        rule(f"{owner}.{name}", getattr(settings, name))


def check_config(value: object, expected: type[Any]) -> None:
    """Raises ``IllegalTypeError`` unless the argument ``config`` is None or an instance of that class."""
    if value is not None and not isinstance(value, expected):
        raise wrong_type("config", f"a {expected.__name__}", value)
