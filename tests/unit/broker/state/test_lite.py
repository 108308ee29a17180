"""Events of lite topics, the subscriptions that get them, and the end of lite topics."""

from collections.abc import Iterable

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.messages.enums import LiteSubscriptionAction as Action
from rocketwire.messages.enums import OffsetOptionType
from rocketwire.messages.lite import OffsetOption
from rocketwire_broker.state.lite import consistent_hash
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import (
    GROUP,
    PARENT,
    Reader,
    light,
    put_group,
    put_parent,
    send,
    start_lite_broker,
)

MINUTE = 60_000


@pytest.fixture
def home() -> BrokerAtHand:
    return start_lite_broker()


NAMES = [f"n{number:02}" for number in range(25)]


def send_each(client: Client, names: Iterable[str]) -> None:
    for name in names:
        send(client, name, name)


def test_each_group_gets_a_message_once(home: BrokerAtHand, client: Client, reader: Reader) -> None:
    put_group(home, "others")
    readers = [reader, Reader(home, client, "second"), Reader(home, client, "third", "others")]
    for subscriber in readers:
        subscriber.subscribe("a")

    send(client, "a", "1")

    *same_group, third = [subscriber.pop() for subscriber in readers]
    assert sorted(same_group) == [[], [b"1"]]
    assert third == [b"1"]


def test_clients_get_messages_by_turns(home: BrokerAtHand, client: Client) -> None:
    readers = [Reader(home, client, name) for name in ("first", "second")]
    for reader in readers:
        reader.subscribe(*"abcd")

    send_each(client, "abcd")

    assert [len(reader.pop()) for reader in readers] == [2, 2]


def test_events_of_a_silent_client_go_to_another(home: BrokerAtHand, client: Client) -> None:
    silent, busy = Reader(home, client, "silent"), Reader(home, client, "busy")
    silent.subscribe("a")
    send(client, "a", "1")
    busy.subscribe("a")
    assert busy.pop() == []

    home.pass_time(20_000)

    assert silent.pop() == []
    assert busy.pop() == [b"1"]


def test_silent_client_gets_events_last(home: BrokerAtHand, client: Client) -> None:
    silent, busy = Reader(home, client, "silent"), Reader(home, client, "busy")
    silent.subscribe("a", "b")
    send(client, "a", "1")
    home.pass_time(20_000)
    assert silent.pop(invisible=MINUTE) == [b"1"]
    busy.subscribe("b")

    send(client, "b", "0", "1", "2")

    assert silent.pop() == []
    assert busy.pop() == [b"0", b"1", b"2"]


@pytest.fixture
def small_reader(home: BrokerAtHand, client: Client) -> Reader:
    put_group(home, "small", lite_sub_client_max_event_cnt="10")
    reader = Reader(home, client, group="small")
    reader.subscribe(*NAMES[:15])
    send_each(client, NAMES[:15])
    return reader


def test_events_beyond_the_limit_come_later(home: BrokerAtHand, small_reader: Reader) -> None:
    assert len(small_reader.pop()) == 10
    assert small_reader.pop() == []
    for name in NAMES[:10]:
        small_reader.ack(name, 0)
    assert small_reader.pop() == []
    home.pass_time(10_000)

    assert {text.decode() for text in small_reader.pop()} == set(NAMES[10:15])


def test_events_are_refilled_when_few_remain(home: BrokerAtHand, small_reader: Reader) -> None:
    small_reader.pop(count=3)
    lite = home.broker.lite
    trigger = {"group": "small", "clientId": "reader"}

    small_reader.client.call(Code.TRIGGER_LITE_DISPATCH, trigger)
    assert len(lite.events["reader"]) == 7

    small_reader.pop(count=6)
    # 15 lite topics have events, ten of them fit
    small_reader.client.call(Code.TRIGGER_LITE_DISPATCH, trigger)
    assert len(lite.events["reader"]) == 10


def test_limit_of_events_is_that_of_the_broker_if_the_group_has_none() -> None:
    home = start_lite_broker(max_lite_events=1)
    put_group(home, lite_sub_client_max_event_cnt="many")
    reader = Reader(home, home.connect())
    reader.subscribe("a", "b")
    send(reader.client, "a", "1")
    send(reader.client, "b", "2")

    assert reader.pop() == [b"1"]


@pytest.fixture
def wildcard(home: BrokerAtHand, client: Client) -> Reader:
    """A reader of all lite topics, which has not subscribed yet, with room for ten events."""
    put_group(home, "all", lite_sub_wildcard="true", lite_sub_client_max_event_cnt="10")
    return Reader(home, client, group="all")


