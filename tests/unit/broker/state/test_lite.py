"""Who is told of messages of lite topics, and the end of lite topics."""

from __future__ import annotations

import pytest

from rocketwire.messages.enums import LiteSubscriptionAction as Action
from rocketwire.messages.enums import OffsetOptionType
from rocketwire.messages.lite import OffsetOption
from rocketwire_broker.state.lite import consistent_hash
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import GROUP, PARENT, Reader, light, put_group, put_parent, send

MINUTE = 60_000


@pytest.fixture
def home() -> BrokerAtHand:
    home = BrokerAtHand()
    put_parent(home)
    put_group(home)
    return home


def test_each_group_and_one_client_of_it_is_told_of_a_message(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    put_group(home, "others")
    readers = [reader, Reader(home, client, "second"), Reader(home, client, "third", "others")]
    for one in readers:
        one.subscribe("a")

    send(client, "a", "1")

    popped = [one.pop() for one in readers]
    assert popped[2] == [b"1"]
    assert sorted(popped[:2]) == [[], [b"1"]]


def test_clients_are_told_by_turns(home: BrokerAtHand, client: Client) -> None:
    readers = [Reader(home, client, name) for name in ("first", "second")]
    for reader in readers:
        reader.subscribe(*"abcd")

    for name in "abcd":
        send(client, name, name)

    assert [len(reader.pop()) for reader in readers] == [2, 2]


def test_events_of_a_client_that_does_not_pop_go_to_another_one(
    home: BrokerAtHand, client: Client
) -> None:
    silent, busy = Reader(home, client, "silent"), Reader(home, client, "busy")
    silent.subscribe("a")
    send(client, "a", "1")
    busy.subscribe("a")
    assert busy.pop() == []

    home.pass_time(20_000)

    assert silent.pop() == []
    assert busy.pop() == [b"1"]


def test_a_client_that_was_silent_is_told_last(home: BrokerAtHand, client: Client) -> None:
    silent = Reader(home, client, "silent")
    silent.subscribe("a", "b")
    send(client, "a", "1")
    home.pass_time(20_000)
    assert silent.pop(invisible=MINUTE) == [b"1"]  # it is the only one
    busy = Reader(home, client, "busy")
    busy.subscribe("b")

    for number in range(3):
        send(client, "b", str(number))

    assert silent.pop() == []
    assert busy.pop() == [b"0", b"1", b"2"]


def test_lite_topics_beyond_the_limit_of_events_come_later(
    home: BrokerAtHand, client: Client
) -> None:
    put_group(home, "small", lite_sub_client_max_event_cnt="10")
    reader = Reader(home, client, group="small")
    names = [f"n{number:02}" for number in range(15)]
    reader.subscribe(*names)
    for name in names:
        send(client, name, name)

    assert len(reader.pop()) == 10
    assert reader.pop() == []
    for name in names[:10]:
        reader.ack(name, 0)
    assert reader.pop() == []
    home.pass_time(10_000)

    assert {text.decode() for text in reader.pop()} == set(names[10:])


def test_a_client_with_events_still_waits_for_the_rest(home: BrokerAtHand, client: Client) -> None:
    put_group(home, "small", lite_sub_client_max_event_cnt="10")
    reader = Reader(home, client, group="small")
    names = [f"n{number:02}" for number in range(15)]
    reader.subscribe(*names)
    for name in names:
        send(client, name, name)
    reader.pop(count=3)
    lite = home.broker.lite

    client.call(200079, {"group": "small", "clientId": "reader"})  # not low enough

    assert len(lite.events["reader"]) == 7
    reader.pop(count=6)
    client.call(200079, {"group": "small", "clientId": "reader"})  # there are more than it has room
    assert len(lite.events["reader"]) == 10


def test_without_a_limit_of_the_group_that_of_the_broker_holds(client: Client) -> None:
    home = BrokerAtHand(max_lite_events=1)
    put_parent(home)
    put_group(home, lite_sub_client_max_event_cnt="many")
    client = home.connect()
    reader = Reader(home, client)
    reader.subscribe("a", "b")
    send(client, "a", "1")
    send(client, "b", "2")

    assert reader.pop() == [b"1"]


# ---------------------------------------------------------------------------- wildcards


def test_a_group_with_a_wildcard_is_told_of_every_lite_topic(
    home: BrokerAtHand, client: Client
) -> None:
    put_group(home, "all", lite_sub_wildcard="true")
    reader = Reader(home, client, group="all")
    send(client, "before", "0")
    reader.change(Action.COMPLETE_ADD)
    send(client, "a", "1")

    assert reader.pop(invisible=MINUTE) == [b"1"]
    home.pass_time(10_000)
    assert reader.pop() == [b"0"]
    assert reader.ack("before", 0).code == 0


def test_a_group_with_a_wildcard_gets_the_rest_when_its_clients_have_room(
    home: BrokerAtHand, client: Client
) -> None:
    put_group(home, "all", lite_sub_wildcard="true", lite_sub_client_max_event_cnt="10")
    reader = Reader(home, client, group="all")
    reader.change(Action.COMPLETE_ADD)
    names = [f"n{number:02}" for number in range(25)]
    for name in names:
        send(client, name, name)

    popped: set[str] = set()
    for _ in range(8):
        texts = {text.decode() for text in reader.pop()}
        for name in texts:
            reader.ack(name, 0)
        popped |= texts
        home.pass_time(10_000)

    assert popped == set(names)


def test_a_wildcard_ends_with_its_clients(home: BrokerAtHand, client: Client) -> None:
    put_group(home, "all", lite_sub_wildcard="true")
    put_group(home, "unbound", lite_sub_wildcard="true")
    reader = Reader(home, client, group="all")
    reader.change(Action.COMPLETE_ADD)
    reader.change(Action.COMPLETE_REMOVE)
    send(client, "a", "1")
    client.call(200079, {"group": "all"})
    home.broker.lite.dispatch("strange", "all", home.now)

    assert home.broker.lite.events == {}
    home.pass_time(10_000)


# ---------------------------------------------------------------------------- offsets


@pytest.mark.parametrize(
    ("kind", "value", "committed", "expected"),
    [
        (OffsetOptionType.POLICY, 0, 1, [b"1", b"2"]),
        (OffsetOptionType.POLICY, 1, 2, [b"0", b"1", b"2"]),
        (OffsetOptionType.POLICY, 2, 1, []),
        (OffsetOptionType.OFFSET, 2, 1, [b"2"]),
        (OffsetOptionType.OFFSET, -5, 1, [b"1", b"2"]),
        (OffsetOptionType.OFFSET, 1, 1, [b"1", b"2"]),
        (OffsetOptionType.TAIL_N, 1, 2, [b"1", b"2"]),
        (OffsetOptionType.TAIL_N, 9, 2, [b"0", b"1", b"2"]),
        (OffsetOptionType.TAIL_N, 1, None, [b"0", b"1", b"2"]),
        (OffsetOptionType.TIMESTAMP, 1, 2, [b"2"]),
    ],
)
def test_a_subscription_says_where_the_group_begins(
    home: BrokerAtHand,
    client: Client,
    reader: Reader,
    kind: OffsetOptionType,
    value: int,
    committed: int | None,
    expected: list[bytes],
) -> None:
    send(client, "a", "0", "1", "2")
    if committed is not None:
        home.broker.offsets.commit(GROUP, light("a"), 0, committed, home.now)

    reader.subscribe("a", offset_option=OffsetOption(type=kind, value=value))

    assert reader.pop() == expected


def test_a_group_may_begin_anew_after_the_end_of_a_subscription(
    home: BrokerAtHand, client: Client
) -> None:
    put_group(home, "again", lite_sub_reset_offset_unsubscribe="true")
    reader = Reader(home, client, group="again")
    send(client, "a", "1")
    reader.subscribe("a")
    reader.pop()
    reader.ack("a", 0)
    reader.change(Action.PARTIAL_REMOVE, "a")
    reader.subscribe("a")

    assert reader.pop() == [b"1"]


# ---------------------------------------------------------------------------- ends


def test_a_client_that_renews_nothing_for_three_minutes_is_forgotten(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    other = Reader(home, client, "other")
    reader.subscribe("a")
    other.subscribe("a")
    for _ in range(6):
        home.pass_time(MINUTE)
        other.change(Action.COMPLETE_ADD, "a")

    assert home.broker.lite.subscriptions.get("reader") is None
    assert home.broker.lite.subscriptions.get("other") is not None


def test_lite_topics_end_after_their_time_without_messages(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    put_parent(home, minutes=20)
    put_parent(home, "kept")
    send(client, "a", "1")
    send(client, "b", "1", topic="kept")
    reader.subscribe("a")
    reader.pop()

    home.pass_time(19 * MINUTE)
    assert light("a") in home.broker.store.lmqs
    home.pass_time(5 * MINUTE)

    assert list(home.broker.store.lmqs) == ["%LMQ%$kept$b"]
    assert home.broker.lite.subscriptions.count == 0
    assert home.broker.offsets.get(GROUP, light("a"), 0) is None
    assert home.broker.store.max_offset(PARENT, 0) == 1
    send(client, "a", "2")
    assert home.broker.store.max_offset(light("a"), 0) == 1


def test_the_lite_topics_of_a_deleted_topic_are_deleted(home: BrokerAtHand, client: Client) -> None:
    put_parent(home, "kept")
    send(client, "a", "1")
    send(client, "b", "1", topic="kept")

    assert client.call(215, {"topic": PARENT}).code == 0

    assert list(home.broker.store.lmqs) == ["%LMQ%$kept$b"]


def test_buckets_are_those_of_guava() -> None:
    # com.google.common.hash.Hashing.consistentHash(long, int), asked in a JVM
    numbers = (0, 1, 97, -1, 2_147_483_647, -2_147_483_648)

    assert [consistent_hash(number, 16) for number in numbers] == [0, 6, 0, 10, 9, 2]
    assert [consistent_hash(number, 5) for number in numbers] == [0, 0, 0, 2, 0, 2]
    assert [consistent_hash(number, 1) for number in numbers] == [0] * 6
