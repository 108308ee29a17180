"""Index files against the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.stores import damage
from tests.support.stores.checked import checked, damage_of

if TYPE_CHECKING:
    from tests.support.stores import BrokerStore


def test_an_entry_of_the_index_with_a_wrong_hash_is_found(store: BrokerStore) -> None:
    file = sorted((store.root / "index").iterdir())[0]
    position = 40 + 4 * 100 + 20 * 7
    data = bytearray(file.read_bytes())
    data[position + 3] ^= 1
    file.write_bytes(data)

    check = checked(store.root)

    assert set(damage_of(check)) == {"index"}
    first = check.findings.kept[0]
    assert (first.file, first.position) == (f"index/{file.name}", position)
    assert "has no such key" in first.text


@pytest.mark.parametrize(
    ("position", "data", "text"),
    [
        (36, b"\x7f\xff\xff\xff", "no number of slots"),
        (40 + 4 * 100 + 20 * 7 + 4, b"\x7f", "where the log has no message"),
        (40 + 4 * 100 + 20 * 7 + 10, b"\0\1", "message"),
        (40 + 4 * 100 + 20 * 90 + 16, b"\0\0\0\x59", "of its slot"),
    ],
)
def test_a_broken_index_file_is_found(
    position: int, data: bytes, text: str, store: BrokerStore
) -> None:
    file = sorted((store.root / "index").iterdir())[0]
    damage.put(file, position, data)

    check = checked(store.root)

    assert set(damage_of(check)) == {"index"}
    assert any(text in finding.text for finding in check.findings.kept)


def test_an_index_file_without_a_head_is_found(store: BrokerStore) -> None:
    sorted((store.root / "index").iterdir())[0].write_bytes(b"short")

    assert "less than a head" in checked(store.root).findings.kept[0].text


@pytest.mark.parametrize("number", [3, 50])
def test_an_entry_that_leads_to_another_message_of_the_log_is_found(
    number: int, store: BrokerStore
) -> None:
    file = sorted((store.root / "index").iterdir())[0]
    position = 40 + 4 * 100 + 20 * number
    later = store.truth.pulled[-1].physical_offset
    damage.put(file, position + 4, later.to_bytes(8, "big"))

    check = checked(store.root)

    assert set(damage_of(check)) == {"index"}
    assert any(
        finding.position == position and "has no such key" in finding.text
        for finding in check.findings.kept
    )
