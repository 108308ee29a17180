"""What members of DLedger and brokers of a controller noted, against their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.wire.checksum import crc32
from rocketwire_tools.store.checks.findings import FindingKind
from tests.support.java.peers import CURRENT, OLD
from tests.support.stores.checked import checked
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rocketwire_tools.store.checks.findings import Finding
    from tests.support.stores import BrokerStore


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(CURRENT, "dledger", tmp_path_factory.mktemp("ledger")).root


@pytest.fixture(scope="module")
def controlled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(CURRENT, "controller", tmp_path_factory.mktemp("controlled")).root


def check_with(file: Path, data: bytes, root: Path) -> list[Finding]:
    """What is found while a file has other content."""
    before = file.read_bytes()
    file.write_bytes(data)
    try:
        return checked(root).findings.kept
    finally:
        file.write_bytes(before)


@pytest.mark.parametrize(
    ("release", "kind"), [(CURRENT, "dledger"), (OLD, "dledger"), (CURRENT, "controller")]
)
def test_a_store_as_its_broker_left_it_has_no_findings(
    release: str, kind: str, packed_store: Callable[[str, str], BrokerStore]
) -> None:
    assert checked(packed_store(release, kind).root).findings.kept == []


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        (
            "checkpoint",
            b"endIndex=250\ncommittedIndex=245\n",
            "entries up to 245 were committed, the log ends with 241",
        ),
        (
            "checkpoint",
            b"endIndex=243\ncommittedIndex=240\n",
            "the log ended with entry 243, now it ends with 241",
        ),
        ("checkpoint", b"", "endIndex is missing"),
        ("currterm", b"currTerm=-1\n", "the term is -1, and the last entry has 0"),
        ("currterm", bytes(10), "currTerm is missing"),
    ],
)
def test_what_a_member_lost_is_damage(name: str, data: bytes, text: str, ledger: Path) -> None:
    (finding,) = check_with(ledger / "dledger-n0" / name, data, ledger)

    assert finding.text == text
    assert finding.file == f"dledger-n0/{name}"
    assert (finding.kind, finding.is_damage) == (FindingKind.DLEDGER, True)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (b"1-0\n3-5000000\n", "epoch 3 begins at 5000000, the log ends at 1483582"),
        (b"2-0\n1-9\n", "epoch 1 from 9 on follows epoch 2 from 0 on"),
        (b"1-9\n2-0\n", "epoch 2 from 0 on follows epoch 1 from 9 on"),
    ],
)
def test_epochs_ascend_and_begin_in_the_log(lines: bytes, text: str, controlled: Path) -> None:
    data = b"2\n%d\n%s" % (crc32(lines), lines)

    (finding,) = check_with(controlled / "epochFileCheckpoint", data, controlled)

    assert (finding.text, finding.kind) == (text, FindingKind.EPOCHS)


@pytest.mark.parametrize("name", ["epochFileCheckpoint", "brokerIdentity"])
def test_files_of_a_controller_s_broker_that_java_cannot_read_are_damage(
    name: str, controlled: Path
) -> None:
    (finding,) = check_with(controlled / name, bytes(7), controlled)

    assert (finding.file, finding.kind) == (name, FindingKind.EPOCHS)
