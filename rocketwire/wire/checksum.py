"""CRC-32 as RocketMQ uses it: masked to 31 bits, so that it is never negative as a Java int.

crcmod defines the checksum; zlib computes it about ten times faster.  Both are compared when this
module is imported; if they differ, crcmod is used.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Final, cast

import crcmod.predefined

# A checksum function: takes data and the checksum of the data before it, 0 at the start
Crc = Callable[[bytes | memoryview, int], int]

MASK: Final = 0x7FFF_FFFF

_PROBES: Final = (b"", b"a", b"Hello", bytes(64), bytes(range(256)) * 5)

# The definition (crcmod); too slow for registrations if its C extension is missing
defined_crc: Final[Crc] = cast("Any", crcmod.predefined).mkPredefinedCrcFun("crc-32")


def choose_crc(definition: Crc, fast: Crc) -> Crc:
    for probe in _PROBES:
        continued = fast(probe[3:], fast(probe[:3], 0))
        if not definition(probe, 0) == fast(probe, 0) == continued:
            return definition
    return fast


_crc: Final[Crc] = choose_crc(defined_crc, zlib.crc32)


def crc32(data: bytes | memoryview | None) -> int:
    """Return the checksum of ``data``, 0 to 2**31 - 1; 0 for None (Java: ``UtilAll.crc32``).

    For a registration 0 also means "do not check" (``RegisterBrokerRequestHeader.bodyCrc32``).
    """
    if data is None:
        return 0
    return _crc(data, 0) & MASK


def crc32_of(data: bytes | memoryview, checksum: int = 0) -> int:
    """Continue a checksum with more data; the lower 31 bits of the result are the checksum."""
    return _crc(data, checksum)
