"""Files of one folder, each written by one process.

One large file of Parquet takes memory for each of its row groups, and only one process at a time
can write it.  Programs such as Spark read the files of a folder as one table.
"""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILE_SIZE: Final = 1 << 30
"""Bytes of rows after which a file ends."""


class RowsFile(Protocol):
    """A file to which rows are written."""

    def write(self, rows: Any, /) -> object:
        """Write rows: lines, or a record batch."""

    def close(self) -> None:
        """Write the end of the file."""

    def give_up(self) -> None:
        """Write nothing more."""


class LinesFile:
    """A file of JSON lines."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, lines: bytes) -> None:
        """Write lines."""
        self._file.write(lines)

    def close(self) -> None:
        """Nothing is left to write."""

    def give_up(self) -> None:
        """Nothing is left to write."""


class FolderFiles:
    """The files that one process writes, one after the other.

    Their names are ``part-<process>-<number>.<suffix>``.

    Args:
        folder: gets the files.
        suffix: of their names.
        process: number of the process.
        open_rows: begins a file.
    """

    is_shared: ClassVar[bool] = False

    def __init__(
        self, folder: Path, suffix: str, process: int, open_rows: Callable[[IO[bytes]], RowsFile]
    ) -> None:
        self._folder = folder
        self._suffix = suffix
        self._process = process
        self._open_rows = open_rows
        self._number = 0
        self._opened: tuple[IO[bytes], RowsFile] | None = None
        self._size = 0

    def write(self, rows: Any) -> None:
        """Write rows to the last file, or to a new one."""
        _, output = self._opened or self.open()
        output.write(rows)
        self._size += len(rows) if isinstance(rows, bytes) else rows.nbytes
        if self._size >= FILE_SIZE:
            self.close()

    def open(self) -> tuple[IO[bytes], RowsFile]:
        """Begin a file."""
        name = f"part-{self._process}-{self._number:05}.{self._suffix}"
        file = (self._folder / name).open("xb")
        self._opened = file, self._open_rows(file)
        self._number += 1
        return self._opened

    def close(self) -> None:
        """End the file that was begun, if there is one."""
        if self._opened is None:
            return
        file, output = self._opened
        self._opened, self._size = None, 0
        with file:
            try:
                output.close()
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                output.give_up()
                raise

    def give_up(self) -> None:
        """Write nothing more to the file that was begun."""
        if self._opened is not None:
            file, output = self._opened
            output.give_up()
            file.close()
