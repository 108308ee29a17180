"""Encodes JSON as fastjson does: keys without quotes, escapes, numbers and order.

Every byte agrees with Java.  A strict JSON encoder (``strict_dumps``) encodes flat values for which
it writes the same bytes, so that only nesting costs Python time.  Members whose value is None are
omitted, as Java omits null members and null map values; NaN and infinities become ``null``.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, cast

from rocketwire.errors import EncodeError
from rocketwire.wire.json.doubles import double_text, shortest_text

if TYPE_CHECKING:
    from decimal import Decimal

StrictDumps: TypeAlias = Callable[[object], bytes]
"""A strict, compact JSON encoder that raises TypeError for unsupported values."""

_LARGEST_EXACT_DOUBLE = 2**53 - 1
_SINGLE = struct.Struct(">f")
_ATOMS = frozenset({str, int, bool})
_TEXTS = frozenset({str})
_DICTS = frozenset({dict})


class Dialect(Enum):
    """One of Java's two JSON libraries."""

    FASTJSON1 = "fastjson 1.2.83"
    """Releases up to 5.3.x: also escapes U+007F-009F, U+2028, U+2029; upper-case hex digits."""
    FASTJSON2 = "fastjson2 2.0.59"
    """Release 5.5.0: only escapes that JSON requires."""


class BareKey(str):
    """A map key without quotes: the compact JSON text of an object, or ``null``.

    Java writes such maps with object keys: ``{{"brokerName":"b",...}:7}``.  Decoding returns these
    keys as this class, and encoding writes them without quotes.
    """

    __slots__ = ()


class Real(float):
    """A number that was not written as an integer, with Java's text of it for a string field."""

    __slots__ = ("decimal", "suffix", "text", "whole")
    #: the exact number if Java uses a ``BigDecimal``; None for a ``double``
    decimal: Decimal | None
    suffix: str  #: ``F`` (``float``), ``D`` (``double``), or empty
    text: str  #: ``1.10`` for ``1.10`` (Java: ``BigDecimal``), ``1000.0`` for ``1e3`` (``double``)
    #: the digits before the suffix if they are an integer, which integer members keep exactly; else
    #: None
    whole: int | None

    @classmethod
    def of(cls, literal: str, *, is_double: bool = False, suffix: str = "") -> Real:
        # the number of a literal
        value = cls(literal)
        value.suffix = suffix
        value.whole = int(literal) if suffix and literal.lstrip("+-").isdecimal() else None
        digits, _, exponent = literal.lower().partition("e")
        if is_double or suffix or exponent.strip("+-0"):
            value.decimal = None
            value.text = _float_text(value) if suffix == "F" else double_text(value)
        else:
            from decimal import Decimal

            decimal = value.decimal = Decimal(digits)
            value.text = str(decimal if decimal else decimal.copy_abs())
        return value

    def rounded(self) -> float:
        return round_to_float(self) if self.suffix == "F" else float(self)


def _float_text(value: float) -> str:
    shortest = shortest_single(value)
    return (
        shortest_text(shortest, farther=False) if math.isfinite(shortest) else double_text(shortest)
    )


