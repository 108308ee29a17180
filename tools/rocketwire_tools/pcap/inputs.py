"""Opening captures: plain and compressed files and standard input, as streams of bytes.

Rules of this file: whatever is compressed is inflated by a thread that runs ahead a few blocks, so that inflating (which
releases the interpreter) and decoding overlap; a stream ends cleanly where a compressed file was cut off.
"""

from __future__ import annotations

import importlib
import io
import os
import queue
import sys
import threading
from collections import deque
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final, Protocol, cast

from rocketwire_tools.pcap.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ByteSource", "open_input"]

STDIN: Final = "-"
BLOCK: Final = 1 << 20
"""Bytes that the thread inflates at a time."""
_PIECE: Final = 1 << 17
"""Bytes that are inflated by one call: where a file was cut off, fewer than that are lost."""
_GZIP_PIECE: Final = 1 << 20
_GZIP_READ: Final = 1 << 18
"""The same of gzip, of which a cut loses nothing, and what is read for it: each call has to wait until the decoder lets the
interpreter go, and gzip takes longest."""
AHEAD: Final = 16
"""Blocks that it runs ahead: as much as the engine takes at once, so that neither waits for the other."""
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31  # zlib's number for a gzip header and the largest window
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_SKIPPABLE: Final = tuple(bytes([0x50 + kind]) + b"\x2a\x4d\x18" for kind in range(16))
"""What a frame begins with that holds no data, of ZSTD (RFC 8878, 3.1.2) and LZ4 alike; pzstd puts one in front."""
_LZ4: Final = b"\x04\x22\x4d\x18"


class ByteSource(Protocol):
    """Where a capture's bytes come from."""

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the buffer from its front; returns how many bytes came, 0 at the end."""
        ...

    def close(self) -> None:
        """Give everything back."""


Block = deque[bytes | memoryview]
"""Pieces of a stream, one behind the other, none of which is empty; they are not copied into one."""


class Inflating(Protocol):
    """A compressed stream, read as what it was before."""

    def read1(self, size: int, /) -> bytes:
        """At most so many bytes, some at least but at the end; raises EOFError where the stream was cut off."""
        ...


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
        piece: bytes that are inflated by one call.
    """

    def __init__(
        self, path: str, plain: Inflating, file: io.RawIOBase, piece: int = _PIECE
    ) -> None:
        self._path = path
        self._plain = plain
        self._piece = piece
        self._file = file
        self._blocks: queue.Queue[Block | Exception] = queue.Queue(AHEAD)
        self._pieces: Block = deque()
        self._ended = False
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="inflate", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for block in self._inflate():
                if not self._put(block):
                    return
            self._put(deque())
        except Exception as error:  # noqa: BLE001 - handed to the reading thread
            self._put(error)

    def _inflate(self) -> Iterator[Block]:
        while True:
            block: Block = deque()
            size = 0
            try:
                while size < BLOCK and (piece := self._plain.read1(self._piece)):
                    block.append(piece)
                    size += len(piece)
            except Exception:
                if block:  # an empty one says that this is the end
                    yield block  # what came before the place that cannot be inflated
                raise
            if not block:
                return
            yield block

    def _put(self, block: Block | Exception) -> bool:
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
        if not self._pieces and not self._ended:
            self._pieces = self._next()
        count = 0
        while self._pieces and count < len(buffer):
            piece = memoryview(self._pieces.popleft())
            some = piece[: len(buffer) - count]
            buffer[count : count + len(some)] = some
            count += len(some)
            if len(some) < len(piece):
                self._pieces.appendleft(piece[len(some) :])
        return count

    def _next(self) -> Block:
        """What the thread has inflated next; nothing at the end."""
        block = self._blocks.get()
        if isinstance(block, Exception):
            self._ended = True
            if isinstance(block, EOFError):
                return deque()
            raise CaptureError(self._path, None, f"cannot be inflated: {block}") from block
        self._ended = not block
        return block

    def close(self) -> None:
        """Stop the thread and close the file."""
        self._closed.set()
        self._thread.join()
        self._file.close()


class _Members:
    """The members of a gzip file, one behind the other: what is inflated is given before anything behind it is looked at."""

    def __init__(self, file: io.RawIOBase, inflater: Callable[[], Any]) -> None:
        self._file = file
        self._inflater = inflater
        self._member: Any = None
        self._packed = b""

    def read1(self, size: int, /) -> bytes:
        """See ``Inflating``."""
        while self._packed or self._more():
            if self._member is None:
                self._packed = self._packed.lstrip(b"\0")  # zeros may fill the last block of a tape
                if not self._packed:
                    continue
                self._member = self._inflater()
            plain: bytes = self._member.decompress(self._packed, size)
            self._packed = self._member.unconsumed_tail
            if self._member.eof:
                self._packed = self._member.unused_data
                self._member = None
            if plain:
                return plain
        if self._member is not None:
            raise EOFError
        return b""

    def _more(self) -> bool:
        self._packed = self._file.read(_GZIP_READ) or b""
        return bool(self._packed)


def _gzip(file: io.RawIOBase) -> Inflating:
    try:
        zlib: Any = importlib.import_module("isal.isal_zlib")
    except ImportError:
        zlib = importlib.import_module("zlib")
    return _Members(file, partial(zlib.decompressobj, wbits=_GZIP_WINDOW))


def _zstd(file: io.RawIOBase) -> Inflating:
    import zstandard

    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
        cast("IO[bytes]", file), read_across_frames=True
    )
    return cast("Inflating", reader)


def _lz4(file: io.RawIOBase) -> Inflating:
    import lz4.frame

    return cast("Inflating", lz4.frame.LZ4FrameFile(file))


_KINDS: Final = (
    (_GZIP, _gzip, "isal", _GZIP_PIECE),
    (_ZSTD, _zstd, "zstandard", _PIECE),
    (_LZ4, _lz4, "lz4", _PIECE),
)


COMPRESSED: Final = (*(magic for magic, *_ in _KINDS), *_SKIPPABLE)
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
        while opening in _SKIPPABLE:
            _skip(file, int.from_bytes(_first_bytes(file), "little"))
            opening = _first_bytes(file)
    except OSError as error:
        raise CaptureError(path, None, error.strerror or str(error)) from error
    for magic, inflating, package, piece in _KINDS:
        if opening.startswith(magic):
            try:
                return InflatedSource(path, inflating(_Rejoined(opening, file)), file, piece)
            except ImportError as error:
                file.close()
                raise CaptureError(path, None, f"needs the package {package}") from error
    return RawSource(file, opening)


def _skip(file: io.RawIOBase, count: int) -> None:
    while count and (skipped := file.read(min(count, BLOCK))):
        count -= len(skipped)


def _first_bytes(file: io.RawIOBase) -> bytes:
    opening = b""
    while len(opening) < len(_ZSTD) and (more := file.read(len(_ZSTD) - len(opening))):
        opening += more
    return opening
