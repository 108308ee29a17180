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
_MOST: Final = {
    name.encode(): MOST_OPAQUE_DIGITS if name == "opaque" else MOST_DIGITS for name in NUMBERS
}
_GROUPS: Final = (b"consumerGroup", b"producerGroup", b"group", b"groupName")
"""Names of the extension field that has the group; the first that says something counts."""
_LETTERS: Final = frozenset({b"a", b"b", b"e"})
_MEMBER: Final = re.compile(
    rb'"([^"\\\x00-\x1f]*)":(?:"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)"|-?([0-9]+)(?=[,}])|(true|false|null)|(?=(\{)))'
)
_TEXT, _DIGITS, _WORD, _OBJECT = range(2, 6)
_FIELD: Final = re.compile(
    rb'"([^"\\\x00-\x1f]*)":(?:"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)"|null)'
)
_MINUS: Final = ord("-")
_SAME: Final = b"\xff"
_LOOSE: Final = bytes(MOST_OPAQUE_DIGITS)
_HEXADECIMAL: Final = bytes(0 if byte in b"0123456789ABCDEF" else 255 for byte in range(256))
"""For each byte: whether it has to be the same in a value of ``extFields``."""
_ESCAPE: Final = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)")
"""Digits of which are not to be taken for some."""
_INTEGER: Final = re.compile(rb"-?([0-9]+)")


class Number(NamedTuple):
    """Where a number is: behind its last digit, how many digits, none for one that is not there, and whether it is negative."""

    end: int = MOST_DIGITS
    digits: int = 0
    negative: bool = False


_NO_NUMBER: Final = Number()


class Text(NamedTuple):
    """Where a text is; a length below 0 for one that is not there."""

    start: int = 0
    length: int = -1


class Shape(NamedTuple):
    """One of them.

    Attributes:
        same: for each byte 255 if it is the same in all headers, otherwise 0.
        numbers: those of ``NUMBERS``, and the queue.
        texts: the topic and the group.
        named: how the extension fields have to be named: 1 by letters, 0 not by letters, -1 if it makes no difference.
    """

    same: bytearray
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
    if scan.members() != len(header):
        return None
    letters = has_letters(scan.value(b"code"), scan.value(b"flag"))
    topic = scan.text((b"b", b"topic") if letters else (b"topic",))
    group = scan.text((b"a", *_GROUPS) if letters else _GROUPS)
    queue = scan.integer(b"e" if letters and b"e" in scan.fields else b"queueId")
    if topic is None or group is None or queue is None:
        return None
    numbers = [scan.numbers.get(name, _NO_NUMBER) for name in _MOST]
    named = -1 if scan.fields.keys().isdisjoint(_LETTERS) else int(letters)
    return Shape(scan.same, [*numbers, queue], [topic, group], named)


class _Scan:
    """Reads the members of one header.

    Attributes:
        fields: beginnings and ends of the extension fields that are texts.
        numbers: those of ``NUMBERS`` that are there.
        same: see ``Shape``.
    """

    def __init__(self, header: bytes) -> None:
        self._header = header
        self.fields: dict[bytes, tuple[int, int]] = {}
        self.numbers: dict[bytes, Number] = {}
        self.same = bytearray(_SAME * len(header))

    def members(self) -> int | None:
        """Read the header; returns where it ends, None if something is out of the ordinary."""
        header, names = self._header, set[bytes]()
        if header.startswith(b"{}"):
            return 2
        at: int | None = 0
        while at is not None and (not names or header.startswith(b",", at)):
            found = _MEMBER.match(header, at + 1)
            if found is None or found[1] in names:
                return None
            names.add(found[1])
            at = self._member(found)
        return None if at is None else self._end(at)

    def _end(self, at: int) -> int | None:
        return at + 1 if self._header.startswith(b"}", at) else None

    def _member(self, found: re.Match[bytes]) -> int | None:
        """Take a member of the header; returns where it ends."""
        name, end = found[1], found.end()
        if (most := _MOST.get(name)) is not None:
            start = found.start(_DIGITS)
            if start < 0 or end - start > most:
                return None
            self.numbers[name] = Number(end, end - start, self._header[start - 1] == _MINUS)
            self.same[start:end] = _LOOSE[: end - start]
            return end
        if found[_OBJECT] is not None:
            return self._fields(end) if name == b"extFields" else None
        return end if name != b"extFields" or found[_WORD] == b"null" else None

    def value(self, name: bytes) -> int:
        """One of the numbers."""
        end, digits, negative = self.numbers.get(name, _NO_NUMBER)
        value = int(self._header[end - digits : end] or b"0")
        return -value if negative else value

    def _fields(self, at: int) -> int | None:
        """Take the extension fields; returns where they end."""
        header, fields, same = self._header, self.fields, self.same
        if header.startswith(b"{}", at):
            return at + 2
        nulls = set[bytes]()
        digits = header.translate(_HEXADECIMAL)
        match = _FIELD.match
        while True:
            found = match(header, at + 1)
            if found is None or (name := found[1]) in fields or name in nulls:
                return None
            at = found.end()
            start, end = found.span(_TEXT)
            if start < 0:
                nulls.add(name)
            else:
                fields[name] = start, end
                same[start:end] = digits[start:end]
            if header[at : at + 1] != b",":
                break
        for escape in _ESCAPE.finditer(header) if b"\\" in header else ():
            start, end = escape.span()
            same[start:end] = _SAME * (end - start)
        return self._end(at)

    def integer(self, name: bytes) -> Number | None:
        """The extension field as a number; None if it is out of the ordinary."""
        if name not in self.fields:
            return _NO_NUMBER
        start, end = self.fields[name]
        found = _INTEGER.fullmatch(self._header, start, end)
        if found is None or len(found[1]) > MOST_DIGITS:
            return None
        return Number(end, len(found[1]), found.start(1) > start)

    def text(self, names: tuple[bytes, ...]) -> Text | None:
        """The first extension field of these that is not empty, or the last; None if it is out of the ordinary."""
        span = None
        for name in names:
            span = self.fields.get(name)
            if span is not None and span[0] < span[1]:
                break
        if span is None:
            return Text()
        start, end = span
        if end - start > LONGEST_TEXT or b"\\" in self._header[start:end]:
            return None
        return Text(start, end - start)
