"""Temporary files for what does not fit into memory.

They have no name and go with their connection.  SQLite keeps their beginning in memory.
``TMPDIR`` or ``SQLITE_TMPDIR`` chooses the disk.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

_CACHE: Final = 6 << 10  # KiB of a file that stay in memory, and KiB that are sorted there at once


class TemporaryDatabase:
    """Tables in a temporary file; a full disk is an ``OSError``."""

    def __init__(self, tables: str) -> None:
        with _room():
            self._database = sqlite3.connect("", isolation_level=None)
            self._database.executescript(
                f"PRAGMA journal_mode=OFF; PRAGMA cache_size=-{_CACHE}; BEGIN; {tables}"
            )

    def insert(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with _room():
            self._database.executemany(statement, rows)

    def select(self, statement: str) -> Iterator[tuple[Any, ...]]:
        with _room():
            yield from self._database.execute(statement)


@contextmanager
def _room() -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(f"the report needs room for temporary files: {error}") from error
