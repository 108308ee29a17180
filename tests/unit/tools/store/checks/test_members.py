"""What brokers of a controller noted, against their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.wire.checksum import crc32
from rocketwire_tools.store.checks.findings import FindingKind
from tests.support.java.peers import CURRENT
from tests.support.stores.checked import checked
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from pathlib import Path

    from rocketwire_tools.store.checks.findings import Finding


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


def test_a_store_as_its_broker_left_it_has_no_findings(controlled: Path) -> None:
    assert checked(controlled).findings.kept == []


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
