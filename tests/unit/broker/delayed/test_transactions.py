"""Transaction messages, checks of their producers, and what becomes of those that nobody decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.broker import START, BrokerAtHand, bodies, messages
from tests.unit.broker import groups
from tests.unit.broker.groups import end_transaction, join_producers

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from tests.support.broker import Client

HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
DECISIONS = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
GIVEN_UP = "TRANS_CHECK_MAX_TIME_TOPIC"


def connect_producer(home: BrokerAtHand, group: str = "p") -> Client:
    client = home.connect()
    join_producers(client, f"c{client.peer.number}", group)
    return client


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    return connect_producer(home)


def send_half(
    client: Client, born: int = START, body: bytes = b"half", **changes: Any
) -> RemotingCommand:
    return groups.send_half(client, queue=3, f=4, g=born, body=body, **changes)


def test_transactions_may_be_refused() -> None:
    client = connect_producer(BrokerAtHand(reject_transactions=True))

    assert send_half(client).code == 16


def test_retry_is_no_transaction(home: BrokerAtHand, client: Client) -> None:
    client.send("%RETRY%g", properties={"TRAN_MSG": "true", "PGROUP": "p", "DELAY": "1"}, j=1)
    home.pass_time(1_000)

    assert bodies(client.pull_now(topic="%RETRY%g")) == [b"body"]


def test_producer_is_asked_after_the_immunity_time(client: Client, home: BrokerAtHand) -> None:
    home.pass_time(25_000)
    send_half(client, born=home.now)

    home.pass_time(5_000)  # the check of second 30 finds it five seconds old
    assert client.requests() == []
    home.pass_time(30_000)
    [first] = client.requests()
    home.pass_time(30_000)
    [second] = client.requests()

    assert first.code == 39
    assert first.is_oneway
    fields = first.ext_fields or {}
    assert {name: fields[name] for name in fields if name != "commitLogOffset"} == {
        "topic": HALF,
        "tranStateTableOffset": "1",
        "msgId": "KEY1",
        "transactionId": "KEY1",
        "offsetMsgId": f"7F00000100002A9F{int(fields['commitLogOffset']):016X}",
        "bname": "broker-a",
    }
    [message] = messages(first)
    properties = message.properties or {}
    assert (message.topic, message.queue_id, message.queue_offset) == ("orders", 3, 1)
    assert message.commit_log_offset == int(fields["commitLogOffset"])
    assert message.born_timestamp == START + 25_000
    assert properties["TRANSACTION_CHECK_TIMES"] == "1"
    assert properties["WAIT"] == "false"
    assert (second.ext_fields or {})["tranStateTableOffset"] == "2"
    assert (messages(second)[0].properties or {})["TRANSACTION_CHECK_TIMES"] == "2"


def test_a_message_may_ask_for_its_own_time_before_the_first_check() -> None:
    home = BrokerAtHand(transaction_check_ms=1_000)
    client = connect_producer(home)
    send_half(client, properties={"CHECK_IMMUNITY_TIME_IN_SECONDS": "10"})

    home.pass_time(10_999)
    assert client.requests() == []
    home.pass_time(1)

    assert len(client.requests()) == 1


def test_checks_before_that_time_count_as_in_java() -> None:
    home = BrokerAtHand(transaction_check_ms=1_000, transaction_check_max=3)
    client = connect_producer(home)
    send_half(client, properties={"CHECK_IMMUNITY_TIME_IN_SECONDS": "10"})

    home.pass_time(5_000)

    [message] = messages(client.pull_now(topic=GIVEN_UP))
    assert (message.properties or {})["TRANSACTION_CHECK_TIMES"] == "3"
    assert (message.properties or {})["TRAN_PREPARED_QUEUE_OFFSET"] == "0"
    assert client.requests() == []


def test_producers_of_a_group_take_turns_and_others_are_not_asked(home: BrokerAtHand) -> None:
    first, second, other = (
        connect_producer(home),
        connect_producer(home),
        connect_producer(home, "other"),
    )
    for _ in range(4):
        send_half(first)

    home.pass_time(30_000)

    assert len(first.requests()) == 2
    assert len(second.requests()) == 2
    assert other.requests() == []


def test_half_message_is_given_up_after_the_most_checks_without_a_producer() -> None:
    home = BrokerAtHand(transaction_check_max=15)
    client = home.connect()
    send_half(client)

    home.pass_time(15 * 30_000)
    assert bodies(client.pull_now(topic=GIVEN_UP)) == []
    home.pass_time(30_000)

    [message] = messages(client.pull_now(topic=GIVEN_UP))
    assert message.body == b"half"
    assert (message.properties or {})["TRANSACTION_CHECK_TIMES"] == "15"
    home.pass_time(60_000)
    assert home.broker.store.max_offset(HALF, 0) == 16
    assert home.broker.store.max_offset(GIVEN_UP, 0) == 1


def test_half_message_of_1970_is_given_up_at_once(client: Client, home: BrokerAtHand) -> None:
    client.send(properties={"TRAN_MSG": "true", "PGROUP": "p"}, g=0)

    home.pass_time(30_000)

    assert bodies(client.pull_now(topic=GIVEN_UP)) == [b"body"]
    assert client.requests() == []


@pytest.mark.parametrize("checks", [0, 2])
def test_decisions_are_written(client: Client, home: BrokerAtHand, checks: int) -> None:
    send_half(client)
    open_ = send_half(client, body=b"open")
    assert open_.code == 0
    home.pass_time(30_000 * checks)
    half = messages(client.pull_now(topic=HALF))[0]

    code = end_transaction(client, half.queue_offset, half.commit_log_offset, msgId="KEY1")
    assert code == 0
    home.pass_time(3_000)

    [decision] = messages(client.pull_now(topic=DECISIONS))
    assert decision.body == b"%d," % (2 * checks)
    assert (decision.properties or {})["TAGS"] == "d"
    assert home.broker.offsets.get("CID_RMQ_SYS_TRANS", HALF, 0) == 2 * checks + 1
    assert home.broker.offsets.get("CID_RMQ_SYS_TRANS", DECISIONS, 0) == 1


def test_evicted_half_messages_end_their_transactions() -> None:
    home = BrokerAtHand(retain_bytes=3_000)
    client = connect_producer(home)
    for _ in range(30):
        send_half(client)

    home.pass_time(60_000)

    assert len(home.broker.half_messages) < 20


def test_large_half_message_ends_its_transaction(client: Client, home: BrokerAtHand) -> None:
    sizes = range(32_700, 32_000, -10)
    size = next(size for size in sizes if send_half(client, properties={"x": "x" * size}).code == 0)
    assert size > 32_000

    home.pass_time(60_000)

    assert client.requests() == []
    assert home.broker.half_messages.first_undecided is None
