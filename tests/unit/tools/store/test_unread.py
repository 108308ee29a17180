"""A verb names an unreadable file in one line, reads the others, and ends with 1."""

from __future__ import annotations

import errno
import os
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.stores.checked import checked, damage_of, notes_of
from tests.support.stores.damage import log_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore

VERBS = ("info", "stat", "messages", "pending", "export", "check", "get", "rebuild")


def words(verb: str, root: Path, tmp_path: Path) -> list[object]:
    """The command line of a verb on a store."""
    before: dict[str, list[object]] = {"rebuild": ["-n", tmp_path / "out"]}
    options: dict[str, list[object]] = {"get": ["--physical", "0"], "export": ["-o", "-"]}
    return [verb, *options.get(verb, ()), *before.get(verb, ()), root]


@pytest.mark.parametrize("verb", VERBS)
def test_a_folder_of_a_queue_that_is_denied_ends_no_verb(
    verb: str,
    copy: BrokerStore,
    tmp_path: Path,
    deny: Callable[[Path], None],
    run: Callable[..., Any],
) -> None:
    whole = run(*words(verb, copy.root, tmp_path)).out
    deny(copy.root / "consumequeue" / "orders" / "0")

    output = run(*words(verb, copy.root, tmp_path), status=1)

    line = b"consumequeue/orders/0 is not read: Permission denied\n"
    assert output.err.count(line) == 1
    if verb in ("stat", "messages", "export", "get"):
        assert output.out == whole


@pytest.mark.parametrize(
    "folder",
    [
        "consumequeue",
        "consumequeue/orders",
        "consumequeue/orders/0",
        "commitlog",
        "index",
        "config",
        "timerlog",
    ],
)
def test_a_folder_that_is_denied_is_one_finding(
    folder: str, copy: BrokerStore, deny: Callable[[Path], None]
) -> None:
    (copy.root / folder).mkdir(exist_ok=True)
    deny(copy.root / folder)

    check = checked(copy.root)

    assert damage_of(check) == {"file": 1}
    assert notes_of(check) == {}
    finding = check.findings.kept[0]
    assert (finding.file, finding.text) == (folder, "the folder cannot be read: Permission denied")
    assert check.log.messages == (0 if folder == "commitlog" else len(copy.truth.pulled))
    assert check.start is None


@pytest.mark.parametrize("number", [0, 2, -1])
def test_a_log_file_that_is_a_link_a_pipe_or_a_folder_is_damage(
    number: int, store: BrokerStore
) -> None:
    path = log_files(store.root)[number]
    outside = path.rename(store.root.with_name("outside"))
    findings: list[dict[str, int]] = []

    for place in (partial(path.symlink_to, outside), partial(os.mkfifo, path)):
        place()
        findings.append(damage_of(checked(store.root)))
        path.unlink()
    path.mkdir()
    findings.append(damage_of(checked(store.root)))

    assert [finding["file"] for finding in findings] == [1, 1, 1]


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
def test_a_folder_in_the_place_of_another_file_is_damage(
    name: str, store: BrokerStore, run: Callable[..., Any]
) -> None:
    (store.root / name).unlink(missing_ok=True)
    (store.root / name).mkdir(parents=True)

    check = checked(store.root)
    output = run("stat", store.root, status=1)

    assert damage_of(check)["file"] == 1
    assert check.findings.kept[0].file == name
    assert output.err.decode().splitlines() == 2 * [f"{name} is not read: it is no plain file"]


def test_a_log_on_two_disks_of_which_one_is_denied_has_no_other_findings(
    copy: BrokerStore, deny: Callable[[Path], None]
) -> None:
    elsewhere = copy.root.with_name("elsewhere")
    elsewhere.mkdir()
    for number, file in enumerate(log_files(copy.root)):
        if number != 1:
            file.rename(elsewhere / file.name)
    deny(copy.root / "commitlog")

    check = checked(copy.root, elsewhere)

    assert damage_of(check) == {"file": 1}


def test_of_many_folders_that_are_denied_the_first_are_named(
    copy: BrokerStore, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    for number in range(30):
        (copy.root / "consumequeue" / "orders" / str(100 + number)).mkdir()
    scandir = os.scandir

    def list_(path: Any) -> Any:
        if Path(path).name.isdecimal() and int(Path(path).name) >= 100:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", list_)

    error = run("info", copy.root, status=1).err.decode()

    assert error.count("is not read: Permission denied") == 20
    assert "10 more files and folders are not read" in error


@pytest.mark.parametrize("name", ["checkpoint", "lock", "abort", "brokerIdentity"])
def test_a_small_file_that_is_denied_does_not_end_info(
    name: str, copy: BrokerStore, deny: Callable[[Path], None], run: Callable[..., Any]
) -> None:
    (copy.root / name).touch()
    deny(copy.root / name)

    output = run("info", "--json", copy.root, status=1)

    assert output.err.decode() == f"{name} is not read: Permission denied\n"


def test_info_takes_the_time_of_the_first_file_that_can_be_read(
    copy: BrokerStore, deny: Callable[[Path], None], run: Callable[..., Any]
) -> None:
    first = log_files(copy.root)[0]
    deny(first)

    output = run("info", copy.root, status=1)

    assert f"commitlog/{first.name} is not read: Permission denied" in output.err.decode()
    assert b"first_stored" in output.out


@pytest.mark.parametrize("name", ["subscriptionGroup.json", "topics.json"])
def test_rebuild_goes_on_without_a_configuration_file_that_is_denied(
    name: str,
    copy: BrokerStore,
    tmp_path: Path,
    deny: Callable[[Path], None],
    run: Callable[..., Any],
) -> None:
    (copy.root / "config" / f"{name}.bak").unlink(missing_ok=True)
    shutil.copy(copy.root / "checkpoint", copy.root / "brokerIdentity")
    deny(copy.root / "config" / name)

    output = run("rebuild", tmp_path / "out", copy.root, status=1)

    assert output.err.decode() == f"config/{name} is not read: Permission denied\n"
    assert f"config_unreadable       config/{name}" in output.out.decode()
    assert (tmp_path / "out" / "config" / "topics.json").exists()
    assert (tmp_path / "out" / "config" / "consumerOffset.json").exists()


def test_rebuild_takes_the_copy_of_a_configuration_file_that_is_denied(
    copy: BrokerStore, tmp_path: Path, deny: Callable[[Path], None], run: Callable[..., Any]
) -> None:
    path = copy.root / "config" / "topics.json"
    shutil.copy(path, path.with_name("topics.json.bak"))
    deny(path)

    run("rebuild", tmp_path / "out", copy.root, status=1)

    assert (tmp_path / "out" / "config" / "topics.json").read_bytes() == (
        path.with_name("topics.json.bak").read_bytes()
    )


def test_rebuild_goes_on_without_another_file_that_is_denied(
    copy: BrokerStore, tmp_path: Path, deny: Callable[[Path], None], run: Callable[..., Any]
) -> None:
    (copy.root / "brokerIdentity").write_text("DefaultCluster#broker-a#1")
    deny(copy.root / "brokerIdentity")

    output = run("rebuild", "-n", tmp_path / "out", copy.root, status=1)

    assert output.err.decode() == "brokerIdentity is not read: Permission denied\n"
