"""Opening captures: plain and compressed files and standard input, as streams of bytes.

Rules of this file: whatever is compressed is inflated by a thread that runs ahead a few blocks, so that inflating (which
releases the interpreter) and decoding overlap; a stream ends cleanly where a compressed file was cut off.
"""

from __future__ import annotations

import io
import os
import queue
import sys
import threading
from typing import IO, TYPE_CHECKING, Any, Final, Protocol, cast

from rocketwire_tools.pcap.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ByteSource", "open_input"]

STDIN: Final = "-"
BLOCK: Final = 1 << 20
"""Bytes that the thread inflates at a time."""
_PIECE: Final = 1 << 17
"""Bytes that are inflated by one call: where a file was cut off, fewer than that are lost."""
AHEAD: Final = 16
"""Blocks that it runs ahead: as much as the engine takes at once, so that neither waits for the other."""
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_SKIPPABLE: Final = tuple(bytes([0x50 + kind]) + b"\x2a\x4d\x18" for kind in range(16))
"""What a frame begins with that holds no data (RFC 8878, 3.1.2); pzstd puts one in front."""
_LZ4: Final = b"\x04\x22\x4d\x18"


class ByteSource(Protocol):
    """Where a capture's bytes come from."""

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the buffer from its front; returns how many bytes came, 0 at the end."""
        ...

    def close(self) -> None:
        """Give everything back."""


class RawSource:
    """A plain file or a pipe.

    Args:
        file: unbuffered, open for reading.
        opening: bytes of it that have been read already.
    """

    def __init__(self, file: io.RawIOBase, opening: bytes = b"") -> None:
        self._file = file
        self._opening = opening

    def readinto(self, buffer: memoryview, /) -> int:
        """See ``ByteSource``; a pipe gives what it has."""
        if self._opening:
            count = min(len(buffer), len(self._opening))
            buffer[:count] = self._opening[:count]
            self._opening = self._opening[count:]
            return count
        return self._file.readinto(buffer) or 0

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class InflatedSource:
    """A compressed stream, inflated by a thread that runs ahead.

    Args:
        path: for messages.
        plain: the inflating reader.
        file: closed with it.
    """

    def __init__(self, path: str, plain: io.BufferedIOBase, file: io.RawIOBase) -> None:
        self._path = path
        self._plain = plain
        self._file = file
        self._blocks: queue.Queue[bytes | bytearray | Exception] = queue.Queue(AHEAD)
        self._rest = memoryview(b"")
        self._ended = False
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="inflate", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for block in self._inflate():
                if not self._put(block):
                    return
            self._put(b"")
        except Exception as error:  # noqa: BLE001 - handed to the reading thread
            self._put(error)

    def _inflate(self) -> Iterator[bytearray]:
        while True:
            block = bytearray()
            try:
                while len(block) < BLOCK and (piece := self._plain.read1(_PIECE)):
                    block += piece
            except Exception:
                yield block  # what came before the place that cannot be inflated
                raise
            if not block:
                return
            yield block

    def _put(self, block: bytes | bytearray | Exception) -> bool:
        while not self._closed.is_set():
            try:
                self._blocks.put(block, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def readinto(self, buffer: memoryview, /) -> int:
        """See ``ByteSource``.

        Raises:
            CaptureError: the stream is damaged; cut off it just ends.
        """
        if not self._rest and not self._ended:
            block = self._blocks.get()
            if isinstance(block, Exception):
                self._ended = True
                if not isinstance(block, EOFError):
                    raise CaptureError(self._path, None, f"cannot be inflated: {block}") from block
                block = b""
            self._ended = self._ended or not block
            self._rest = memoryview(block)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self) -> None:
        """Stop the thread and close the file."""
        self._closed.set()
        self._thread.join()
        self._file.close()


def _gzip(file: io.RawIOBase) -> io.BufferedIOBase:
    try:
        from isal import igzip
    except ImportError:
        import gzip

        return gzip.GzipFile(fileobj=io.BufferedReader(file))
    opener: Any = igzip.IGzipFile
    return cast("io.BufferedIOBase", opener(fileobj=file))


def _zstd(file: io.RawIOBase) -> io.BufferedIOBase:
    import zstandard

    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
        cast("IO[bytes]", file), read_across_frames=True
    )
    return cast("io.BufferedIOBase", reader)


def _lz4(file: io.RawIOBase) -> io.BufferedIOBase:
    import lz4.frame

    return cast("io.BufferedIOBase", lz4.frame.LZ4FrameFile(file))


_KINDS: Final = (
    (_GZIP, _gzip, "isal"),
    (_ZSTD, _zstd, "zstandard"),
    *((each, _zstd, "zstandard") for each in _SKIPPABLE),
    (_LZ4, _lz4, "lz4"),
)


COMPRESSED: Final = tuple(magic for magic, _, _ in _KINDS)
"""What compressed captures begin with."""


class _Rejoined(io.RawIOBase):
    """A pipe whose first bytes have been read already."""

    def __init__(self, opening: bytes, file: io.RawIOBase) -> None:
        self._source = RawSource(file, opening)
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        return self._source.readinto(memoryview(buffer))

    def close(self) -> None:
        self._file.close()
        super().close()


def open_input(path: str) -> ByteSource:
    """Open a capture, inflating it if its first bytes say that it is compressed.

    Args:
        path: of the file; ``-`` is standard input.

    Raises:
        CaptureError: it cannot be opened, or a package that inflates it is missing.
    """
    try:
        file = (
            cast("io.RawIOBase", io.FileIO(os.dup(sys.stdin.fileno())))
            if path == STDIN
            else io.FileIO(path)
        )
        opening = _first_bytes(file)
    except OSError as error:
        raise CaptureError(path, None, error.strerror or str(error)) from error
    for magic, inflating, package in _KINDS:
        if opening.startswith(magic):
            try:
                return InflatedSource(path, inflating(_Rejoined(opening, file)), file)
            except ImportError as error:
                file.close()
                raise CaptureError(path, None, f"needs the package {package}") from error
    return RawSource(file, opening)


def _first_bytes(file: io.RawIOBase) -> bytes:
    opening = b""
    while len(opening) < len(_ZSTD) and (more := file.read(len(_ZSTD) - len(opening))):
        opening += more
    return opening
