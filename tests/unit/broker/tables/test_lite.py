"""Subscriptions to lite topics, and events of clients."""

from rocketwire_broker.tables.lite import LiteEvents, LiteSubscriptions
from tests.support.values import require


def test_subscriptions_are_found_by_client_queue_and_group() -> None:
    table = LiteSubscriptions()
    for client_id, group in (("one", "g"), ("two", "g"), ("three", "h")):
        table.of_client(client_id, group, "rooms", 5)
        assert table.add(client_id, "a")
    assert table.add("one", "b")
    assert not table.add("one", "b")

    assert (table.count, len(table)) == (4, 3)
    assert table.clients_of("a", "g") == ["one", "two"]
    assert list(table.groups_of("a")) == ["g", "h"]
    assert table.clients_of_group("g") == ["one", "two"]
    assert list(table.silent(5)) == []
    table.of_client("two", "x", "y", 9)
    assert list(table.silent(6)) == ["one", "three"]
    subscription = require(table.get("two"))
    assert (subscription.group, subscription.topic) == ("g", "rooms")


def test_a_removed_subscription_is_nowhere() -> None:
    table = LiteSubscriptions()
    table.of_client("one", "g", "rooms", 0)
    table.add("one", "a")

    assert table.remove("one", "a")
    assert not table.remove("one", "a")
    assert not table.remove("nobody", "a")
    assert (table.count, list(table.groups_of("a"))) == (0, [])
    table.remove_if_empty("one")
    table.remove_if_empty("nobody")
    assert table.get("one") is None


def test_a_client_with_subscriptions_is_not_empty() -> None:
    table = LiteSubscriptions()
    table.of_client("one", "g", "rooms", 0)
    table.add("one", "a")

    table.remove_if_empty("one")

    assert table.get("one") is not None
    assert table.remove_client("one") is not None
    assert (table.count, table.remove_client("one")) == (0, None)


def test_events_come_in_order_and_once() -> None:
    events = LiteEvents("g", 10, now=0)
    for name in "aba":
        assert events.offer(name)

    assert [events.take(7) for _ in range(3)] == ["a", "b", None]
    assert events.accessed == 7


def test_events_have_a_limit() -> None:
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
