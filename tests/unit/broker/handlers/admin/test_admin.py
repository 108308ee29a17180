"""Requests of operators (broker.md 16)."""

import json
from collections.abc import Callable

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.callbacks import GetConsumerStatusBody
from rocketwire.messages.groups import (
    DeleteSubscriptionGroupListRequestBody,
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
)
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.topic_config import TopicConfig, TopicConfigSerializeWrapper
from rocketwire.messages.topics import DeleteTopicListRequestBody
from rocketwire.serving.tls.settings import KEYS as TLS_KEYS
from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.config import FIXED, SETTINGS, write_settings
from tests.support.broker import BrokerAtHand, Client
from tests.support.values import require
from tests.unit.broker.groups import join_readers


def test_topics_are_listed_whole_or_by_page(client: Client) -> None:
    code = Code.GET_ALL_TOPIC_CONFIG
    answers = [client.call(code, {}), client.call(code, {"topicSeq": 1, "maxTopicNum": 2})]

    names, page = (
        sorted(
            require(decode_body(TopicConfigSerializeWrapper, answer.body)).topic_config_table or {}
        )
        for answer in answers
    )

    assert answers[0].ext_fields == {"totalTopicNum": str(len(names))}
    assert page == names[1:3]


def test_topics_of_a_list_are_deleted_or_none(client: Client, home: BrokerAtHand) -> None:
    client.send("orders")
    client.send("bills")
    code = Code.DELETE_TOPIC_IN_BROKER_LIST
    for names in (("orders", " "), ("orders", "TBW102"), ()):
        refused = client.call(code, {}, DeleteTopicListRequestBody(topic_list=names))
        assert refused.code == ResponseCode.INVALID_PARAMETER
        assert "orders" in home.broker.topics
    assert client.call(code, {}).remark == "The specified topic list is blank."

    home.broker.topics.put(TopicConfig(topic_name="%RETRY%readers_orders"), home.now)
    body = DeleteTopicListRequestBody(topic_list=("orders", "bills", "nothing"))
    deleted = client.call(code, {}, body)
    assert (deleted.code, deleted.remark) == (0, None)
    for name in ("orders", "bills", "%RETRY%readers_orders"):
        assert name not in home.broker.topics


def put_group(client: Client, name: str, **attributes: str) -> None:
    body = SubscriptionGroupConfig(group_name=name, attributes=attributes)
    client.call(Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, body)


def test_group_attributes_are_added_and_removed(client: Client, home: BrokerAtHand) -> None:
    put_group(client, "g", **{"+a": "1", "+b": "2"})
    put_group(client, "g", **{"-a": ""})

    assert require(home.broker.groups.get("g")).attributes == {"b": "2"}


def test_groups_are_listed_whole_or_by_page(client: Client, home: BrokerAtHand) -> None:
    home.broker.groups.forbid("readers", "orders", home.now, readable=False)
    code = Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
    answers = [client.call(code, {}), client.call(code, {"groupSeq": 0, "maxGroupNum": 2})]

    whole_list, page = (
        require(decode_body(SubscriptionGroupWrapper, answer.body)) for answer in answers
    )

    count = len(home.broker.groups)
    assert answers[0].ext_fields == {"totalGroupNum": str(count)}
    assert len(whole_list.subscription_group_table or {}) == count
    assert len(page.subscription_group_table or {}) == 2
    assert set(whole_list.forbidden_table or {}) == {"readers"}


def test_groups_of_a_list_are_deleted_or_none(client: Client, home: BrokerAtHand) -> None:
    code = Code.DELETE_SUBSCRIPTION_GROUP_LIST
    for name in ("g", "h"):
        put_group(client, name)
    for names in (("g", " "), ()):
        body = DeleteSubscriptionGroupListRequestBody(group_name_list=names)
        assert client.call(code, {}, body).code == ResponseCode.INVALID_PARAMETER
        assert "g" in home.broker.groups
    assert client.call(code, {}).remark == "The specified group name list is blank."

    home.broker.offsets.commit("g", "orders", 0, 7, home.now)
    body = DeleteSubscriptionGroupListRequestBody(group_name_list=("g", "h"), clean_offset=True)
    assert client.call(code, {}, body).code == 0
    assert not any(name in home.broker.groups for name in ("g", "h"))
    assert "g" not in home.broker.offsets.groups_of("orders")


