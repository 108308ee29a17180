"""A log whose last file is empty is damaged for each verb."""

import os
from pathlib import Path

import pytest

from rocketwire_tools.store.opened import OpenedStore
from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore
from tests.support.stores.checked import checked, damage_of
from tests.support.stores.damage import log_files, places


def words(verb: str, root: Path, tmp_path: Path) -> list[object]:
    """The command line of a verb on a store."""
    options: dict[str, list[object]] = {"rebuild": ["-n", tmp_path / "out"], "export": ["-o", "-"]}
    return [*verb.split(), *options.get(verb.split()[0], ()), root]


def remove_spare_files(root: Path) -> Path:
    """Remove the files without messages at the end of the log; return the last other file."""
    last_file = log_files(root)[-1]
    for file in (root / "commitlog").iterdir():
        if file.name > last_file.name:
            file.unlink()
    return last_file


@pytest.mark.parametrize("verb", ["stat", "messages", "pending", "export", "check", "rebuild"])
def test_every_verb_ends_with_status_1(verb: str, store: BrokerStore, tmp_path: Path) -> None:
    os.truncate(log_files(store.root)[-1], 0)

    run_store(*words(verb, store.root, tmp_path), status=1)


def test_empty_file_is_one_finding(store: BrokerStore) -> None:
    last = remove_spare_files(store.root)
    os.truncate(last, 0)

    check = checked(store.root)

    assert damage_of(check)["log file"] == 1
    finding = next(finding for finding in check.findings.kept if finding.kind == "log file")
    assert (finding.file, finding.text) == (f"commitlog/{last.name}", "the file is empty")


def test_torn_message_before_an_empty_file_is_named_as_one(store: BrokerStore) -> None:
    last = remove_spare_files(store.root)
    size, message = last.stat().st_size, places(last)[-1]
    data = last.read_bytes()[: message.position + 60]
    last.write_bytes(data.ljust(size, b"\0"))
    last.with_name(f"{int(last.name) + size:020d}").touch()

    damage = damage_of(checked(store.root))

    assert (damage["torn"], damage["log file"]) == (1, 1)


def test_log_of_one_empty_file_is_read_and_damaged(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / f"{0:020d}").touch()
    (scan,) = OpenedStore([tmp_path]).scans()

    assert list(scan) == []
    assert [region.reason for region in scan.regions] == ["the file is empty"]
    assert damage_of(checked(tmp_path)) == {"log file": 1}
