"""A store is opened for what it is, and nothing leads out of it."""

import fcntl
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from unittest.mock import Mock

import pytest

from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.opened import OpenedStore, open_stores
from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore
from tests.support.stores.checked import checked, damage_of, notes_of


def test_file_that_became_a_link_later_is_not_followed(store: BrokerStore, tmp_path: Path) -> None:
    opened = OpenedStore([store.root])
    file = opened.folder.plain["checkpoint"]
    (tmp_path / "secret").write_text("secret")
    file.path.unlink()
    file.path.symlink_to(tmp_path / "secret")

    with pytest.raises(OSError, match="symbolic links"), open_blocks(file):
        pass


def test_paths_in_the_configuration_are_not_followed(store: BrokerStore, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (store.root / "config" / "topics.json").write_text(
        f'{{"topicConfigTable":{{"../../{outside.name}":{{"readQueueNums":1}}}}}}'
    )
    (store.root / "config" / "broker.conf").write_text(f"storePathCommitLog={outside}\n")

    run_store("info", store.root)
    run_store("rebuild", tmp_path / "out", store.root)

    assert not outside.exists()
    assert OpenedStore([store.root]).folder.roots == (store.root,)


_HOLD = """
import fcntl, sys
from tests.support.file_programs import run_store
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX, 1)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.process
def test_lock_of_a_broker_is_reported(store: BrokerStore) -> None:
    command = [sys.executable, "-c", _HOLD, str(store.root / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as broker:
        assert broker.stdout is not None
        assert broker.stdout.readline() == b"held\n"
        assert b"a broker is running" in run_store("info", store.root).out
        assert b"A broker runs on this store" in run_store("check", store.root).out
        broker.communicate(b"")

    assert b"orderly" in run_store("info", store.root).out
    with (store.root / "lock").open("r+b") as lock:  # no process holds it
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)


def test_configuration_that_a_broker_has_written_anew_is_complete(store: BrokerStore) -> None:
    opened = OpenedStore([store.root])
    topics = store.root / "config" / "topics.json"
    text = topics.read_text() + "\n" * 100
    (store.root / "config" / "topics.json.bak").unlink(missing_ok=True)
    topics.write_text(text.replace('"orders"', '"orders_with_a_longer_name"', 1))

    config = opened.config("topics.json")

    assert config is not None
    assert "orders_with_a_longer_name" in config[0]["topicConfigTable"]
    assert opened.config("no.json") is None


def test_configuration_that_is_gone_is_read_from_its_copy(store: BrokerStore) -> None:
    topics = store.root / "config" / "topics.json"
    (store.root / "config" / "topics.json.bak").write_bytes(topics.read_bytes())
    opened = OpenedStore([store.root])
    topics.unlink()

    config = opened.config("topics.json")

    assert config is not None
    assert config[1] == "config/topics.json.bak"


def test_configuration_that_a_running_broker_writes_is_no_damage(
    store: BrokerStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenedStore, "is_in_use", Mock(return_value=True))
    for path in (store.root / "config").glob("topics.json*"):
        path.write_bytes(path.read_bytes()[:-20])

    check = checked(store.root)

    assert damage_of(check) == {}
    assert notes_of(check)["config"] == 1


def test_store_that_is_given_twice_is_one(store: BrokerStore, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(store.root)

    assert len(open_stores([store.root, store.root, tmp_path / "link"])) == 1
    twice, once = OpenedStore([store.root, store.root]), OpenedStore([store.root])
    assert twice.folder.commit_log == once.folder.commit_log


def test_store_and_the_folder_of_another_are_refused(
    store: BrokerStore, intact: BrokerStore, tmp_path: Path
) -> None:
    os.mkdir(tmp_path / "part")

    with pytest.raises(ValueError, match="several stores"):
        open_stores([store.root, intact.root, tmp_path / "part"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dledger-n0/data/00000000000000000000", "is a log of DLedger, which is not read here"),
        ("compaction/compactionLog/t/0/00000000000000000000", "the log of a compacted topic"),
    ],
)
def test_log_of_another_kind_is_refused_in_a_line(name: str, text: str, store: BrokerStore) -> None:
    path = store.root / name
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(8))

    for place in (path, path.parent):
        error = run_store("info", place, status=2).err
        assert text in error
        assert error.count("\n") == 1
    is_dledger = name.startswith("dledger")
    assert (text in run_store("stat", store.root, status=2 if is_dledger else 0).err) is is_dledger


def test_archive_must_be_unpacked_first(store: BrokerStore, tmp_path: Path) -> None:
    path = tmp_path / "store.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(store.root, "store")

    assert "unpack it first: tar xf" in run_store("info", path, status=2).err
