"""Digests and checksums of registration bodies, computed in steps.

Digests show whether two bodies of a broker are equal. They are Python's own hash of bytes: 64 bits
under a secret of the process, several times faster than a public digest, and never sent or logged.
If Python was built with a weak hash (``sys.hash_info``), SHA-256 takes its place.  Slices are
hashed, not views: the hash of a view covers all the bytes after it, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from hashlib import sha256
from typing import Final

from rocketwire.errors import DecodeError
from rocketwire.wire.checksum import MASK, crc32_of

STEP_BYTES: Final = 262_144
"""Bytes that one step hashes or sums."""

Digest = int


class ChecksumError(DecodeError):
    """The body does not have the checksum in its header."""


def choose_digest(algorithm: str, bits: int) -> Callable[[bytes], Digest]:
    """Return Python's own hash of bytes if it is strong enough, else SHA-256."""
    if algorithm.startswith("siphash") and bits >= 64:
        return hash
    return lambda data: int.from_bytes(sha256(data).digest(), "big")


digest_of: Final = choose_digest(sys.hash_info.algorithm, sys.hash_info.hash_bits)
"""The digest of bytes."""


def digest_in_steps(body: bytes) -> Generator[None, None, Digest]:
    digests: list[Digest] = []
    for start in range(0, len(body), STEP_BYTES):
        if start:
            yield
        digests.append(digest_of(body[start : start + STEP_BYTES]))
    return digests[0] if len(digests) == 1 else digest_of(repr(digests).encode())


def check_sum(body: bytes | None, crc: int) -> Generator[None, None, None]:
    """Compare a body with the checksum in its header, 0 for none."""
    if not crc:
        return
    total = 0
    with memoryview(body or b"") as view:
        for start in range(0, len(view), STEP_BYTES):
            if start:
                yield
            total = crc32_of(view[start : start + STEP_BYTES], total)
    if total & MASK != crc:
        raise ChecksumError("crc32 not match")
