"""The kind of a file follows from its place, as in Java."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocketwire.store import folder as folder_module
from rocketwire.store.folder import (
    StoreFile,
    file_at,
    files_between,
    may_hold_records,
    offset_of_name,
    read_folder,
)


def create(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345678")


FIRST = "0" * 20
SECOND = f"{8:020d}"


def test_every_kind_of_file_has_a_place(tmp_path: Path) -> None:
    create(
        tmp_path,
        f"commitlog/{SECOND}",
        f"commitlog/{FIRST}",
        f"consumequeue/orders/3/{FIRST}",
        f"batchconsumequeue/orders/0/{FIRST}",
        f"consumequeue_ext/orders/3/{FIRST}",
        f"timerlog/{FIRST}",
        "timerwheel",
        "timerwheel.52",
        "index/20260101000000000",
        "index/other",
        "config/topics.json",
        "config/metadata/CURRENT",
        "rocksdbstore/CURRENT",
        "checkpoint",
        f"consumequeue/orders/x/{FIRST}",
        f"stray/{FIRST}",
        "commitlog/.DS_Store",
    )

    folder = read_folder([tmp_path])

    assert [file.offset for file in folder.commit_log] == [0, 8]
    assert list(folder.queues) == [("orders", 3)]
    assert list(folder.batch_queues) == [("orders", 0)]
    assert list(folder.extensions) == [("orders", 3)]
    assert [file.offset for file in folder.timer_log] == [0]
    assert sorted(file.name for file in folder.timer_wheels) == ["timerwheel", "timerwheel.52"]
    assert [file.name for file in folder.index] == ["index/20260101000000000"]
    assert list(folder.config) == ["topics.json"]
    assert sorted(folder.rocksdb) == ["config/metadata", "rocksdbstore"]
    assert list(folder.plain) == ["checkpoint"]
    assert folder.unknown == [
        "commitlog/.DS_Store",
        f"consumequeue/orders/x/{FIRST}",
        "index/other",
        f"stray/{FIRST}",
    ]


def test_a_link_never_leads_out_of_a_store(tmp_path: Path) -> None:
    create(tmp_path, f"outside/{FIRST}", f"store/commitlog/{FIRST}")
    (tmp_path / "store" / "commitlog" / SECOND).symlink_to(tmp_path / "outside" / FIRST)
    (tmp_path / "store" / "consumequeue").symlink_to(tmp_path / "outside")
    os.mkfifo(tmp_path / "store" / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "store")

    folder = read_folder([tmp_path / "link"])

    assert [file.offset for file in folder.commit_log] == [0]
    assert folder.ignored == [f"commitlog/{SECOND}", "consumequeue", "pipe"]
    assert folder.roots == (tmp_path / "store",)


def test_a_folder_in_the_place_of_a_file_is_ignored(tmp_path: Path) -> None:
    places = [
        f"commitlog/{FIRST}",
        "config/consumerOffset.json.bak",
        "config/topics.json",
        f"consumequeue/orders/0/{FIRST}",
        "index/20260101000000000",
        "lock",
    ]
    folders = ["abort/old", "commitlog/backup", "config/topics", "index/old", FIRST + "1"]
    create(tmp_path, *(f"{name}/{FIRST}" for name in places), *(f"{name}/x" for name in folders))

    folder = read_folder([tmp_path])

    assert folder.ignored == ["abort", *places]
    assert folder.unknown == [f"{FIRST}1/x", "commitlog/backup/x", "index/old/x"]
    assert list(folder.config) == ["topics/x"]
    assert (folder.commit_log, folder.queues, folder.index, folder.plain) == ([], {}, [], {})


def test_a_missing_path_and_too_many_files_are_refused(tmp_path: Path) -> None:
    create(tmp_path, f"commitlog/{FIRST}", f"commitlog/{SECOND}")

    with pytest.raises(FileNotFoundError):
        read_folder([tmp_path / "nowhere"])
    with pytest.raises(OverflowError, match="more than 2 files and folders"):
        read_folder([tmp_path], max_files=2)
    assert len(read_folder([tmp_path], max_files=3).commit_log) == 2


def test_a_linked_rocksdb_is_ignored_but_files_by_current_belong_to_it(tmp_path: Path) -> None:
    create(tmp_path, "outside/CURRENT", "store/consumequeue/CURRENT", "store/consumequeue/1.sst")
    create(tmp_path, f"store/consumequeue/orders/0/{FIRST}", "store/CURRENT")
    (tmp_path / "store" / "kvStore").symlink_to(tmp_path / "outside")
    (tmp_path / "store" / "consumequeue" / "2.sst").symlink_to(tmp_path / "outside" / "CURRENT")

    folder = read_folder([tmp_path / "store"])

    assert list(folder.rocksdb) == ["consumequeue"]
    names = sorted(file.base_name for file in folder.rocksdb["consumequeue"])
    assert names == ["1.sst", "CURRENT"]
    assert list(folder.queues) == [("orders", 0)]
    assert folder.ignored == ["consumequeue/2.sst", "kvStore"]


def test_file_deleted_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(tmp_path, f"commitlog/{FIRST}", f"commitlog/{SECOND}")

    def delete_first(name: str) -> int | None:
        if name == FIRST:  # it is in the list of files, and has no status yet
            (tmp_path / "commitlog" / FIRST).unlink()
        return offset_of_name(name)

    monkeypatch.setattr(folder_module, "offset_of_name", delete_first)

    assert [file.offset for file in read_folder([tmp_path]).commit_log] == [8]


@pytest.fixture
def deny(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, int], None]:
    """Makes the system refuse to list a folder, for a test that root runs too."""

    def deny(folder: Path, number: int) -> None:
        scandir = os.scandir

        def list_(path: str | Path) -> object:
            if os.fspath(path) == str(folder):
                raise OSError(number, os.strerror(number), str(path))
            return scandir(path)

        monkeypatch.setattr(os, "scandir", list_)

    return deny


def test_unreadable_root_is_an_error(tmp_path: Path, deny: Callable[[Path, int], None]) -> None:
    deny(tmp_path, errno.EACCES)

    with pytest.raises(PermissionError):
        read_folder([tmp_path])


@pytest.mark.parametrize(
    ("number", "unreadable"),
    [
        (errno.EACCES, {"commitlog": "Permission denied"}),
        (errno.EIO, {f"commitlog/{name}": "Input/output error" for name in (FIRST, SECOND)}),
    ],
)
def test_unreadable_files_are_named(
    number: int, unreadable: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(tmp_path, f"commitlog/{FIRST}", f"commitlog/{SECOND}", "checkpoint")
    store_file: Callable[..., StoreFile] = vars(folder_module)["_store_file"]

    def without_status(root: Path, name: str, *arguments: Any) -> StoreFile:
        if name.startswith("commitlog/"):
            raise OSError(number, os.strerror(number), str(root / name))
        return store_file(root, name, *arguments)

    monkeypatch.setattr(folder_module, "_store_file", without_status)

    folder = read_folder([tmp_path])

    assert folder.unreadable == unreadable
    assert folder.commit_log == []
    assert list(folder.plain) == ["checkpoint"]


def test_the_file_of_an_offset_is_the_one_that_reaches_as_far(tmp_path: Path) -> None:
    create(tmp_path, f"a/{FIRST}", f"a/{SECOND}", f"a/{24:020d}")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / SECOND).touch()
    files = read_folder([tmp_path / "b", tmp_path / "a"]).commit_log
    assert [(file.offset, file.size) for file in files] == [(0, 8), (8, 0), (8, 8), (24, 8)]

    hits = [file_at(files, offset) for offset in (-1, 0, 7, 8, 15, 16, 24, 31, 32)]

    offsets = [None if file is None else file.offset for file in hits]
    assert offsets == [None, 0, 0, 8, 8, None, 24, 24, None]
    assert file_at(list(reversed(files[1:3])), 9) == files[2]
    assert [file.offset for file in files_between(files, 7, 25)] == [0, 8, 24]
    assert list(files_between(files, 16, 24)) == list(files_between([], 0, 8)) == []


@pytest.mark.parametrize("name", ["commitlog", "config", "dledger-n0", FIRST])
def test_a_folder_with_an_entry_of_a_store_may_be_one(name: str, tmp_path: Path) -> None:
    (tmp_path / "broker-a").mkdir()
    assert not may_hold_records(tmp_path)
    (tmp_path / "elsewhere").symlink_to(tmp_path)
    (tmp_path / name).symlink_to("broker-a")
    assert not may_hold_records(tmp_path)

    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()

    assert may_hold_records(tmp_path)


def test_progress_is_reported_for_every_thousand_entries(tmp_path: Path) -> None:
    for number in range(1000):
        (tmp_path / f"f{number}").touch()
    create(tmp_path, f"commitlog/{FIRST}")
    counts: list[int] = []

    read_folder([tmp_path], progress=counts.append)

    assert counts == [1000]
