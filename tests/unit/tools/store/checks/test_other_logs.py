"""DLedger's index agrees with the entries, and queues of compacted topics with their logs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from rocketwire.store.folder import read_folder
from rocketwire_tools.store.checks.findings import Finding, FindingKind, Findings
from rocketwire_tools.store.checks.other_logs import check_compaction, check_dledger
from tests.support.java.peers import CURRENT, OLD

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore

    Packed = Callable[[str, str], BrokerStore]


def check(root: Path, *, may_lag: bool = False) -> list[Finding]:
    findings = Findings()
    folder = read_folder([root])
    check_dledger(folder, findings, may_lag=may_lag)
    check_compaction(folder, findings, may_lag=may_lag)
    return findings.kept


def copy_of(store: BrokerStore, folder: Path) -> Path:
    return shutil.copytree(store.root, folder / "store")


def write(path: Path, position: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(position)
        file.write(data)


@pytest.mark.parametrize(
    ("release", "kind"),
    [(CURRENT, "dledger"), (OLD, "dledger"), (CURRENT, "compaction"), (CURRENT, "plain")],
)
def test_a_store_as_its_broker_left_it_has_no_findings(
    release: str, kind: str, packed_store: Packed
) -> None:
    root = packed_store(release, kind).root
    folder = read_folder([root])

    assert check(root) == []
    assert bool(folder.dledger_index) is (kind == "dledger")
    assert bool(folder.compaction_queues) is (kind == "compaction")


def test_a_wrong_unit_of_the_index_is_found(packed_store: Packed, tmp_path: Path) -> None:
    root = copy_of(packed_store(CURRENT, "dledger"), tmp_path)
    write(root / "dledger-n0" / "index" / f"{0:020}", 5 * 32 + 4, (77).to_bytes(8, "big"))

    (finding,) = check(root)

    assert finding.kind is FindingKind.DLEDGER
    assert finding.is_damage
    assert "entry 5 is (1, 77, " in finding.text


@pytest.mark.parametrize("may_lag", [False, True])
def test_a_missing_unit_is_damage_unless_the_broker_was_killed(
    packed_store: Packed, tmp_path: Path, *, may_lag: bool
) -> None:
    root = copy_of(packed_store(CURRENT, "dledger"), tmp_path)
    write(root / "dledger-n0" / "index" / f"{0:020}", 5 * 32, bytes(32))

    (finding,) = check(root, may_lag=may_lag)

    assert finding.text == "entry 5 has no unit in the index"
    assert finding.is_damage is not may_lag


def test_a_gap_of_entries_is_found(packed_store: Packed, tmp_path: Path) -> None:
    root = copy_of(packed_store(CURRENT, "dledger"), tmp_path)
    files = sorted((root / "dledger-n0" / "data").iterdir())
    files[1].unlink()

    findings = check(root)

    assert [finding.file for finding in findings] == [f"dledger-n0/data/{files[2].name}"]
    assert "follows entry" in findings[0].text
    assert findings[0].count > 1


def compacted(root: Path, kind: str) -> Path:
    """The first file of a compacted topic."""
    return min((root / "compaction" / kind).glob("*/*/*"))


def test_a_wrong_body_of_a_compacted_topic_is_found(packed_store: Packed, tmp_path: Path) -> None:
    root = copy_of(packed_store(CURRENT, "compaction"), tmp_path)
    path = compacted(root, "compactionLog")
    body = path.read_bytes()[88:92]
    write(path, 88, bytes(255 - byte for byte in body))

    texts = [finding.text for finding in check(root)]

    assert texts == ["the body has another checksum"]


def test_a_hole_in_the_log_of_a_compacted_topic_is_found(
    packed_store: Packed, tmp_path: Path
) -> None:
    root = copy_of(packed_store(CURRENT, "compaction"), tmp_path)
    write(compacted(root, "compactionLog"), 0, bytes(40))

    findings = check(root)

    assert {finding.kind for finding in findings} == {FindingKind.COMPACTION}
    assert findings[0].text == "zeros stand where a message should begin"
    assert "where the log has no such message" in findings[1].text


def test_a_wrong_unit_of_a_compacted_topic_is_found(packed_store: Packed, tmp_path: Path) -> None:
    root = copy_of(packed_store(CURRENT, "compaction"), tmp_path)
    write(compacted(root, "compactionCq"), 7, b"\x01")

    texts = [finding.text for finding in check(root)]

    assert texts[0].startswith("the unit leads to offset 1 with ")
    assert texts[1] == "the message has no unit in its queue"


def test_queue_offsets_of_a_compacted_topic_grow(packed_store: Packed, tmp_path: Path) -> None:
    root = copy_of(packed_store(CURRENT, "compaction"), tmp_path)
    path = compacted(root, "compactionLog")
    write(path, 20, (1 << 40).to_bytes(8, "big"))

    assert any("follows 1099511627776" in finding.text for finding in check(root))
