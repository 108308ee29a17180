"""Pulling: checks, outcomes and holding (broker.md 5)."""

from __future__ import annotations

from typing import Any

import pytest

from rocketwire.messages.enums import ConsumeFromWhere, ConsumeType, MessageModel
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData
from rocketwire.policy.subscription import subscription_data
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client, bodies


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    client = home.connect()
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return client


def join(client: Client, tags: str = "*", version: int = 5, kind: str = "TAG") -> None:
    """Send the heartbeat of a consumer of ``readers``."""
    subscription = subscription_data("orders", tags, expression_type=kind, version=version)
    consumer = ConsumerData(
        group_name="readers",
        message_model=MessageModel.CLUSTERING,
        consume_type=ConsumeType.CONSUME_PASSIVELY,
        consume_from_where=ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
        subscription_data_set=(subscription,),
    )
    client.call(34, {}, HeartbeatData(client_id="c", consumer_data_set=(consumer,)))
    client.requests()


@pytest.mark.parametrize(
    ("offset", "code", "remark", "next_offset"),
    [
        (-1, 21, "OFFSET_TOO_SMALL", 0),
        (0, 0, "FOUND", 3),
        (2, 0, "FOUND", 3),
        (3, 19, "OFFSET_OVERFLOW_ONE", 3),
        (4, 21, "OFFSET_OVERFLOW_BADLY", 3),
        (105, 21, "OFFSET_OVERFLOW_BADLY", 3),
    ],
)
def test_outcomes_of_a_queue_with_three_messages(
    client: Client, offset: int, code: int, remark: str, next_offset: int
) -> None:
    for _ in range(3):
        client.send()

    answer = client.pulled(offset)

    assert (answer.code, answer.remark) == (code, remark)
    assert answer.ext_fields == {
        "nextBeginOffset": str(next_offset),
        "minOffset": "0",
        "maxOffset": "3",
        "suggestWhichBrokerId": "0",
        "topicSysFlag": "0",
        "groupSysFlag": "0",
    }


@pytest.mark.parametrize(("offset", "code"), [(0, 19), (5, 21), (-1, 21)])
def test_outcomes_of_an_empty_queue(client: Client, offset: int, code: int) -> None:
    answer = client.pulled(offset)

    assert (answer.code, answer.remark) == (code, "NO_MESSAGE_IN_QUEUE")
    assert (answer.ext_fields or {})["nextBeginOffset"] == "0"


@pytest.mark.parametrize(("asked", "given"), [(2, 2), (100, 32), (0, 1), (-5, 1)])
def test_the_number_of_messages_has_a_limit(client: Client, asked: int, given: int) -> None:
    for _ in range(40):
        client.send()

    assert len(bodies(client.pulled(count=asked))) == given


def test_the_bytes_of_an_answer_have_a_limit_but_one_message_always_comes(client: Client) -> None:
    for _ in range(4):
        client.send(body=b"x" * 100_000)
    client.send(queue=1, body=b"x" * 300_000)

    assert len(bodies(client.pulled())) == 2
    assert len(bodies(client.pulled(queue=1))) == 1


def test_a_tag_filter_finds_all_it_may_and_says_where_to_go_on(client: Client) -> None:
    for index in range(80):
        client.send(body=b"%d" % index, properties={"TAGS": f"T{index % 2}"})

    answer = client.pulled(tags="T1")

    assert bodies(answer) == [b"%d" % index for index in range(1, 64, 2)]
    assert 64 <= int((answer.ext_fields or {})["nextBeginOffset"]) <= 65
    missing = client.pulled(tags="T9")
    assert (missing.code, missing.remark) == (20, "NO_MATCHED_MESSAGE")
    assert (missing.ext_fields or {})["nextBeginOffset"] == "80"
    assert len(bodies(client.pulled(tags="T0 || T1"))) == 32


