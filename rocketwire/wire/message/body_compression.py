"""The three ways to compress a message body: zlib always, LZ4 and ZSTD where their packages are
installed.

Rules of this file: the only importer of ``lz4`` and ``zstandard`` (the extra ``zlib_stream``), both
at first use; whatever is inflated stops at the caller's limit, and no step of it makes more than a
few MiB at once.  The type is told by three bits of ``sysFlag``.  Java: ``CompressionType``,
``Lz4Compressor``, ``ZstdCompressor``, ``ZlibCompressor``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, Protocol, cast

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError, MissingPackageError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.zlib_stream import deflate, inflate

if TYPE_CHECKING:
    from collections.abc import Callable

    from zstandard import ZstdDecompressor

DEFAULT_LEVEL: Final = 5
"""Level at which Java's clients compress; LZ4 knows none."""

ZSTD_MAX_WINDOW: Final = 1 << 27
"""Most bytes of history that a ZSTD frame may ask for: what levels 20 to 22 ask for, and the limit
of Java's reader.  Memory is bounded by the output: no more of the window is touched than that."""

MAX_FRAMES: Final = 1_024
"""Most frames of one LZ4 or ZSTD body, empty ones included; senders write one."""

_TYPE_MASK: Final = int(MessageSysFlag.COMPRESSION_TYPE_MASK)
_TYPE_SHIFT: Final = 8
_LZ4_INPUT_STEP: Final = 1 << 16  # bytes that go in at a time: those behind a frame are copied
_ZSTD_BLOCK: Final = 1 << 17  # most that one block inflates to
_ZSTD_SMALLEST_BLOCK: Final = 4  # bytes that can stand for it
_ZSTD_SMALLEST_HEADER: Final = 5


class CompressionType(IntEnum):
    """How a body is compressed (Java: ``CompressionType``)."""

    LZ4 = 1
    ZSTD = 2
    ZLIB = 3

    @property
    def sys_flag(self) -> MessageSysFlag:
        """Bits of ``sysFlag`` that name it; that the body is compressed at all is another bit."""
        return MessageSysFlag(self << _TYPE_SHIFT)


def compression_type(sys_flag: int) -> CompressionType:
    """The type that ``sysFlag`` names; no bits at all mean zlib, from senders older than the bits.

    Raises:
        DecodeError: the bits say 4 to 7, which nobody has given a meaning.
    """
    number = (sys_flag & _TYPE_MASK) >> _TYPE_SHIFT
    if number == 0:
        return CompressionType.ZLIB
    try:
        return CompressionType(number)
    except ValueError as error:
        raise DecodeError(f"unknown compression type {number}", path="sys_flag") from error


def compress_body(body: bytes, kind: CompressionType, *, level: int = DEFAULT_LEVEL) -> bytes:
    """The compressed form of ``body``, which any Java release reads.

    Args:
        body: what to compress.
        kind: how.
        level: 1 (fast) to 9 (small) for zlib, to 22 for ZSTD; LZ4 has none.

    Raises:
        EncodeError: the package for this type is not installed.
    """
    return _COMPRESSORS[kind](body, level)


def decompress_body(data: bytes, kind: CompressionType, *, max_size: int) -> bytes:
    """What ``data`` was before it was compressed.

    Args:
        data: all of the compressed body.
        kind: how it was compressed.
        max_size: most bytes that may come out.

    As in Java, bytes after a zlib stream are ignored, further frames of LZ4 and ZSTD count, and of
    further ZSTD frames the last may be cut short.

    Raises:
        LimitExceededError: more than ``max_size`` bytes would come out, or of more than ``MAX_FRAMES``
            frames.
        MissingPackageError: the package for this type is not installed.
        DecodeError: damaged, or cut short.
    """
    return _DECOMPRESSORS[kind](data, max_size)


# ---------------------------------------------------------------------------- zlib


def _zlib_compress(body: bytes, level: int) -> bytes:
    return deflate(body, level)


def _zlib_decompress(data: bytes, max_size: int) -> bytes:
    return inflate(data, max_size=max_size)


# ---------------------------------------------------------------------------- LZ4 (ships no types)


class _Lz4Decompressor(Protocol):
    eof: bool
    needs_input: bool
    unused_data: bytes | None

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Lz4Frame(Protocol):
    BLOCKSIZE_MAX4MB: int

    def compress(
        self,
        data: bytes,
        *,
        block_size: int,
        block_linked: bool,
        content_checksum: bool,
        store_size: bool,
    ) -> bytes: ...

    def LZ4FrameDecompressor(self) -> _Lz4Decompressor: ...


def _lz4() -> _Lz4Frame:
    import lz4.frame

    return cast("_Lz4Frame", lz4.frame)


def _lz4_compress(body: bytes, _level: int) -> bytes:
    try:
        lz4 = _lz4()
    except ImportError as error:
        raise EncodeError(_MISSING.format("LZ4", "lz4"), path="body") from error
    return lz4.compress(
        body,
        block_size=lz4.BLOCKSIZE_MAX4MB,
        block_linked=False,  # Java reads independent blocks only
        content_checksum=False,
        store_size=False,
    )


