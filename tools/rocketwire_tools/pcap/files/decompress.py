"""Readers of what captures are compressed with: gzip, ZSTD and LZ4.

Rules of this file: packages that inflate are imported when a capture needs them.  What is inflated goes into memory that is given,
by as few calls as can be: see ``inputs``.
"""

from __future__ import annotations

import importlib
import io
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_PIECE: Final = 1 << 17
"""Bytes that are inflated by one call: where a file is damaged, fewer than that are lost."""
_GZIP_PIECE: Final = 1 << 20
GZIP_READ: Final = 1 << 18
"""The same of gzip, of which a cut loses nothing, and what is read for it; a member's header cannot be longer."""
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31  # zlib's number for a gzip header and the largest window
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
SKIPPABLE: Final = tuple(bytes([0x50 + kind]) + b"\x2a\x4d\x18" for kind in range(16))
"""What a frame begins with that holds no data, of ZSTD (RFC 8878, 3.1.2) and LZ4 alike; pzstd puts one in front."""
_LZ4_READ: Final = 1 << 18
_LZ4: Final = b"\x04\x22\x4d\x18"


class Inflating(Protocol):
    """A compressed stream, read as what it was before."""

    def readinto1(self, buffer: memoryview, /) -> int:
        """Put bytes into the front of a buffer, not always as many as there is room for; returns how many, 0 at the end.

        Raises:
            EOFError: the stream was cut off; everything before has been given.
            Exception: it is damaged; no two packages have one in common.
        """
        ...


class GzipReader:
    """A gzip file, by the reader in C that isal's own files have: it fills a buffer of any size without the interpreter, but
    to read more of the file.

    Args:
        reader: made of the file.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._failure: Exception | None = None

    def readinto1(self, buffer: memoryview, /) -> int:
        """See ``Inflating``; what was inflated before a failure is given first."""
        if self._failure is not None:
            raise self._failure
        before: int = self._reader.tell()
        try:
            count: int = self._reader.readinto(buffer)
        except Exception as error:
            count = self._reader.tell() - before
            if not count:
                raise
            self._failure = error
        return count


class Members:
    """The members of a gzip file, one behind the other: what is inflated is given before anything behind it is looked at.

    Args:
        file: as it is.
        inflater: makes what inflates one member.
    """

    def __init__(self, file: io.RawIOBase, inflater: Callable[[], Any]) -> None:
        self._file = file
        self._inflater = inflater
        self._member: Any = None
        self._packed = b""

    def readinto1(self, buffer: memoryview, /) -> int:
        """See ``Inflating``."""
        while self._packed or self._more() or self._member is not None:
            if self._member is None:
                self._packed = self._packed.lstrip(b"\0")  # zeros may fill the last block of a tape
                if not self._packed:
                    continue
                self._member = self._inflater()
            ended = not self._packed  # what was read may yet have been held back for want of room
            plain: bytes = self._member.decompress(self._packed, len(buffer))
            self._packed = self._member.unconsumed_tail
            if self._member.eof:
                self._packed = self._member.unused_data
                self._member = None
            elif ended and not plain:
                raise EOFError
            if plain:
                buffer[: len(plain)] = plain
                return len(plain)
        return 0

    def _more(self) -> bool:
        self._packed = self._file.read(GZIP_READ) or b""
        return bool(self._packed)


def gzip_reader(file: io.RawIOBase) -> Inflating:
    """isal's reader, that of its decompressing objects if there is none (its name is private), or zlib's."""
    try:
        zlib: Any = importlib.import_module("isal.isal_zlib")
    except ImportError:
        zlib = importlib.import_module("zlib")
    if (reader := getattr(zlib, "_GzipReader", None)) is not None:
        return GzipReader(reader(file, GZIP_READ))
    return Members(file, partial(zlib.decompressobj, wbits=_GZIP_WINDOW))


def _zstd(file: io.RawIOBase) -> Inflating:
    import zstandard

    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
        cast("IO[bytes]", file), read_across_frames=True
    )
    return cast("Inflating", reader)


def _lz4(file: io.RawIOBase) -> Inflating:
    import lz4.frame

    # which asks for 8 KiB at a time, each time with a call of Python and a wait for the interpreter
    return cast("Inflating", lz4.frame.LZ4FrameFile(io.BufferedReader(file, _LZ4_READ)))


class Kind(NamedTuple):
    """One of the ways to compress.

    Attributes:
        magic: what files begin with.
        reader: makes one; raises ImportError.
        package: that it needs.
        piece: bytes that are inflated by one call.
    """

    magic: bytes
    reader: Callable[[io.RawIOBase], Inflating]
    package: str
    piece: int


KINDS: Final = (
    Kind(_GZIP, gzip_reader, "isal", _GZIP_PIECE),
    Kind(_ZSTD, _zstd, "zstandard", _PIECE),
    Kind(_LZ4, _lz4, "lz4", _PIECE),
)
COMPRESSED: Final = (*(kind.magic for kind in KINDS), *SKIPPABLE)
"""What compressed captures begin with."""
