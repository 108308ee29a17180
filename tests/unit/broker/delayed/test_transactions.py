"""Transaction messages, checks of their producers, and the end of undecided ones."""

from collections.abc import Mapping
from typing import Any

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.stored import StoredMessage
from tests.support.broker import START, BrokerAtHand, Client, bodies, messages
from tests.unit.broker import groups
from tests.unit.broker.groups import ABANDONED_TOPIC, HALF_TOPIC, end_transaction, join_producers

DECISIONS = "RMQ_SYS_TRANS_OP_HALF_TOPIC"


def connect_producer(home: BrokerAtHand, group: str = "p") -> Client:
    client = home.connect()
    join_producers(client, f"c{client.peer.number}", group)
    return client


def properties_of(message: StoredMessage) -> Mapping[str, str | None]:
    return message.properties or {}


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    return connect_producer(home)


def send_half(
    client: Client, born: int = START, body: bytes = b"half", **changes: Any
) -> RemotingCommand:
    return groups.send_half(client, queue=3, f=4, g=born, body=body, **changes)


def test_transactions_may_be_disabled() -> None:
    client = connect_producer(BrokerAtHand(reject_transactions=True))

    assert send_half(client).code == ResponseCode.NO_PERMISSION


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

    assert first.code == RequestCode.CHECK_TRANSACTION_STATE
    assert first.is_oneway
    fields = first.ext_fields or {}
    assert {name: fields[name] for name in fields if name != "commitLogOffset"} == {
        "topic": HALF_TOPIC,
        "tranStateTableOffset": "1",
        "msgId": "KEY1",
        "transactionId": "KEY1",
        "offsetMsgId": f"7F00000100002A9F{int(fields['commitLogOffset']):016X}",
        "bname": "broker-a",
    }
    [message] = messages(first)
    assert (message.topic, message.queue_id, message.queue_offset) == ("orders", 3, 1)
    assert message.commit_log_offset == int(fields["commitLogOffset"])
    assert message.born_timestamp == START + 25_000
    assert properties_of(message)["TRANSACTION_CHECK_TIMES"] == "1"
    assert properties_of(message)["WAIT"] == "false"
    assert (second.ext_fields or {})["tranStateTableOffset"] == "2"
    assert properties_of(messages(second)[0])["TRANSACTION_CHECK_TIMES"] == "2"


def test_message_may_have_its_own_immunity_time() -> None:
    home = BrokerAtHand(transaction_check_ms=1_000)
    client = connect_producer(home)
    send_half(client, properties={"CHECK_IMMUNITY_TIME_IN_SECONDS": "10"})

    home.pass_time(10_999)
    assert client.requests() == []
    home.pass_time(1)

    assert len(client.requests()) == 1


def test_checks_before_the_immunity_time_count() -> None:
    home = BrokerAtHand(transaction_check_ms=1_000, transaction_check_max=3)
    client = connect_producer(home)
    send_half(client, properties={"CHECK_IMMUNITY_TIME_IN_SECONDS": "10"})

    home.pass_time(5_000)

    [message] = messages(client.pull_now(topic=ABANDONED_TOPIC))
    assert properties_of(message)["TRANSACTION_CHECK_TIMES"] == "3"
    assert properties_of(message)["TRAN_PREPARED_QUEUE_OFFSET"] == "0"
    assert client.requests() == []


def test_producers_of_a_group_take_turns(home: BrokerAtHand) -> None:
    first, second, stranger = (connect_producer(home, group) for group in ("p", "p", "others"))
    for _ in range(4):
        send_half(first)

    home.pass_time(30_000)

    assert [len(client.requests()) for client in (first, second, stranger)] == [2, 2, 0]


def test_half_message_without_a_producer_is_abandoned() -> None:
    home = BrokerAtHand(transaction_check_max=15)
    client = home.connect()
    send_half(client)

    home.pass_time(15 * 30_000)
    assert bodies(client.pull_now(topic=ABANDONED_TOPIC)) == []
    home.pass_time(30_000)

    [message] = messages(client.pull_now(topic=ABANDONED_TOPIC))
    assert message.body == b"half"
    assert properties_of(message)["TRANSACTION_CHECK_TIMES"] == "15"
    home.pass_time(60_000)
    assert home.broker.store.max_offset(HALF_TOPIC, 0) == 16
    assert home.broker.store.max_offset(ABANDONED_TOPIC, 0) == 1


def test_half_message_of_1970_is_abandoned_at_once(client: Client, home: BrokerAtHand) -> None:
    client.send(properties={"TRAN_MSG": "true", "PGROUP": "p"}, g=0)

    home.pass_time(30_000)

    assert bodies(client.pull_now(topic=ABANDONED_TOPIC)) == [b"body"]
    assert client.requests() == []


@pytest.mark.parametrize("checks", [0, 2])
def test_decisions_are_written(client: Client, home: BrokerAtHand, checks: int) -> None:
    for body in (b"half", b"open"):
        assert send_half(client, body=body).code == 0
    home.pass_time(30_000 * checks)
    half = messages(client.pull_now(topic=HALF_TOPIC))[0]

    code = end_transaction(client, half.queue_offset, half.commit_log_offset, msgId="KEY1")
    assert code == 0
    home.pass_time(3_000)

    [decision] = messages(client.pull_now(topic=DECISIONS))
    assert decision.body == b"%d," % (2 * checks)
    assert properties_of(decision)["TAGS"] == "d"
    assert home.broker.offsets.get("CID_RMQ_SYS_TRANS", HALF_TOPIC, 0) == 2 * checks + 1
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
