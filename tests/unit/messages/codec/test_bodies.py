"""The body codec: defaults, null, names, order, whole bodies."""

import dataclasses
import json

import pytest

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError
from rocketwire.messages import (
    decode_bodies,
    decode_body,
    encode_bodies,
    encode_body,
    from_json,
)
from rocketwire.messages._codec.fields import members_of
from rocketwire.messages.allocation import QueryAssignmentResponseBody
from rocketwire.messages.auth import UserInfo
from rocketwire.messages.callbacks import ConsumerRunningInfo, PopProcessQueueInfo, ProcessQueueInfo
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.kvconfig import KVTable
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import ResetOffsetBody
from rocketwire.messages.pop import AckMsg, BatchAck
from rocketwire.messages.queries import ConsumeStatsList
from rocketwire.messages.route import BrokerData, ClusterInfo, QueueData, TopicList, TopicRouteData
from rocketwire.messages.topic_config import DataVersion, TopicConfig
from rocketwire.wire.json.fastjson import JsonLimits

QUEUE = MessageQueue(broker_name="b", queue_id=1, topic="T")


def test_absent_members_get_the_defaults_of_javas_constructor() -> None:
    config = decode_body(TopicConfig, b"{}")
    assert config is not None
    assert config == TopicConfig()
    assert config.read_queue_nums == 16
    assert config.perm == 6
    assert config.attributes == {}


def test_null_is_null_and_a_primitive_becomes_zero() -> None:
    config = decode_body(TopicConfig, b'{"attributes":null,"perm":null,"topicFilterType":null}')
    assert config == TopicConfig(attributes=None, perm=0, topic_filter_type=None)


def test_defaults_that_are_maps_are_not_shared() -> None:
    first, second = decode_body(KVTable, b"{}"), decode_body(KVTable, b"{}")
    assert first is not None
    assert second is not None
    assert first.table == {}
    assert first.table is not second.table
    assert KVTable().table is not KVTable().table


def test_unknown_members_are_ignored_and_letter_case_counts() -> None:
    assert decode_body(QueueData, b'{"Perm":6,"broker_name":"b","x":{"y":[1]}}') == QueueData()


def test_integer_keys_are_bare_or_quoted() -> None:
    data = TopicRouteData(
        broker_datas=(BrokerData(broker_name="b", cluster="c", broker_addrs={0: "a", 1: "b"}),)
    )
    head = '{"brokerDatas":[{"brokerAddrs":{%s"brokerName":"b","cluster":"c",'
    tail = '"enableActingMaster":false}],"filterServerTable":{},"queueDatas":[]}'

    assert encode_body(data).decode() == (head + tail) % '0:"a",1:"b"},'
    assert encode_body(data, standard=True).decode() == (head + tail) % '"0":"a","1":"b"},'


@pytest.mark.parametrize("key", ['"x"', '""', '"[1"', '"null"'])
def test_a_key_that_is_no_object_is_refused(key: str) -> None:
    with pytest.raises(DecodeError):
        decode_body(ResetOffsetBody, f'{{"offsetTable":{{{key}:7}}}}'.encode())


def test_a_reference_in_the_place_of_a_key_is_followed() -> None:
    # origin: 5.3.3 writes this when one MessageQueue is a key of both tables
    body = (
        b'{"mqPopTable":{{"brokerName":"b","queueId":1,"topic":"T"}:{"droped":true,'
        b'"lastPopTimestamp":0,"waitAckCount":0}},"mqTable":{{"$ref":"$.mqPopTable.null"}:'
        b'{"locked":true}}}'
    )
    info = decode_body(ConsumerRunningInfo, body)

    assert info is not None
    assert info.mq_pop_table == {QUEUE: PopProcessQueueInfo(droped=True)}
    assert info.mq_table == {QUEUE: ProcessQueueInfo(locked=True)}


def test_a_name_that_java_also_reads_stands_for_the_written_one() -> None:
    # origin: fastjson2's alternate names of AckMsg and BatchAck; written is always the short one
    assert decode_body(AckMsg, b'{"startOffset":5,"t":"T"}') == AckMsg(start_offset=5, topic="T")
    assert decode_body(BatchAck, b'{"b":"AQI="}') == BatchAck(bit_set=frozenset({0, 9}))
    assert encode_body(AckMsg(start_offset=5)) == b'{"ao":0,"pt":0,"q":0,"so":5}'
    assert encode_body(BatchAck(bit_set=frozenset({0, 9}))).startswith(b'{"b":"AQI=","it":0')


