"""Opens captures as byte streams: plain files, compressed files and standard input.

A thread inflates compressed captures some blocks ahead, so that inflating (which releases the
interpreter) and decoding overlap. A stream ends cleanly where a compressed file was cut off. Blocks
are allocated once and go back and forth between thread and decoder: if the thread created objects,
it would wait for the interpreter each time.
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

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.decompress import InflatingReader

__all__ = ["ByteSource", "open_input"]

STDIN: Final = "-"
_MAGIC_SIZE: Final = 4  # Bytes that identify a compression format
BLOCK: Final = 1 << 20  # Bytes that the thread inflates into one block
AHEAD: Final = 16
"""Blocks that the thread inflates ahead: as many bytes as a chunk has, so that neither side
waits."""
_JOIN_SECONDS: Final = 1.0
"""Seconds to wait for the thread to end. A thread that reads from a silent pipe may never end."""


class ByteSource(Protocol):
    """A stream of a capture's bytes."""

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the front of the buffer; returns the number of bytes, 0 at the end."""
        ...

    def close(self) -> None:
        """Release all resources."""


class RawSource:
    def __init__(self, file: io.RawIOBase, opening: bytes = b"") -> None:
        self._file = file
        self._opening = opening

    def readinto(self, buffer: memoryview, /) -> int:
        """See ``ByteSource``; a pipe may return fewer bytes."""
        if self._opening:
            count = min(len(buffer), len(self._opening))
            buffer[:count] = self._opening[:count]
            self._opening = self._opening[count:]
            return count
        return self._file.readinto(buffer) or 0

    def close(self) -> None:
        self._file.close()


class InflatedSource:
    def __init__(
        self,
        path: str,  # for error messages
        reader: InflatingReader,  # inflates the stream
        file: io.RawIOBase,  # closed by the thread when it ends
        piece: int = BLOCK,  # bytes that one call inflates
        ahead: int = AHEAD,  # blocks that the thread inflates ahead
    ) -> None:
        self._path = path
        self._plain = reader
        self._piece = piece
        self._file = file
        self._closed = False
        self._free: SimpleQueue[memoryview | None] = SimpleQueue()
        for _ in range(ahead):
            self._free.put(memoryview(bytearray(BLOCK)))
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
        # Pass block after block to the decoder; returns the error that ended the stream, None at
        # its end
        end: Exception | None = None
        while (block := self._free.get()) is not None and not self._closed:
            size, end = self._inflate(block)
            if size:
                self._full.put((block, size))
            if size < BLOCK:
                break
        return end

    def _inflate(self, block: memoryview) -> tuple[int, Exception | None]:
        size, read, piece = 0, self._plain.readinto1, self._piece
        try:
            while size < BLOCK and (count := read(block[size : size + piece])):
                size += count
        except Exception as error:  # noqa: BLE001 - the decoder raises it after the bytes before it
            return size, error
        return size, None

    def readinto(self, buffer: memoryview, /) -> int:
        """See ``ByteSource``."""
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
        if self._ended:
            return None
        result = self._full.get()
        if isinstance(result, tuple):
            self._at = 0
            self._block, self._size = result
            return self._block
        self._ended = True
        if result is None or isinstance(result, EOFError):
            return None
        raise CaptureError(self._path, None, f"cannot be inflated: {result}") from result

    def close(self) -> None:
        """Stop the thread, which closes the file. A thread that waits for a pipe ends with the
        next bytes or with the process."""
        self._closed = True
        self._free.put(None)
        self._thread.join(_JOIN_SECONDS)


class _PrefixedFile(io.RawIOBase):
    def __init__(self, opening: bytes, file: io.RawIOBase) -> None:
        self._source = RawSource(file, opening)
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # two buffers of many
        return self._source.readinto(memoryview(buffer))

    def close(self) -> None:
        self._file.close()
        super().close()


def open_input(path: str, *, ahead: int = AHEAD) -> ByteSource:
    """Open a capture (``-`` is standard input); inflate it if its first bytes are those of a
    compressed file, ``ahead`` blocks before they are needed, at least 2."""
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
    for compression in decompress.COMPRESSIONS:
        if opening.startswith(compression.magic):
            try:
                reader = compression.reader(_PrefixedFile(opening, file))
            except ImportError as error:
                file.close()
                raise CaptureError(
                    path, None, f"needs the package {compression.package}"
                ) from error
            return InflatedSource(path, reader, file, compression.piece, ahead)
    return RawSource(file, opening)


def _skip(file: io.RawIOBase, count: int) -> None:
    while count and (skipped := file.read(min(count, BLOCK))):
        count -= len(skipped)


def _first_bytes(file: io.RawIOBase) -> bytes:
    opening = b""
    while len(opening) < _MAGIC_SIZE and (data := file.read(_MAGIC_SIZE - len(opening))):
        opening += data
    return opening
