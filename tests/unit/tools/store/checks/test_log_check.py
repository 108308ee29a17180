"""Bytes between the messages of a log."""

import shutil
from pathlib import Path

import pytest

from tests.peers.peers import CURRENT
from tests.support.stores import BrokerStore, damage
from tests.support.stores.checked import checked, damage_of, notes_of
from tests.support.stores.fixtures import unpack


def test_page_of_zeros_costs_only_the_messages_that_it_touches(store: BrokerStore) -> None:
    damage.zero_page(store.root)

    check = checked(store.root)

    lost = len(store.truth.pulled) - check.log.messages
    assert 1 <= lost <= 40
    assert damage_of(check)["no message"] == lost


def test_old_messages_after_the_end_are_ghosts_and_no_damage(store: BrokerStore) -> None:
    """As after a cut that was written over in part: the log ends in the middle of an old message."""
    messages = damage.places(damage.log_files(store.root)[-1])
    first, last = messages[-3], messages[-1]
    file, offset = first.file, int(first.file.name) + first.position
    damage.put(file, first.position, b"rest of an old message".ljust(16, b"."))
    times = b"\0\0\1\x80" + bytes(4)  # long before the others
    for place in messages[-2:]:
        damage.put(file, place.position + 56, times)
    damage.lose_units_from(store.root, offset)
    shutil.rmtree(store.root / "index")
    (store.root / "checkpoint").unlink()

    check = checked(store.root)

    assert damage_of(check) == {}
    assert check.log.ghosts == [2, messages[-2].size + last.size]
    assert notes_of(check) == {"ghost": 1}


def test_part_of_an_old_message_after_the_end_is_no_torn_message(store: BrokerStore) -> None:
    place = damage.places(damage.log_files(store.root)[-1])[-1]
    damage.put(place.file, place.position + place.size, b"rest of an old message")

    check = checked(store.root)

    assert damage_of(check) == {}
    assert notes_of(check) == {"ghost": 1}


@pytest.mark.parametrize("byte", [3, 7, 35, 87])
def test_wrong_bit_in_the_head_of_an_unqueued_message_is_damage(byte: int, tmp_path: Path) -> None:
    """Of size, magic number, physical offset or body size; the broker was killed."""
    root = unpack(CURRENT, "killed", tmp_path).root
    place = damage.places(damage.log_files(root)[-1])[-1]
    damage.flip(place.file, place.position + byte, 4)

    assert sum(damage_of(checked(root)).values()) == 1
