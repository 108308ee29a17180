"""The file of lists: it is read again for each request, and a fault leaves the last valid lists."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from rocketwire_namesrv.admin_http.address_list import AddressLists, read_lists
from rocketwire_namesrv.runtime.address_file import AddressFile

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NOTHING: AddressLists = {}


def test_a_change_is_read_and_a_fault_leaves_the_last_lists(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "addresses.properties"
    file = AddressFile(str(path), read_lists, NOTHING)
    assert file.read() == {}
    assert file.read() == {}
    path.write_text("nsaddr=a:1\n")
    assert file.read() == {"nsaddr": "a:1"}
    path.write_text("nsaddr=a:1;b\n")
    assert file.read() == file.read() == {"nsaddr": "a:1"}
    path.write_text("nsaddr=a:1;b:2\n")
    with caplog.at_level(logging.INFO):
        assert file.read() == file.read() == {"nsaddr": "a:1;b:2"}

    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        f"the last valid lists of name servers stay: {path}: no such file or directory",
        f"the last valid lists of name servers stay: {path}: nsaddr: 'b' must be host:port",
        f"the lists of name servers come from {path} now",
    ]


def test_without_a_path_there_is_nothing() -> None:
    assert AddressFile("", read_lists, NOTHING).read() == {}
