"""Index files against the log."""

from pathlib import Path

import pytest

from rocketwire_tools.store.checks import findings, index_check
from rocketwire_tools.store.verbs.check import write_text
from tests.support.stores import BrokerStore, damage
from tests.support.stores.checked import checked, damage_of

ENTRIES = 40 + 4 * 100
"""Position of the first entry of an index file."""


@pytest.fixture
def file(store: BrokerStore) -> Path:
    """The first file of the index."""
    return min((store.root / "index").iterdir())


def spoil_hashes(file: Path, *numbers: int) -> None:
    """Give entries another hash code."""
    for number in numbers:
        damage.put(file, ENTRIES + 20 * number, b"\0\0\0\1")


@pytest.mark.parametrize(
    ("position", "data", "text"),
    [
        (36, b"\x7f\xff\xff\xff", "no number of slots"),
        (ENTRIES + 20 * 7 + 4, b"\x7f", "where the log has no message"),
        (ENTRIES + 20 * 7 + 10, b"\0\1", "message"),
        (ENTRIES + 20 * 90 + 16, b"\0\0\0\x59", "of its slot"),
    ],
)
def test_broken_index_file_is_found(
    position: int, data: bytes, text: str, store: BrokerStore, file: Path
) -> None:
    damage.put(file, position, data)

    check = checked(store.root)

    assert set(damage_of(check)) == {"index"}
    assert any(text in finding.text for finding in check.findings.kept)


def test_index_file_without_a_head_is_found(store: BrokerStore, file: Path) -> None:
    file.write_bytes(b"short")

    assert "less than a head" in checked(store.root).findings.kept[0].text


@pytest.mark.parametrize("number", [3, 50])
def test_entry_that_leads_to_another_message_of_the_log_is_found(
    number: int, store: BrokerStore, file: Path
) -> None:
    position = ENTRIES + 20 * number
    later = store.truth.pulled[-1].physical_offset
    damage.put(file, position + 4, later.to_bytes(8, "big"))

    check = checked(store.root)

    assert set(damage_of(check)) == {"index"}
    assert any(
        finding.position == position and "has no such key" in finding.text
        for finding in check.findings.kept
    )


def test_entries_are_compared_in_pieces_with_the_same_findings(
    store: BrokerStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil_hashes(file, 3, 7, 50)
    at_once = checked(store.root)

    monkeypatch.setattr(index_check, "_MAX_ENTRIES", 1)
    in_pieces = checked(store.root)

    assert damage_of(at_once)["index"] >= 3
    assert in_pieces.findings.kept == at_once.findings.kept
    assert in_pieces.findings.counts == at_once.findings.counts


def test_wrong_entries_beyond_the_kept_ones_are_counted(
    store: BrokerStore,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The keys without an entry are a note, which is kept though damage of the same kind is not."""
    spoil_hashes(file, *range(3, 20))
    counts = checked(store.root).findings.counts

    monkeypatch.setattr(findings, "MAX_FINDINGS", 2)
    check = checked(store.root)
    write_text(check, with_reasons=False)

    assert check.findings.counts == counts
    assert counts[findings.FindingKind.INDEX, True][0] >= 17
    assert [finding.is_damage for finding in check.findings.kept] == [True, True, False]
    assert capsys.readouterr().out.count("index/") == 1
