"""Files are whole, and on the disk, however the machine fails."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from rocketwire.durable_file import make_folder, open_replacement, rename_new, replace_file
from tests.support.virtual_disk import VirtualDisk, run_until_crashes

TEXTS = [bytes([65 + number]) * 9_000 for number in range(3)]


def replace_all(root: Path, progress: list[bytes]) -> None:
    make_folder(root / "a/b")
    for text in TEXTS:
        replace_file(root / "a/b/file", text, keeps_backup=True)
        progress.append(text)


def test_a_replaced_file_survives_a_crash_at_each_call(tmp_path: Path) -> None:
    for root, progress in run_until_crashes(tmp_path, replace_all, seeds=(None, 1, 2, 3)):
        path = root / "a/b/file"
        expected = [None, *TEXTS][len(progress) : len(progress) + 2]
        assert (path.read_bytes() if path.exists() else None) in expected


def test_the_backup_has_the_file_before(tmp_path: Path) -> None:
    replace_all(tmp_path, [])
    assert (tmp_path / "a/b/file.bak").read_bytes() == TEXTS[1]
    assert sorted(os.listdir(tmp_path / "a/b")) == ["file", "file.bak"]


def test_a_replacement_that_is_written_in_parts_is_whole(tmp_path: Path) -> None:
    with VirtualDisk(tmp_path) as disk:
        disk.is_short = True
        replace_file(tmp_path / "file", TEXTS[0])
    assert (tmp_path / "file").read_bytes() == TEXTS[0]


@pytest.mark.parametrize("fault", ["is_full", "failing_syncs"])
def test_a_replacement_that_fails_leaves_the_file_as_it_was(tmp_path: Path, fault: str) -> None:
    (tmp_path / "file").write_bytes(b"old")
    with VirtualDisk(tmp_path) as disk:
        setattr(disk, fault, 1)
        with pytest.raises(OSError, match=r"No space left|Input/output"):
            replace_file(tmp_path / "file", TEXTS[0], keeps_backup=True)

    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_an_error_of_the_block_replaces_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no"), open_replacement(tmp_path / "file", 0o600):
        raise ValueError("no")
    assert os.listdir(tmp_path) == []


def test_a_new_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    make_folder(tmp_path / "a/b")
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("a", "a/b")} == {0o700}


# ---------------------------------------------------------------------------- new names


def test_a_new_name_survives_a_crash(tmp_path: Path) -> None:
    def rename(root: Path, progress: list[bool]) -> None:
        replace_file(root / "x.partial", TEXTS[0])
        rename_new(root / "x.partial", root / "x")
        progress.append(True)

    for root, progress in run_until_crashes(tmp_path, rename):
        assert not progress or (root / "x").read_bytes() == TEXTS[0]


def test_a_name_in_use_is_not_taken(tmp_path: Path) -> None:
    for name in ("x", "x.partial"):
        (tmp_path / name).write_text(name)
    with pytest.raises(FileExistsError) as refused:
        rename_new(tmp_path / "x.partial", tmp_path / "x")
    assert refused.value.filename == str(tmp_path / "x")
    assert (tmp_path / "x").read_text() == "x"


def test_a_folder_takes_the_place_of_an_empty_one_alone(tmp_path: Path) -> None:
    for name in ("x", "y", "x.partial"):
        (tmp_path / name).mkdir()
    (tmp_path / "y" / "z").touch()

    with pytest.raises(FileExistsError):
        rename_new(tmp_path / "x.partial", tmp_path / "y")
    rename_new(tmp_path / "x.partial", tmp_path / "x")

    assert sorted(os.listdir(tmp_path)) == ["x", "y"]


def test_a_disk_needs_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "x.partial").write_text("text")

    rename_new(tmp_path / "x.partial", tmp_path / "x")

    assert os.listdir(tmp_path) == ["x"]
