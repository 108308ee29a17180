"""What Java's ``String`` does with text, where decisions of several clients have to agree."""

from __future__ import annotations

from typing import Final

_BLANKS: Final = "".join(map(chr, range(0x21)))


def string_hash(text: str) -> int:
    """``String.hashCode``: int32 over UTF-16 code units."""
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    result = 0
    for unit in units:
        result = (31 * result + unit) & 0xFFFFFFFF
    return to_int32(result)


def to_int32(value: int) -> int:
    """The lowest 32 bits as a signed number."""
    return (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def sort_key(text: str) -> bytes:
    """Key that sorts as ``String.compareTo`` does: by UTF-16 code units, not by code points."""
    return text.encode("utf-16-be", "surrogatepass")


def split(text: str, separator: str) -> list[str]:
    """``String.split`` by plain text: empty pieces at the end are dropped, all other pieces stay."""
    if separator not in text:
        return [text]
    pieces = text.split(separator)
    while pieces and not pieces[-1]:
        pieces.pop()
    return pieces


def trim(text: str) -> str:
    """``String.trim``: without the characters up to U+0020 at both ends."""
    return text.strip(_BLANKS)
