"""Messages that clients send, send back, decide on and recall."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.wire.message.properties import encode_properties
from rocketwire_broker.handlers import names
from rocketwire_broker.handlers.names import group_problem, topic_problem
from tests.support.broker import START, BrokerAtHand, bodies, fields_of, messages
from tests.unit.broker import groups
from tests.unit.broker.groups import HALF_TOPIC, end_transaction, join_producers

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.message.stored import StoredMessage
    from tests.support.broker import Client


# ---- names


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("", "The specified group is blank"),
        ("a b", "The specified group: a b, contains"),
        ("g" * 121, "The specified group: g"),
    ],
)
def test_group_name_is_refused(name: str, begin: str) -> None:
    assert str(group_problem(name)).startswith(begin)
    assert group_problem("readers") is None


def test_long_topic_name_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    monkeypatch.setattr(names, "_topic_problem", checked.append)

    assert "is longer than topic max length" in str(topic_problem("t" * 3_000_000))
    topic_problem("orders")

    assert checked == ["orders"]


# ---- sends


def test_send_names_light_queues_up_to_a_limit() -> None:
    client = BrokerAtHand(max_lmqs=2).connect()
    answers = [
        client.send(body=b"x", properties={"__LITE_TOPIC": name}) for name in ("a", "b", "a", "c")
    ]

    remark = "[LMQ_CONSUME_QUEUE_NUM_EXCEEDED]lmq consume queue num exceeded."
    assert [answer.code for answer in answers] == [0, 0, 0, 2017]
    assert answers[3].remark == remark
    properties = messages(client.pull_now(2))[0].properties or {}
    assert properties["INNER_MULTI_DISPATCH"] == "%LMQ%$orders$a"
    assert properties["INNER_MULTI_QUEUE_OFFSET"] == "1"


# ---- retries


def send_back(client: Client, message: StoredMessage) -> int:
    fields = {
        "offset": message.commit_log_offset,
        "group": "g",
        "delayLevel": 0,
        "originTopic": "orders",
        "originMsgId": "",
        "unitMode": False,
    }
    return client.call(36, fields).code


def test_retry_to_a_topic_without_permission_is_refused(home: BrokerAtHand, client: Client) -> None:
    client.send()
    [message] = messages(client.pull_now())
    send_back(client, message)
    topic = home.broker.topics.get("%RETRY%g")
    assert topic is not None
    home.broker.topics.put(replace(topic, perm=4), home.now)

    assert send_back(client, message) == 16


# ---- replies


TOPIC = "DefaultCluster_REPLY_TOPIC"


@pytest.fixture
def asker(home: BrokerAtHand) -> Client:
    """The producer ``asker``."""
    client = home.connect()
    join_producers(client, "asker")
    return client


def reply(client: Client, flag: int = 0) -> int:
    text = encode_properties({"CORRELATION_ID": "1", "REPLY_TO_CLIENT": "asker"})
    fields: dict[str, object] = {"a": "repliers", "b": TOPIC, "c": "TBW102", "d": 4, "e": 0}
    fields |= {"f": 0, "g": START, "h": 7, "i": text, "j": 0, "k": False}
    return client.ask(325, fields, b"pong", flag)


def test_reply_need_not_be_stored(home: BrokerAtHand, asker: Client, client: Client) -> None:
    home.broker.configure(replace(home.broker.config, store_replies=False), home.now)

    opaque = reply(client)
    asker.respond(asker.requests()[0])

    assert fields_of(client.take_answer(opaque))["msgId"] == "0"
    assert home.broker.store.put_count == 0


def test_oneway_reply_is_not_answered(home: BrokerAtHand, asker: Client, client: Client) -> None:
    reply(client, flag=2)
    asker.respond(asker.requests()[0])

    assert client.received == []
    assert home.broker.store.put_count == 1


# ---- recalls


DAY = 86_400_000


def handle(topic: str = "orders", broker: str = "broker-a", time: object = START + 30_001) -> str:
    return base64.urlsafe_b64encode(f"v1 {topic} {broker} {time} KEY1".encode()).decode()


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("no handle", "recall handle is invalid"),
        (handle(topic="others"), "recall failed, topic not match"),
        (handle(broker="broker-b"), "recall failed, broker service not available"),
        (handle(time=START), "recall failed, timestamp invalid"),
        (handle(time=START + 3 * DAY), "recall failed, timestamp invalid"),
        (handle(time="soon"), "recall failed, timestamp invalid"),
    ],
)
def test_recall_with_another_handle_is_refused(text: str, remark: str) -> None:
    client = BrokerAtHand().connect()
    client.send()

    answer = client.call(370, {"topic": "orders", "recallHandle": text})

    assert (answer.code, answer.remark) == (604, remark)
    assert answer.ext_fields == {"MSG_REGION": "DefaultRegion"}


def test_recall_is_refused_if_it_is_disabled() -> None:
    client = BrokerAtHand(recall_enabled=False).connect()

    answer = client.call(370, {"topic": "orders", "recallHandle": handle()})

    assert (answer.code, answer.remark) == (16, "recall failed, operation is forbidden")


def test_recall_of_a_missing_message_succeeds(home: BrokerAtHand, client: Client) -> None:
    client.send()

    assert client.call(370, {"topic": "orders", "recallHandle": handle()}).code == 0
    home.now += DAY
    home.settle()
    assert home.broker.store.max_offset("orders", 0) == 1


# ---- transactions


GIVEN_UP = "TRANS_CHECK_MAX_TIME_TOPIC"


def send_half(client: Client, **properties: str) -> RemotingCommand:
    return groups.send_half(client, queue=3, properties=properties, h=7)


def end(client: Client, offset: int = 0, **changes: Any) -> int:
    """Commit the half message at an offset of its queue; return the code."""
    half = messages(client.pull_now(offset, HALF_TOPIC))[0]
    ids = {"msgId": "KEY1", "transactionId": "KEY1"}
    return end_transaction(client, half.queue_offset, half.commit_log_offset, **ids, **changes)


def test_commit_of_an_abandoned_message_counts(home: BrokerAtHand, client: Client) -> None:
    send_half(client, TRANSACTION_CHECK_TIMES="2147483647")
    home.pass_time(60_000)
    assert home.broker.store.max_offset(HALF_TOPIC, 0) == 1

    assert end(client) == 0
    assert end(client) == 0

    assert bodies(client.pull_now(queue=3)) == [b"body"]


def test_decision_may_wait_for_the_check(home: BrokerAtHand, client: Client) -> None:
    send_half(client, CHECK_IMMUNITY_TIME_IN_SECONDS="10")
    home.pass_time(10_001)

    assert end(client) == 604
    assert end(client, fromTransactionCheck=True) == 0


def test_checks_of_an_abandoned_message_begin_anew() -> None:
    home = BrokerAtHand(transaction_check_max=1)
    client = home.connect()
    send_half(client)
    home.pass_time(60_000)
    [lost] = messages(client.pull_now(topic=GIVEN_UP))

    answer = client.call(323, {"msgId": f"7F00000100002A9F{lost.commit_log_offset:016X}"})

    [half] = messages(client.pull_now(2, HALF_TOPIC))
    assert answer.code == 0
    assert (half.properties or {})["TRANSACTION_CHECK_TIMES"] == "0"
    assert end(client, offset=2) == 0
    assert bodies(client.pull_now(queue=3)) == [b"body"]


def test_checks_of_an_open_transaction_begin_anew(client: Client) -> None:
    answer = send_half(client)

    assert client.call(323, {"msgId": fields_of(answer)["msgId"]}).code == 0

    assert end(client, offset=0) == 0
    assert end(client, offset=1) == 0
    assert len(bodies(client.pull_now(queue=3))) == 1
