"""Requests of operators (broker.md 16)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.callbacks import GetConsumerStatusBody
from rocketwire.messages.groups import (
    DeleteSubscriptionGroupListRequestBody,
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
)
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.topic_config import TopicConfig, TopicConfigAndMappingSerializeWrapper
from rocketwire.messages.topics import DeleteTopicListRequestBody
from rocketwire.serving.tls.settings import KEYS as TLS_KEYS
from rocketwire_broker.config import FIXED, SETTINGS, write_settings
from tests.support.broker import BrokerAtHand, Client
from tests.unit.broker.groups import join_readers

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.broker import Client


# ---- topics


def test_topics_are_listed_whole_or_by_page(client: Client) -> None:
    answers = [client.call(21, {}), client.call(21, {"topicSeq": 1, "maxTopicNum": 2})]

    everything, page = (
        decode_body(TopicConfigAndMappingSerializeWrapper, item.body) for item in answers
    )

    assert everything is not None
    assert page is not None
    names = sorted(everything.topic_config_table or {})
    assert answers[0].ext_fields == {"totalTopicNum": str(len(names))}
    assert sorted(page.topic_config_table or {}) == names[1:3]


def test_topics_of_a_list_are_deleted_or_none(client: Client, home: BrokerAtHand) -> None:
    client.send("orders")
    client.send("bills")
    for names in (("orders", " "), ("orders", "TBW102"), ()):
        refused = client.call(5002, {}, DeleteTopicListRequestBody(topic_list=names))
        assert (refused.code, "orders" in home.broker.topics) == (29, True)
    assert client.call(5002, {}).remark == "The specified topic list is blank."

    home.broker.topics.put(TopicConfig(topic_name="%RETRY%readers_orders"), home.now)
    body = DeleteTopicListRequestBody(topic_list=("orders", "bills", "nothing"))
    deleted = client.call(5002, {}, body)
    assert (deleted.code, deleted.remark) == (0, None)
    for name in ("orders", "bills", "%RETRY%readers_orders"):
        assert name not in home.broker.topics


# ---- groups


def test_group_attributes_are_added_and_removed(client: Client, home: BrokerAtHand) -> None:
    for attributes in ({"+a": "1", "+b": "2"}, {"-a": ""}):
        client.call(200, {}, SubscriptionGroupConfig(group_name="g", attributes=attributes))

    group = home.broker.groups.get("g")
    assert group is not None
    assert group.attributes == {"b": "2"}


def test_groups_are_listed_whole_or_by_page(client: Client, home: BrokerAtHand) -> None:
    home.broker.groups.forbid("readers", "orders", home.now, readable=False)
    answers = [client.call(201, {}), client.call(201, {"groupSeq": 0, "maxGroupNum": 2})]

    everything, page = (decode_body(SubscriptionGroupWrapper, item.body) for item in answers)

    count = len(home.broker.groups)
    assert everything is not None
    assert page is not None
    assert answers[0].ext_fields == {"totalGroupNum": str(count)}
    assert len(everything.subscription_group_table or {}) == count
    assert len(page.subscription_group_table or {}) == 2
    assert set(everything.forbidden_table or {}) == {"readers"}


def test_groups_of_a_list_are_deleted_or_none(client: Client, home: BrokerAtHand) -> None:
    for name in ("g", "h"):
        client.call(200, {}, SubscriptionGroupConfig(group_name=name))
    for names in (("g", " "), ()):
        body = DeleteSubscriptionGroupListRequestBody(group_name_list=names)
        assert (client.call(5003, {}, body).code, "g" in home.broker.groups) == (29, True)
    assert client.call(5003, {}).remark == "The specified group name list is blank."

    home.broker.offsets.commit("g", "orders", 0, 7, home.now)
    body = DeleteSubscriptionGroupListRequestBody(group_name_list=("g", "h"), clean_offset=True)
    assert client.call(5003, {}, body).code == 0
    assert not any(name in home.broker.groups for name in ("g", "h"))
    assert "g" not in home.broker.offsets.groups_of("orders")


# ---- runtime


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"transactionTimeOut=2000\nunknown=1\nbrokerName=broker-a\n", 0),
        (b"transactionTimeOut=3000\nbrokerName=change_text\n", 16),
        (b"", 0),
        (b"configBlackList=x\n", 16),
        (b"transactionTimeOut=soon\n", 1),
    ],
)
def test_changes_of_settings(client: Client, home: BrokerAtHand, body: bytes, code: int) -> None:
    assert client.call(25, {}, body).code == code
    changed = home.broker.config.transaction_timeout_ms == 2000
    assert changed == body.startswith(b"transactionTimeOut=2000")
    assert home.broker.config.broker_name == "broker-a"


@pytest.mark.parametrize(("code", "answer"), [(907, 0), (1007, 1)])
def test_broker_has_no_replicas(client: Client, code: int, answer: int) -> None:
    assert client.call(code).code == answer


def change_text(text: str) -> str:
    """Another value of a setting."""
    if text in {"true", "false"}:
        return "false" if text == "true" else "true"
    return str(int(text) + 1) if text.isdecimal() else f"{text} 1s"


@pytest.mark.parametrize(
    "name", [*(name for name in SETTINGS if SETTINGS[name].is_fixed), *FIXED, *sorted(TLS_KEYS)]
)
def test_fixed_setting_is_refused(client: Client, home: BrokerAtHand, name: str) -> None:
    before = write_settings(home.broker.config)
    value = change_text(before.get(name, ""))
    answer = client.call(25, {}, f"{name}={value}\nmaxMessageSize=7\n".encode())

    assert (answer.code, write_settings(home.broker.config)) == (16, before)


@pytest.mark.parametrize("name", [name for name in SETTINGS if not SETTINGS[name].is_fixed])
def test_setting_is_used_by_all_tables(client: Client, home: BrokerAtHand, name: str) -> None:
    value = change_text(write_settings(home.broker.config)[name])
    broker = home.broker

    assert client.call(25, {}, f"{name}={value}\n".encode()).code == 0
    assert f"{name}={value}\n" in (client.call(26).body or b"").decode()
    assert broker.config is broker.groups.config is broker.topics.config is broker.members.config


def creates_group(home: BrokerAtHand, client: Client) -> bool:
    client.pull(0)
    return "readers" in home.broker.groups


def creates_topic(_: BrokerAtHand, client: Client) -> bool:
    return client.send("payments").code == 0


def keeps_messages(home: BrokerAtHand, client: Client) -> bool:
    client.send(body=bytes(500))
    client.send(body=bytes(500))
    home.pass_time(3_600_000)
    queue = home.broker.store.queue("orders", 0)
    return queue is not None and queue.max_offset - queue.min_offset == 2


@pytest.mark.parametrize(
    ("setting", "works", "config"),
    [
        ("autoCreateSubscriptionGroup=false", creates_group, {}),
        ("rocketwire.maxGroups=1", creates_group, {}),
        ("autoCreateTopicEnable=false", creates_topic, {}),
        ("rocketwire.maxTopics=1", creates_topic, {}),
        ("retainBytes=600", keeps_messages, {}),
        ("fileReservedTime=0.5", keeps_messages, {}),
        ("autoCreateTopicEnable=true", creates_topic, {"auto_create_topics": False}),
    ],
)
def test_setting_takes_effect_at_once(
    setting: str, works: Callable[[BrokerAtHand, Client], bool], config: dict[str, bool]
) -> None:
    unchanged, changed = BrokerAtHand(**config), BrokerAtHand(**config)
    worked = works(unchanged, unchanged.connect())

    client = changed.connect()
    assert client.call(25, {}, f"{setting}\n".encode()).code == 0
    assert works(changed, client) != worked


def test_setting_without_effect_is_answered_by_name(client: Client) -> None:
    answer = client.call(25, {}, b"brokerFastFailureEnable=false\n")

    assert (answer.code, answer.remark) == (0, "no effect here: brokerFastFailureEnable")


# ---- relays


WHO: dict[str, object] = {"consumerGroup": "readers", "clientId": "c"}


@pytest.fixture
def consumer(home: BrokerAtHand) -> Client:
    client = home.connect()
    join_readers(client)
    client.requests()
    return client


def test_relay_to_silent_client_ends(home: BrokerAtHand, client: Client, consumer: Client) -> None:
    opaque = client.ask(307, WHO)
    home.pass_time(10_000)

    answer = client.take_answer(opaque)

    assert answer.code == 207
    assert (answer.remark or "").startswith("consumer <readers> <c> Timeout:")


def test_relay_asks_members_of_a_group_for_offsets(client: Client, consumer: Client) -> None:
    queue = MessageQueue(topic="orders", broker_name="broker-a", queue_id=0)
    group: dict[str, object] = {"topic": "orders", "group": "readers"}
    opaque = client.ask(223, group)
    (request,) = consumer.requests()
    consumer.respond(request, 0, encode_body(GetConsumerStatusBody(message_queue_table={queue: 5})))

    body = decode_body(GetConsumerStatusBody, client.take_answer(opaque).body)

    assert request.code == 221
    assert body is not None
    assert body.consumer_table == {"c": {queue: 5}}
    assert client.call(223, group | {"group": "nobody"}).code == 1
    assert client.call(223, group | {"clientAddr": "other"}).code == 0


# ---- upkeep


def limits(client: Client) -> object:
    return json.loads(client.call(2003).body or b"")["configTable"]


def test_limits_for_cold_data_are_kept_and_shown(client: Client) -> None:
    assert (client.call(2003).body or b"").startswith(b'{"runtimeTable":{},"configTable":{},"cgCo')

    assert client.call(2001, {}, b"readers=5\nauditors=x\n").code == 0
    assert limits(client) == {"readers": 5}
    assert client.call(2002, {}, b"readers").code == 0
    assert client.call(2002).code == 0
    assert limits(client) == {}


def test_limits_are_bounded() -> None:
    client = BrokerAtHand(max_cold_read_limits=2).connect()

    assert client.call(2001, {}, b"a=1\nb=2\na=4\n").code == 0
    assert client.call(2001, {}, b"c=3\na=5\n").code == 1

    assert limits(client) == {"a": 5, "b": 2}


@pytest.mark.parametrize(
    ("mode", "code", "remark"),
    [
        ("0", 0, "success, mode: 0"),
        ("1", 0, "success, mode: 1"),
        ("7", 29, "param value error"),
        ("x", 1, "failed"),
    ],
)
def test_reading_ahead_is_accepted(client: Client, mode: str, code: int, remark: str) -> None:
    answer = client.call(2004, {"READ_AHEAD_MODE": mode})

    assert (answer.code, answer.remark) == (code, f"set commitlog readahead mode {remark}")


def test_rocksdb_has_no_content(client: Client) -> None:
    check = client.call(354, {"topic": "orders", "checkStoreTime": 0})
    exports = [
        client.call(355, {"configType": name}).code for name in ("topics;consumerOffsets", "a")
    ]

    assert (check.code, check.body) == (0, b'{"checkStatus":2}')
    assert exports == [0, 1]
    assert client.call(200056).code == 0


@pytest.mark.parametrize(("engine", "remark"), [("R", "timerRocksDBEnable"), ("X", "param error")])
def test_timers_have_one_place(client: Client, engine: str, remark: str) -> None:
    answer = client.call(5001, {"E_T": engine})

    assert answer.code == 29
    assert remark in (answer.remark or "")
