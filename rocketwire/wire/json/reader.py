"""A reader for what fastjson accepts beyond JSON: linear time, no recursion, limits before memory.

Rules of this file: one pass over the text, driven by regular expressions that cannot backtrack;
nested values are kept on a list, not on Python's stack.  It reads what either of Java's two
libraries reads or what one of them reads.  Not taken over, on purpose: hexadecimal byte strings
(``x'4142'``), ``new Date(...)``, escapes with wrong hexadecimal digits, invalid UTF-8.
"""

from __future__ import annotations

import re
import sys
from enum import Enum, auto
from math import isinf
from typing import TYPE_CHECKING, NoReturn

from rocketwire.errors import DecodeError, LimitExceededError
from rocketwire.wire.json.limits import DEFAULT_LIMITS, MAX_NUMBER_LENGTH
from rocketwire.wire.json.writer import BareKey, Dialect, Real, joined_pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.wire.json.limits import JsonLimits, JsonValue

# Java takes comments in fewer places than blanks; here they are blanks everywhere.  NUL is padding
# after the document and a blank nowhere: each of Java's libraries skips it at other places.
# Up to 3.11.4 Python goes wrong where a group that is repeated for good can go back: each is
# (?>atomic).
_COMMENT = r"/\*(?s:.)*?\*/|//[^\n]*+"
_BLANK = re.compile(rf"(?:(?>[ \t\n\r\f\x08]++|{_COMMENT}))*+")
# What of it stands between members where commas too many are no error.
_SEPARATORS = re.compile(rf"(?:(?>[,; \t\n\r\f\x08]++|{_COMMENT}))*+")
_END = re.compile(r"[\x00\x1a \t\n\r\f\x08]*+")
_STRING = re.compile(
    r'"([^"\\]*+(?:(?>\\.[^"\\]*+))*+)"' r"|'([^'\\]*+(?:(?>\\.[^'\\]*+))*+)'",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_NUMBER = re.compile(r"([+-]?(?:[0-9]++(\.[0-9]*+)?|\.[0-9]++))([eE][+-]?[0-9]++)?([LSBFD])?")
_NAME = re.compile(r"[A-Za-z_$\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*+")
_WORD = re.compile(r"-?[A-Za-z]++")
_SET = re.compile(r"(?:Tree)?Set[ ]*+\[")
_PLAIN_KEY = re.compile(r'"([^"\\]*+)":')
_PLAIN_STRING = re.compile(r'"([^"\\]*+)"')
# An object of plain members, which may be given to a strict reader as it is.
_FLAT = re.compile(
    r'\{(?:(?>"[^"\\\x00-\x1f]*+":(?:"[^"\\\x00-\x1f]*+"|-?(?:0|[1-9][0-9]{0,17}+)|true|false)'
    r'(?:,(?=")|(?=\}))))*+\}'
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_INEXACT = 2.0**53
"""From here on a double does not tell all integers apart."""

_LARGEST = repr(sys.float_info.max)
"""The largest double, which fits into an integer member no better than an infinite one."""

_SINGLE_ESCAPES = {
    **{char: char for char in "\"\\/' #&(),.@[]_~"},
    **{str(digit): chr(digit) for digit in range(8)},
    "b": "\b",
    "t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "F": "\f",
    "r": "\r",
}
_WORDS: dict[str, JsonValue] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}


class _Opened(Enum):
    """Stands for the value of a container that has been opened and not yet closed."""

    OPENED = auto()


class _Next(Enum):
    """What follows inside a container."""

    VALUE = auto()
    OBJECT_KEY = auto()
    END = auto()


class _Frame:
    """A container whose end has not been read yet."""

    __slots__ = ("container", "is_key", "key", "separated")

    def __init__(self, container: list[JsonValue] | dict[str, JsonValue], *, is_key: bool) -> None:
        self.container = container
        self.is_key = is_key
        self.key = ""
        self.separated = True

    def add(self, value: JsonValue) -> None:
        """Takes the next element, or the value of the member whose key has been read."""
        if isinstance(self.container, list):
            self.container.append(value)
        else:
            self.container[self.key] = value
        self.separated = False


def read(
    data: bytes,
    *,
    limits: JsonLimits = DEFAULT_LIMITS,
    dialect: Dialect | None = None,
    as_written: bool = False,
    write_key: Callable[[JsonValue], str],
    read_flat: Callable[[str], JsonValue],
) -> JsonValue:
    """Reads one text.

    Args:
        data: UTF-8.
        limits: size, depth and count; the count is exact here.
        dialect: FASTJSON2 refuses what 5.5.0 refuses and 5.3.3 reads (names without quotes, a byte
            order mark, surplus commas, ``;``, ``undefined``); None reads everything.
        as_written: gives numbers with a fraction or an exponent as ``Real`` too, not only those
            with a suffix F or D.
        write_key: makes the compact text of an object that stands in key position.
        read_flat: reads a strict object without nested ones, or raises ValueError; the faster of
            two ways.

    Returns:
        The value.

    Raises:
        DecodeError: with the offset of the first byte that cannot be read.
        LimitExceededError: when a limit is passed.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        at = error.start
        raise DecodeError("not UTF-8", offset=at, excerpt=data[at : at + 16]) from error
    lax = dialect is not Dialect.FASTJSON2
    reader = _Reader(text, limits, lax=lax, write_key=write_key, read_flat=read_flat)
    reader.as_written = as_written
    return reader.document()


class _Reader:
    """One pass over one text."""

    def __init__(
        self,
        text: str,
        limits: JsonLimits,
        *,
        lax: bool,
        write_key: Callable[[JsonValue], str],
        read_flat: Callable[[str], JsonValue],
    ) -> None:
        self._text = text
        self._limits = limits
        self._lax = lax
        self._write_key = write_key
        self._read_flat = read_flat
        self._at = 1 if lax and text.startswith("\ufeff") else 0
        self._count = 0
        self.as_written = False
        self._frames: list[_Frame] = []
        self._in_key = False

    def document(self) -> JsonValue:
        """Reads the only value of the text, and what may follow it."""
        value = self._value()
        while self._frames:
            frame = self._frames[-1]
            if not isinstance(value, _Opened):
                frame.add(value)
            following = self._following(frame)
            if following is _Next.OBJECT_KEY:
                value = self._open({}, 1, is_key=True)
                continue
            if following is _Next.END:
                value = self._close()
                if not frame.is_key:
                    continue
                self._frames[-1].key = self._object_key(value)
            value = self._value()
        return self._finish(value)

    def _finish(self, value: JsonValue | _Opened) -> JsonValue:
        self._peek()
        self._at = _end(_END, self._text, self._at)
        if self._at < len(self._text) or isinstance(value, _Opened):
            self._fail("text after the end of the document")
        return value

    # ------------------------------------------------------------------------ containers

    def _open(
        self, container: list[JsonValue] | dict[str, JsonValue], width: int, *, is_key: bool = False
    ) -> _Opened:
        if len(self._frames) >= self._limits.max_depth:
            self._over("levels of nesting", len(self._frames) + 1, self._limits.max_depth)
        if is_key and self._in_key:
            self._fail("an object as key inside an object as key")
        self._in_key |= is_key
        self._at += width
        self._frames.append(_Frame(container, is_key=is_key))
        return _Opened.OPENED

    def _following(self, frame: _Frame) -> _Next:
        """Reads up to the next value of a container: separators, and a key with its colon."""
        char = self._separate(frame)
        if isinstance(frame.container, list):
            return _Next.END if char == "]" else _Next.VALUE
        if char == "}":
            return _Next.END
        plain = _PLAIN_KEY.match(self._text, self._at)
        if plain is not None:
            frame.key = plain[1]
            self._at = plain.end()
            return _Next.VALUE
        if char == "{":
            flat = _FLAT.match(self._text, self._at)
            if flat is None:
                return _Next.OBJECT_KEY
            self._take(flat)
            frame.key = BareKey(flat[0])
        else:
            frame.key = self._key(char)
        self._colon()
        return _Next.VALUE

    def _separate(self, frame: _Frame) -> str:
        """Skips blanks and commas, and returns the character after them; a missing comma is no
        error."""
        if self._lax:
            self._at = _end(_SEPARATORS, self._text, self._at)
            return self._text[self._at : self._at + 1] or "\0"
        char = self._peek()
        while char == ",":
            if frame.separated:
                self._fail("a comma too many")
            frame.separated = True
            self._at += 1
            char = self._peek()
        return char

    def _object(self) -> JsonValue | _Opened:
        flat = _FLAT.match(self._text, self._at)
        if flat is None or len(self._frames) >= self._limits.max_depth:
            return self._open({}, 1)
        self._take(flat)
        return self._read_flat(flat[0])

    def _take(self, flat: re.Match[str]) -> None:
        """Counts the members of an object that has been read at once: there is a quotation mark
        before a colon at the end of each name, and nowhere else."""
        self._at = flat.end()
        self._count += max(flat[0].count('":') - 1, 0)
        self._check_count()

    def _check_count(self) -> None:
        self._count += 1
        if self._count > self._limits.max_count:
            self._over("values", self._count, self._limits.max_count)

    def _close(self) -> JsonValue:
        self._at += 1
        return self._frames.pop().container

    # ------------------------------------------------------------------------ keys

    def _key(self, char: str) -> str:
        if char in "\"'":
            return self._string()
        if char in "+-.0123456789":
            start = self._at
            number = self._number()
            if isinstance(number, int) or (number == number // 1 and abs(number) < _INEXACT):
                return str(int(number))
            return self._text[start : self._at].rstrip("LSBFD")  # a double might be another number
        start = self._at
        self._at = _end(_NAME, self._text, start)
        name = self._text[start : self._at]
        if name == "null":
            return BareKey(name)
        if not name or not (self._lax or name in _WORDS):
            self._fail("not a member name", start)
        return name

    def _object_key(self, value: JsonValue) -> str:
        self._in_key = False
        key = BareKey(self._write_key(value))
        self._colon()
        return key

    def _colon(self) -> None:
        if self._peek() != ":":
            self._fail("no colon after a member name")
        self._at += 1

    # ------------------------------------------------------------------------ values

    def _value(self) -> JsonValue | _Opened:
        self._check_count()
        char = self._peek()
        if char in "\"'":
            return self._string()
        if char == "{":
            return self._object()
        if char == "[":
            return self._open([], 1)
        if char in "+-.0123456789" and not self._text.startswith("-I", self._at):
            return self._number()
        return self._word()

    def _word(self) -> JsonValue | _Opened:
        opening = _SET.match(self._text, self._at)
        if opening is not None:
            return self._open([], len(opening[0]))
        start = self._at
        self._at = _end(_WORD, self._text, start)
        word = self._text[start : self._at]
        if word in _WORDS:
            return _WORDS[word]
        if word == "undefined" and self._lax:
            return None
        return self._fail(
            "no value" if start < len(self._text) else "the text ends too early", start
        )

    def _number(self) -> int | float:
        start = self._at
        match = _NUMBER.match(self._text, start)
        if match is None:
            self._fail("not a number")
        self._at = match.end()
        if self._at - start > MAX_NUMBER_LENGTH:
            self._over("characters of a number", self._at - start, MAX_NUMBER_LENGTH)
        digits, _, exponent, suffix = match.groups("")
        digits = digits.removesuffix(".")
        suffix = suffix if suffix in ("F", "D") else ""
        if suffix or exponent or "." in digits:
            literal = digits + exponent
            if self._in_key and isinf(
                float(literal)
            ):  # a key is written again, as null if infinite
                literal = _LARGEST if digits[0] != "-" else f"-{_LARGEST}"
            if self.as_written or (suffix and not self._in_key):
                return Real.of(literal, suffix=suffix)
            return float(literal)
        return int(digits)

    def _string(self) -> str:
        plain = _PLAIN_STRING.match(self._text, self._at)
        if plain is not None:
            self._at = plain.end()
            return plain[1]
        match = _STRING.match(self._text, self._at)
        if match is None:
            self._fail("a string without end")
        content = match[match.lastindex or 0]
        if "\\" in content:
            content = _ESCAPE.sub(self._unescape, content)
            if _SURROGATE.search(content):
                content = joined_pairs(content)
        self._at = match.end()
        return content

    def _unescape(self, match: re.Match[str]) -> str:
        unit = match[1] or match[2]
        if unit is not None:
            return chr(int(unit, 16))
        char = _SINGLE_ESCAPES.get(match[3])
        if char is None:
            self._fail(f"unknown escape in a string: \\{match[3]}")
        return char

    # ------------------------------------------------------------------------ places

    def _peek(self) -> str:
        """Skips blanks and returns the character there; NUL, which nothing accepts, at the end of
        the text."""
        self._at = _end(_BLANK, self._text, self._at)
        return self._text[self._at : self._at + 1] or "\0"

    def _fail(self, message: str, at: int | None = None) -> NoReturn:
        offset, excerpt = self._place(self._at if at is None else at)
        raise DecodeError(message, offset=offset, excerpt=excerpt)

    def _over(self, what: str, declared: int, limit: int) -> NoReturn:
        offset, excerpt = self._place(self._at)
        raise LimitExceededError(
            f"more than {limit} {what}",
            declared=declared,
            limit=limit,
            offset=offset,
            excerpt=excerpt,
        )

    def _place(self, at: int) -> tuple[int, bytes]:
        """Returns the byte offset of a character and the first bytes there."""
        text = self._text
        offset = at if text.isascii() else len(text[:at].encode())
        return offset, text[at : at + 16].encode()


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()
