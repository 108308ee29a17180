"""HalfMessages: a transaction has several offsets, one end, and is forgotten with its messages."""

from __future__ import annotations

from rocketwire_broker.tables.half_messages import HalfMessages


def test_a_transaction_is_known_by_each_of_its_offsets_and_comes_in_the_place_of_the_newest() -> (
    None
):
    halves = HalfMessages()
    first, second = halves.open(0), halves.open(1)

    halves.move(first, 2)

    assert halves.get(0) is first
    assert halves.get(2) is first
    assert halves.open_transactions() == [second, first]
    assert halves.first_undecided == 1


def test_an_ended_transaction_stays_known_and_is_to_be_written() -> None:
    halves = HalfMessages()
    half = halves.open(7)

    halves.end(half)

    assert half.ended
    assert halves.get(7) is half
    assert halves.unwritten == [7]
    assert halves.first_undecided is None


def test_evicted_half_messages_are_forgotten_and_end_the_transaction_with_their_newest() -> None:
    halves = HalfMessages()
    gone, moved = halves.open(0), halves.open(1)
    halves.move(moved, 5)

    halves.forget(min_offset=5)

    assert gone.ended
    assert not moved.ended
    assert len(halves) == 1
    assert halves.get(1) is None
