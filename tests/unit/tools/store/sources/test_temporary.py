"""Temporary files for what does not fit into memory."""

import pytest

from rocketwire_tools.store.sources.temporary import TemporaryDatabase


def test_full_disk_is_an_error_of_the_system() -> None:
    database = TemporaryDatabase("PRAGMA max_page_count=4; CREATE TABLE texts (text TEXT)")

    with pytest.raises(OSError, match="room for temporary files: database or disk is full"):
        database.insert("INSERT INTO texts VALUES (?)", [("x" * 100_000,)])
