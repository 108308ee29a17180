"""A JSON header cut into its members, without understanding them.

Only strict JSON is cut; any other header, which Java may accept, is one range.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from rocketwire_tools.codec.schema.walk import Range

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_KEY: Final = re.compile(r'[ \t\r\n]*"((?:[^"\\]|\\.)*)"[ \t\r\n]*:[ \t\r\n]*')
_SCANNER: Final = json.JSONDecoder(strict=False)
_NESTED: Final = "extFields"
_MAX_LENGTH: Final = 1 << 16
"""Maximum length of a header that is cut; longer headers are one range."""


def json_members(data: bytes, start: int, end: int) -> Iterator[Range]:
    """Yields the members of the header between ``start`` and ``end``, and those of
    ``extFields``."""
    # One character is one byte, so that positions in the text are positions in the data.
    text = data[start:end].decode("latin-1")
    try:
        pieces = list(_cut(text)) if len(text) <= _MAX_LENGTH else []
    except (ValueError, RecursionError):
        pieces = []
    position = start
    for stop, path in pieces:
        yield Range(position, start + stop, path, data[position : start + stop], {})
        position = start + stop
    if position < end:
        yield Range(position, end, "header", data[position:end], {})


def _cut(text: str) -> Iterator[tuple[int, str]]:
    """Yields end and path of each piece; raises ``ValueError`` if the text is not a strict JSON
    object."""
    position = _opened(text, 0)
    yield position, "header"
    position = yield from _members(text, position, "header")
    yield position, "header"


def _opened(text: str, position: int) -> int:
    position = _blanks(text, position)
    if text[position : position + 1] != "{":
        raise ValueError("not an object")
    return position + 1


def _members(text: str, position: int, path: str) -> Generator[tuple[int, str], None, int]:
    """Yields the members before the closing brace; returns the position after it."""
    while key := _KEY.match(text, position):
        name = key[1].encode("latin-1").decode("utf-8", "replace")
        below = f"{path}.{name}"
        position = key.end()
        if name == _NESTED and path == "header" and text[position : position + 1] == "{":
            yield position + 1, below
            position = yield from _members(text, position + 1, below)
        else:
            position = _SCANNER.raw_decode(text, position)[1]
        position = _blanks(text, position)
        comma = text[position : position + 1] == ","
        position += comma
        yield position, below
        if not comma:
            break
    position = _blanks(text, position)
    if text[position : position + 1] != "}":
        raise ValueError("no end of the object")
    return position + 1


def _blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return position if match is None else match.end()
