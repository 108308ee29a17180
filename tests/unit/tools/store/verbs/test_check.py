"""``rocketwire-store check`` on stores of real brokers, whole and damaged."""

import re
from typing import Final
from unittest.mock import Mock

import pytest

from rocketwire_tools.store.checks import findings
from rocketwire_tools.store.opened import OpenedStore
from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore, damage
from tests.support.stores.checked import checked, damage_of, notes_of
from tests.support.stores.fixtures import PACKED, OpenStore


@pytest.mark.parametrize(("release", "kind"), PACKED)
def test_store_of_a_broker_is_whole(release: str, kind: str, open_store: OpenStore) -> None:
    pytest.importorskip("rocksdict")
    store = open_store(release, kind)

    check = checked(store.root)

    assert damage_of(check) == {}
    assert notes_of(check).keys() <= {"no queue unit", "index"}
    assert check.log.messages >= len({message.physical_offset for message in store.truth.pulled})
    if kind != "rockskilled":  # a part of its RocksDB was only in memory
        assert check.unqueued == store.truth.notes.get("not_queued", 0)
    if kind == "plain":
        assert check.findings.kept == []
        assert check.index_entries > len(store.truth.pulled)


EXPECTED: Final[dict[str, set[str]]] = {
    "kill": set(),
    "tear_last_message": {"torn", "no message", "index", "checkpoint"},
    "flip_body": {"body crc"},
    "flip_early_body": {"body crc"},
    "flip_size": {"unreadable", "no message", "queue offset", "index"},
    "flip_physical_offset": {"unreadable", "no message", "index"},
    "remove_first_file": set(),
    "remove_middle_file": {"gap", "no message", "queue offset", "index"},
    "shorten_last_file": {"log file"},
    "add_strange_file": {"log file"},
    "add_empty_last_file": {"log file"},
    "remove_log": {"no message", "index"},
    "remove_queues": {"no queue unit"},
    "zero_unit": {"no queue unit"},
    "spoil_unit": {"queue unit"},
    "remove_last_queue_file": {"no queue unit"},
    "remove_first_queue_file": {"no queue unit"},
    "remove_one_queue": {"no queue unit"},
    "shorten_queue_file": {"queue file"},
    "kill_and_remove_queues": {"no queue unit"},
}
"""Damage → its kinds; some bits decide whether a key is hit, so that ``index`` may be missing."""


@pytest.mark.parametrize("name", EXPECTED)
def test_damage_is_named_for_what_it_is(name: str, store: BrokerStore) -> None:
    damage.DAMAGE[name](store.root)

    kinds = set(damage_of(checked(store.root)))

    optional = {"index", "checkpoint", "queue offset"}
    assert kinds - optional == EXPECTED[name] - optional
    assert kinds <= EXPECTED[name]


@pytest.fixture
def _broker_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenedStore, "is_in_use", Mock(return_value=True))


@pytest.mark.usefixtures("_broker_runs")
def test_message_that_is_being_written_is_no_damage(store: BrokerStore) -> None:
    damage.tear_last_message(store.root)
    damage.kill(store.root)

    output = run_store("check", store.root).text

    assert output.startswith("A broker runs on this store")
    assert "a broker writes here" in output
    assert "The store is whole." in output


@pytest.mark.usefixtures("_broker_runs")
def test_running_broker_without_its_first_queue_is_no_damage(store: BrokerStore) -> None:
    damage.remove_queues(store.root)

    check = checked(store.root)

    assert damage_of(check) == {}
    assert "no queue unit" in notes_of(check)


def test_report_names_damage_and_where_a_broker_would_cut_the_log(store: BrokerStore) -> None:
    damage.flip_body(store.root)

    output = run_store("check", store.root, status=1).text

    assert re.search(r"^damage +body crc +1 +1 +commitlog/0+1310720@\d+: the body", output, re.M)
    assert "The store is damaged." in output
    assert "\nThe broker was shut down cleanly.\nA broker would cut the log at 1,47" in output
    assert re.search(r": 39 readable messages with [\d,]+ bytes follow there\. Copy", output)


def test_why_gives_file_byte_and_rule_of_each_finding(store: BrokerStore) -> None:
    damage.flip_body(store.root)
    finding = checked(store.root).findings.kept[0]

    output = run_store("check", "--why", store.root, status=1).text

    assert f"where: {finding.file}, byte {finding.position} and the {finding.size} bytes" in output
    queue = f"{finding.topic}:{finding.queue_id}:{finding.queue_offset}"
    assert f"queue: {queue}\n  offset in the log: {finding.physical_offset}" in output
    assert f"rule: {finding.kind.rule}" in output


def test_lines_of_json_have_findings_and_a_summary(store: BrokerStore) -> None:
    damage.flip_body(store.root)

    *lines, summary = run_store("check", "--json", store.root, status=1).lines

    assert summary["status"] == 1
    assert [line["finding"] for line in lines] == ["body crc"]
    assert lines[0]["rule"] == findings.FindingKind.BODY_CRC.rule
    assert summary["next_start"]["is_clean"] is True
    assert summary["next_start"]["messages"] == 39
    assert summary["messages"] == len(store.truth.pulled)
    assert summary["findings"] == {"body crc": {"is_damage": True, "findings": 1, "count": 1}}


def test_commit_log_alone_is_checked_without_its_queues(store: BrokerStore) -> None:
    output = run_store("check", store.root / "commitlog").text

    assert "No queues can be read here" in output
    assert f"{len(store.truth.pulled):,} messages" in output
