"""CRC-32 as RocketMQ uses it: masked to 31 bits, so that as a Java int it is never negative.

crcmod defines the checksum; zlib, about ten times faster, computes it.  The two are compared once,
when this module is imported, in one piece and in pieces; should they ever differ, crcmod is used
alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Final, cast

import crcmod.predefined

Crc = Callable[[bytes | memoryview, int], int]
"""A checksum that can be continued: data and the value so far, 0 at the start."""

MASK: Final = 0x7FFF_FFFF

_PROBES: Final = (b"", b"a", b"Hello", bytes(64), bytes(range(256)) * 5)

defined_crc: Final[Crc] = cast("Any", crcmod.predefined).mkPredefinedCrcFun("crc-32")
"""The definition (crcmod); much too slow for registrations when its C extension is missing."""


def choose_crc(definition: Crc, fast: Crc) -> Crc:
    """Returns ``fast`` if it agrees with ``definition``, whole and continued, else that."""
    for probe in _PROBES:
        whole = definition(probe, 0)
        continued = fast(probe[3:], fast(probe[:3], 0))
        if not whole == fast(probe, 0) == continued:
            return definition
    return fast


_crc: Final[Crc] = choose_crc(defined_crc, zlib.crc32)


def crc32(data: bytes | memoryview | None) -> int:
    """Returns the checksum of ``data``, 0 to 2**31 - 1; 0 for None (Java: ``UtilAll.crc32``).

    For a registration 0 also means "do not check" (``RegisterBrokerRequestHeader.bodyCrc32``).
    """
    if data is None:
        return 0
    return _crc(data, 0) & MASK


def crc32_of(data: bytes | memoryview, before: int = 0) -> int:
    """The checksum of a text in parts.

    Args:
        data: the next part.
        before: what this function gave for the part before it, and nothing else.

    Returns:
        A number whose lower 31 bits are the checksum so far.
    """
    return _crc(data, before)
