"""Texts as fastjson writes them: what is not JSON (bare keys) and what JSON leaves open (escapes,
numbers, order).

Rules of this file: every byte agrees with what Java prints.  Where a strict JSON encoder prints the
same bytes for a flat piece, the piece is handed to it (``strict_dumps``), so that only nesting
costs Python time.  Members whose value is None are left out, as Java leaves out null members and
null map values; NaN and the infinities become ``null``.
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
"""A strict and compact JSON encoder that raises TypeError for what it cannot write."""

_LARGEST_EXACT_DOUBLE = 2**53 - 1
_SINGLE = struct.Struct(">f")
_ATOMS = frozenset({str, int, bool})
_TEXTS = frozenset({str})
_DICTS = frozenset({dict})


class Dialect(Enum):
    """Which of Java's two JSON libraries is spoken."""

    FASTJSON1 = "fastjson 1.2.83"
    """Releases up to 5.3.x: also escapes U+007F-009F, U+2028 and U+2029, hexadecimal digits in
    upper case."""
    FASTJSON2 = "fastjson2 2.0.59"
    """Release 5.5.0: escapes what JSON requires and nothing else."""


class BareKey(str):
    """A map key that stands in the text without quotes: the compact JSON text of an object, or
    digits.

    Java writes maps with object keys so (``{{"brokerName":"b",...}:7}``).  Reading gives such keys
    as this class, and writing puts them back without quotes.
    """

    __slots__ = ()


class Real(float):
    """A number that was not written as an integer alone, with the text that Java makes of it for a
    string field.

    Attributes:
        text: ``1.10`` of ``1.10`` (Java keeps a ``BigDecimal``), ``1000.0`` of ``1e3`` (a
            ``double``).
        decimal: the exact number where Java keeps a ``BigDecimal``, None where a ``double``.
        suffix: ``F`` or ``D`` where it says that the number is a ``float`` or a ``double``; else
            empty.
        whole: the digits before the suffix where they are an integer, which a member of an integer
            type keeps as they are; else None.
    """

    __slots__ = ("decimal", "suffix", "text", "whole")
    decimal: Decimal | None
    suffix: str
    text: str
    whole: int | None

    @classmethod
    def of(cls, literal: str, *, is_double: bool = False, suffix: str = "") -> Real:
        """Makes the number of a literal.

        Args:
            literal: digits, with or without a fraction and an exponent.
            is_double: whether it is a ``double``, as one with an exponent other than zero is
                anyway.
            suffix: ``F``, ``D`` or nothing.
        """
        value = cls(literal)
        value.suffix = suffix
        value.whole = int(literal) if suffix and literal.lstrip("+-").isdecimal() else None
        digits, _, exponent = literal.lower().partition("e")
        if is_double or suffix or exponent.strip("+-0"):
            value.decimal = None
            value.text = _single_text(value) if suffix == "F" else double_text(value)
        else:
            from decimal import Decimal

            decimal = value.decimal = Decimal(digits)
            value.text = str(decimal if decimal else decimal.copy_abs())
        return value

    def rounded(self) -> float:
        """The number after its suffix: the nearest ``float`` if that is an F."""
        return single(self) if self.suffix == "F" else float(self)


def _single_text(value: float) -> str:
    """A number as ``float`` of Java, as Java prints it."""
    shortest = shortest_single(value)
    return (
        shortest_text(shortest, farther=False) if math.isfinite(shortest) else double_text(shortest)
    )


def single(value: float) -> float:
    """The nearest number that a ``float`` of Java can hold."""
    try:
        (nearest,) = _SINGLE.unpack(_SINGLE.pack(value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return cast("float", nearest)


def shortest_single(value: float) -> float:
    """The number with the fewest digits whose nearest ``float`` is that of ``value``."""
    wanted = single(value)
    candidates = (float(f"{wanted:.{digits}e}") for digits in range(9))
    return next((one for one in candidates if single(one) == wanted), wanted)


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
def _escaped(*, standard: bool) -> re.Pattern[str]:
    """What 1.2.83 escapes; compiled when it is first asked for, most programs never do."""
    if standard:
        return re.compile(r'["\\/\x00-\x1f\x7f-\U0010ffff]')
    return re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029]')


def _upper_escape(match: re.Match[str]) -> str:
    char = match[0]
    if char == "/":
        return "\\/"
    short = _SHORT_ESCAPES.get(char)
    if short is not None:
        return short
    units = char.encode("utf-16-be", "surrogatepass").hex().upper()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


_STYLE_IN_BARE = r"\\u[0-9a-f]{4}|\\.|[\x7f-\x9f\u2028\u2029]"


def _old_style(match: re.Match[str]) -> str:
    """A piece of JSON text that fastjson2 wrote, as 1.2.83 writes it."""
    piece = match[0]
    if piece.startswith("\\u"):
        return "\\u" + piece[2:].upper()
    return piece if piece.startswith("\\") else _upper_escape(match)


def joined_pairs(text: str) -> str:
    """Returns the text with surrogates that form a pair made into the character they stand for, as
    in Java."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


# ---------------------------------------------------------------------------- values


class Writer:
    """Writes one value.

    Args:
        dialect: whose escapes, and digits of doubles.
        standard: the form that Java gives to clients that read standard JSON only: every key
            quoted, map keys in natural order, integers that a double cannot hold as strings.
        strict_dumps: encoder of flat pieces.
    """

    def __init__(self, dialect: Dialect, *, standard: bool, strict_dumps: StrictDumps) -> None:
        self._old = dialect is Dialect.FASTJSON1
        self._standard = standard
        self._strict_dumps = strict_dumps
        self._escaped = _escaped(standard=standard) if self._old else None

    def write(self, value: object) -> bytes:
        """Returns the text of any value.

        Raises:
            EncodeError: for a type that has no JSON form.
        """
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
        """Returns the text in double quotes; half a surrogate pair becomes ``?``, as Java's UTF-8
        encoder has it."""
        if self._escaped is not None:
            escaped = self._escaped.sub(_upper_escape, joined_pairs(text))
            return b'"%b"' % escaped.encode("utf-8", "replace")
        try:
            return self._strict_dumps(str.__str__(text))
        except TypeError:
            return self._strict_dumps(joined_pairs(text).encode("utf-8", "replace").decode())

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
        """Returns a flat piece as the strict encoder has it, or None where Java's bytes may
        differ."""
        try:
            piece = self._strict_dumps(value)
        except TypeError:  # half a surrogate pair, or an integer beyond 64 bits
            return None
        if self._old and not (piece.isascii() and b"\x7f" not in piece and b"\\u" not in piece):
            return None
        return piece

    def _key(self, key: object) -> bytes:
        if isinstance(key, BareKey):
            text = re.sub(_STYLE_IN_BARE, _old_style, key) if self._old else str.__str__(key)
            bare = text.encode("utf-8", "replace")
        elif isinstance(key, str):
            return self.string(key)
        elif isinstance(key, Mapping):
            bare = self._object(cast("Mapping[object, object]", key))
        elif key is None or isinstance(key, int):
            bare = self.write(key)
        else:
            raise EncodeError(f"{type(key).__name__} cannot be a key")
        if self._standard and not bare.startswith(b'"'):
            return self.string(bare.decode())
        return bare


def _natural_order(key: object) -> tuple[int, int, bytes]:
    """Orders integers by value and everything else by its UTF-16 units, as Java's natural order
    does."""
    if isinstance(key, int):
        return (0, key, b"")
    text = "null" if key is None else str(key)
    return (1, 0, text.encode("utf-16-be", "surrogatepass"))
