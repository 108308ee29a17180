"""Files that cannot be read are one finding each, and everything else is checked."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocketwire_tools.store.checks.unread import leave_out_unreadable
from rocketwire_tools.store.checks.view import StoreView
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.verbs import check as check_verb
from tests.support.stores import BrokerStore, damage
from tests.support.stores.checked import checked, damage_of, notes_of


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, int], None]:
    """Makes a disk fail at a position of a file."""

    def fail(path: Path, broken: int) -> None:
        preadv = os.preadv

        def read(descriptor: int, buffers: Any, position: int) -> int:
            size = sum(map(len, buffers))
            is_file = Path(f"/proc/self/fd/{descriptor}").resolve() == path
            if is_file and position <= broken < position + size:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return preadv(descriptor, buffers, position)

        monkeypatch.setattr(os, "preadv", read)

    return fail


def name_of(store: BrokerStore, path: Path) -> str:
    return str(path.relative_to(store.root))


def messages_outside(store: BrokerStore, path: Path, position: int = 0) -> int:
    """Messages that do not stand in a file of the log from a position on."""
    start, end = int(path.name) + position, int(path.name) + path.stat().st_size
    offsets = [message.physical_offset for message in store.truth.pulled]
    return sum(not start <= offset < end for offset in offsets)


@pytest.mark.parametrize("number", [0, 1, -1])
def test_log_without_one_of_its_files_is_checked(
    number: int, store: BrokerStore, deny: Callable[[Path], None]
) -> None:
    path = damage.log_files(store.root)[number]
    messages = messages_outside(store, path)
    deny(path)

    check = checked(store.root)

    assert damage_of(check) == {"file": 1}
    assert notes_of(check) == {}
    finding = check.findings.kept[0]
    assert finding.file == name_of(store, path)
    assert finding.text == "the file cannot be read: Permission denied"
    assert check.log.messages == messages
    assert check.start is None


@pytest.mark.parametrize(
    "name",
    ["checkpoint", "lock", "abort", "config/consumerFilter.json", f"consumequeue/orders/0/{0:020}"],
)
def test_another_file_that_is_denied_is_one_finding(
    name: str, store: BrokerStore, deny: Callable[[Path], None]
) -> None:
    path = store.root / name
    path.touch()
    deny(path)

    check = checked(store.root)

    assert damage_of(check) == {"file": 1}
    assert check.findings.kept[0].file == name
    assert check.log.messages == len(store.truth.pulled)
    assert (check.store.abort is not None) == (name == "abort")


def test_disk_that_fails_inside_of_a_log_file_is_one_finding(
    store: BrokerStore, fail: Callable[[Path, int], None]
) -> None:
    path = damage.log_files(store.root)[1]
    fail(path, 1)

    check = checked(store.root)

    assert damage_of(check) == {"file": 1}
    finding = check.findings.kept[0]
    assert (finding.file, finding.position) == (name_of(store, path), 0)
    assert "Input/output error" in finding.text
    assert check.log.messages == messages_outside(store, path)


@pytest.mark.parametrize("folder", ["consumequeue", "index"])
def test_disk_that_fails_inside_of_another_file_is_one_finding(
    folder: str, store: BrokerStore, fail: Callable[[Path, int], None]
) -> None:
    path = next(path for path in sorted((store.root / folder).rglob("*")) if path.is_file())
    fail(path, 41)

    check = checked(store.root)

    assert damage_of(check) == {"file": 1}
    assert check.findings.kept[0].file in (name_of(store, path), name_of(store, path.parent))
    assert check.log.messages == len(store.truth.pulled)
    assert check.start is None


def test_files_that_a_broker_deletes_meanwhile_are_no_damage(
    store: BrokerStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first files of the log expire while the check reads, and one of a queue with them."""
    logs = damage.log_files(store.root)[:2]
    queue = damage.queue_files(store.root)[0][0]
    messages = [
        message
        for message in store.truth.pulled
        if message.physical_offset >= int(logs[1].name) * 2
    ]
    check = StoreView(OpenedStore([store.root]))
    assert list(leave_out_unreadable(check)) == []  # it has listed the files
    monkeypatch.setattr(check_verb, "STEPS", check_verb.STEPS[1:])
    for path in (*logs, queue):
        path.unlink()

    check_verb.check_store(check)

    assert damage_of(check) == {}
    assert check.log.messages == len(messages)
    assert [finding.text for finding in check.findings.kept if finding.kind == "file"] == [
        "the file was deleted while the store was read"
    ]
