"""Bytes of a store's files, read in blocks into memory that is used again."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator

    from rocketwire.store.folder import StoreFile

BLOCK_SIZE: Final = 8 << 20
"""Bytes that are read at once; a message that is longer gets a longer block."""


class FileBlocks:
    """A file that is read block by block.

    A block is valid until the next one is read.  Files are opened for reading only, and read with
    ``pread``: a file that becomes shorter meanwhile gives shorter blocks, and no signal.
    """

    def __init__(self, file: StoreFile, descriptor: int, *, block_size: int = BLOCK_SIZE) -> None:
        self.file = file
        self._descriptor = descriptor
        self._block_size = block_size
        self._memory = bytearray(min(block_size, file.size))

    def read(self, position: int, size: int | None = None) -> memoryview:
        """The bytes from ``position`` on.

        Args:
            position: in the file.
            size: bytes that are wanted; a block by default.

        Raises:
            OSError: the disk cannot read them.
        """
        size = min(self._block_size if size is None else size, self.file.size - position)
        if size <= 0:
            return memoryview(b"")
        if size > len(self._memory):
            self._memory = bytearray(size)
        view = memoryview(self._memory)[:size]
        start, length = self.file.start + position, 0
        while length < size:
            read = os.preadv(self._descriptor, [view[length:]], start + length)
            if read == 0:
                break
            length += read
        return view[:length]

    def next_data(self, position: int) -> int:
        """First position from ``position`` on outside the holes of a sparse file; else the end."""
        try:
            place = os.lseek(self._descriptor, self.file.start + position, os.SEEK_DATA)
        except OSError as error:
            return self.file.size if error.errno == errno.ENXIO else position
        return max(position, min(place - self.file.start, self.file.size))


@contextmanager
def open_blocks(file: StoreFile, *, block_size: int = BLOCK_SIZE) -> Generator[FileBlocks]:
    """Open a file of a store for reading.

    Raises:
        OSError: it cannot be opened.
    """
    # it may have become a pipe since it was listed: to open one must not wait for a writer
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(file.path, flags)
    try:
        yield FileBlocks(file, descriptor, block_size=block_size)
    finally:
        os.close(descriptor)
