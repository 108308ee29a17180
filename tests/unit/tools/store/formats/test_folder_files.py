"""The files of a folder that one process writes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store.formats import folder_files
from rocketwire_tools.store.formats.folder_files import FolderFiles, LinesFile

if TYPE_CHECKING:
    from pathlib import Path


def texts_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_a_file_ends_when_it_is_large_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_files, "FILE_SIZE", 4)
    files = FolderFiles(tmp_path, "jsonl", 3, LinesFile)

    for lines in (b"a\n", b"b\n", b"c\n"):
        files.write(lines)
    files.close()

    assert texts_of(tmp_path) == {
        "part-3-00000.jsonl": b"a\nb\n",
        "part-3-00001.jsonl": b"c\n",
    }


def test_without_rows_there_is_no_file(tmp_path: Path) -> None:
    FolderFiles(tmp_path, "jsonl", 0, LinesFile).close()

    assert texts_of(tmp_path) == {}


def test_a_file_that_was_opened_may_stay_empty(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path, "jsonl", 0, LinesFile)

    files.open()
    files.close()

    assert texts_of(tmp_path) == {"part-0-00000.jsonl": b""}


def test_a_file_that_cannot_be_ended_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError("the disk is full")

    files = FolderFiles(tmp_path, "jsonl", 0, LinesFile)
    files.write(b"a\n")
    monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(OSError, match="the disk is full"):
        files.close()
    files.close()  # nothing is left to end


def test_a_file_that_is_given_up_is_closed(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path, "jsonl", 0, LinesFile)
    file, _ = files.open()

    files.give_up()

    assert file.closed
