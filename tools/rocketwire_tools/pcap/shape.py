"""``Shape``: what headers have in common that differ only in digits.

Rules of this file: strict JSON as programs write it, without white space; a shape says of each byte whether it is the same in all
headers of the shape.  Bytes that are not are digits of the numbers and hexadecimal digits of values of ``extFields``, so that a
header has the same members whatever digits it has.  What is out of the ordinary has no shape.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS: Final = ("code", "version", "opaque", "flag")
LONGEST_TEXT: Final = 128
"""Longest topic or group of a shape."""
MOST_DIGITS: Final = 8
"""Digits of a number; an opaque has up to ``MOST_OPAQUE_DIGITS``."""
MOST_OPAQUE_DIGITS: Final = 10
_GROUPS: Final = (b"consumerGroup", b"producerGroup", b"group", b"groupName")
"""Names of the extension field that has the group; the first that says something counts."""
_LETTERS: Final = frozenset({b"a", b"b", b"e"})
_MEMBER: Final = re.compile(
    rb'"([^"\\\x00-\x1f]*)":(?:"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)"|-?([0-9]+)(?=[,}])|(true|false|null)|(?=(\{)))'
)
_TEXT, _DIGITS, _WORD, _OBJECT = range(2, 6)
_HEXADECIMAL: Final = re.compile(rb"([0-9A-F]+)|\\(?:u[0-9a-fA-F]{4}|.)")
"""Digits, or an escape, which is not to be taken for some."""
_INTEGER: Final = re.compile(rb"-?([0-9]+)")


class Number(NamedTuple):
    """Where a number is: behind its last digit, how many digits, none for one that is not there, and whether it is negative."""

    end: int = MOST_DIGITS
    digits: int = 0
    negative: bool = False


class Text(NamedTuple):
    """Where a text is; a length below 0 for one that is not there."""

    start: int = 0
    length: int = -1


class Shape(NamedTuple):
    """One of them.

    Attributes:
        loose: beginnings and ends of the bytes that are not the same in all headers.
        numbers: those of ``NUMBERS``, and the queue.
        texts: the topic and the group.
        named: how the extension fields have to be named: 1 by letters, 0 not by letters, -1 if it makes no difference.
    """

    loose: list[tuple[int, int]]
    numbers: list[Number]
    texts: list[Text]
    named: int


def shape_of(header: bytes, has_letters: Callable[[int, int], bool]) -> Shape | None:
    """The shape of a header; None if it has none.

    Args:
        header: the header.
        has_letters: says of a code and a flag whether the extension fields have names of one letter.
    """
    scan = _Scan(header)
    if scan.object(0, scan.member) != len(header):
        return None
    letters = has_letters(scan.value("code"), scan.value("flag"))
    topic = scan.text((b"b", b"topic") if letters else (b"topic",))
    group = scan.text((b"a", *_GROUPS) if letters else _GROUPS)
    queue = scan.integer(b"e" if letters and b"e" in scan.fields else b"queueId")
    if topic is None or group is None or queue is None:
        return None
    numbers = [scan.numbers.get(name, Number()) for name in NUMBERS]
    named = -1 if scan.fields.keys().isdisjoint(_LETTERS) else int(letters)
    return Shape(scan.loose, [*numbers, queue], [topic, group], named)


class _Scan:
    """Reads the members of one header.

    Attributes:
        fields: beginnings and ends of the extension fields that are texts.
        numbers: those of ``NUMBERS`` that are there.
        loose: see ``Shape``.
    """

    def __init__(self, header: bytes) -> None:
        self._header = header
        self.fields: dict[bytes, tuple[int, int]] = {}
        self.numbers: dict[str, Number] = {}
        self.loose: list[tuple[int, int]] = []

    def object(self, at: int, take: Callable[[re.Match[bytes]], int | None]) -> int | None:
        """Read an object; returns where it ends, None if something is out of the ordinary."""
        header, names = self._header, set[bytes]()
        if header.startswith(b"{}", at):
            return at + 2
        following: int | None = at
        while following is not None and (not names or header.startswith(b",", following)):
            found = _MEMBER.match(header, following + 1)
            if found is None or found[1] in names:
                return None
            names.add(found[1])
            following = take(found)
        if following is None or not header.startswith(b"}", following):
            return None
        return following + 1

    def member(self, found: re.Match[bytes]) -> int | None:
        """Take a member of the header; returns where it ends."""
        name, end = found[1].decode("latin-1"), found.end()
        if name == "extFields":
            if found[_OBJECT] is not None:
                return self.object(end, self._field)
            return end if found[_WORD] == b"null" else None
        if name in NUMBERS:
            digits = found[_DIGITS]
            most = MOST_OPAQUE_DIGITS if name == "opaque" else MOST_DIGITS
            if digits is None or len(digits) > most:
                return None
            start = found.start(_DIGITS)
            self.numbers[name] = Number(end, end - start, self._header[start - 1 : start] == b"-")
            self.loose.append((start, end))
        return None if found[_OBJECT] else end

    def value(self, name: str) -> int:
        """One of the numbers."""
        end, digits, negative = self.numbers.get(name, Number())
        value = int(self._header[end - digits : end] or b"0")
        return -value if negative else value

    def _field(self, found: re.Match[bytes]) -> int | None:
        """Take an extension field; returns where it ends."""
        if found[_TEXT] is None:
            return found.end() if found[_WORD] == b"null" else None
        start, end = self.fields[found[1]] = found.span(_TEXT)
        for part in _HEXADECIMAL.finditer(self._header, start, end):
            if part[1] is not None:
                self.loose.append(part.span())
        return found.end()

    def integer(self, name: bytes) -> Number | None:
        """The extension field as a number; None if it is out of the ordinary."""
        if name not in self.fields:
            return Number()
        start, end = self.fields[name]
        found = _INTEGER.fullmatch(self._header, start, end)
        if found is None or len(found[1]) > MOST_DIGITS:
            return None
        return Number(end, len(found[1]), found.start(1) > start)

    def text(self, names: tuple[bytes, ...]) -> Text | None:
        """The first extension field of these that is not empty, or the last; None if it is out of the ordinary."""
        spans = [self.fields.get(name) for name in names]
        some = [span for span in spans if span is not None and span[0] < span[1]]
        span = some[0] if some else spans[-1]
        if span is None:
            return Text()
        start, end = span
        if end - start > LONGEST_TEXT or b"\\" in self._header[start:end]:
            return None
        return Text(start, end - start)
