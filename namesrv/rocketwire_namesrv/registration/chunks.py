"""Pieces of a table of topics, by which the next body of the same broker is compared with this one.

Rules of this file: a piece is never longer than what can be read in a fraction of a millisecond,
and is known by its length and a digest.  The digest is Python's own of bytes: 64 bits under a
secret of the process, and several times faster than one that others could check; nobody else ever
sees it.  Where Python was built with another one (``sys.hash_info``), SHA-256 takes its place.
It is taken of slices, not of views: the digest of a view takes that of all that is behind it, too.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.wire.checksum import MASK, crc32_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from rocketwire_namesrv.routes.topic_names import KnownNames

STEP_BYTES: Final = 262_144
"""Bytes that are summed in one step."""
PIECES_PER_STEP: Final = 4
"""Pieces that are compared in one step."""
MOST_PIECES: Final = 16
"""Pieces to which changes may have reduced a small table; a large one may have more."""

Digest = int


class ChecksumError(DecodeError):
    """A body is not what its sender summed."""


class Piece(NamedTuple):
    """Some topics of a body.

    Attributes:
        length: in bytes.
        digest: of these.
        topics: how many topics.
        marks: how much ``JsonLimits`` counts in them.
        known: their names, where these are kept.
    """

    length: int
    digest: Digest
    topics: int
    marks: int = 0
    known: KnownNames | None = None


def choose_digest(algorithm: str, bits: int) -> Callable[[bytes], Digest]:
    """Returns Python's own digest if it is a good one, else SHA-256."""
    if algorithm.startswith("siphash") and bits >= 64:
        return hash
    return lambda data: int.from_bytes(sha256(data).digest(), "big")


digest_of: Final = choose_digest(sys.hash_info.algorithm, sys.hash_info.hash_bits)
"""The digest of bytes."""


def digest_in_steps(data: bytes) -> Generator[None, None, Digest]:
    """The digest of something large."""
    parts: list[Digest] = []
    for at in range(0, len(data), STEP_BYTES):
        if at:
            yield
        parts.append(digest_of(data[at : at + STEP_BYTES]))
    return parts[0] if len(parts) == 1 else digest_of(repr(parts).encode())


def check_sum(body: bytes | None, wanted: int) -> Generator[None, None, None]:
    """Compares a body with the checksum in its header, 0 for none.

    Raises:
        ChecksumError: it is another one.
    """
    if not wanted:
        return
    total = 0
    with memoryview(body or b"") as view:
        for at in range(0, len(view), STEP_BYTES):
            if at:
                yield
            total = crc32_of(view[at : at + STEP_BYTES], total)
    if total & MASK != wanted:
        raise ChecksumError("crc32 not match")


def same_from_the_back(
    body: bytes, at: int, stop: int, known: Sequence[Piece], *, comma: bytes = b""
) -> Generator[None, None, tuple[list[Piece], int]]:
    """The pieces with which a table ends, the last one first, and the position where they begin.

    Args:
        body: that the table is in.
        at: where it begins, or what is left of it.
        stop: where it ends.
        known: pieces of the former table.
        comma: what stands before each piece, if anything; then something is left between ``at``
            and the first one.
    """
    same: list[Piece] = []
    for piece in reversed(known):
        begin = stop - piece.length
        before = begin - len(comma)
        if before < at + len(comma) or body[before:begin] != comma:
            break
        if digest_of(body[begin:stop]) != piece.digest:
            break
        same.append(piece)
        stop = before
        if len(same) % PIECES_PER_STEP == 0:
            yield
    return same, stop
