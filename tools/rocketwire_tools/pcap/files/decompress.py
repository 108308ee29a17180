"""Readers of compressed captures: gzip, ZSTD and LZ4.

A decompression package is imported when a capture needs it. Readers fill a given buffer with few
calls; see ``inputs``.
"""

from __future__ import annotations

import importlib
import io
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_PIECE: Final = 1 << 17
"""Bytes that one call inflates. At damage, fewer bytes than that are lost."""
_GZIP_PIECE: Final = 1 << 20
GZIP_READ: Final = 1 << 18
"""Bytes of a gzip file that one call reads. A member's header cannot be longer. A cut loses
nothing, so a call may inflate more (``_GZIP_PIECE``)."""
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31  # zlib's number for a gzip header and the largest window
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
SKIPPABLE: Final = tuple(bytes([0x50 + number]) + b"\x2a\x4d\x18" for number in range(16))
"""First bytes of a frame without data, the same in ZSTD (RFC 8878, 3.1.2) and LZ4. pzstd writes
such a frame first."""
_LZ4_READ: Final = 1 << 18
_LZ4: Final = b"\x04\x22\x4d\x18"


class InflatingReader(Protocol):
    """A reader of a compressed stream that returns the original bytes."""

    def readinto1(self, buffer: memoryview, /) -> int:
        """Fill the front of a buffer, maybe only in part; returns the number of bytes, 0 at the
        end.
        """
        ...


class GzipReader:
    """A gzip file, read by the private C reader that isal's file class uses.

    It fills a buffer of any size, and needs the interpreter only to read more of the file.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._failure: Exception | None = None

    def readinto1(self, buffer: memoryview, /) -> int:
        """See ``InflatingReader``; bytes that were inflated before a failure are returned first."""
        if self._failure is not None:
            raise self._failure
        start: int = self._reader.tell()
        try:
            count: int = self._reader.readinto(buffer)
        except Exception as error:
            count = self._reader.tell() - start
            if not count:
                raise
            self._failure = error
        return count


class GzipMembers:
    """The members of a gzip file. The bytes of a member are returned before the next member is
    read.
    """

    def __init__(self, file: io.RawIOBase, inflater: Callable[[], Any]) -> None:
        self._file = file
        self._inflater = inflater
        self._member: Any = None
        self._packed = b""

    def readinto1(self, buffer: memoryview, /) -> int:
        while self._packed or self._more() or self._member is not None:
            if self._member is None:
                self._packed = self._packed.lstrip(b"\0")  # zeros may fill the last block of a tape
                if not self._packed:
                    continue
                self._member = self._inflater()
            ended = not self._packed  # decompress may have held back bytes if the buffer was full
            data: bytes = self._member.decompress(self._packed, len(buffer))
            self._packed = self._member.unconsumed_tail
            if self._member.eof:
                self._packed = self._member.unused_data
                self._member = None
            elif ended and not data:
                raise EOFError
            if data:
                buffer[: len(data)] = data
                return len(data)
        return 0

    def _more(self) -> bool:
        self._packed = self._file.read(GZIP_READ) or b""
        return bool(self._packed)


def gzip_reader(file: io.RawIOBase) -> InflatingReader:
    """Open a gzip file with isal's private C reader, else with isal's decompressor, else with
    zlib."""
    try:
        zlib: Any = importlib.import_module("isal.isal_zlib")
    except ImportError:
        zlib = importlib.import_module("zlib")
    if (reader := getattr(zlib, "_GzipReader", None)) is not None:
        return GzipReader(reader(file, GZIP_READ))
    return GzipMembers(file, partial(zlib.decompressobj, wbits=_GZIP_WINDOW))


def _zstd(file: io.RawIOBase) -> InflatingReader:
    import zstandard

    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
        cast("IO[bytes]", file), read_across_frames=True
    )
    return cast("InflatingReader", reader)


def _lz4(file: io.RawIOBase) -> InflatingReader:
    import lz4.frame

    # Without a buffer, lz4 reads 8 KiB at a time, and each read waits for the interpreter.
    return cast("InflatingReader", lz4.frame.LZ4FrameFile(io.BufferedReader(file, _LZ4_READ)))


class Compression(NamedTuple):
    magic: bytes  # first bytes of a file
    reader: Callable[[io.RawIOBase], InflatingReader]  # opens a file; raises ImportError
    package: str  # the package that ``reader`` needs
    piece: int  # bytes that one call inflates


COMPRESSIONS: Final = (
    Compression(_GZIP, gzip_reader, "isal", _GZIP_PIECE),
    Compression(_ZSTD, _zstd, "zstandard", _PIECE),
    Compression(_LZ4, _lz4, "lz4", _PIECE),
)
COMPRESSED: Final = (*(compression.magic for compression in COMPRESSIONS), *SKIPPABLE)
"""First bytes of compressed captures."""
