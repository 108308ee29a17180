"""The files of the commit log."""

from pathlib import Path

import pytest

from rocketwire.durable_file import make_folder
from rocketwire_broker.files.disk import Disk
from rocketwire_broker.files.log_files import LogFiles, name_of
from rocketwire_broker.storage.store import UnwritableError
from tests.support.virtual_disk import VirtualDisk


def test_messages_follow_each_other(tmp_path: Path) -> None:
    log = LogFiles(Disk(tmp_path), 100, [])

    log.append(0, b"abc")
    log.append(3, b"de")
    log.sync(log.descriptors())

    assert (log.first, log.end, log.starts()) == (0, 5, [0])
    assert (tmp_path / name_of(0)).read_bytes() == b"abcde".ljust(100, b"\0")
    assert (log.read(1, 3), log.read(99, 5), log.read(100, 5)) == (b"bcd", b"\0", b"")


def test_the_rest_of_a_file_is_blank_when_the_next_one_begins(tmp_path: Path) -> None:
    log = LogFiles(Disk(tmp_path), 100, [])
    log.append(0, b"abc")

    log.append(100, b"d")

    blank = bytes.fromhex("00000061 cbd43194")
    assert (tmp_path / name_of(0)).read_bytes() == (b"abc" + blank).ljust(100, b"\0")
    assert (log.end, log.starts()) == (101, [0, 100])
    log.remove_first()
    assert log.first == 100
    assert [path.name for path in (tmp_path / "commitlog").iterdir()] == ["00000000000000000100"]


def test_log_on_a_full_disk_is_unchanged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = LogFiles(Disk(tmp_path), 100, [])
    log.append(0, b"abc")
    with VirtualDisk(tmp_path) as disk:
        disk.is_full = True
        for physical in (3, 100):
            with pytest.raises(UnwritableError, match=r"No space left on device \(errno 28\)"):
                log.append(physical, b"x")

    log.append(3, b"d")

    assert (log.read(0, 5), log.end) == (b"abcd\0", 4)
    assert [record.message for record in caplog.records] == [
        "the commit log cannot be written: No space left on device (errno 28)",
        "the commit log can be written again",
    ]


def test_a_sync_covers_all_files_since_the_last_one(tmp_path: Path) -> None:
    with VirtualDisk(tmp_path) as disk:
        make_folder(tmp_path / "commitlog")
        log = LogFiles(Disk(tmp_path), 100, [])
        for physical in (0, 100, 200, 300):
            log.append(physical, b"x")
        log.sync(log.descriptors())
        log.append(301, b"lost")
        disk.crash()

    contents = [(tmp_path / name_of(start)).read_bytes() for start in (0, 100, 200, 300)]
    assert [content[:1] for content in contents] == [b"x"] * 4
    assert contents[3] == b"x".ljust(100, b"\0")
