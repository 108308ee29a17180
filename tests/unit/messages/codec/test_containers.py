"""Lists, sets and maps of Java, read from each kind of JSON; measured on fastjson2 2.0.59 (5.5.0).

Origin: the oracle's ``body_decode`` on DataVersion, QueueData, GroupForbidden, BrokerStatsItem,
BatchAck, TopicConfig, Connection, TopicList, KVTable and others, one member at a time.
"""

from typing import Any

import pytest

from rocketwire.messages import encode_body
from rocketwire.messages.auth import PolicyEntryInfo
from rocketwire.messages.callbacks import ConsumerRunningInfo
from rocketwire.messages.kvconfig import KVConfigSerializeWrapper, KVTable
from rocketwire.messages.route import (
    BrokerMemberGroup,
    QueueData,
    TopicList,
    TopicQueueMappingInfo,
    TopicRouteData,
)
from rocketwire.messages.topic_config import TopicConfig, TopicConfigSerializeWrapper
from tests.unit.messages.codec.single_member_bodies import REFUSED, list_cases, read

CONTAINERS: dict[tuple[type[Any], str], list[tuple[Any, ...]]] = {
    (TopicConfig, "attributes"): [(None, "null", '""', '"null"'), (REFUSED, '"x"', "[]")],
    (PolicyEntryInfo, "actions"): [
        (None, "null", "5", "true", "{}"),
        ((), '""', '"null"'),
        (("a",), '"a"'),
        (("a", "1", "true", "{}", "[1]"), '["a",1,true,{},[1]]'),
    ],
    (TopicList, "topic_list"): [
        (None, "null"),
        (REFUSED, "5"),
        ((), '""'),
        (("null",), '"null"'),
        (("{}",), "{}"),
        (("a", "b", None), '["a","b","a",null]'),
    ],
    (TopicRouteData, "filter_server_table"): [
        ({}, '{"a":null}'),
        (REFUSED, '{"a":5}', '{"a":false}'),
        ({"a": (), "b": ("null",), "c": ("{}",)}, '{"a":"","b":"null","c":{}}'),
        ({"a": ("x", "x")}, '{"a":["x","x"]}'),
    ],
    (TopicRouteData, "queue_datas"): [
        (None, "null", '""', '"null"'),
        ((), "[]"),
        ((QueueData(),), "{}"),
        (REFUSED, "5", '"x"', "[1]", "[null]"),
    ],
    (KVTable, "table"): [
        (None, "null", '""', '"null"'),
        ({"a": "1", "c": '{"x":1}'}, '{"a":1,"b":null,"c":{"x":1}}'),
        ({"a": "1.10"}, '[{"a":1.10,"b":null}]'),
        (REFUSED, '[{"a":"1"},{"b":"2"}]', '[[{"a":"1"}]]', '[""]', "[null]", "[]", "5", '"x"'),
    ],
    (BrokerMemberGroup, "broker_addrs"): [
        ({0: "a", 1: "b"}, '{0:"a","1":"b"}'),
        ({2: "c", 3: "x"}, '{"+2":"c","3.5":"x"}'),
        (REFUSED, '{"x":"x"}', '{"":"x"}', '{99999999999999999999:"b"}'),
    ],
}


@pytest.mark.parametrize(("cls", "member", "text", "expected"), list_cases(CONTAINERS))
def test_each_container_is_read_as_by_java(
    cls: type[Any], member: str, text: str, expected: object
) -> None:
    assert read(cls, member, text) == expected


def test_no_other_map_stands_in_an_array() -> None:
    assert read(ConsumerRunningInfo, "user_consumer_info", '[{"a":"b"}]') == {"a": "b"}
    assert read(ConsumerRunningInfo, "properties", '[{"a":"b"}]') is REFUSED
    assert read(ConsumerRunningInfo, "status_table", '[{"a":{}}]') is REFUSED
    assert read(KVConfigSerializeWrapper, "config_table", '[{"a":{"k":"v"}}]') is REFUSED


def test_the_kv_file_keeps_null_values_in_its_namespaces() -> None:
    text = '{"a":{"k":null,"l":"v"},"b":null,"c":"","d":[{"k":1.10}]}'
    expected: dict[str, dict[str, str | None]] = {"a": {"k": None, "l": "v"}, "d": {"k": "1.10"}}
    assert read(KVConfigSerializeWrapper, "config_table", text) == expected
    assert encode_body(KVConfigSerializeWrapper(config_table=expected)) == (
        b'{"configTable":{"a":{"l":"v"},"d":{"k":"1.10"}}}'
    )


def test_a_concurrent_map_refuses_null() -> None:
    assert read(TopicQueueMappingInfo, "curr_id_map", '{0:"1"}') == {0: 1}
    assert read(TopicQueueMappingInfo, "curr_id_map", "{1:null}") is REFUSED
    assert read(TopicConfigSerializeWrapper, "topic_config_table", '{"a":""}') is REFUSED
