"""Configuration and checkpoint of damaged stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.stores.checked import checked, damage_of

if TYPE_CHECKING:
    from tests.support.stores import BrokerStore


@pytest.mark.parametrize("text", [b"", b"{", b"\0" * 40, b"[]"])
def test_a_broken_configuration_file_is_named_with_what_brokers_read(
    text: bytes, store: BrokerStore
) -> None:
    path = store.root / "config" / "topics.json"
    path.with_suffix(".json.bak").write_bytes(path.read_bytes())
    path.write_bytes(text)

    check = checked(store.root)

    assert damage_of(check) == {"config": 1}
    assert "brokers read topics.json.bak in its place" in check.findings.kept[0].text


def test_a_missing_configuration_file_counts_if_its_copy_is_there(store: BrokerStore) -> None:
    path = store.root / "config" / "topics.json"
    path.rename(path.with_suffix(".json.bak"))

    assert "the file is missing; brokers" in checked(store.root).findings.kept[0].text


def test_a_configuration_file_without_a_readable_copy_is_lost(store: BrokerStore) -> None:
    path = store.root / "config" / "consumerOffset.json"
    path.write_bytes(b"{")
    path.with_suffix(".json.bak").write_bytes(b"")

    assert "not readable either" in checked(store.root).findings.kept[0].text


def test_a_short_checkpoint_is_damage(store: BrokerStore) -> None:
    (store.root / "checkpoint").write_bytes(b"short")

    assert damage_of(checked(store.root)) == {"checkpoint": 1}