@pytest.mark.parametrize(
    ("changes", "code", "remark", "ext"),
    [
        ({"consumerGroup": "a b"}, 26, "subscription group [a b] does not exist, ", {}),
        ({"topic": "missing"}, 17, "topic[missing] not exist, apply first please! \nSee ", {}),
        (
            {"topic": "writable"},
            16,
            "the topic[writable] pulling message is forbidden",
            {"forbiddenType": "3"},
        ),
        (
            {"queueId": 4},
            29,
            "queueId[4] is illegal, topic:[orders] topicConfig.readQueueNums:[4] consumer:[/127.0.0.1:40001]",
            {},
        ),
        ({"queueId": -1}, 29, "queueId[-1] is illegal", {}),
        (
            {"consumerGroup": "stopped"},
            16,
            "subscription group no permission, stopped",
            {"forbiddenType": "2"},
        ),
        ({"sysFlag": 0}, 24, "the consumer's group info not exist", {}),
    ],
)
def test_refusals(
    client: Client,
    home: BrokerAtHand,
    changes: dict[str, Any],
    code: int,
    remark: str,
    ext: dict[str, str],
) -> None:
    home.broker.topics.put(new_topic("writable", 4, 2), home.now)
    home.broker.groups.put(
        SubscriptionGroupConfig(group_name="stopped", consume_enable=False), home.now
    )

    answer = client.answer_to(client.pull(**changes))

    assert answer is not None
    assert (answer.code, answer.ext_fields) == (code, ext)
    assert (answer.remark or "").startswith(remark)


def test_a_group_that_has_sent_a_heartbeat_has_its_own_subscription(
    client: Client, home: BrokerAtHand
) -> None:
    join(client, "T1")
    client.send(properties={"TAGS": "T0"})
    client.send(properties={"TAGS": "T1"}, body=b"mine")
    other = home.connect()

    assert bodies(other.pulled(sysFlag=0, subVersion=5)) == [b"mine"]
    assert other.pulled(sysFlag=0, subVersion=6).code == 25
    home.broker.topics.put(new_topic("others", 1), home.now)
    assert other.pulled(topic="others", sysFlag=0).code == 24
    home.broker.groups.forbid("readers", "orders", home.now, readable=False)
    assert (other.pulled(sysFlag=0).code, other.pulled(sysFlag=0).ext_fields) == (
        16,
        {"forbiddenType": "5"},
    )


def test_a_broadcasting_group_may_be_forbidden(client: Client, home: BrokerAtHand) -> None:
    join(client)
    group = home.broker.members.online("readers")
    assert group is not None
    group.message_model = MessageModel.BROADCASTING
    home.broker.groups.put(
        SubscriptionGroupConfig(group_name="readers", consume_broadcast_enable=False), home.now
    )

    assert client.pulled(sysFlag=0).ext_fields == {"forbiddenType": "4"}


def test_expressions_filter_if_the_broker_has_them() -> None:
    with_it, without = BrokerAtHand(), BrokerAtHand(property_filter=False)
    for home in (with_it, without):
        client = home.connect()
        client.send(properties={"a": "1"}, body=b"one")
        client.send(properties={"a": "3"}, body=b"three")

        answer = client.pulled(tags="a > 2", expressionType="SQL92")

        if home is with_it:
            assert bodies(answer) == [b"three"]
        else:
            assert (answer.code, answer.remark) == (
                1,
                "The broker does not support consumer to filter message by SQL92",
            )


def test_an_expression_that_is_missing_is_refused(client: Client) -> None:
    assert client.pulled(tags="", expressionType="SQL92").code == 23


def test_a_pull_commits_the_offset_that_it_carries(client: Client, home: BrokerAtHand) -> None:
    client.send()
    client.pulled(sysFlag=5, commitOffset=1)
    assert home.broker.offsets.get("readers", "orders", 0) == 1

    client.pulled(sysFlag=5, commitOffset=-1)
    assert home.broker.offsets.get("readers", "orders", 0) == 1


# ---------------------------------------------------------------------------- holding


def test_a_pull_at_the_end_waits_for_the_next_message(client: Client) -> None:
    client.send()
    opaque = client.pull(1, hold=15_000)
    assert client.answer_to(opaque) is None

    client.send(body=b"new")

    answer = client.answer_to(opaque)
    assert answer is not None
    assert bodies(answer) == [b"new"]


