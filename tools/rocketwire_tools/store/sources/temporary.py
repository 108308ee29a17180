"""Temporary files for what does not fit into memory.

They have no name and go with their connection.  SQLite keeps their beginning in memory.
``TMPDIR`` or ``SQLITE_TMPDIR`` chooses the disk.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator

_CACHE: Final = 6 << 10
"""KiB of a file that stay in memory, and KiB that are sorted there at once."""


def temporary_database(tables: str) -> sqlite3.Connection:
    """Create a database in a temporary file, with some tables."""
    with temporary_room():
        database = sqlite3.connect("", isolation_level=None)
        database.executescript(
            f"PRAGMA journal_mode=OFF; PRAGMA cache_size=-{_CACHE}; BEGIN; {tables}"
        )
    return database


@contextmanager
def temporary_room() -> Generator[None]:
    """Turn an error of SQLite into an ``OSError``: the disk of temporary files is full."""
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(f"the report needs room for temporary files: {error}") from error
