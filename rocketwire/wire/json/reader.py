"""Decodes JSON with fastjson's additions: linear time, no recursion, limits before memory.

fastjson writes integers, objects and null in key position without quotes.  The reader also accepts
what every release accepts and conformance requires (single quotes, a comma before the end), and
NaN, infinities and suffixes of numbers (``1.5F``), for members that Java reads from them.  Other
leniencies of Java's libraries are rejected, because no release of RocketMQ writes them: comments,
names without quotes, other surplus and missing commas, sets, unknown escapes.

The text is decoded in one pass by regular expressions that cannot backtrack.  Open containers are
on a list, not on Python's stack.
"""

from __future__ import annotations

import re
import sys
from enum import Enum, auto
from math import isinf
from typing import TYPE_CHECKING, NoReturn

from rocketwire.errors import DecodeError, LimitExceededError
from rocketwire.wire.json.limits import DEFAULT_LIMITS, MAX_NUMBER_LENGTH
from rocketwire.wire.json.writer import BareKey, Real, join_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.wire.json.limits import JsonLimits, JsonValue

_NOT_BLANK = re.compile(r"[^ \t\n\r]")
# Python up to 3.11.4 misbehaves for a possessive repetition of a group that can backtrack, so each
# of these groups is atomic.
_STRING = re.compile(
    r"""(["'])((?:(?>[^"'\\\x00-\x1f]++|(?!\1)["']|\\(?:["'\\/bfnrt]|u[0-9a-fA-F]{4})))*+)\1"""
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?)([LSBFD])?")
_INTEGER_KEY = re.compile(r"-?(?:0|[1-9][0-9]*+)")
_WORD = re.compile(r"-?[A-Za-z]++")
_PLAIN_KEY = re.compile(r'"([^"\\\x00-\x1f]*+)":')
_PLAIN_STRING = re.compile(r'"([^"\\\x00-\x1f]*+)"')
# An object of plain members, which the strict decoder can decode.
_FLAT = re.compile(
    r'\{(?:(?>"[^"\\\x00-\x1f]*+":(?:"[^"\\\x00-\x1f]*+"|-?(?:0|[1-9][0-9]{0,17}+)|true|false)'
    r'(?:,(?=")|(?=\}))))*+\}'
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_MAX_DOUBLE = repr(sys.float_info.max)

_ESCAPES = {
    '"': '"',
    "'": "'",
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
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
    OPENED = auto()


class _Next(Enum):
    VALUE = auto()
    OBJECT_KEY = auto()
    END = auto()


class _Frame:
    __slots__ = ("container", "is_empty", "is_key", "key")

    def __init__(self, container: list[JsonValue] | dict[str, JsonValue], *, is_key: bool) -> None:
        self.container = container
        self.is_key = is_key
        self.key = ""
        self.is_empty = True

    def add(self, value: JsonValue) -> None:
        if isinstance(self.container, list):
            self.container.append(value)
        else:
            self.container[self.key] = value
        self.is_empty = False


def read(
    data: bytes,
    *,
    limits: JsonLimits = DEFAULT_LIMITS,
    as_written: bool = False,
    write_key: Callable[[JsonValue], str],
    read_flat: Callable[[str], JsonValue],
) -> JsonValue:
    """Decode a text; for errors see ``loads``.

    Args:
        as_written: whether to return numbers with a fraction or an exponent as ``Real``; numbers
            with a suffix F or D always are.
        write_key: encodes an object in key position.
        read_flat: decodes a strict object without nested values, or raises ValueError; the faster
            of two ways.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        offset = error.start
        excerpt = data[offset : offset + 16]
        raise DecodeError("not UTF-8", offset=offset, excerpt=excerpt) from error
    reader = _Reader(text, limits, write_key=write_key, read_flat=read_flat)
    reader.as_written = as_written
    return reader.document()


class _Reader:
    def __init__(
        self,
        text: str,
        limits: JsonLimits,
        *,
        write_key: Callable[[JsonValue], str],
        read_flat: Callable[[str], JsonValue],
    ) -> None:
        self._text = text
        self._limits = limits
        self._write_key = write_key
        self._read_flat = read_flat
        self._position = 0
        self._count = 0
        self.as_written = False
        self._frames: list[_Frame] = []
        self._in_key = False

    def document(self) -> JsonValue:
        value = self._value()
        while self._frames:
            frame = self._frames[-1]
            if not isinstance(value, _Opened):
                frame.add(value)
            token = self._advance(frame)
            if token is _Next.OBJECT_KEY:
                value = self._open({}, is_key=True)
                continue
            if token is _Next.END:
                value = self._close()
                if not frame.is_key:
                    continue
                self._frames[-1].key = self._object_key(value)
            value = self._value()
        if self._peek() or isinstance(value, _Opened):
            self._fail("text after the end of the document")
        return value

    # ------------------------------------------------------------------------ containers

    def _open(
        self, container: list[JsonValue] | dict[str, JsonValue], *, is_key: bool = False
    ) -> _Opened:
        if len(self._frames) >= self._limits.max_depth:
            self._exceed("levels of nesting", len(self._frames) + 1, self._limits.max_depth)
        if is_key and self._in_key:
            self._fail("an object as key inside an object as key")
        self._in_key |= is_key
        self._position += 1
        self._frames.append(_Frame(container, is_key=is_key))
        return _Opened.OPENED

    def _advance(self, frame: _Frame) -> _Next:
        char = self._peek()
        is_list = isinstance(frame.container, list)
        if char == ("]" if is_list else "}"):
            return _Next.END
        if not frame.is_empty:
            if char != ",":
                self._fail("no comma between two values")
            self._position += 1
            char = self._peek()
            if char == ("]" if is_list else "}"):  # a comma before the end
                return _Next.END
        if is_list:
            return _Next.VALUE
        plain_key = _PLAIN_KEY.match(self._text, self._position)
        if plain_key is not None:
            frame.key = plain_key[1]
            self._position = plain_key.end()
            return _Next.VALUE
        if char == "{":
            flat = _FLAT.match(self._text, self._position)
            if flat is None:
                return _Next.OBJECT_KEY
            self._take(flat)
            frame.key = BareKey(flat[0])
        else:
            frame.key = self._key(char)
        self._colon()
        return _Next.VALUE

    def _object(self) -> JsonValue | _Opened:
        flat = _FLAT.match(self._text, self._position)
        if flat is None or len(self._frames) >= self._limits.max_depth:
            return self._open({})
        self._take(flat)
        return self._read_flat(flat[0])

    def _take(self, flat: re.Match[str]) -> None:
        # Only member names end with a quote and a colon.
        self._position = flat.end()
        self._count += max(flat[0].count('":') - 1, 0)
        self._check_count()

    def _check_count(self) -> None:
        self._count += 1
        if self._count > self._limits.max_count:
            self._exceed("values", self._count, self._limits.max_count)

    def _close(self) -> JsonValue:
        self._position += 1
        return self._frames.pop().container

    # ------------------------------------------------------------------------ keys

    def _key(self, char: str) -> str:
        if char and char in "\"'":
            return self._string()
        start = self._position
        integer = _INTEGER_KEY.match(self._text, start)
        if integer is not None:
            self._position = integer.end()
            self._check_number_length(start)
            return integer[0] if integer[0] != "-0" else "0"
        if not self._text.startswith("null", start):
            self._fail("not a member name")
        self._position += len("null")
        return BareKey("null")

    def _object_key(self, value: JsonValue) -> str:
        self._in_key = False
        key = BareKey(self._write_key(value))
        self._colon()
        return key

    def _colon(self) -> None:
        if self._peek() != ":":
            self._fail("no colon after a member name")
        self._position += 1

    # ------------------------------------------------------------------------ values

    def _value(self) -> JsonValue | _Opened:
        self._check_count()
        char = self._peek()
        if char and char in "\"'":
            return self._string()
        if char == "{":
            return self._object()
        if char == "[":
            return self._open([])
        word = _WORD.match(self._text, self._position)
        if word is not None and word[0] in _WORDS:
            self._position = word.end()
            return _WORDS[word[0]]
        if char and char in "-0123456789":
            return self._number()
        return self._fail("not a value" if char else "the text ends too early")

    def _number(self) -> int | float:
        start = self._position
        match = _NUMBER.match(self._text, start)
        if match is None:
            self._fail("not a number")
        self._position = match.end()
        self._check_number_length(start)
        literal, fraction, exponent, suffix = match.groups("")
        suffix = suffix if suffix in ("F", "D") else ""
        if not (fraction or exponent or suffix):
            return int(literal)
        if self._in_key and isinf(float(literal)):  # a key is encoded again, and infinity as null
            literal = _MAX_DOUBLE if literal[0] != "-" else f"-{_MAX_DOUBLE}"
        if self.as_written or (suffix and not self._in_key):
            return Real.of(literal, suffix=suffix)
        return float(literal)

    def _check_number_length(self, start: int) -> None:
        length = self._position - start
        if length > MAX_NUMBER_LENGTH:
            self._exceed("characters of a number", length, MAX_NUMBER_LENGTH)

    def _string(self) -> str:
        simple = _PLAIN_STRING.match(self._text, self._position)
        if simple is not None:
            self._position = simple.end()
            return simple[1]
        match = _STRING.match(self._text, self._position)
        if match is None:
            self._fail("an invalid or unterminated string")
        content = _ESCAPE.sub(_unescape, match[2])
        if _SURROGATE.search(content):
            content = join_surrogates(content)
        self._position = match.end()
        return content

    # ------------------------------------------------------------------------ positions

    def _peek(self) -> str:
        character = _NOT_BLANK.search(self._text, self._position)
        self._position = len(self._text) if character is None else character.start()
        return self._text[self._position : self._position + 1]

    def _fail(self, message: str) -> NoReturn:
        offset, excerpt = self._locate()
        raise DecodeError(message, offset=offset, excerpt=excerpt)

    def _exceed(self, unit: str, declared: int, limit: int) -> NoReturn:
        offset, excerpt = self._locate()
        raise LimitExceededError(
            f"more than {limit} {unit}",
            declared=declared,
            limit=limit,
            offset=offset,
            excerpt=excerpt,
        )

    def _locate(self) -> tuple[int, bytes]:
        text, position = self._text, self._position
        offset = position if text.isascii() else len(text[:position].encode())
        return offset, text[position : position + 16].encode()


def _unescape(match: re.Match[str]) -> str:
    return _ESCAPES[match[2]] if match[1] is None else chr(int(match[1], 16))
