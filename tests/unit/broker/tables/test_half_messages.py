"""HalfMessages: a transaction has several offsets, one end, and is forgotten with its messages."""

from rocketwire_broker.tables.waiting import HalfMessages


def test_transaction_is_found_by_each_offset_and_ordered_by_the_newest() -> None:
    halves = HalfMessages()
    first, second = halves.open(0), halves.open(1)

    halves.move(first, 2)

    assert halves.get(0) is first
    assert halves.get(2) is first
    assert halves.open_transactions() == [second, first]
    assert halves.first_undecided == 1


def test_ended_transaction_stays_known() -> None:
    halves = HalfMessages()
    half = halves.open(7)

    halves.end(half)

    assert half.ended
    assert halves.get(7) is half
    assert halves.unwritten == [7]
    assert halves.first_undecided is None


def test_transaction_ends_when_its_newest_half_message_is_evicted() -> None:
    halves = HalfMessages()
    gone, moved = halves.open(0), halves.open(1)
    halves.move(moved, 5)

    halves.forget(min_offset=5)

    assert gone.ended
    assert not moved.ended
    assert len(halves) == 1
    assert halves.get(1) is None
