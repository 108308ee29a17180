"""A verb names an unreadable file in one line, reads the others, and ends with 1."""

import errno
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore
from tests.support.stores.checked import checked, damage_of, notes_of
from tests.support.stores.damage import log_files

VERBS = ("info", "stat", "messages", "pending", "export", "check", "get", "rebuild")


def words(verb: str, root: Path, tmp_path: Path) -> list[object]:
    """The command line of a verb on a store."""
    options: dict[str, list[object]] = {
        "rebuild": ["-n", tmp_path / "out"],
        "get": ["--physical", "0"],
        "export": ["-o", "-"],
    }
    return [verb, *options.get(verb, ()), root]


@pytest.mark.parametrize("verb", VERBS)
def test_denied_folder_of_a_queue_ends_no_verb(
    verb: str, store: BrokerStore, tmp_path: Path, deny: Callable[[Path], None]
) -> None:
    readable = run_store(*words(verb, store.root, tmp_path)).out
    deny(store.root / "consumequeue" / "orders" / "0")

    output = run_store(*words(verb, store.root, tmp_path), status=1)

    assert output.err.count("consumequeue/orders/0 is not read: Permission denied\n") == 1
    if verb in ("stat", "messages", "export", "get"):
        assert output.out == readable


@pytest.mark.parametrize(
    "folder",
    [
        *("consumequeue", "consumequeue/orders", "consumequeue/orders/0"),
        *("commitlog", "index", "config", "timerlog"),
    ],
)
def test_denied_folder_is_a_finding(
    folder: str, store: BrokerStore, deny: Callable[[Path], None]
) -> None:
    (store.root / folder).mkdir(exist_ok=True)
    deny(store.root / folder)

    check = checked(store.root)

    assert damage_of(check) == {"file": 1}
    assert notes_of(check) == {}
    finding = check.findings.kept[0]
    assert (finding.file, finding.text) == (folder, "the folder cannot be read: Permission denied")
    assert check.log.messages == (0 if folder == "commitlog" else len(store.truth.pulled))
    assert check.start is None


@pytest.mark.parametrize("number", [0, 2, -1])
def test_link_pipe_or_folder_as_a_log_file_is_damage(number: int, store: BrokerStore) -> None:
    path = log_files(store.root)[number]
    outside = path.rename(store.root.with_name("outside"))

    for place in (partial(path.symlink_to, outside), partial(os.mkfifo, path)):
        place()
        assert damage_of(checked(store.root))["file"] == 1
        path.unlink()
    path.mkdir()
    assert damage_of(checked(store.root))["file"] == 1


@pytest.mark.parametrize(
    "name",
    [
        "consumequeue/orders/0/00000000000000000000",
        "timerlog/00000000000000000000",
        "config/topics.json",
        "index/20261124131245714",
        "checkpoint",
        "lock",
        "abort",
        "timerwheel",
    ],
)
def test_folder_in_the_place_of_another_file_is_damage(
    name: str, store: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    note = f"{name} is not read: it is no plain file\n"
    (store.root / name).unlink(missing_ok=True)
    (store.root / name).mkdir(parents=True)

    check = checked(store.root)

    assert damage_of(check)["file"] == 1
    assert check.findings.kept[0].file == name
    assert capsys.readouterr().err == note
    assert run_store("stat", store.root, status=1).err == note


def test_log_on_two_disks_with_one_denied_has_one_finding(
    store: BrokerStore, deny: Callable[[Path], None]
) -> None:
    elsewhere = store.root.with_name("elsewhere")
    elsewhere.mkdir()
    for number, file in enumerate(log_files(store.root)):
        if number != 1:
            file.rename(elsewhere / file.name)
    deny(store.root / "commitlog")

    check = checked(store.root, elsewhere)

    assert damage_of(check) == {"file": 1}


def test_first_denied_paths_are_named(store: BrokerStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        (store.root / "consumequeue" / "orders" / str(100 + number)).mkdir()
    scandir = os.scandir

    def list_(path: Any) -> Any:
        if Path(path).name.isdecimal() and int(Path(path).name) >= 100:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", list_)

    error = run_store("info", store.root, status=1).err

    assert error.count("is not read: Permission denied") == 20
    assert "10 more files and folders are not read" in error


@pytest.mark.parametrize("name", ["checkpoint", "lock", "abort", "brokerIdentity"])
def test_denied_small_file_does_not_end_info(
    name: str, store: BrokerStore, deny: Callable[[Path], None]
) -> None:
    (store.root / name).touch()
    deny(store.root / name)

    output = run_store("info", "--json", store.root, status=1)

    assert output.err == f"{name} is not read: Permission denied\n"


def test_info_takes_the_time_of_the_first_file_that_can_be_read(
    store: BrokerStore, deny: Callable[[Path], None]
) -> None:
    first_file = log_files(store.root)[0]
    deny(first_file)

    output = run_store("info", store.root, status=1)

    assert f"commitlog/{first_file.name} is not read: Permission denied" in output.err
    assert b"first_stored" in output.out


@pytest.mark.parametrize("name", ["subscriptionGroup.json", "topics.json"])
def test_rebuild_goes_on_without_a_denied_configuration_file(
    name: str, store: BrokerStore, tmp_path: Path, deny: Callable[[Path], None]
) -> None:
    (store.root / "config" / f"{name}.bak").unlink(missing_ok=True)
    shutil.copy(store.root / "checkpoint", store.root / "brokerIdentity")
    deny(store.root / "config" / name)

    output = run_store("rebuild", tmp_path / "out", store.root, status=1)

    assert output.err == f"config/{name} is not read: Permission denied\n"
    assert f"config_unreadable       config/{name}" in output.text
    assert (tmp_path / "out" / "config" / "topics.json").exists()
    assert (tmp_path / "out" / "config" / "consumerOffset.json").exists()


def test_rebuild_takes_the_copy_of_a_denied_configuration_file(
    store: BrokerStore, tmp_path: Path, deny: Callable[[Path], None]
) -> None:
    path = store.root / "config" / "topics.json"
    shutil.copy(path, path.with_name("topics.json.bak"))
    deny(path)

    run_store("rebuild", tmp_path / "out", store.root, status=1)

    assert (tmp_path / "out" / "config" / "topics.json").read_bytes() == (
        path.with_name("topics.json.bak").read_bytes()
    )


def test_rebuild_goes_on_without_another_denied_file(
    store: BrokerStore, tmp_path: Path, deny: Callable[[Path], None]
) -> None:
    (store.root / "brokerIdentity").write_text("DefaultCluster#broker-a#1")
    deny(store.root / "brokerIdentity")

    output = run_store("rebuild", "-n", tmp_path / "out", store.root, status=1)

    assert output.err == "brokerIdentity is not read: Permission denied\n"
