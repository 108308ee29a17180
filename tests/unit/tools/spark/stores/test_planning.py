"""Stores are listed, and their logs are cut where a message begins."""

import errno
import itertools
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.stores import planning
from rocketwire_tools.spark.stores.options import read_options
from rocketwire_tools.spark.stores.planning import DamageError, open_stores, parts, stores
from rocketwire_tools.store.engine.scan import State
from rocketwire_tools.store.opened import NoStoreError, OpenedStore
from tests.peers.peers import CURRENT, OLD
from tests.support.stores.damage import log_files, remove_middle_file
from tests.support.stores.fixtures import OpenStore, unpack
from tests.unit.tools.spark.stores.conftest import read_rows

FIELDS = ("commit_log_offset", "store_timestamp", "topic")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store that a test may change."""
    return unpack(CURRENT, "plain", tmp_path / "copy").root


def test_path_is_a_store_a_folder_or_a_pattern(open_store: OpenStore, tmp_path: Path) -> None:
    names: list[str] = []
    for release in (CURRENT, OLD):
        shutil.copytree(open_store(release, "plain").root, tmp_path / release / "store")
        names.append(str(tmp_path / release / "store"))
    (tmp_path / CURRENT / "notes").mkdir()

    assert list(open_stores(read_options({"path": names[0]}))) == names[:1]
    assert list(open_stores(read_options({"path": str(tmp_path / CURRENT)}))) == names[:1]
    both = open_stores(read_options({"path": f"{tmp_path}/*/store"}))
    assert sorted(both) == sorted(names)


def test_files_of_one_commit_log_are_one_store(root: Path) -> None:
    files = log_files(root)

    assert stores([str(root / "commitlog" / "*")]) == {
        str(root / "commitlog"): sorted((root / "commitlog").iterdir())
    }
    assert stores([str(files[0]), str(files[0])]) == {str(files[0].parent): [files[0]]}


def test_path_that_names_nothing_or_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing: there is no such file or folder"):
        stores([str(tmp_path / "nothing")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoStoreError, match="empty: no commit log"):
        open_stores(read_options({"path": str(tmp_path / "empty")}))
    with pytest.raises(OptionError, match="Python workers see mounted"):
        stores(["s3a://bucket/store"])


@pytest.mark.parametrize("fields", [FIELDS, (*FIELDS, "state")], ids=["by queues", "by a pass"])
def test_parts_begin_at_messages_and_have_the_chosen_size(
    open_store: OpenStore, fields: tuple[str, ...]
) -> None:
    store = open_store(CURRENT, "plain")
    offsets = {message.physical_offset for message in store.truth.pulled}

    planned = parts(read_options({"path": str(store.root), "splitSize": "100k"}), fields)

    assert len(planned) >= 8
    assert {part.start for part in planned} <= offsets
    assert all(a.stop == b.start for a, b in itertools.pairwise(planned))
    assert all(part.stop - part.start >= 100 << 10 for part in planned[:-1])
    assert {part.state for part in planned} == {State.LIVE}
    assert [part.newest for part in planned] == sorted(part.newest for part in planned)


def test_last_part_ends_at_the_end_of_the_log_of_a_running_broker(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenedStore, "is_in_use", Mock(return_value=True))
    blocks = OpenedStore([root]).scans()[0]
    last = [block for block in blocks if block.file.path == log_files(root)[-1]][-1]
    end = last.base + int(last.messages.positions[-1] + last.messages.sizes[-1])

    for fields in (FIELDS, ("state",)):
        for options in ({"splitSize": "50k"}, {}):
            planned = parts(read_options({"path": str(root), **options}), fields)
            assert planned[-1].stop == end


def test_parts_of_other_times_and_offsets_are_left_out(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(CURRENT, "plain")
    monkeypatch.setattr(planning, "_MARGIN", 0)
    pulled = store.truth.pulled
    time = pulled[len(pulled) // 2].store_timestamp
    all_parts, _ = read_rows(FIELDS, path=str(store.root), splitSize="20k")

    for fields in (FIELDS, (*FIELDS, "state")):
        for options, expected in (
            ({"begin": str(time)}, [m for m in pulled if m.store_timestamp >= time]),
            ({"end": str(time)}, [m for m in pulled if m.store_timestamp <= time]),
            ({"physical": "500000:"}, [m for m in pulled if m.physical_offset >= 500_000]),
            ({"physical": ":500000"}, [m for m in pulled if m.physical_offset <= 500_000]),
        ):
            planned, rows = read_rows(fields, path=str(store.root), splitSize="20k", **options)
            offsets = [row["commit_log_offset"] for row in rows]
            assert offsets == [message.physical_offset for message in expected]
            assert len(planned) < 0.75 * len(all_parts)


def test_store_times_that_go_back_need_a_pass(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "_store_time", Mock(side_effect=range(1_000, 0, -1)))
    passes: list[object] = []
    survey = planning.survey

    def count_pass(*arguments: Any) -> object:
        passes.append(arguments)
        return survey(*arguments)

    monkeypatch.setattr(planning, "survey", count_pass)

    parts(read_options({"path": str(root), "splitSize": "50k"}), FIELDS)

    assert len(passes) == 1


def test_missing_file_is_refused_in_mode_failfast(root: Path) -> None:
    remove_middle_file(root)

    assert parts(read_options({"path": str(root)}), FIELDS)
    with pytest.raises(DamageError, match=r"\d{20}: the next file, \d{20}, is missing"):
        parts(read_options({"path": str(root), "mode": "FAILFAST"}), FIELDS)


def test_parts_that_are_too_many_are_refused(root: Path) -> None:
    os.truncate(log_files(root)[-1], 1 << 30)

    with pytest.raises(OptionError, match=r"'splitSize': 64 bytes make \d+ parts of .*store"):
        parts(read_options({"path": str(root), "splitSize": "64"}), FIELDS)


@pytest.fixture
def listings(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The number of times that each folder is listed."""
    counts: Counter[str] = Counter()
    scandir = os.scandir

    def counting(path: Any = ".") -> Any:
        counts[os.fspath(path)] += 1
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counting)
    return counts


def test_folders_of_stores_are_listed_once(
    root: Path, tmp_path: Path, listings: Counter[str]
) -> None:
    fleet = tmp_path / "fleet"
    for number in range(5):
        shutil.copytree(root, fleet / f"broker-{number}")
    (tmp_path / "outside").mkdir()
    shutil.copytree(root, tmp_path / "outside" / "store")
    (fleet / "link").symlink_to(tmp_path / "outside" / "store")
    (fleet / "broker-0" / "timerlog").symlink_to(tmp_path / "outside")
    listings.clear()

    opened = open_stores(read_options({"path": str(fleet)}))

    assert list(opened) == [str(fleet / f"broker-{number}") for number in range(5)]
    in_stores = {path: count for path, count in listings.items() if path != str(fleet)}
    assert set(in_stores.values()) == {1}
    assert not [path for path in listings if "outside" in path or "link" in path]


def test_store_with_an_unreadable_part_is_refused_in_mode_failfast(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def list_(path: Any) -> Any:
        if os.fspath(path) == str(root / "consumequeue"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", list_)

    assert parts(read_options({"path": str(root)}), FIELDS)
    with pytest.raises(DamageError, match="consumequeue is not read: Permission denied"):
        parts(read_options({"path": str(root), "mode": "FAILFAST"}), FIELDS)
