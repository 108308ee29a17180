"""Entries of ASCII text, a length before each key and each value, read with one decoding for all.

Rules of this file: as in ``lists``; the reader says yes or no, and where it says no the fused loop
reads again, checks every length before it uses it and says what is wrong and where.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.wire.buffer import Buffer

SEVERAL: Final = 24
"""Bytes from which on there are likely so many entries that this is worth while."""

SurplusFinder: TypeAlias = "Callable[[Buffer, int, int, int], int | None]"
EntriesReader: TypeAlias = "Callable[[bytes], dict[str, str] | None]"


def entries_reader(key: struct.Struct, value: struct.Struct) -> EntriesReader:
    """Makes the reader of entries whose keys and values have such lengths before them.

    Where all bytes are ASCII, those of the lengths are too, so that no length is below zero and
    every position is behind the one before it.  A length that leads out of the entries ends at
    another place than they do.

    Args:
        key: one number, the length of a key.
        value: the same of a value.

    Returns:
        A function from the bytes of all entries, so few that there cannot be too many entries, to
        these, as ``JavaEntries`` has them; None where they are not ordinary.
    """
    key_length, value_length = key.unpack_from, value.unpack_from
    key_size, value_size = key.size, value.size
    error = struct.error

    def read(region: bytes) -> dict[str, str] | None:
        size = len(region)
        if not region.isascii():
            return None
        text = region.decode()
        found: dict[str, str] = {}
        at = 0
        try:
            while at < size:
                begin = at + key_size
                end = begin + key_length(region, at)[0]
                left = text[begin:end]
                begin = end + value_size
                at = begin + value_length(region, end)[0]
                if left and begin < at:
                    found[left] = text[begin:at]
                elif left:
                    found.pop(left, None)
        except error:
            return None
        return found if at == size else None

    return read


def surplus_finder(key: struct.Struct, value: struct.Struct, limit: int) -> SurplusFinder:
    """Makes what tells too many entries by their lengths alone, before any text is made of them.

    Args:
        key: one number, the length of a key.
        value: the same of a value.
        limit: most entries.

    Returns:
        A function from a buffer, the positions where its entries begin and end, and the one that
        none may pass, to the position of the first entry too many; None where there is none, or
        where an entry before it is damaged.
    """
    key_length, value_length = key.unpack_from, value.unpack_from
    key_size, value_size = key.size, value.size
    error = struct.error

    def find(buf: Buffer, at: int, until: int, end: int) -> int | None:
        total = until - at
        try:
            for _ in range(limit):
                (of_key,) = key_length(buf, at)
                behind = at + key_size + of_key
                (of_value,) = value_length(buf, behind)
                at = behind + value_size + of_value
                if of_key < 0 or of_value < 0 or of_key > total or of_value > total or at > end:
                    return None
                if at >= until:
                    return None
        except error:
            return None
        return at

    return find