@pytest.mark.parametrize("body", [None, b"", b"null", b'""'])
def test_nothing_and_null_are_none(body: bytes | None) -> None:
    assert decode_body(TopicList, body) is None


@pytest.mark.parametrize("body", [b" ", b"1", b"[]", b'"x"', b"{}x", b"{", b"\xff"])
def test_other_json_than_objects_is_refused(body: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_body(TopicList, body)


def test_limits_are_passed_on() -> None:
    with pytest.raises(LimitExceededError):
        decode_body(TopicList, b'{"topicList":["a"]}', limits=JsonLimits(max_size=10))


def test_null_elements_of_a_list_of_names_survive() -> None:
    # origin: code 106 of a name server that saw a registration without a broker name
    info = ClusterInfo(broker_addr_table={}, cluster_addr_table={"c": (None, "b1")})
    text = b'{"brokerAddrTable":{},"clusterAddrTable":{"c":[null,"b1"]}}'
    assert encode_body(info) == text
    assert decode_body(ClusterInfo, text) == info


@pytest.mark.parametrize("value", ['"1e5"', '""', "5", "1.5", "true"])
def test_a_list_of_maps_is_null_where_something_else_stands(value: str) -> None:
    body = decode_body(ConsumeStatsList, b'{"consumeStatsList":%b}' % value.encode())
    assert body is not None
    assert body.consume_stats_list is None


def test_a_map_value_of_none_is_left_out() -> None:
    table = {"a": "1", "b": None}
    assert encode_body(KVTable(table=table)) == b'{"table":{"a":"1"}}'  # type: ignore[arg-type]  # invalid on purpose


def test_a_list_of_bodies_is_an_array() -> None:
    users = (UserInfo(username="a", user_type="Super"), UserInfo(username="b"))
    text = b'[{"userType":"Super","username":"a"},{"username":"b"}]'

    assert encode_bodies(users) == text
    assert decode_bodies(UserInfo, text) == users
    assert decode_bodies(UserInfo, None) is None
    assert decode_bodies(UserInfo, b"[]") == ()
    with pytest.raises(DecodeError, match=r"^UserInfo\.0"):
        decode_bodies(UserInfo, b"[1]")


def test_an_encoding_error_has_its_path() -> None:
    with pytest.raises(EncodeError) as caught:
        encode_body(TopicRouteData(queue_datas=(QueueData(perm=1 << 40),)))
    assert caught.value.path == "TopicRouteData.queueDatas.perm"


def test_a_clock_that_the_text_does_not_give_stays_open() -> None:
    assert decode_body(DataVersion, b"{}") == DataVersion(timestamp=None)
    assert encode_body(DataVersion()) == b'{"counter":0,"stateVersion":0}'
    assert members_of(DataVersion)["timestamp"].clock


def test_messages_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        QUEUE.topic = "U"  # type: ignore[misc]  # it is frozen


def test_parsed_json_is_read_as_well() -> None:
    assert from_json(QueueData, json.loads('{"perm":6}')) == QueueData(perm=6)
    assert from_json(QueueData, None) is None


def test_the_first_of_subscriptions_that_differ_in_version_only_stays() -> None:
    """Java's set does not compare versions."""
    first = '{"expression":"a","topic":"T","version":1}'
    newer = '{"expression":"a","topic":"T","version":2}'
    different = '{"expression":"b","topic":"T","version":2}'
    text = f'{{"subscriptionDataSet":[{first},{newer},{different}]}}'
    config = decode_body(SubscriptionGroupConfig, text.encode())
    empty = decode_body(SubscriptionGroupConfig, b'{"subscriptionDataSet":[]}')

    assert config is not None
    assert config.subscription_data_set is not None
    assert [subscription.version for subscription in config.subscription_data_set] == [1, 2]
    assert empty is not None
    assert empty.subscription_data_set == ()


def test_an_assignment_that_comes_again_is_dropped_as_from_javas_set() -> None:
    queue = '"messageQueue":{"brokerName":"a","queueId":1,"topic":"t"}'
    members = ("", ',"mode":"POP"', ',"attachments":{"k":"v"}', ',"attachments":{}')
    items = ",".join(f"{{{queue}{member}}}" for member in (*members, *members))

    body = decode_body(
        QueryAssignmentResponseBody, f'{{"messageQueueAssignments":[{items}]}}'.encode()
    )

    assert body is not None
    assert body.message_queue_assignments is not None
    assert [
        (assignment.mode, assignment.attachments) for assignment in body.message_queue_assignments
    ] == [("PULL", None), ("POP", None), ("PULL", {"k": "v"})]
