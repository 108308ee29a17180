"""JSON texts with an array in the place of an object, or an object in the place of an array."""

import re
from typing import NamedTuple

from tests.fuzz.chance import Chance

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


class Container(NamedTuple):
    start: int
    end: int
    #: where each of its members or elements starts, where its value does, and where it ends
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
    # The objects and arrays of a text whose brackets pair, inner ones first; an object in key position is none.
    waiting: list[_Open] = []
    complete: list[Container] = []
    for token in _TOKEN.finditer(text):
        place = token.start()
        match token[0]:
            case b"{" | b"[":
                waiting.append(_Open(place))
            case b"}" | b"]" if waiting:
                waiting[-1].close_item(place)
                last = waiting.pop()
                if text[place + 1 : place + 2] != b":":
                    complete.append(Container(last.start, place + 1, last.items))
            case b"," if waiting:
                waiting[-1].close_item(place)
            case b":" if waiting:
                waiting[-1].value = place + 1
            case _:
                pass
    return complete


def reshape(chance: Chance, text: bytes) -> bytes:
    # A text whose object became an array, or the opposite: an empty one, one around it, or one of its values.
    parts = containers(text)
    if not parts:
        return text
    part = chance.choice(parts)
    container = text[part.start : part.end]
    values = [text[value:end] for _, value, end in part.items]
    is_object = container.startswith(b"{")
    match chance.below(3):
        case 0:
            replacement = b"[]" if is_object else b"{}"
        case 1:
            replacement = b"[%b]" % container if is_object else b'{"a":%b}' % container
        case _ if is_object:
            replacement = b"[%b]" % b",".join(values)
        case _:
            replacement = b"{%b}" % b",".join(
                b'"%d":%b' % (index, value) for index, value in enumerate(values)
            )
    return text[: part.start] + replacement + text[part.end :]