def test_wildcard_stands_for_every_lite_topic(home: BrokerAtHand, wildcard: Reader) -> None:
    send(wildcard.client, "early", "0")
    wildcard.change(Action.COMPLETE_ADD)
    send(wildcard.client, "a", "1")

    assert wildcard.pop(invisible=MINUTE) == [b"1"]
    home.pass_time(10_000)
    assert wildcard.pop() == [b"0"]
    assert wildcard.ack("early", 0).code == 0


def test_wildcard_gets_all_events_in_turns(home: BrokerAtHand, wildcard: Reader) -> None:
    wildcard.change(Action.COMPLETE_ADD)
    send_each(wildcard.client, NAMES)

    names: set[str] = set()
    for _ in range(8):
        popped = {text.decode() for text in wildcard.pop()}
        for name in popped:
            wildcard.ack(name, 0)
        names |= popped
        home.pass_time(10_000)

    assert names == set(NAMES)


def test_wildcard_ends_with_its_clients(home: BrokerAtHand, wildcard: Reader) -> None:
    put_group(home, "unbound", lite_sub_wildcard="true")
    wildcard.change(Action.COMPLETE_ADD)
    wildcard.change(Action.COMPLETE_REMOVE)
    send(wildcard.client, "a", "1")
    wildcard.client.call(Code.TRIGGER_LITE_DISPATCH, {"group": "all"})
    home.broker.lite.dispatch("strange", "all", home.now)

    assert home.broker.lite.events == {}
    home.pass_time(10_000)


@pytest.mark.parametrize(
    ("option", "committed", "expected"),
    [
        (OffsetOption(type=OffsetOptionType.POLICY, value=0), 1, "12"),
        (OffsetOption(type=OffsetOptionType.POLICY, value=1), 2, "012"),
        (OffsetOption(type=OffsetOptionType.POLICY, value=2), 1, ""),
        (OffsetOption(type=OffsetOptionType.OFFSET, value=2), 1, "2"),
        (OffsetOption(type=OffsetOptionType.OFFSET, value=-5), 1, "12"),
        (OffsetOption(type=OffsetOptionType.OFFSET, value=1), 1, "12"),
        (OffsetOption(type=OffsetOptionType.TAIL_N, value=1), 2, "12"),
        (OffsetOption(type=OffsetOptionType.TAIL_N, value=9), 2, "012"),
        (OffsetOption(type=OffsetOptionType.TAIL_N, value=1), None, "012"),
        (OffsetOption(type=OffsetOptionType.TIMESTAMP, value=1), 2, "2"),
    ],
)
def test_subscription_sets_the_first_offset(
    home: BrokerAtHand, reader: Reader, option: OffsetOption, committed: int | None, expected: str
) -> None:
    send(reader.client, "a", "0", "1", "2")
    if committed is not None:
        home.broker.offsets.commit(GROUP, light("a"), 0, committed, home.now)

    reader.subscribe("a", offset_option=option)

    assert b"".join(reader.pop()).decode() == expected


def test_subscription_may_begin_anew_after_its_end(home: BrokerAtHand, client: Client) -> None:
    put_group(home, "again", lite_sub_reset_offset_unsubscribe="true")
    reader = Reader(home, client, group="again")
    send(client, "a", "1")
    reader.subscribe("a")
    reader.pop()
    reader.ack("a", 0)
    reader.change(Action.PARTIAL_REMOVE, "a")
    reader.subscribe("a")

    assert reader.pop() == [b"1"]


def test_silent_client_is_forgotten(home: BrokerAtHand, client: Client, reader: Reader) -> None:
    busy = Reader(home, client, "busy")
    reader.subscribe("a")
    busy.subscribe("a")
    for _ in range(6):
        home.pass_time(MINUTE)
        busy.change(Action.COMPLETE_ADD, "a")

    assert home.broker.lite.subscriptions.get("reader") is None
    assert home.broker.lite.subscriptions.get("busy") is not None


def test_lite_topic_expires(home: BrokerAtHand, client: Client, reader: Reader) -> None:
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


def test_lite_topics_of_a_deleted_topic_are_deleted(home: BrokerAtHand, client: Client) -> None:
    put_parent(home, "kept")
    send(client, "a", "1")
    send(client, "b", "1", topic="kept")

    assert client.call(Code.DELETE_TOPIC_IN_BROKER, {"topic": PARENT}).code == 0

    assert list(home.broker.store.lmqs) == ["%LMQ%$kept$b"]


def test_buckets_are_those_of_guava() -> None:
    # com.google.common.hash.Hashing.consistentHash(long, int), asked in a JVM
    numbers = (0, 1, 97, -1, 2_147_483_647, -2_147_483_648)

    assert [consistent_hash(number, 16) for number in numbers] == [0, 6, 0, 10, 9, 2]
    assert [consistent_hash(number, 5) for number in numbers] == [0, 0, 0, 2, 0, 2]
    assert [consistent_hash(number, 1) for number in numbers] == [0] * 6