def _lz4_decompress(data: bytes, max_size: int) -> bytes:
    try:
        lz4 = _lz4()
    except ImportError as error:
        raise MissingPackageError(_MISSING.format("LZ4", "lz4"), path="body") from error
    output = _Output(max_size)
    rest = memoryview(data)
    try:
        rest = _lz4_frame(lz4.LZ4FrameDecompressor(), rest, output)
        while rest:
            output.next_frame()
            rest = _lz4_frame(lz4.LZ4FrameDecompressor(), rest, output)
    except RuntimeError as error:
        raise DecodeError(f"not LZ4: {error}", path="body") from error
    return output.whole()


def _lz4_frame(frame: _Lz4Decompressor, data: memoryview, output: _Output) -> memoryview:
    """Inflates the first frame of ``data`` into ``output``; returns what follows it."""
    at = 0
    while not frame.eof:
        piece = b""
        if frame.needs_input:
            piece = bytes(data[at : at + _LZ4_INPUT_STEP])
            if not piece:
                raise DecodeError("LZ4 frame is cut short", path="body")
            at += len(piece)
        output.add(frame.decompress(piece, output.room))
    return data[at - len(frame.unused_data or b"") :]


# ---------------------------------------------------------------------------- ZSTD


def _zstd_compress(body: bytes, level: int) -> bytes:
    try:
        from zstandard import ZstdCompressor
    except ImportError as error:
        raise EncodeError(_MISSING.format("ZSTD", "zstandard"), path="body") from error
    return ZstdCompressor(level=level, write_content_size=False).compress(body)


def _zstd_decompress(data: bytes, max_size: int) -> bytes:
    try:
        from zstandard import ZstdDecompressor, ZstdError
    except ImportError as error:
        raise MissingPackageError(_MISSING.format("ZSTD", "zstandard"), path="body") from error
    engine = ZstdDecompressor(max_window_size=ZSTD_MAX_WINDOW)
    output = _Output(max_size)
    try:
        rest = _zstd_frame(engine, memoryview(data), output)
        if rest is None:
            raise DecodeError("ZSTD frame is cut short", path="body")
        while rest is not None and len(rest) >= _ZSTD_SMALLEST_HEADER:
            output.next_frame()
            rest = _zstd_frame(engine, rest, output)
    except ZstdError as error:
        raise DecodeError(f"not ZSTD: {error}", path="body") from error
    return output.whole()


def _zstd_frame(engine: ZstdDecompressor, data: memoryview, output: _Output) -> memoryview | None:
    """Inflates the first frame of ``data`` into ``output``; returns what follows it, None if it has
    no end.

    The package hands out all that a piece of input gives, so the pieces fit the room left.
    """
    frame = engine.decompressobj()
    at = 0
    while not frame.eof:
        if at >= len(data):
            return None
        size = max(64, output.room // _ZSTD_BLOCK * _ZSTD_SMALLEST_BLOCK)
        piece = data[at : at + size]
        output.add(frame.decompress(piece))
        at += len(piece)
    return data[at - len(frame.unused_data) :]


# ---------------------------------------------------------------------------- together


class _Output:
    """Inflated pieces, up to a number of bytes."""

    __slots__ = ("_frames", "_limit", "_pieces", "_size")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._frames = 1
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def room(self) -> int:
        """Bytes to ask for: what is left and one more, which tells too much from just enough."""
        return self._limit - self._size + 1

    def add(self, piece: bytes) -> None:
        """Takes another piece.

        Raises:
            LimitExceededError: that is too much.
        """
        self._size += len(piece)
        if self._size > self._limit:
            raise LimitExceededError(
                f"body inflates to more than {self._limit} bytes",
                declared=self._size,
                limit=self._limit,
                path="body",
            )
        self._pieces.append(piece)

    def next_frame(self) -> None:
        """Counts another frame.

        Raises:
            LimitExceededError: that is one too many.
        """
        self._frames += 1
        if self._frames > MAX_FRAMES:
            raise LimitExceededError(
                f"body of more than {MAX_FRAMES} frames",
                declared=self._frames,
                limit=MAX_FRAMES,
                path="body",
            )

    def whole(self) -> bytes:
        """All pieces in one."""
        return b"".join(self._pieces)


_MISSING: Final = "body is {}, which needs the package {}: pip install rocketwire[compression]"

_COMPRESSORS: Final[dict[CompressionType, Callable[[bytes, int], bytes]]] = {
    CompressionType.LZ4: _lz4_compress,
    CompressionType.ZSTD: _zstd_compress,
    CompressionType.ZLIB: _zlib_compress,
}
_DECOMPRESSORS: Final[dict[CompressionType, Callable[[bytes, int], bytes]]] = {
    CompressionType.LZ4: _lz4_decompress,
    CompressionType.ZSTD: _zstd_decompress,
    CompressionType.ZLIB: _zlib_decompress,
}
