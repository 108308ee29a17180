"""Timers: the earliest message first, and evicted ones do not pile up."""

from rocketwire_broker.tables.waiting import Timers


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
