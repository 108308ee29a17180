"""``diff``: its status, its table and its lines of JSON."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store.comparing.settings import config_differences
from rocketwire_tools.store.verbs import diff
from tests.support.java.peers import CURRENT
from tests.support.stores import damage
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rocketwire_tools.store.comparing.differences import StoreDifference
    from rocketwire_tools.store.opened import OpenedStore
    from tests.support.stores import BrokerStore


def original_of(copy: BrokerStore, tmp_path: Path) -> Path:
    """A second copy of a store, which stays as it is."""
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    return original


def drop_last_message(root: Path) -> None:
    place = damage.places(damage.log_files(root)[-1])[-1]
    damage.put(place.file, place.position, bytes(place.size))


def test_a_store_equals_itself(plain: BrokerStore, run: Callable[..., Any]) -> None:
    output = run("diff", plain.root, plain.root).out.decode()

    assert output.startswith("equal; ")


def test_a_log_that_ends_earlier_is_the_beginning_of_the_other(
    copy: BrokerStore, tmp_path: Path, run: Callable[..., Any]
) -> None:
    original = original_of(copy, tmp_path)
    drop_last_message(copy.root)

    first = run("diff", original, copy.root).out.decode()
    second = json.loads(run("diff", "--json", copy.root, original).out)

    assert first.startswith(
        "B is the beginning of A; A has 1 messages after the end of the other log"
    )
    assert second["result"] == "A is the beginning of B"
    assert (second["more_messages_in_a"], second["more_messages_in_b"]) == (0, 1)
    assert second["queue_differences"] == second["config_differences"] == 0


def test_different_ends_of_two_logs_are_a_difference(
    copy: BrokerStore, tmp_path: Path, run: Callable[..., Any]
) -> None:
    original = original_of(copy, tmp_path)
    damage.flip_body(copy.root)
    drop_last_message(copy.root)

    *lines, report = map(
        json.loads, run("diff", "--json", "--why", original, copy.root, status=1).out.splitlines()
    )

    assert report["result"] == "different"
    assert report["log_differences"] == len(lines) == 1
    assert lines[0]["file_a"] == lines[0]["file_b"]
    assert lines[0]["a"]["body"] != lines[0]["b"]["body"]


def test_the_table_shows_as_many_differences_as_asked_for(
    copy: BrokerStore, tmp_path: Path, run: Callable[..., Any]
) -> None:
    original = original_of(copy, tmp_path)
    damage.zero_page(copy.root)

    output = run("diff", "--limit", 2, "--why", original, copy.root, status=1).out.decode()

    lines = output.splitlines()
    assert lines[0].split()[:3] == ["part", "name", "difference"]
    assert "file and byte of A" in lines[0]
    assert [line.split()[0] for line in lines[1:3]] == ["log", "log"]
    count = json.loads(run("diff", "--json", original, copy.root, status=1).out.splitlines()[-1])[
        "log_differences"
    ]
    assert lines[3] == f"and {count - 2} more differences; --limit, or --json for all"
    assert lines[4].startswith("different; ")
    assert lines[5].startswith("the logs differ from offset ")


def test_common_ignores_what_only_one_log_has(
    packed_store: Callable[[str, str], BrokerStore], tmp_path: Path, run: Callable[..., Any]
) -> None:
    master = packed_store(CURRENT, "slave")
    assert master.slave is not None
    slave = tmp_path / "slave"
    shutil.copytree(master.slave.root, slave)
    shutil.rmtree(slave / "config")
    shutil.copytree(master.root / "config", slave / "config")

    assert run("diff", master.root, slave, status=1).out.startswith(b"part")
    assert run("diff", "--common", master.root, slave).out.startswith(b"equal; ")


def test_a_path_that_is_no_store_ends_with_status_2(
    plain: BrokerStore, tmp_path: Path, run: Callable[..., Any]
) -> None:
    error = run("diff", plain.root, tmp_path, status=2).err.decode()

    assert error == (
        f"rocketwire-store: {tmp_path}: no commit log, queue or configuration of a broker\n"
    )


def test_what_is_not_compared_is_said(
    packed_store: Callable[[str, str], BrokerStore], run: Callable[..., Any]
) -> None:
    pytest.importorskip("rocksdict")
    pops = packed_store(CURRENT, "popkv").root

    text = run("diff", pops, pops).out.decode()
    report = json.loads(run("diff", "--json", pops, pops).out)

    assert report["not_compared"] == ["popped messages in RocksDB: A and B have some"]
    assert "\nnot compared: popped messages in RocksDB: A and B have some\n" in text
    assert text.startswith("equal; ")


def test_a_rocksdb_that_cannot_be_opened_is_not_compared(
    tmp_path: Path, run: Callable[..., Any]
) -> None:
    pytest.importorskip("rocksdict")
    root = unpack(CURRENT, "rocksdb", tmp_path).root
    (root / "consumequeue" / "CURRENT").write_bytes(b"")

    report = json.loads(run("diff", "--json", root, root).out)

    assert [text.partition(":")[0] for text in report["not_compared"]] == [
        "consumequeue of A",
        "consumequeue of B",
    ]


def test_the_files_of_queues_do_not_stay_while_settings_are_compared(
    plain: BrokerStore, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100,000 queues they take as much memory as the settings of their topics."""
    kept: list[int] = []

    def recorded(*stores: OpenedStore) -> Iterator[StoreDifference]:
        kept.extend(len(store.folder.queues) for store in stores)
        yield from config_differences(*stores)

    monkeypatch.setattr(diff, "config_differences", recorded)

    output = run("diff", plain.root, plain.root).out.decode()

    assert output.startswith("equal; ")
    assert kept == [0, 0]
