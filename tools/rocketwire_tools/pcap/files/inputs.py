"""Opening captures: plain and compressed files and standard input, as streams of bytes.

Rules of this file: whatever is compressed is inflated by a thread that runs ahead a few blocks, so that inflating (which
releases the interpreter) and decoding overlap; a stream ends cleanly where a compressed file was cut off.  The thread inflates
into memory that is made once and goes round between the two: each time that it needs the interpreter, be it to make bytes of
what was inflated, it waits until the decoder lets it go.
"""

from __future__ import annotations

import io
import os
import sys
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final, Protocol, cast

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files import decompress
from rocketwire_tools.pcap.files.buffers import blocks_of

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.decompress import Inflating

__all__ = ["ByteSource", "open_input"]

STDIN: Final = "-"
_MAGIC_SIZE: Final = 4
"""Bytes that say what a file is."""
BLOCK: Final = 1 << 20
"""Bytes that the thread inflates at a time."""
AHEAD: Final = 16
"""Blocks that it runs ahead: as much as the engine takes at once, so that neither waits for the other."""
_PATIENCE: Final = 1.0
"""Seconds in which the thread comes back from a call that inflates; from a pipe that gives nothing it may never come back."""


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
        file: closed by the thread when it ends.
        piece: bytes that are inflated by one call.
        ahead: blocks that the thread runs ahead.
    """

    def __init__(
        self,
        path: str,
        plain: Inflating,
        file: io.RawIOBase,
        piece: int = BLOCK,
        ahead: int = AHEAD,
    ) -> None:
        self._path = path
        self._plain = plain
        self._piece = piece
        self._file = file
        self._closed = False
        self._free: SimpleQueue[memoryview | None] = SimpleQueue()
        for block in blocks_of(BLOCK, ahead):
            self._free.put(block)
        self._full: SimpleQueue[tuple[memoryview, int] | Exception | None] = SimpleQueue()
        self._block: memoryview | None = None
        self._at = self._size = 0
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="inflate", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self._file:
            self._full.put(self._inflate_all())

    def _inflate_all(self) -> Exception | None:
        """Hand over block after block; returns why there are no more, None at the end."""
        end: Exception | None = None
        while (block := self._free.get()) is not None and not self._closed:
            size, end = self._inflate(block)
            if size:
                self._full.put((block, size))
            if size < BLOCK:
                break
        return end

    def _inflate(self, block: memoryview) -> tuple[int, Exception | None]:
        """Fill a block, or as much of it as there is; and why that is not all of it."""
        size, read, piece = 0, self._plain.readinto1, self._piece
        try:
            while size < BLOCK and (count := read(block[size : size + piece])):
                size += count
        except Exception as error:  # noqa: BLE001 - handed to the reading thread, behind what came before it
            return size, error
        return size, None

    def readinto(self, buffer: memoryview, /) -> int:
        """See ``ByteSource``.

        Raises:
            CaptureError: the stream is damaged; cut off it just ends.
        """
        block = self._block or self._next()
        if block is None:
            return 0
        count = min(len(buffer), self._size - self._at)
        buffer[:count] = block[self._at : self._at + count]
        self._at += count
        if self._at == self._size:
            self._block = None
            self._free.put(block)
        return count

    def _next(self) -> memoryview | None:
        """What the thread has inflated next; None at the end."""
        if self._ended:
            return None
        given = self._full.get()
        if isinstance(given, tuple):
            self._at = 0
            self._block, self._size = given
            return self._block
        self._ended = True
        if given is None or isinstance(given, EOFError):
            return None
        raise CaptureError(self._path, None, f"cannot be inflated: {given}") from given

    def close(self) -> None:
        """Stop the thread, which closes the file; one that waits for a pipe does so when something comes, or with the process."""
        self._closed = True
        self._free.put(None)
        self._thread.join(_PATIENCE)


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


def open_input(path: str, *, ahead: int = AHEAD) -> ByteSource:
    """Open a capture, inflating it if its first bytes say that it is compressed.

    Args:
        path: of the file; ``-`` is standard input.
        ahead: blocks that are inflated before they are asked for, at least 2.

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
        while opening in decompress.SKIPPABLE:
            _skip(file, int.from_bytes(_first_bytes(file), "little"))
            opening = _first_bytes(file)
    except OSError as error:
        raise CaptureError(path, None, error.strerror or str(error)) from error
    for kind in decompress.KINDS:
        if opening.startswith(kind.magic):
            try:
                plain = kind.reader(_Rejoined(opening, file))
            except ImportError as error:
                file.close()
                raise CaptureError(path, None, f"needs the package {kind.package}") from error
            return InflatedSource(path, plain, file, kind.piece, ahead)
    return RawSource(file, opening)


def _skip(file: io.RawIOBase, count: int) -> None:
    while count and (skipped := file.read(min(count, BLOCK))):
        count -= len(skipped)


def _first_bytes(file: io.RawIOBase) -> bytes:
    opening = b""
    while len(opening) < _MAGIC_SIZE and (more := file.read(_MAGIC_SIZE - len(opening))):
        opening += more
    return opening
