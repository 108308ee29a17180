"""Conversion of other JSON values to numbers, as in Java 5.5.0 (fastjson2).

Rules of this file: a number, a text, an array with one element and an object are converted as Java
converts them, and ``Mismatch`` is raised if Java raises.  A ``float`` may have lost digits; if they
matter, ``InexactError`` is raised, and the caller reads the text again.
"""

from __future__ import annotations

import math
import re
from typing import Final

from rocketwire.wire.json.fastjson import JsonValue, Real

_NUMBER = r"(?a)([+-]?)(\d{1,80}(?:\.\d*+)?|\.\d++|(?=[eE][+-]?\d))(?:([eE][+-]?)(\d{0,3}))?"
_FORMATTED_NUMBER = r"(-?)(?:(∞)|(,*+\d[\d,]*+)(?:E(-?\d{1,9})(?!\d))?)"
_LONG_MAX: Final = (1 << 63) - 1
_LONG_DIGITS: Final = 19  # digits of the largest ``long``
_INT_LOW: Final = -(1 << 31)
_INT_HIGH: Final = (1 << 31) - 1
_INTEGER_SUFFIXES: Final = ("L", "B", "S")  # suffixes of integers
# Java itself converts numbers up to that many digits; longer ones must be exact integers
_MAX_DIGITS: Final = 38


class Mismatch(ValueError):
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        #: names of the members that lead to the value, outermost first
        self.path: tuple[str, ...] = ()

    def with_path(self, name: object) -> Mismatch:
        self.path = (str(name), *self.path)
        return self


def kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


# ---------------------------------------------------------------------------- integers