def update_settings(client: Client, *lines: str) -> RemotingCommand:
    return client.call(
        Code.UPDATE_BROKER_CONFIG, {}, "".join(f"{line}\n" for line in lines).encode()
    )


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (["transactionTimeOut=2000", "unknown=1", "brokerName=broker-a"], ResponseCode.SUCCESS),
        (["transactionTimeOut=3000", "brokerName=broker-b"], ResponseCode.NO_PERMISSION),
        ([], ResponseCode.SUCCESS),
        (["configBlackList=x"], ResponseCode.NO_PERMISSION),
        (["transactionTimeOut=soon"], ResponseCode.SYSTEM_ERROR),
    ],
)
def test_setting_changes(client: Client, home: BrokerAtHand, lines: list[str], code: int) -> None:
    assert update_settings(client, *lines).code == code
    changed = home.broker.config.transaction_timeout_ms == 2000
    assert changed == ("transactionTimeOut=2000" in lines)
    assert home.broker.config.broker_name == "broker-a"


def test_broker_has_no_replicas(client: Client) -> None:
    assert client.call(Code.GET_BROKER_HA_STATUS).code == 0
    assert client.call(Code.GET_BROKER_EPOCH_CACHE).code == ResponseCode.SYSTEM_ERROR


def change_text(text: str) -> str:
    if text in {"true", "false"}:
        return "false" if text == "true" else "true"
    return str(int(text) + 1) if text.isdecimal() else f"{text} 1s"


@pytest.mark.parametrize(
    "name", [*(name for name in SETTINGS if SETTINGS[name].is_fixed), *FIXED, *sorted(TLS_KEYS)]
)
def test_fixed_setting_is_refused(client: Client, home: BrokerAtHand, name: str) -> None:
    settings = write_settings(home.broker.config)
    value = change_text(settings.get(name, ""))
    answer = update_settings(client, f"{name}={value}", "maxMessageSize=7")

    assert answer.code == ResponseCode.NO_PERMISSION
    assert write_settings(home.broker.config) == settings


@pytest.mark.parametrize("name", [name for name in SETTINGS if not SETTINGS[name].is_fixed])
def test_setting_is_used_by_all_tables(client: Client, home: BrokerAtHand, name: str) -> None:
    broker = home.broker
    line = f"{name}={change_text(write_settings(broker.config)[name])}"

    assert update_settings(client, line).code == 0
    assert line.encode() in (client.call(Code.GET_BROKER_CONFIG).body or b"").splitlines()
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
    queue = require(home.broker.store.queue("orders", 0))
    return queue.max_offset - queue.min_offset == 2


@pytest.mark.parametrize(
    ("setting", "works"),
    [
        ("autoCreateSubscriptionGroup=false", creates_group),
        ("rocketwire.maxGroups=1", creates_group),
        ("autoCreateTopicEnable=false", creates_topic),
        ("rocketwire.maxTopics=1", creates_topic),
        ("retainBytes=600", keeps_messages),
        ("fileReservedTime=0.5", keeps_messages),
    ],
)
def test_setting_acts_at_once(
    setting: str, works: Callable[[BrokerAtHand, Client], bool], home: BrokerAtHand, client: Client
) -> None:
    unchanged = BrokerAtHand()

    assert update_settings(client, setting).code == 0

    assert works(unchanged, unchanged.connect())
    assert not works(home, client)


def test_topic_is_created_as_soon_as_it_is_allowed() -> None:
    home = BrokerAtHand(auto_create_topics=False)
    client = home.connect()

    assert not creates_topic(home, client)
    update_settings(client, "autoCreateTopicEnable=true")
    assert creates_topic(home, client)


def test_setting_without_effect_is_answered_by_name(client: Client) -> None:
    answer = update_settings(client, "brokerFastFailureEnable=false")

    assert (answer.code, answer.remark) == (0, "no effect here: brokerFastFailureEnable")


@pytest.fixture
def consumer(home: BrokerAtHand) -> Client:
    client = home.connect()
    join_readers(client)
    client.requests()
    return client


