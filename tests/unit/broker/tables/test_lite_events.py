"""Events of a client of lite topics."""

from __future__ import annotations

from rocketwire_broker.tables.lite_events import LiteEvents


def test_events_come_in_order_and_once() -> None:
    events = LiteEvents("g", 10, now=0)
    for name in "aba":
        assert events.offer(name)

    assert [events.take(7) for _ in range(3)] == ["a", "b", None]
    assert events.accessed == 7


def test_there_is_room_for_so_many() -> None:
    events = LiteEvents("g", 10, now=0)

    assert [events.offer(str(number)) for number in range(11)] == [True] * 10 + [False]
    assert not events.is_low
    assert not events.offer("1")
    for _ in range(9):
        events.take(0)
    assert events.is_low
    assert len(events) == 1


def test_a_client_is_silent_after_ten_seconds_with_events_and_35_without() -> None:
    events = LiteEvents("g", 10, now=0)

    assert (events.is_silent(35_000), events.is_silent(35_001)) == (False, True)
    events.offer("a")
    assert (events.is_silent(10_000), events.is_silent(10_001)) == (False, True)
