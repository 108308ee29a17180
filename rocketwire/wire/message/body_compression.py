"""Compression of message bodies by zlib, and by LZ4 and ZSTD if their packages are installed.

Only this module imports ``lz4`` and ``zstandard`` (the extra ``compression``), at their first use.
Decompression stops at the caller's limit and allocates at most a few MiB more.  Three bits of
``sysFlag`` are the type.  Java: ``CompressionType``, ``Lz4Compressor``, ``ZstdCompressor``,
``ZlibCompressor``.
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

DEFAULT_LEVEL: Final = 5  # compression level of Java's clients; LZ4 has none
# Largest window of a ZSTD frame in bytes: that of levels 20 to 22, and the limit of Java's reader.
# The output bounds the used part of the window, and so the memory.
ZSTD_MAX_WINDOW: Final = 1 << 27
# Maximum frames of an LZ4 or ZSTD body, including empty ones; producers write one
MAX_FRAMES: Final = 1_024

_TYPE_MASK: Final = int(MessageSysFlag.COMPRESSION_TYPE_MASK)
_TYPE_SHIFT: Final = 8
_LZ4_INPUT_STEP: Final = 1 << 16  # bytes of input at a time; lz4 copies the bytes after a frame
_ZSTD_BLOCK: Final = 1 << 17  # most bytes that a block decompresses to
_ZSTD_MIN_BLOCK: Final = 4  # least bytes of such a block
_ZSTD_MIN_HEADER: Final = 5


class CompressionType(IntEnum):
    """Compression of a body (Java: ``CompressionType``)."""

    LZ4 = 1
    ZSTD = 2
    ZLIB = 3

    @property
    def sys_flag(self) -> MessageSysFlag:
        """Bits of ``sysFlag`` for the type, without the compressed bit."""
        return MessageSysFlag(self << _TYPE_SHIFT)


def compression_type(sys_flag: int) -> CompressionType:
    """Return the type in ``sysFlag``; no bits mean zlib, from older releases.

    Raises:
        DecodeError: the bits are 4 to 7, which are unassigned.
    """
    number = (sys_flag & _TYPE_MASK) >> _TYPE_SHIFT
    if number == 0:
        return CompressionType.ZLIB
    try:
        return CompressionType(number)
    except ValueError as error:
        raise DecodeError(f"unknown compression type {number}", path="sys_flag") from error


def compress_body(
    body: bytes, compression: CompressionType, *, level: int = DEFAULT_LEVEL
) -> bytes:
    """Compress a body, readable for any Java release.

    Args:
        body: the body.
        compression: the type.
        level: 1 (fast) to 9 (small) for zlib, to 22 for ZSTD; ignored for LZ4.

    Raises:
        EncodeError: the package for this type is not installed.
    """
    return _COMPRESSORS[compression](body, level)


def decompress_body(data: bytes, compression: CompressionType, *, max_size: int) -> bytes:
    """Decompress a body.

    As in Java, bytes after a zlib stream are ignored, several frames of LZ4 and ZSTD are joined,
    and the last of several ZSTD frames can be truncated.

    Args:
        data: the whole compressed body.
        compression: the type.
        max_size: most bytes of output.

    Raises:
        LimitExceededError: more than ``max_size`` bytes of output, or than ``MAX_FRAMES`` frames.
        MissingPackageError: the package for this type is not installed.
        DecodeError: invalid or truncated data.
    """
    return _DECOMPRESSORS[compression](data, max_size)


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
    view = memoryview(data)
    try:
        view = _lz4_frame(lz4.LZ4FrameDecompressor(), view, output)
        while view:
            output.next_frame()
            view = _lz4_frame(lz4.LZ4FrameDecompressor(), view, output)
    except RuntimeError as error:
        raise DecodeError(f"not LZ4: {error}", path="body") from error
    return output.join()


def _lz4_frame(frame: _Lz4Decompressor, data: memoryview, output: _Output) -> memoryview:
    position = 0
    while not frame.eof:
        chunk = b""
        if frame.needs_input:
            chunk = bytes(data[position : position + _LZ4_INPUT_STEP])
            if not chunk:
                raise DecodeError("the LZ4 frame is truncated", path="body")
            position += len(chunk)
        output.add(frame.decompress(chunk, output.room))
    return data[position - len(frame.unused_data or b"") :]


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
        view = _zstd_frame(engine, memoryview(data), output)
        if view is None:
            raise DecodeError("the ZSTD frame is truncated", path="body")
        while view is not None and len(view) >= _ZSTD_MIN_HEADER:
            output.next_frame()
            view = _zstd_frame(engine, view, output)
    except ZstdError as error:
        raise DecodeError(f"not ZSTD: {error}", path="body") from error
    return output.join()


def _zstd_frame(engine: ZstdDecompressor, data: memoryview, output: _Output) -> memoryview | None:
    # The package returns the whole output of its input, so the input is limited by the room left.
    # None: the frame is truncated.
    frame = engine.decompressobj()
    position = 0
    while not frame.eof:
        if position >= len(data):
            return None
        size = max(64, output.room // _ZSTD_BLOCK * _ZSTD_MIN_BLOCK)
        chunk = data[position : position + size]
        output.add(frame.decompress(chunk))
        position += len(chunk)
    return data[position - len(frame.unused_data) :]


# ---------------------------------------------------------------------------- output


class _Output:
    __slots__ = ("_chunks", "_frames", "_limit", "_size")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._frames = 1
        self._chunks: list[bytes] = []
        self._size = 0

    @property
    def room(self) -> int:
        # One more than the limit allows, to detect that it is exceeded.
        return self._limit - self._size + 1

    def add(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size > self._limit:
            raise LimitExceededError(
                f"body inflates to more than {self._limit} bytes",
                declared=self._size,
                limit=self._limit,
                path="body",
            )
        self._chunks.append(chunk)

    def next_frame(self) -> None:
        self._frames += 1
        if self._frames > MAX_FRAMES:
            raise LimitExceededError(
                f"body of more than {MAX_FRAMES} frames",
                declared=self._frames,
                limit=MAX_FRAMES,
                path="body",
            )

    def join(self) -> bytes:
        return b"".join(self._chunks)


_MISSING: Final = "body is {}, which needs the package {}: pip install 'rocketwire[compression]'"

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
