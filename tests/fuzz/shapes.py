"""JSON texts in which an array stands where an object did, or an object where an array did."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.fuzz.chance import Chance

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


class Container(NamedTuple):
    """An object or an array in a text.

    Attributes:
        start: position of its first bracket.
        end: position after its last.
        items: where each of its members or elements starts, where its value does, and where it
            ends.
    """

    start: int
    end: int
    items: list[tuple[int, int, int]]


class _Open:
    def __init__(self, start: int) -> None:
        self.start = start
        self.item = self.value = start + 1
        self.items: list[tuple[int, int, int]] = []

    def close_item(self, end: int) -> None:
        if end > self.item:
            self.items.append((self.item, self.value, end))
        self.item = self.value = end + 1


def containers(text: bytes) -> list[Container]:
    """The objects and arrays of a text whose brackets pair, inner ones first; an object in key position is none."""
    waiting: list[_Open] = []
    found: list[Container] = []
    for token in _TOKEN.finditer(text):
        at = token.start()
        match token[0]:
            case b"{" | b"[":
                waiting.append(_Open(at))
            case b"}" | b"]" if waiting:
                waiting[-1].close_item(at)
                last = waiting.pop()
                if text[at + 1 : at + 2] != b":":
                    found.append(Container(last.start, at + 1, last.items))
            case b"," if waiting:
                waiting[-1].close_item(at)
            case b":" if waiting:
                waiting[-1].value = at + 1
            case _:
                pass
    return found


def reshape(chance: Chance, text: bytes) -> bytes:
    """``text`` with one of its objects made an array, or one of its arrays an object: empty, around it, or of what is in it."""
    found = containers(text)
    if not found:
        return text
    one = chance.choice(found)
    whole = text[one.start : one.end]
    values = [text[value:end] for _, value, end in one.items]
    is_object = whole.startswith(b"{")
    match chance.below(3):
        case 0:
            other = b"[]" if is_object else b"{}"
        case 1:
            other = b"[%b]" % whole if is_object else b'{"a":%b}' % whole
        case _ if is_object:
            other = b"[%b]" % b",".join(values)
        case _:
            other = b"{%b}" % b",".join(
                b'"%d":%b' % (index, value) for index, value in enumerate(values)
            )
    return text[: one.start] + other + text[one.end :]
