"""Messages that wait for a time, and transactions."""

from rocketwire_broker.tables.waiting import HalfMessages, Timers


def test_timed_messages_are_ordered_by_time_and_offset() -> None:
    timers = Timers()
    for due, offset in ((30, 0), (10, 1), (10, 2), (20, 3)):
        timers.add(due, offset)

    assert timers.next_due == 10
    assert [timers.pop(20) for _ in range(4)] == [1, 2, 3, None]
    assert timers.next_due == 30
    assert timers.pop(29) is None
    assert timers.pop(31) == 0
    assert timers.next_due is None


def test_offsets_of_evicted_messages_are_forgotten_when_they_are_many() -> None:
    timers = Timers()
    for offset in range(1_000):
        timers.add(5_000 - offset, offset)

    timers.forget(min_offset=990, kept=10)

    assert len(timers) == 10
    assert timers.pop(9_999) == 999


def test_a_recall_counts_until_its_end() -> None:
    timers = Timers()

    timers.recall("orders+1")

    assert timers.is_recalled("orders+1")
    timers.end_recall("orders+1")
    timers.end_recall("orders+1")
    assert not timers.is_recalled("orders+1")


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