def test_only_a_message_that_passes_wakes_a_pull(client: Client) -> None:
    opaque = client.pull(0, hold=15_000, tags="T1")
    client.send(properties={"TAGS": "T0"})
    assert client.answer_to(opaque) is None

    client.send(properties={"TAGS": "T1"}, body=b"mine")

    answer = client.answer_to(opaque)
    assert answer is not None
    assert bodies(answer) == [b"mine"]


def test_every_group_that_waits_is_woken(client: Client) -> None:
    opaques = [client.pull(0, hold=15_000, consumerGroup=f"g{index}") for index in range(3)]

    client.send()

    assert all(client.answer_to(opaque) for opaque in opaques)


def test_a_pull_ends_at_its_time(client: Client, home: BrokerAtHand) -> None:
    client.send()
    opaque = client.pull(1, hold=2_000)

    home.pass_time(1_999)
    assert client.answer_to(opaque) is None
    home.pass_time(1)

    answer = client.answer_to(opaque)
    assert answer is not None
    assert (answer.code, answer.remark) == (19, "OFFSET_OVERFLOW_ONE")


def test_a_pull_that_saw_other_messages_alone_ends_behind_them(
    client: Client, home: BrokerAtHand
) -> None:
    opaque = client.pull(0, hold=2_000, tags="T1")
    for _ in range(3):
        client.send(properties={"TAGS": "T0"})
    home.pass_time(2_000)

    answer = client.answer_to(opaque)

    assert answer is not None
    assert (answer.code, (answer.ext_fields or {})["nextBeginOffset"]) == (20, "3")


@pytest.mark.parametrize(("offset", "sent"), [(5, 0), (4, 3)], ids=["empty", "behind the end"])
def test_a_pull_elsewhere_than_at_the_end_does_not_wait(
    client: Client, offset: int, sent: int
) -> None:
    for _ in range(sent):
        client.send()

    assert client.pulled(offset, hold=15_000).code == 21


def test_a_reset_wakes_and_is_told_once(client: Client, home: BrokerAtHand) -> None:
    for _ in range(3):
        client.send()
    opaque = client.pull(3, hold=15_000)

    client.call(222, {"topic": "orders", "group": "readers", "timestamp": 0, "isForce": True})

    answer = client.answer_to(opaque)
    assert answer is not None
    assert (answer.code, answer.remark) == (21, "OFFSET_RESET")
    assert (answer.ext_fields or {})["nextBeginOffset"] == "0"
    assert len(bodies(client.pulled(0))) == 3


def test_a_deleted_topic_wakes(client: Client) -> None:
    client.send()
    opaque = client.pull(1, hold=15_000)

    client.call(215, {"topic": "orders"})

    answer = client.answer_to(opaque)
    assert answer is not None
    assert answer.code == 17


def test_requests_are_answered_while_hundreds_of_pulls_wait(
    client: Client, home: BrokerAtHand
) -> None:
    home.broker.topics.put(new_topic("orders", 400), home.now)
    for queue in range(300):
        client.pull(queue=queue, hold=15_000)

    assert client.send(queue=399).code == 0
    assert len(home.broker.waits) == 300


def test_a_pull_reads_a_lite_topic_or_a_light_queue_and_waits_for_it(client: Client) -> None:
    for name in ("a", "b", "a"):
        client.send(body=name.encode(), properties={"__LITE_TOPIC": name})

    by_name = client.pulled(0, liteTopic="a")
    by_queue = client.pulled(1, "%LMQ%$orders$a")
    waiting = client.pull(2, hold=1_000, liteTopic="a")
    client.send(body=b"b", properties={"__LITE_TOPIC": "b"})
    assert client.answer_to(waiting) is None
    client.send(body=b"new", properties={"__LITE_TOPIC": "a"})

    assert (bodies(by_name), bodies(by_queue)) == ([b"a", b"a"], [b"a"])
    assert (by_name.ext_fields or {})["maxOffset"] == "2"
    answer = client.answer_to(waiting)
    assert answer is not None
    assert bodies(answer) == [b"new"]
