"""``rocketwire-store check`` on stores of real brokers, whole and damaged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import orjson
import pytest

from rocketwire.store.java_records import Release
from rocketwire.store.recovery import predict
from rocketwire_tools.store.__main__ import main
from rocketwire_tools.store.checks import findings
from rocketwire_tools.store.checks.images import image_of
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.verbs.check import write_text
from tests.support.java.peers import CURRENT, MIDDLE
from tests.support.stores import damage
from tests.support.stores.checked import checked, damage_of
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore


def json_of(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    """Exit status, findings, next starts, and summary."""
    status = main(["check", "--json", str(root)])
    lines = [orjson.loads(line) for line in capsys.readouterr().out.splitlines()]
    return (
        status,
        [line for line in lines if "finding" in line],
        [line for line in lines if "next_start" in line],
        lines[-1],
    )


def test_a_store_of_a_broker_that_ended_in_order_is_whole(store: BrokerStore) -> None:
    check = checked(store.root)

    assert check.findings.kept == []
    assert check.log.messages == len(store.truth.pulled)
    assert check.index.entries > len(store.truth.pulled)
    assert [start.cut_messages for start in check.starts] == [0, 0, 0]
    assert [start.not_served for start in check.starts] == [0, 0, 0]


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


def test_the_messages_that_java_gives_up_are_counted(store: BrokerStore) -> None:
    damage.flip_body(store.root)

    check = checked(store.root)

    for start in check.starts:
        behind = [one for one in store.truth.pulled if one.physical_offset >= start.recovery.cut]
        assert start.cut_messages == len(behind)
        assert start.cut_bytes == sum(one.size for one in behind)


def test_messages_that_a_cut_queue_hides_are_counted(store: BrokerStore) -> None:
    damage.zero_unit(store.root)

    assert [start.not_served for start in checked(store.root).starts] == [19, 19, 19]


def test_a_message_that_is_being_written_is_no_damage(
    store: BrokerStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def is_in_use(_: OpenedStore) -> bool:
        return True

    monkeypatch.setattr(OpenedStore, "is_in_use", is_in_use)
    damage.tear_last_message(store.root)
    damage.kill(store.root)

    assert main(["check", str(store.root)]) == 0
    output = capsys.readouterr().out
    assert output.startswith("A broker runs on this store")
    assert "a broker writes here" in output
    assert "The store is whole." in output


def test_the_report_names_damage_and_what_java_would_do(
    store: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    damage.flip_body(store.root)

    assert main(["check", str(store.root)]) == 1

    output = capsys.readouterr().out
    assert re.search(r"^damage +body crc +1 +1 +commitlog/0+1310720@\d+: the body", output, re.M)
    assert "The store is damaged." in output
    assert re.search(r"^ +5\.5\.0 +yes +1,310,720 +[\d,]+ +39 .*checksum", output, re.M)
    assert re.search(r"Do not start \S+ on it: 39 messages with [\d,]+ bytes", output)


def test_a_start_that_java_refuses_is_named(
    store: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    damage.add_strange_file(store.root)

    assert main(["check", str(store.root)]) == 1

    output = capsys.readouterr().out
    assert "commitlog/.DS_Store has 6148 bytes instead of 262144" in output
    assert re.search(r"4\.9\.4, 5\.3\.3, 5\.5\.0 would not start; \d+ messages", output)


def test_why_gives_file_byte_and_rule_of_each_finding(
    store: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    damage.flip_body(store.root)
    finding = checked(store.root).findings.kept[0]

    main(["check", "--why", str(store.root)])

    output = capsys.readouterr().out
    assert f"where: {finding.file}, byte {finding.position} and the {finding.size} bytes" in output
    queue = f"{finding.topic}:{finding.queue_id}:{finding.queue_offset}"
    assert f"queue: {queue}\n  offset in the log: {finding.physical_offset}" in output
    assert f"rule: {findings.RULES[finding.kind]}" in output


def test_lines_of_json_have_findings_starts_and_a_summary(
    store: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    damage.flip_body(store.root)

    status, lines, starts, summary = json_of(store.root, capsys)

    assert status == summary["status"] == 1
    assert [line["finding"] for line in lines] == ["body crc"]
    assert lines[0]["rule"] == findings.RULES[findings.FindingKind.BODY_CRC]
    assert [start["next_start"] for start in starts] == ["4.9.4", "5.3.3", "5.5.0"]
    assert {start["cut_messages"] for start in starts} == {39}
    assert summary["messages"] == len(store.truth.pulled)
    assert summary["findings"] == {"body crc": {"is_damage": True, "findings": 1, "count": 1}}


def test_a_commit_log_alone_is_checked_without_its_queues(
    store: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(store.root / "commitlog")]) == 0

    output = capsys.readouterr().out
    assert "No queues can be read here" in output
    assert f"{len(store.truth.pulled):,} messages" in output


def test_a_path_that_is_no_store_ends_with_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(tmp_path)]) == 2
    assert "no commit log" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("release", "kind"), [(CURRENT, "rocksdb"), (CURRENT, "rocksv2"), (MIDDLE, "rocksboth")]
)
def test_the_next_start_with_queues_in_rocksdb_is_predicted(
    release: str, kind: str, packed_store: Callable[[str, str], BrokerStore]
) -> None:
    pytest.importorskip("rocksdict")
    store = packed_store(release, kind)

    check = checked(store.root)

    for start in check.starts:
        queues = predict(image_of(check.store), start.recovery.release).queues
        assert (start.cut_messages, start.not_served) == (0, 0)
        for queue in store.truth.queues:
            if queue.messages:
                after = queues[queue.topic, queue.queue_id]
                bounds = after.min_offset, after.max_offset
                assert bounds == (queue.min_offset, queue.max_offset)


def test_a_rocksdb_that_cannot_be_opened_leaves_no_prediction(tmp_path: Path) -> None:
    pytest.importorskip("rocksdict")
    root = unpack(CURRENT, "rocksdb", tmp_path).root
    (root / "consumequeue" / "CURRENT").write_bytes(b"")

    check = checked(root)

    assert check.starts == []
    assert check.findings.has_damage


def test_the_end_of_a_whole_log_is_no_reason_to_worry(
    store: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", str(store.root)])
    whole = capsys.readouterr().out
    damage.tear_last_message(store.root)
    main(["check", str(store.root)])
    torn = capsys.readouterr().out

    assert whole.count("  the log ends there") == len(Release)
    assert "zeros" not in whole
    assert "the log ends there" not in torn


def test_what_makes_a_prediction_uncertain_is_said(
    packed_store: Callable[[str, str], BrokerStore], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rocksdict")
    root = packed_store(CURRENT, "rocksdb").root
    check = checked(root)
    for start in check.starts:
        start.recovery.doubt = "nobody knows"

    write_text(check, with_reasons=False)

    assert capsys.readouterr().out.count("; nobody knows") == 3
