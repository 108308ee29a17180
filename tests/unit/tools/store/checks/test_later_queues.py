"""A queue that is only in RocksDB has lost its files, if others have files that are newer."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.java.peers import MIDDLE
from tests.support.stores.checked import checked, damage_of
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store whose broker wrote each queue to files and to RocksDB."""
    return unpack(MIDDLE, "rocksboth", tmp_path).root


def test_a_queue_that_has_lost_its_files_has_no_units(root: Path) -> None:
    folder = root / "consumequeue" / "bills" / "0"
    messages = 12

    shutil.rmtree(folder)

    assert damage_of(checked(root)) == {"no queue unit": messages}


def test_a_folder_in_place_of_a_file_of_a_queue_is_damage(root: Path) -> None:
    (file,) = (root / "consumequeue" / "bills" / "0").iterdir()
    file.unlink()

    file.mkdir()

    assert damage_of(checked(root))
