"""A RocksDB of a real store is read on a copy."""

import gc
import hashlib
import shutil
import tempfile
from pathlib import Path

import pytest

from rocketwire.store.folder import read_folder
from rocketwire_tools.store.sources.databases import Database, DatabaseError
from tests.peers.peers import CURRENT
from tests.support.stores.fixtures import unpack

QUEUES = "consumequeue"


def open_database(root: Path, name: str = QUEUES) -> Database:
    return Database(read_folder([root]).rocksdb[name], name)


def digests(root: Path) -> dict[Path, str]:
    return {
        path: hashlib.sha256(path.read_bytes()).hexdigest() + str(path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store that a test may damage."""
    return unpack(CURRENT, "rocksdb", tmp_path).root


def test_reading_changes_no_file_and_leaves_no_file(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "private").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "private"))
    digests_before = digests(root)

    database = open_database(root)

    assert database.families == ["default", "offset"]
    assert len(list(database.items())) == 241
    assert not list(database.items(family="no such family"))
    assert digests(root) == digests_before
    assert len(list((tmp_path / "private").iterdir())) == 1
    del database
    gc.collect()
    assert not list((tmp_path / "private").iterdir())


def test_damaged_table_is_read_up_to_damage(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for table in (root / QUEUES).glob("*.sst"):
        data = bytearray(table.read_bytes())
        data[10] ^= 0xFF
        table.write_bytes(data)

    database = open_database(root)

    assert len(list(database.items())) < 241
    assert database.get(b"key") is None or database.failure
    database.key_before(b"\xff")
    database.read_all()
    assert "orruption" in database.failure
    assert capsys.readouterr().err.startswith("consumequeue is not read to its end: ")


@pytest.mark.parametrize("text", ["", "../../etc/passwd\n", "MANIFEST-000005", "/etc/passwd\n"])
def test_manifest_elsewhere_is_refused(root: Path, text: str) -> None:
    (root / QUEUES / "CURRENT").write_text(text)

    with pytest.raises(DatabaseError, match="names no manifest"):
        open_database(root)


def test_lost_manifest_is_one_error(root: Path) -> None:
    next((root / QUEUES).glob("MANIFEST-*")).unlink()

    with pytest.raises(DatabaseError) as error:
        open_database(root)
    assert "\n" not in str(error.value)


def test_options_that_name_other_folders_are_not_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    for options in (root / QUEUES).glob("OPTIONS-*"):
        text = options.read_text()
        for name in ("wal_dir=", "db_log_dir="):
            text = text.replace(name, f"{name}{outside}\n#")
        options.write_text(text)
    (root / QUEUES / "rocksdict-config.json").write_text("{broken")

    assert len(list(open_database(root).items())) == 241
    assert not outside.exists()


def test_links_in_the_folder_are_not_followed(root: Path, tmp_path: Path) -> None:
    table = next((root / QUEUES).glob("*.sst"))
    shutil.move(table, tmp_path / "elsewhere.sst")
    table.symlink_to(tmp_path / "elsewhere.sst")

    with pytest.raises(DatabaseError):
        open_database(root)


def test_files_that_a_broker_removed_meanwhile_are_looked_for_again(root: Path) -> None:
    files = read_folder([root]).rocksdb[QUEUES]
    copy = root / QUEUES / "MANIFEST-999999"
    copy.touch()
    listed = read_folder([root]).rocksdb[QUEUES]
    copy.unlink()

    assert len(listed) == len(files) + 1
    assert len(list(Database(listed, QUEUES).items())) == 241
