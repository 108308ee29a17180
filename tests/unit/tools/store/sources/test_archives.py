"""A tar of a store is read like the store, and nothing in it leads anywhere."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import lzma
import subprocess
import tarfile
import tempfile
from typing import TYPE_CHECKING

import pytest
import zstandard

from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.sources import archives
from rocketwire_tools.store.sources.archives import ArchiveError, is_archive, read_archive
from tests.support.java.peers import CURRENT
from tests.support.stores import copy_store
from tests.support.stores.checked import checked, damage_of
from tests.support.stores.comparison import wrong_messages
from tests.support.stores.store import BrokerStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIRST = "commitlog/00000000000000000000"
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstandard.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
}


@pytest.fixture(scope="session")
def plain_store(packed_store: Callable[[str, str], BrokerStore]) -> BrokerStore:
    return packed_store(CURRENT, "plain")


@pytest.fixture(scope="session")
def plain_tar(plain_store: BrokerStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store below ``backup/store``, next to a file that is none of its own."""
    path = tmp_path_factory.mktemp("tar") / "store.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(plain_store.root, "backup/store")
        archive.add(plain_store.root / "lock", "backup/notes.txt")
    return path


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where private folders are made."""
    folder = tmp_path / "private"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def tar_of(path: Path, *members: tuple[tarfile.TarInfo | str, bytes]) -> Path:
    with tarfile.open(path, "w") as archive:
        for member, data in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def assert_reads_as(path: Path, store: BrokerStore) -> None:
    packed = BrokerStore(path, store.truth)
    assert list(wrong_messages(packed)) == []
    assert damage_of(checked(path)) == {}


def test_a_plain_tar_is_read_in_place(
    plain_tar: Path, plain_store: BrokerStore, private: Path
) -> None:
    opened = OpenedStore([plain_tar])

    assert_reads_as(plain_tar, plain_store)
    assert {file.path for file in opened.log_files} == {plain_tar}
    assert all(file.start for file in opened.log_files)
    assert "lock" in opened.folder.plain
    assert "notes.txt" not in opened.folder.plain
    assert opened.is_in_use() is False
    assert opened.folder.roots == (plain_tar,)
    assert not list(private.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPRESSIONS)
def test_a_compressed_tar_is_unpacked_for_as_long_as_it_is_needed(
    name: str,
    plain_tar: Path,
    plain_store: BrokerStore,
    private: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / f"store.tar.{name}"
    path.write_bytes(COMPRESSIONS[name](plain_tar.read_bytes()))

    assert_reads_as(path, plain_store)

    gc.collect()
    assert not list(private.iterdir())
    assert f"{path}: unpacked " in capsys.readouterr().err


@pytest.mark.process
@pytest.mark.parametrize("form", ["gnu", "posix"])
def test_holes_of_sparse_files_stay_holes(
    form: str, plain_store: BrokerStore, private: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store.tar"
    root = copy_store(plain_store.root, tmp_path / "sparse")
    command = ("tar", f"--format={form}", "-S", "-C", str(root), "-cf", str(path), ".")
    subprocess.run(command, check=True)

    opened = OpenedStore([path])

    assert_reads_as(path, plain_store)
    assert [file.size for file in opened.log_files] == [262_144] * 6
    sizes = [file.stat() for folder in private.iterdir() for file in folder.iterdir()]
    assert sum(size.st_blocks for size in sizes) * 512 < sum(size.st_size for size in sizes)


def test_stores_with_rocksdb_are_read_from_a_tar_too(
    packed_store: Callable[[str, str], BrokerStore], tmp_path: Path
) -> None:
    store, path = packed_store(CURRENT, "rocksdb"), tmp_path / "store.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(store.root, ".")

    opened = OpenedStore([path])

    assert opened.rocks_queues is not None
    assert len(opened.rocks_queues.ends) == 8
    assert damage_of(checked(path)) == {}


@pytest.mark.parametrize("end", [0.3, 0.9])
@pytest.mark.parametrize("name", ["plain", "gz", "zst", "xz"])  # bz2 has blocks of 900 KB
def test_of_a_tar_that_was_cut_off_the_files_before_the_cut_are_read(
    name: str, end: float, plain_tar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = plain_tar.read_bytes()
    data = data[: int(len(data) * end)]
    path = tmp_path / "cut.tar"
    path.write_bytes(data if name == "plain" else COMPRESSIONS[name](data))

    opened = OpenedStore([path])

    assert opened.log_files
    assert "; the files up to there are read" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../commitlog/" + "0" * 20, "/etc/passwd", "a/../../" + FIRST])
def test_a_name_that_leads_out_refuses_the_archive(name: str, tmp_path: Path) -> None:
    path = tar_of(tmp_path / "store.tar", (FIRST, b"x"), (name, b"x"))

    with pytest.raises(ArchiveError, match="leads out of the archive"):
        read_archive(path, object())


def test_links_and_special_files_are_ignored(tmp_path: Path, private: Path) -> None:
    members = [(FIRST, b"x")]
    path = tmp_path / "store.tar"
    with tarfile.open(path, "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            info = tarfile.TarInfo(f"config/{kind.decode()}")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo(members[0][0])
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))

    opened = OpenedStore([path])

    assert opened.folder.config == {}
    assert opened.folder.ignored == ["config/1", "config/2", "config/3", "config/6"]
    assert not list(private.iterdir())


def test_of_a_name_that_stands_twice_the_last_file_counts(tmp_path: Path) -> None:
    path = tar_of(tmp_path / "store.tar", (FIRST, b"old"), (f"./{FIRST}", b"newer"))

    files, _ = read_archive(path, object())

    assert [(file.name, file.size) for file in files] == [(FIRST, 5)]


@pytest.mark.parametrize("prefix", ["", "./", "a/", "a/b/"])
def test_the_root_of_the_store_is_found(prefix: str, tmp_path: Path) -> None:
    members = [(f"{prefix}{name}", b"x") for name in (FIRST, "checkpoint", "config/topics.json")]
    path = tar_of(tmp_path / "store.tar", *members)

    folder = OpenedStore([path]).folder

    assert [file.name for file in folder.commit_log] == [FIRST]
    assert (list(folder.plain), list(folder.config)) == (["checkpoint"], ["topics.json"])


def test_a_tar_of_dledger_of_settings_or_of_single_files_is_a_store(tmp_path: Path) -> None:
    dledger = tar_of(tmp_path / "a.tar", (f"x/dledger-n0/data/{'0' * 20}", b"x"))
    settings = tar_of(tmp_path / "b.tar", ("x/config/topics.json", b"{}"))
    bare = tar_of(tmp_path / "c.tar", ("x/" + "0" * 20, b"x"), ("x/notes", b"x"))

    assert OpenedStore([dledger]).is_dledger
    assert OpenedStore([settings]).config("topics.json") is not None
    assert [file.name for file in OpenedStore([bare]).log_files] == ["0" * 20]


def test_several_stores_in_one_tar_are_named(tmp_path: Path) -> None:
    path = tar_of(tmp_path / "store.tar", (f"a/{FIRST}", b"x"), (f"b/{FIRST}", b"x"))

    with pytest.raises(ArchiveError, match="several stores: a, b; unpack it"):
        read_archive(path, object())


def test_more_bytes_than_the_limit_are_not_unpacked(tmp_path: Path, private: Path) -> None:
    path = tmp_path / "bomb.tar.gz"
    data = tar_of(tmp_path / "store.tar", (FIRST, bytes(3 << 20))).read_bytes()
    path.write_bytes(gzip.compress(data))
    owner = _Owner()

    with pytest.raises(ArchiveError, match="more than 2097152 bytes; unpack it"):
        read_archive(path, owner, max_unpacked=2 << 20)
    del owner
    gc.collect()
    assert not list(private.iterdir())


class _Owner:
    """Something that can be referred to weakly."""


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_ROOM", 1 << 60)
    path = tmp_path / "store.tar.gz"
    path.write_bytes(gzip.compress(tar_of(tmp_path / "store.tar", (FIRST, b"x")).read_bytes()))

    with pytest.raises(ArchiveError, match=r"too little room in .*; set TMPDIR"):
        read_archive(path, _Owner())


def test_headers_members_and_sizes_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tar_of(tmp_path / "long.tar", ("a/" * 40_000 + "b", b""), (FIRST, b"x"))
    monkeypatch.setattr(archives, "MAX_HEADERS", 10_000)
    with pytest.raises(ArchiveError, match="headers of a member are longer than 10000 bytes"):
        read_archive(long, object())

    path = tar_of(tmp_path / "store.tar", (FIRST, b"x"), ("config/a", b"x"))
    monkeypatch.setattr(archives, "MAX_FILES", 1)
    with pytest.raises(ArchiveError, match="more than 1 members"):
        read_archive(path, object())
    monkeypatch.setattr(archives, "MAX_MEMBER", 0)
    with pytest.raises(ArchiveError, match="has 1 bytes"):
        read_archive(path, object())


def test_other_files_are_no_archives(tmp_path: Path) -> None:
    for name, data in (("empty", b""), ("short", b"x"), ("log", bytes(600))):
        (tmp_path / name).write_bytes(data)
        assert not is_archive(tmp_path / name)
    assert not is_archive(tmp_path)
    (tmp_path / "noise.gz").write_bytes(b"\x1f\x8b" + bytes(100))

    with pytest.raises(ArchiveError, match=r"noise\.gz: "):
        read_archive(tmp_path / "noise.gz", object())


def test_a_sparse_map_that_leads_out_of_its_file_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo(FIRST)
    info.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.map": "0,512,9999999,512",
        "GNU.sparse.size": "4096",
    }
    path = tar_of(tmp_path / "store.tar", (info, bytes(1024)))

    with pytest.raises(ArchiveError, match="a piece lies outside of the file"):
        read_archive(path, _Owner())
