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
    """A file of which each block is valid until the next one is read.

    ``pread`` gives shorter blocks, and no signal, if the file becomes shorter meanwhile.
    """

    def __init__(self, file: StoreFile, descriptor: int, *, block_size: int = BLOCK_SIZE) -> None:
        self.file = file
        self._descriptor = descriptor
        self._block_size = block_size
        size = min(block_size, file.size)
        self._memory = bytearray(size)

    def read(self, position: int, size: int | None = None) -> memoryview:
        size = min(self._block_size if size is None else size, self.file.size - position)
        if size <= 0:
            return memoryview(b"")
        if size > len(self._memory):
            self._memory = bytearray(size)
        view = memoryview(self._memory)[:size]
        length = 0
        while length < size:
            try:
                read = os.preadv(self._descriptor, [view[length:]], position + length)
            except OSError as error:
                error.filename = str(self.file.path)  # a descriptor has no name
                raise
            if not read:
                break
            length += read
        return view[:length]

    def next_data(self, position: int) -> int:
        """First position from ``position`` on outside the holes of a sparse file; else the end."""
        try:
            start = os.lseek(self._descriptor, position, os.SEEK_DATA)
        except OSError as error:
            return self.file.size if error.errno == errno.ENXIO else position
        return max(position, min(start, self.file.size))


def open_file(file: StoreFile) -> int:
    # a Path for each of 100,000 queues takes time and memory
    path = f"{file.root}/{file.name}"
    # it may have become a pipe since it was listed: to open one must not wait for a writer
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)


def read_bytes(file: StoreFile, position: int, size: int) -> bytes:
    descriptor = open_file(file)
    try:
        size = max(0, min(size, file.size - position))
        return os.pread(descriptor, size, position)
    except OSError as error:
        error.filename = str(file.path)
        raise
    finally:
        os.close(descriptor)


@contextmanager
def open_blocks(file: StoreFile, *, block_size: int = BLOCK_SIZE) -> Generator[FileBlocks]:
    descriptor = open_file(file)
    try:
        yield FileBlocks(file, descriptor, block_size=block_size)
    finally:
        os.close(descriptor)
