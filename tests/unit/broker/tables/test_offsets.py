"""Committed offsets and resets."""

import pytest

from rocketwire_broker.tables.offsets import Offsets


@pytest.fixture
def offsets() -> Offsets:
    offsets = Offsets(now=7)
    offsets.commit("readers", "orders", 0, 5, now=8)
    return offsets


def test_a_queue_beyond_all_limits_has_no_offset(offsets: Offsets) -> None:
    for queue_id in (-1, 65_536):
        offsets.commit("readers", "orders", queue_id, 5, now=8)

    assert offsets.of("readers", "orders") == {0: 5}


def test_a_reset_is_pending_until_it_was_taken(offsets: Offsets) -> None:
    offsets.reset("readers", "orders", 0, 2, now=9)

    assert offsets.get("readers", "orders", 0) == 2
    assert offsets.pending_reset("readers", "orders", 0) == 2
    assert offsets.take_reset("readers", "orders", 0) == 2
    assert offsets.take_reset("readers", "orders", 0) is None
    assert offsets.get("readers", "orders", 0) == 2


def test_the_place_of_the_next_pull_is_not_the_committed_offset(offsets: Offsets) -> None:
    offsets.note_pulled("readers", "orders", 0, 9)

    assert offsets.next_pull("readers", "orders", 0) == 9
    assert offsets.next_pull("readers", "orders", 1) is None
    assert offsets.get("readers", "orders", 0) == 5