def test_relay_to_silent_client_ends(home: BrokerAtHand, client: Client, consumer: Client) -> None:
    member: dict[str, object] = {"consumerGroup": "readers", "clientId": "c"}
    opaque = client.ask(Code.GET_CONSUMER_RUNNING_INFO, member)
    home.pass_time(10_000)

    answer = client.take_answer(opaque)

    assert answer.code == ResponseCode.CONSUME_MSG_TIMEOUT
    assert (answer.remark or "").startswith("consumer <readers> <c> Timeout:")


def test_relay_asks_members_of_a_group_for_offsets(client: Client, consumer: Client) -> None:
    queue = MessageQueue(topic="orders", broker_name="broker-a", queue_id=0)
    code = Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
    group: dict[str, object] = {"topic": "orders", "group": "readers"}
    opaque = client.ask(code, group)
    (request,) = consumer.requests()
    consumer.respond(request, 0, encode_body(GetConsumerStatusBody(message_queue_table={queue: 5})))

    body = require(decode_body(GetConsumerStatusBody, client.take_answer(opaque).body))

    assert request.code == Code.GET_CONSUMER_STATUS_FROM_CLIENT
    assert body.consumer_table == {"c": {queue: 5}}
    assert client.call(code, group | {"group": "nobody"}).code == ResponseCode.SYSTEM_ERROR
    assert client.call(code, group | {"clientAddr": "other"}).code == 0


UPDATE_LIMITS = Code.UPDATE_COLD_DATA_FLOW_CTR_CONFIG
REMOVE_LIMIT = Code.REMOVE_COLD_DATA_FLOW_CTR_CONFIG


def read_limits(client: Client) -> object:
    return json.loads(client.call(Code.GET_COLD_DATA_FLOW_CTR_INFO).body or b"")["configTable"]


def test_limits_for_cold_data_are_kept_and_shown(client: Client) -> None:
    body = client.call(Code.GET_COLD_DATA_FLOW_CTR_INFO).body or b""
    assert body.startswith(b'{"runtimeTable":{},"configTable":{},"cgCo')

    assert client.call(UPDATE_LIMITS, {}, b"readers=5\nauditors=x\n").code == 0
    assert read_limits(client) == {"readers": 5}
    assert client.call(REMOVE_LIMIT, {}, b"readers").code == 0
    assert client.call(REMOVE_LIMIT).code == 0
    assert read_limits(client) == {}


def test_limits_are_bounded() -> None:
    client = BrokerAtHand(max_cold_read_limits=2).connect()

    assert client.call(UPDATE_LIMITS, {}, b"a=1\nb=2\na=4\n").code == 0
    assert client.call(UPDATE_LIMITS, {}, b"c=3\na=5\n").code == ResponseCode.SYSTEM_ERROR

    assert read_limits(client) == {"a": 5, "b": 2}


@pytest.mark.parametrize(
    ("mode", "code", "remark"),
    [
        ("0", ResponseCode.SUCCESS, "success, mode: 0"),
        ("1", ResponseCode.SUCCESS, "success, mode: 1"),
        ("7", ResponseCode.INVALID_PARAMETER, "param value error"),
        ("x", ResponseCode.SYSTEM_ERROR, "failed"),
    ],
)
def test_reading_ahead_is_accepted(client: Client, mode: str, code: int, remark: str) -> None:
    answer = client.call(Code.SET_COMMITLOG_READ_MODE, {"READ_AHEAD_MODE": mode})

    assert (answer.code, answer.remark) == (code, f"set commitlog readahead mode {remark}")


def test_rocksdb_has_no_content(client: Client) -> None:
    fields = {"topic": "orders", "checkStoreTime": 0}
    check = client.call(Code.CHECK_ROCKSDB_CQ_WRITE_PROGRESS, fields)
    exports = [
        client.call(Code.EXPORT_ROCKSDB_CONFIG_TO_JSON, {"configType": name}).code
        for name in ("topics;consumerOffsets", "a")
    ]

    assert (check.code, check.body) == (0, b'{"checkStatus":2}')
    assert exports == [ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR]
    assert client.call(Code.POP_ROLLBACK).code == 0


@pytest.mark.parametrize(("engine", "remark"), [("R", "timerRocksDBEnable"), ("X", "param error")])
def test_timers_have_one_place(client: Client, engine: str, remark: str) -> None:
    answer = client.call(Code.SWITCH_TIMER_ENGINE, {"E_T": engine})

    assert answer.code == ResponseCode.INVALID_PARAMETER
    assert remark in (answer.remark or "")