def parse_integer(text: str, low: int, high: int) -> int:
    """Read a header's number as ``Integer.parseInt`` does: optional sign, any decimal digits, no
    spaces.

    Raises:
        ValueError: not a number, or out of range.
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isdecimal() or max(digits) > "\uffff":
        raise ValueError(f"not a decimal number: {text[:40]!r}")
    if len(digits) > 40:
        digits = digits.lstrip("0")[:40] or "0"
    number = -int(digits) if text[0] == "-" else int(digits)
    if not low <= number <= high:
        raise ValueError(f"number out of range: {text[:40]}")
    return number


class InexactError(Mismatch):
    """An integer is needed, but the parsed double may differ from the text; read it again."""


def convert_to_integer(value: JsonValue, low: int, high: int) -> int | None:
    if value is None or value == "" or value == "null":
        return None
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list):
        return _integer_from_array(value, low, high)
    if isinstance(value, dict):
        return _integer_from_object(value, low, high)
    if isinstance(value, str):
        number = format_number(value)
        value = _number_of_text(value)
        if value is None and number is not None:
            return _integer_from_number(number, low, high)
    if isinstance(value, float) and not math.isnan(value):
        return _truncate(value, low, high)
    if isinstance(value, int) and low <= value <= high:
        return value
    raise _not_an_integer(value, low, high)


def _not_an_integer(value: JsonValue, low: int, high: int) -> Mismatch:
    return Mismatch(f"expected an integer from {low} to {high}, got {kind(value)}")


def _integer_from_array(values: list[JsonValue], low: int, high: int) -> int:
    # Java takes the only element, truncated to 32 bits unless it is an integer that fits the
    # member.
    inner = values[0] if len(values) == 1 else None
    if isinstance(inner, str):
        try:
            return parse_integer(inner, _INT_LOW, _INT_HIGH)
        except ValueError:
            raise _not_an_integer(values, low, high) from None
    if isinstance(inner, bool) or not isinstance(inner, float | int):
        raise _not_an_integer(values, low, high)
    return inner if isinstance(inner, int) and low <= inner <= high else _int_value(inner)


def _integer_from_object(value: dict[str, JsonValue], low: int, high: int) -> int:
    # Java takes the member ``val`` as 32 bits; without it, an ``int`` is 0 and a ``long`` is an
    # error.
    inner = value.get("val")
    if not isinstance(inner, bool) and isinstance(inner, float | int):
        return _int_value(inner)
    if high > _INT_HIGH:
        raise _not_an_integer(value, low, high)
    return 0


def _int_value(number: float) -> int:
    # Java: ``Number.intValue``.
    if isinstance(number, int):
        return _wrap(number, _INT_LOW, _INT_HIGH)
    if math.isnan(number):
        return 0
    if isinstance(number, Real) and number.suffix:
        return _clamp(number.rounded(), _INT_LOW, _INT_HIGH)
    return _truncate(number, _INT_LOW, _INT_HIGH)


def _wrap(value: int, low: int, high: int) -> int:
    return (value - low) % (high - low + 1) + low


def _clamp(value: float, low: int, high: int) -> int:
    return int(min(max(value, low), high))


def _truncate(value: float, low: int, high: int) -> int:
    # Out of range, Java's ``BigDecimal`` keeps the low bits, and its ``double`` the nearest value.
    if not isinstance(value, Real):
        if value % 1 == 0 or not low <= value <= high:
            raise InexactError("the exact number is needed")
        return int(value)
    if value.suffix:
        return _integer_with_suffix(value, low, high)
    if value.decimal is None:
        return _clamp(value, low, high)
    number = int(value.decimal)
    if len(value.decimal.as_tuple().digits) <= _MAX_DIGITS:
        return _wrap(number, low, high)
    if number == value.decimal and low <= number <= high:
        return number
    raise _not_an_integer(value, low, high)


def _integer_with_suffix(value: Real, low: int, high: int) -> int:
    # With a suffix F or D, it is the digits if they are an integer that fits, else the ``long`` of
    # the ``float`` or ``double``.
    if value.whole is not None and low <= value.whole <= high:
        return value.whole
    number = _clamp(value.rounded(), -(1 << 63), (1 << 63) - 1)
    if low <= number <= high:
        return number
    raise _not_an_integer(value, low, high)


def _integer_from_number(number: float, low: int, high: int) -> int:
    if isinstance(number, int):
        return _wrap(number, low, high)
    return _clamp(number, low, high)


def _number_of_text(text: str) -> int | Real | None:
    if text in ("true", "false"):
        return int(text == "true")
    literal = _literal(text)
    if literal is None:
        return None
    return int(literal) if literal.lstrip("+-").isdecimal() else Real.of(literal)


def _literal(text: str) -> str | None:
    # Java adds a zero to an exponent that has no number before it, or no digits.
    if len(text) < _LONG_DIGITS and text.isdecimal() and text.isascii():
        return text  # the usual key of a map; needs no compiled pattern
    match = re.fullmatch(_NUMBER, text)
    if match is None:
        return None
    sign, digits, mark, exponent = match.groups("")
    return f"{sign}{digits or 0}{mark and mark + (exponent or '0')}"


# ---------------------------------------------------------------------------- doubles


def convert_to_double(value: JsonValue) -> float:
    if isinstance(value, float):
        return float(value)
    if isinstance(value, list) and len(value) == 1:
        return _boxed_double(value[0])
    if isinstance(value, list | dict) and not value:
        return 0.0
    if value is None or value in ("", "null"):
        return 0.0
    if isinstance(value, str):
        return _double_of_text(value)
    if isinstance(value, int):
        return _double_of_integer(value)
    raise Mismatch(f"expected a floating-point number, got {kind(value)}")


def _double_of_integer(value: int) -> float:
    # Java uses a ``long`` for most integers, and a ``BigDecimal`` for those with many digits.
    if -(1 << 63) <= value <= 1 << 63:
        return float(value)
    if abs(value) < 10**_MAX_DIGITS:
        raise Mismatch("expected a floating-point number, got an integer beyond 64 bits")
    return _double_of_any(value)


def _double_of_any(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _boxed_double(value: JsonValue) -> float:
    # Java takes the only element of an array, which must be a number or its text.
    if isinstance(value, str) and value not in ("", "null", "true", "false"):
        return _double_of_text(value, strict=True)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _double_of_any(value)
    raise Mismatch(f"expected a floating-point number, got {kind(value)}")


def _double_of_text(text: str, *, strict: bool = False) -> float:
    # As fastjson2's reader, or if ``strict``, as Java's ``Double.parseDouble``.
    if text in ("true", "false"):
        return float(text == "true")
    if text.lstrip("+-") in ("NaN", "Infinity"):
        return float(text)
    digits = text.strip()
    if digits[-1:] in ("D", "F") or (digits[-1:] in _INTEGER_SUFFIXES and not strict):
        digits = digits[:-1]
    literal = _literal(digits)
    if literal is None or (strict and literal != digits):
        raise Mismatch("expected a floating-point number, got a string")
    if literal.lstrip("+-").isdecimal():
        return _double_of_integer(int(literal))
    return float(literal)


# ---------------------------------------------------------------------------- NumberFormat


def format_number(text: str) -> int | float | None:
    """Read a number with thousands separators, as fastjson2 does with Java's ``NumberFormat``.

    It reads the number at the start of the text in English notation and ignores the rest.
    fastjson2 uses it if a comma precedes the last three characters, and also for any text of three
    characters without a comma.
    """
    if text.rfind(",") != len(text) - 4 or "." in text:
        return None
    match = re.match(_FORMATTED_NUMBER, text)
    if match is None:
        return None
    minus, infinity, digits, exponent = match.groups("")
    sign = -1 if minus else 1
    if infinity:
        return sign * math.inf
    from decimal import Decimal

    number = Decimal(f"{digits.replace(',', '')}E{exponent or 0}")
    if number.adjusted() < _LONG_DIGITS and number == number.to_integral_value():
        integer = sign * int(number)
        if -_LONG_MAX - 1 <= integer <= _LONG_MAX:
            return integer
    return sign * float(number)