def round_to_float(value: float) -> float:
    """Round to the nearest ``float`` of Java."""
    try:
        (nearest,) = _SINGLE.unpack(_SINGLE.pack(value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return cast("float", nearest)


def shortest_single(value: float) -> float:
    """Return the number with the fewest digits that rounds to the same ``float``."""
    rounded = round_to_float(value)
    candidates = (float(f"{rounded:.{digits}e}") for digits in range(9))
    return next(
        (candidate for candidate in candidates if round_to_float(candidate) == rounded), rounded
    )


# ---------------------------------------------------------------------------- strings

_SHORT_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


@cache
def _escape_pattern(*, standard: bool) -> re.Pattern[str]:
    # Compiled at the first use: most programs never need it.
    if standard:
        return re.compile(r'["\\/\x00-\x1f\x7f-\U0010ffff]')
    return re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029]')


def _upper_escape(match: re.Match[str]) -> str:
    char = match[0]
    if char == "/":
        return "\\/"
    escape = _SHORT_ESCAPES.get(char)
    if escape is not None:
        return escape
    units = char.encode("utf-16-be", "surrogatepass").hex().upper()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


_STYLE_IN_BARE = r"\\u[0-9a-f]{4}|\\.|[\x7f-\x9f\u2028\u2029]"


def _old_style(match: re.Match[str]) -> str:
    text = match[0]
    if text.startswith("\\u"):
        return "\\u" + text[2:].upper()
    return text if text.startswith("\\") else _upper_escape(match)


def join_surrogates(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


# ---------------------------------------------------------------------------- values


class Writer:
    # encodes a value in one of Java's dialects
    def __init__(self, dialect: Dialect, *, standard: bool, strict_dumps: StrictDumps) -> None:
        self._old = dialect is Dialect.FASTJSON1
        self._standard = standard
        self._strict_dumps = strict_dumps
        self._escape_pattern = _escape_pattern(standard=standard) if self._old else None

    def write(self, value: object) -> bytes:
        if isinstance(value, str):
            return self.string(value)
        if value is None:
            return b"null"
        if isinstance(value, bool):
            return b"true" if value else b"false"
        if isinstance(value, int):
            return self._integer(value)
        if isinstance(value, float):
            return self._real(value)
        if isinstance(value, Mapping):
            return self._object(cast("Mapping[object, object]", value))
        if isinstance(value, (list, tuple)):
            return self._array(cast("list[object] | tuple[object, ...]", value))
        raise EncodeError(f"{type(value).__name__} has no JSON form")

    def string(self, text: str) -> bytes:
        """Encode a string; a lone surrogate becomes ``?``, as in Java's UTF-8 encoder."""
        if self._escape_pattern is not None:
            escaped = self._escape_pattern.sub(_upper_escape, join_surrogates(text))
            return b'"%b"' % escaped.encode("utf-8", "replace")
        try:
            return self._strict_dumps(str.__str__(text))
        except TypeError:
            return self._strict_dumps(join_surrogates(text).encode("utf-8", "replace").decode())

    def _integer(self, value: int) -> bytes:
        if self._standard and abs(value) > _LARGEST_EXACT_DOUBLE:
            return b'"%d"' % value
        return b"%d" % value

    def _real(self, value: float) -> bytes:
        if not math.isfinite(value):
            return b"null"
        if isinstance(value, Real) and (value.decimal is not None or value.suffix == "F"):
            return value.text.encode()
        return shortest_text(value, farther=not self._old).encode()

    def _array(self, items: list[object] | tuple[object, ...]) -> bytes:
        if not self._standard and _ATOMS.issuperset(map(type, items)):
            flat = self._flat(items)
            if flat is not None:
                return flat
        return b"[%b]" % b",".join(map(self.write, items))

    def _object(self, members: Mapping[object, object]) -> bytes:
        if (
            not self._standard
            and type(members) in _DICTS
            and _TEXTS.issuperset(map(type, members))
            and _ATOMS.issuperset(map(type, members.values()))
        ):
            flat = self._flat(members)
            if flat is not None:
                return flat
        keys = sorted(members, key=_natural_order) if self._standard else members
        return b"{%b}" % b",".join(
            b"%b:%b" % (self._key(key), self.write(members[key]))
            for key in keys
            if members[key] is not None
        )

    def _flat(self, value: object) -> bytes | None:
        # None if Java's bytes may differ from those of the strict encoder.
        try:
            data = self._strict_dumps(value)
        except TypeError:  # a lone surrogate, or an integer beyond 64 bits
            return None
        if self._old and not (data.isascii() and b"\x7f" not in data and b"\\u" not in data):
            return None
        return data

    def _key(self, key: object) -> bytes:
        if isinstance(key, BareKey):
            text = re.sub(_STYLE_IN_BARE, _old_style, key) if self._old else str.__str__(key)
            data = text.encode("utf-8", "replace")
        elif isinstance(key, str):
            return self.string(key)
        elif isinstance(key, Mapping):
            data = self._object(cast("Mapping[object, object]", key))
        elif key is None or isinstance(key, int):
            data = self.write(key)
        else:
            raise EncodeError(f"{type(key).__name__} cannot be a key")
        if self._standard and not data.startswith(b'"'):
            return self.string(data.decode())
        return data


def _natural_order(key: object) -> tuple[int, int, bytes]:
    # Java sorts integers by value, other keys by their UTF-16 code units.
    if isinstance(key, int):
        return (0, key, b"")
    text = "null" if key is None else str(key)
    return (1, 0, text.encode("utf-16-be", "surrogatepass"))
