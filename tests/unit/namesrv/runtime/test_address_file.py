"""The file of lists: it is read again for each request, and a fault leaves the last valid lists."""

import logging
from pathlib import Path

import pytest

from rocketwire_namesrv.admin_http.address_list import AddressLists, read_lists
from rocketwire_namesrv.runtime.address_file import AddressFile

NOTHING: AddressLists = {}


def test_fault_leaves_the_last_lists(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "addresses.properties"
    file = AddressFile(str(path), read_lists, NOTHING)
    with caplog.at_level(logging.INFO, "rocketwire.namesrv"):
        assert file.read() == {}
        assert file.read() == {}
        path.write_text("nsaddr=a:1\n")
        assert file.read() == {"nsaddr": "a:1"}
        path.write_text("nsaddr=a:1;b\n")
        assert file.read() == file.read() == {"nsaddr": "a:1"}
        path.write_text("nsaddr=a:1;b:2\n")
        assert file.read() == file.read() == {"nsaddr": "a:1;b:2"}

    stay, now = "the last valid lists of name servers stay:", "the lists of name servers come from"
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        f"{stay} {path}: no such file or directory",
        f"{now} {path} now",
        f"{stay} {path}: nsaddr: 'b' must be host:port",
        f"{now} {path} now",
    ]


def test_without_a_path_there_is_nothing() -> None:
    assert AddressFile("", read_lists, NOTHING).read() == {}
