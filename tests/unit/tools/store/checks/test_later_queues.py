"""A queue that is only in RocksDB has lost its files, if others have files that are newer."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store.checks.later_queues import later_queues
from rocketwire_tools.store.opened import OpenedStore
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


def test_all_queues_of_a_store_without_files_are_in_rocksdb(root: Path) -> None:
    rocksdb = OpenedStore([root]).rocks_queues
    assert rocksdb is not None

    assert later_queues(rocksdb, {}).keys() == rocksdb.ends.keys()


def test_queues_that_begin_after_the_last_unit_in_files_are_in_rocksdb(root: Path) -> None:
    store = OpenedStore([root])
    files, rocksdb = store.folder.queues, store.rocks_queues
    assert rocksdb is not None
    last = {name: rocksdb.place(name, end - 1) for name, (_, end) in rocksdb.ends.items()}
    first = {name: rocksdb.place(name, start) for name, (start, _) in rocksdb.ends.items()}
    oldest = min(files, key=lambda name: last[name] or (0, 0))

    queues = later_queues(rocksdb, {oldest: files[oldest]})

    assert queues.keys() == {name for name in first if (first[name] or (0,)) > (last[oldest] or ())}
    assert later_queues(rocksdb, files) == {}
