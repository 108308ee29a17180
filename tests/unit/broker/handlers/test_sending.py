"""Names, sends, retries, replies, recalls and transactions."""

import base64
from dataclasses import replace
from typing import Any

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.properties import encode_properties
from rocketwire_broker.handlers.requests import group_problem
from tests.support.broker import START, BrokerAtHand, Client, bodies, fields_of, messages
from tests.support.values import require
from tests.unit.broker import groups
from tests.unit.broker.groups import ABANDONED_TOPIC, HALF_TOPIC, end_transaction, join_producers


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


def test_send_names_light_queues_up_to_a_limit() -> None:
    client = BrokerAtHand(max_lmqs=2).connect()
    *answers, refusal = [client.send(properties={"__LITE_TOPIC": name}) for name in "abac"]

    assert [answer.code for answer in answers] == [0, 0, 0]
    assert refusal.code == ResponseCode.LMQ_QUOTA_EXCEEDED
    remark = "[LMQ_CONSUME_QUEUE_NUM_EXCEEDED]lmq consume queue num exceeded."
    assert refusal.remark == remark
    properties = messages(client.pull_now(2))[0].properties or {}
    assert properties["INNER_MULTI_DISPATCH"] == "%LMQ%$orders$a"
    assert properties["INNER_MULTI_QUEUE_OFFSET"] == "1"


def test_retry_to_a_topic_without_permission_is_refused(home: BrokerAtHand, client: Client) -> None:
    client.send()
    [message] = messages(client.pull_now())
    fields = {"offset": message.commit_log_offset, "group": "g", "delayLevel": 0}
    fields |= {"originTopic": "orders", "originMsgId": "", "unitMode": False}
    assert client.call(Code.CONSUMER_SEND_MSG_BACK, fields).code == 0

    topic = require(home.broker.topics.get("%RETRY%g"))
    home.broker.topics.put(replace(topic, perm=4), home.now)
    assert client.call(Code.CONSUMER_SEND_MSG_BACK, fields).code == ResponseCode.NO_PERMISSION


REPLY_TOPIC = "DefaultCluster_REPLY_TOPIC"


@pytest.fixture
def asker(home: BrokerAtHand) -> Client:
    client = home.connect()
    join_producers(client, "asker")
    return client


def reply(client: Client, flag: int = 0) -> int:
    text = encode_properties({"CORRELATION_ID": "1", "REPLY_TO_CLIENT": "asker"})
    fields: dict[str, object] = {"a": "repliers", "b": REPLY_TOPIC, "c": "TBW102", "d": 4, "e": 0}
    fields |= {"f": 0, "g": START, "h": 7, "i": text, "j": 0, "k": False}
    return client.ask(Code.SEND_REPLY_MESSAGE_V2, fields, b"pong", flag)


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


DAY = 86_400_000


def handle(topic: str = "orders", broker: str = "broker-a", time: object = START + 30_001) -> str:
    return base64.urlsafe_b64encode(f"v1 {topic} {broker} {time} KEY1".encode()).decode()


def recall(client: Client, text: str) -> RemotingCommand:
    return client.call(Code.RECALL_MESSAGE, {"topic": "orders", "recallHandle": text})


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
def test_recall_with_another_handle_is_refused(client: Client, text: str, remark: str) -> None:
    client.send()
    answer = recall(client, text)

    assert (answer.code, answer.remark) == (ResponseCode.ILLEGAL_OPERATION, remark)
    assert answer.ext_fields == {"MSG_REGION": "DefaultRegion"}


def test_recall_is_refused_if_it_is_disabled() -> None:
    answer = recall(BrokerAtHand(recall_enabled=False).connect(), handle())

    assert answer.code == ResponseCode.NO_PERMISSION
    assert answer.remark == "recall failed, operation is forbidden"


def test_recall_of_a_missing_message_succeeds(home: BrokerAtHand, client: Client) -> None:
    client.send()

    assert recall(client, handle()).code == 0
    home.now += DAY
    home.settle()
    assert home.broker.store.max_offset("orders", 0) == 1


def send_half(client: Client, **properties: str) -> RemotingCommand:
    return groups.send_half(client, queue=3, properties=properties, h=7)


def commit(client: Client, offset: int = 0, **changes: Any) -> int:
    half = messages(client.pull_now(offset, HALF_TOPIC))[0]
    ids = {"msgId": "KEY1", "transactionId": "KEY1"}
    return end_transaction(client, half.queue_offset, half.commit_log_offset, **ids, **changes)


def test_commit_of_an_abandoned_message_counts(home: BrokerAtHand, client: Client) -> None:
    send_half(client, TRANSACTION_CHECK_TIMES="2147483647")
    home.pass_time(60_000)
    assert home.broker.store.max_offset(HALF_TOPIC, 0) == 1

    assert [commit(client), commit(client)] == [0, 0]

    assert bodies(client.pull_now(queue=3)) == [b"body"]


def test_decision_may_wait_for_the_check(home: BrokerAtHand, client: Client) -> None:
    send_half(client, CHECK_IMMUNITY_TIME_IN_SECONDS="10")
    home.pass_time(10_001)

    assert commit(client) == ResponseCode.ILLEGAL_OPERATION
    assert commit(client, fromTransactionCheck=True) == 0


def test_checks_of_an_abandoned_message_begin_anew() -> None:
    home = BrokerAtHand(transaction_check_max=1)
    client = home.connect()
    send_half(client)
    home.pass_time(60_000)
    [abandoned] = messages(client.pull_now(topic=ABANDONED_TOPIC))

    message_id = f"7F00000100002A9F{abandoned.commit_log_offset:016X}"
    assert client.call(Code.RESUME_CHECK_HALF_MESSAGE, {"msgId": message_id}).code == 0

    [half] = messages(client.pull_now(2, HALF_TOPIC))
    assert (half.properties or {})["TRANSACTION_CHECK_TIMES"] == "0"
    assert commit(client, offset=2) == 0
    assert bodies(client.pull_now(queue=3)) == [b"body"]


def test_checks_of_an_open_transaction_begin_anew(client: Client) -> None:
    message_id = fields_of(send_half(client))["msgId"]

    assert client.call(Code.RESUME_CHECK_HALF_MESSAGE, {"msgId": message_id}).code == 0

    assert [commit(client, offset=0), commit(client, offset=1)] == [0, 0]
    assert len(bodies(client.pull_now(queue=3))) == 1
