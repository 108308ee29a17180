"""Functions of Java's ``String``, for decisions on which Java clients have to agree."""

from __future__ import annotations

from typing import Final

_BLANKS: Final = "".join(map(chr, range(0x21)))


def string_hash(text: str) -> int:
    """Return ``String.hashCode``: int32 over UTF-16 code units."""
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    result = 0
    for unit in units:
        result = (31 * result + unit) & 0xFFFFFFFF
    return to_int32(result)


def to_int32(value: int) -> int:
    return (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def sort_key(text: str) -> bytes:
    """Return a key that sorts as ``String.compareTo`` does: by UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def split(text: str, separator: str) -> list[str]:
    """Split as ``String.split`` does with a plain text: only empty parts at the end are dropped."""
    if separator not in text:
        return [text]
    parts = text.split(separator)
    while parts and not parts[-1]:
        parts.pop()
    return parts


def trim(text: str) -> str:
    """Trim as ``String.trim`` does: characters up to U+0020 at both ends."""
    return text.strip(_BLANKS)
