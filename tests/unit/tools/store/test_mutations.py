"""Damage at random places: nothing is invented, nothing outside the damage is missed, and nothing crashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.stores.fixtures import PACKED, unpack
from tests.support.stores.hostile import HostileStore

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 4
"""Of each store; ``python -m tests.fuzz.damaged_stores`` does a thousand."""


@pytest.mark.slow
@pytest.mark.parametrize(("release", "kind"), PACKED)
def test_no_damage_to_any_file_invents_a_message_hides_one_or_ends_a_verb(
    release: str, kind: str, tmp_path: Path
) -> None:
    store = unpack(release, kind, tmp_path / "store")
    hostile = HostileStore(store.root, unpack(*PACKED[-1], tmp_path / "foreign").root)
    if kind != "compaction":  # brokers answer from the compacted log, whose offsets are others
        assert {message.physical_offset for message in store.truth.pulled} <= hostile.lines.keys()

    for number in range(ROUNDS):
        damage, faults = hostile.damage(f"{release} {kind} {number}")
        assert not faults, (number, damage.name, damage.files)
