"""A JSON header cut into its members, without understanding them.

Only what is strict JSON is cut; any other header, which Java may well accept, is one range.
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
_MOST: Final = 1 << 16
"""Bytes of a header that are looked at; longer ones are one range."""


def json_members(data: bytes, start: int, end: int) -> Iterator[Range]:
    """The members of the header between ``start`` and ``end``, those of ``extFields`` one by one."""
    # One character is one byte, so that positions in the text are positions in the data.
    text = data[start:end].decode("latin-1")
    try:
        found = list(_cut(text)) if len(text) <= _MOST else []
    except (ValueError, RecursionError):
        found = []
    at = start
    for stop, path in found:
        yield Range(at, start + stop, path, data[at : start + stop], {})
        at = start + stop
    if at < end:
        yield Range(at, end, "header", data[at:end], {})


def _cut(text: str) -> Iterator[tuple[int, str]]:
    """End and path of each piece; ``ValueError`` where the text is no strict JSON object."""
    at = _opened(text, 0)
    yield at, "header"
    at = yield from _members(text, at, "header")
    yield at, "header"


def _opened(text: str, at: int) -> int:
    at = _blanks(text, at)
    if text[at : at + 1] != "{":
        raise ValueError("no object")
    return at + 1


def _members(text: str, at: int, path: str) -> Generator[tuple[int, str], None, int]:
    """Members up to the closing brace, which is not one of them; returns the position after it."""
    while key := _KEY.match(text, at):
        name = key[1].encode("latin-1").decode("utf-8", "replace")
        below = f"{path}.{name}"
        at = key.end()
        if name == _NESTED and path == "header" and text[at : at + 1] == "{":
            yield at + 1, below
            at = yield from _members(text, at + 1, below)
        else:
            at = _SCANNER.raw_decode(text, at)[1]
        at = _blanks(text, at)
        comma = text[at : at + 1] == ","
        at += comma
        yield at, below
        if not comma:
            break
    at = _blanks(text, at)
    if text[at : at + 1] != "}":
        raise ValueError("no end of the object")
    return at + 1


def _blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return at if match is None else match.end()
