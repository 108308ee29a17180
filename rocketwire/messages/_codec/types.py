"""Forms: reading and writing values of a Java type in bodies and headers.

Rules of this file: reading is as lenient as Java 5.5.0 (fastjson2), and writing is as strict as the
type.  A reader returns None if Java reads null; a primitive has no null, so its reader returns
zero. A value that does not fit raises ``Mismatch``, whose path grows on its way up.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, Generic, TypeVar

from rocketwire.errors import EncodeError
from rocketwire.messages._codec.java_numbers import (
    InexactError,
    Mismatch,
    convert_to_double,
    convert_to_integer,
    kind,
    parse_integer,
)
from rocketwire.wire.json.doubles import double_text
from rocketwire.wire.json.enum_names import constant_finder
from rocketwire.wire.json.fastjson import JsonValue, Real, dumps
from rocketwire.wire.values.frozen import dataclass

T = TypeVar("T")
E = TypeVar("E", bound=Enum)

_BASE64 = r"(?:(?>[A-Za-z0-9+/]{4}))*+(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?"
_set: Final = object.__setattr__
# Maximum bits of an integer that becomes text; Python raises for longer ones
_MAX_TEXT_BITS: Final = 12_000


@dataclass(frozen=True, slots=True, init=False)
class Form(Generic[T]):
    java: str  #: the Java type, with interfaces instead of implementations (``Map<Long, String>``)
    read: Callable[[JsonValue], T | None]  #: from parsed JSON; None stands for null
    write: Callable[[T], Any] | None = None  #: to JSON; None if the value is its own JSON
    #: from the text of a header field; raises ``ValueError`` if Java cannot parse it. None if no
    #: header has this type
    parse: Callable[[str], T] | None = None
    print: Callable[[T], str] | None = None  #: to the text of a header field
    #: from the text of a map key, if that differs from ``read``
    read_key: Callable[[str], T | None] | None = None
    write_key: Callable[[T], Any] | None = None  #: to a map key, if that differs from ``write``
    #: a type whose instances ``read`` returns unchanged, so that callers need not call it
    exact: type | None = None
    #: whether a collection keeps null elements of this form, and a map null values
    nulls: bool = False
    #: of a primitive: the value of an absent header field, and of an explicit null in a body
    zero: T | None = None

    def __init__(
        self,
        java: str,
        read: Callable[[JsonValue], T | None],
        write: Callable[[T], Any] | None = None,
        parse: Callable[[str], T] | None = None,
        print: Callable[[T], str] | None = None,  # noqa: A002 - as the attribute
        read_key: Callable[[str], T | None] | None = None,
        write_key: Callable[[T], Any] | None = None,
        exact: type | None = None,
        nulls: bool = False,
        zero: T | None = None,
    ) -> None:
        # Written by hand, because compiling a constructor takes longer.
        _set(self, "java", java)
        _set(self, "read", read)
        _set(self, "write", write)
        _set(self, "parse", parse)
        _set(self, "print", print)
        _set(self, "read_key", read_key)
        _set(self, "write_key", write_key)
        _set(self, "exact", exact)
        _set(self, "nulls", nulls)
        _set(self, "zero", zero)


class Primitive(Form[T]):
    __slots__ = ()


# ---------------------------------------------------------------------------- integers


def _integers(java: str, boxed: str, bits: int) -> tuple[Primitive[int], Form[int]]:
    high = (1 << (bits - 1)) - 1
    low = -1 - high
    safe_digits = len(str(high)) - 1  # a number of that many digits is always in range

    def read(value: JsonValue) -> int | None:
        if type(value) is int and low <= value <= high:
            return value
        return convert_to_integer(value, low, high)

    def read_primitive(value: JsonValue) -> int:
        if type(value) is int and low <= value <= high:
            return value
        return convert_to_integer(value, low, high) or 0

    def write(value: int) -> int:
        if low <= value <= high:
            return value
        raise Mismatch(f"the number does not fit {bits} bits")

    def parse(text: str) -> int:
        if len(text) <= safe_digits and text.isdecimal() and text.isascii():  # the usual case
            return int(text)
        return parse_integer(text, low, high)

    def to_text(value: int) -> str:
        return str(write(value))

    return (
        Primitive(java, read_primitive, write, parse, to_text, zero=0),
        Form(boxed, read, write, parse, to_text),
    )


INT, INTEGER = _integers("int", "Integer", 32)
LONG, BOXED_LONG = _integers("long", "Long", 64)
_EXACT_BYTE, _ = _integers("byte", "Byte", 8)


def _read_byte(value: JsonValue) -> int:
    # Java reads an ``int`` and keeps the low eight bits.
    return ((INT.read(value) or 0) + 128) % 256 - 128


BYTE: Final = Primitive(
    "byte", _read_byte, _EXACT_BYTE.write, _EXACT_BYTE.parse, _EXACT_BYTE.print, zero=0
)
# A ``long`` whose default in Java is the wall clock; here the default is None
CLOCKED_LONG: Final[Form[int]] = Form("long", LONG.read, LONG.write, LONG.parse, LONG.print)


# ---------------------------------------------------------------------------- booleans

_BOOLEAN_TEXTS: Final[dict[str, bool | None]] = {
    "true": True,
    "1": True,
    "Y": True,
    "false": False,
    "0": False,
    "N": False,
    "": None,
    "null": None,
}


def _read_boolean(value: JsonValue) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = value if value in _BOOLEAN_TEXTS else value.lower()
        if text in _BOOLEAN_TEXTS:
            return _BOOLEAN_TEXTS[text]
    if isinstance(value, int):
        return value in (1, -1)
    if isinstance(value, float):
        return False
    if isinstance(value, list) and len(value) == 1:
        while isinstance(value, list) and len(value) == 1:
            value = value[0]
        return _read_boolean(value)
    raise Mismatch(f"expected a boolean, got {kind(value)}")


def _read_primitive_boolean(value: JsonValue) -> bool:
    return value if value is True or value is False else bool(_read_boolean(value))


def parse_boolean(text: str) -> bool:
    """``true`` in any letter case; any other text is false (Java: ``Boolean.parseBoolean``)."""
    return text == "true" or text.lower() == "true"


def _print_boolean(value: bool) -> str:
    return "true" if value else "false"


BOOLEAN: Final[Primitive[bool]] = Primitive(
    "boolean", _read_primitive_boolean, None, parse_boolean, _print_boolean, exact=bool, zero=False
)
BOXED_BOOLEAN: Final[Form[bool]] = Form(
    "Boolean", _read_boolean, None, parse_boolean, _print_boolean, exact=bool
)


# ---------------------------------------------------------------------------- other scalars


DOUBLE: Final[Primitive[float]] = Primitive("double", convert_to_double, zero=0.0)


def _read_string(value: JsonValue) -> str | None:
    if value is None or type(value) is str:
        return value
    if isinstance(value, bool):
        return _print_boolean(value)
    if isinstance(value, int):
        if value.bit_length() > _MAX_TEXT_BITS:
            raise Mismatch("the number is too long for a text")
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            raise Mismatch("NaN cannot be a text")
        return _text_of_real(value)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str | None):
        return value[0]
    if _holds_inexact(value):
        raise InexactError("the exact number is needed")
    try:
        return dumps(value).decode("utf-8")
    except EncodeError:
        raise Mismatch("nested too deeply for a text") from None


def _text_of_real(value: float) -> str:
    if isinstance(value, Real):
        return value.text
    if math.isinf(value):
        return double_text(value)
    raise InexactError("the exact number is needed")


def _holds_inexact(value: JsonValue) -> bool:
    waiting = [value]
    for item in waiting:  # the loop appends to it
        if isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, float) and not isinstance(item, Real) and math.isfinite(item):
            return True
    return False


def keep_text(text: str) -> str:
    return text


STRING: Final[Form[str]] = Form(
    "String", _read_string, None, keep_text, keep_text, keep_text, exact=str
)
# A text; null is allowed in a list, a set, or as a value of a map
NULLABLE_STRING: Final[Form[str | None]] = Form("String", _read_string, nulls=True)


def _read_bits(value: JsonValue) -> frozenset[int] | None:
    text = _read_string(value)
    if not text:
        return None
    if not re.fullmatch(_BASE64, text):
        raise Mismatch(f"expected base64 text, got {kind(value)}")
    octets = base64.b64decode(text + "=" * (-len(text) % 4))
    number = int.from_bytes(octets, "little")
    return frozenset(bit for bit in range(number.bit_length()) if number >> bit & 1)


def _write_bits(bits: frozenset[int]) -> str:
    number = sum(1 << bit for bit in bits)
    return base64.b64encode(number.to_bytes((number.bit_length() + 7) // 8, "little")).decode()


BIT_SET: Final[Form[frozenset[int]]] = Form("BitSet", _read_bits, _write_bits)


def enumeration(members: type[E], java: str | None = None) -> Form[E | str]:
    ordered = list(members)
    by_name: dict[str, E] = {member.name: member for member in ordered}
    index_of = constant_finder(list(by_name))

    def read_loosely(text: str) -> E | str:
        index = index_of(text)
        return text if index is None else ordered[index]

    def read(value: JsonValue) -> E | str | None:
        if isinstance(value, str):
            return by_name.get(value) or read_loosely(value)
        if value is None:
            return None
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and 0 <= value < len(ordered)
        ):
            return ordered[int(value)]
        raise Mismatch(f"expected a {members.__name__}, got {kind(value)}")

    def write(value: E | str) -> str:
        return value.name if isinstance(value, members) else str(value)

    return Form(java or members.__name__, read, write)
