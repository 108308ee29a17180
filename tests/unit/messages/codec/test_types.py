"""Each Java type, read from each kind of JSON; measured on fastjson2 2.0.59 (5.5.0).

Origin: the oracle's ``body_decode`` on DataVersion, QueueData, GroupForbidden, BrokerStatsItem,
BatchAck, TopicConfig, Connection, TopicList, KVTable and others, one member at a time.
"""

import math
from typing import Any

import pytest

from rocketwire.errors import DecodeError, EncodeError
from rocketwire.messages import decode_bodies, decode_body, encode_body, from_json
from rocketwire.messages.auth import PolicyEntryInfo
from rocketwire.messages.brokers import BrokerStatsItem
from rocketwire.messages.controller import ReplicaIdentity, SyncStateSet
from rocketwire.messages.enums import TopicFilterType
from rocketwire.messages.groups import GroupForbidden
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import ResetOffsetBody
from rocketwire.messages.pop import BatchAck, PopCheckPoint
from rocketwire.messages.route import (
    BrokerData,
    BrokerMemberGroup,
    GetBrokerMemberGroupResponseBody,
    QueueData,
    TopicRouteData,
)
from rocketwire.messages.topic_config import DataVersion, TopicConfig
from rocketwire.wire.json.fastjson import JsonValue
from tests.support.tables import cases
from tests.unit.messages.codec.single_member_bodies import REFUSED, list_cases, read

VALUES: dict[tuple[type[Any], str], list[tuple[Any, ...]]] = {
    (QueueData, "perm"): [
        (0, "null", "false", '".5"', '""', '"null"', '"false"'),
        (1, "true", "1.5", '"1.5"', '"true"', "[1]", '["1"]'),
        (7, "7", '"7"', '"+7"'),
        (-2147483648, "-2147483648", "-1e400"),
        (REFUSED, "2147483648", "99999999999999999999", '" 7"', '"2147483648"', '"0x10"'),
        (REFUSED, '"\u0663"', '"abc"', '"TRUE"', "[]", "[null]", "[[1]]", '["a",2]', "NaN"),
        (-1, "-1.9", '"-1.9"'),
        (1000, "1e3", '"1e3"'),
        (2147483647, "1e400"),
        (15, '"1.5e1"'),
    ],
    (BrokerStatsItem, "tps"): [
        (0.0, "null", '""', '"null"', '"false"', "[]", "{}"),
        (1.0, "true", '"true"', "[1]"),
        (7.0, "7", '"7"', '" 7"'),
        (1.5, "1.5"),
        (REFUSED, "99999999999999999999", '"1_0"', '"inf"', "[null]", '["a",2]', '{"a":1}'),
        (1000.0, '"1e3"'),
        (math.inf, '"Infinity"'),
        (-math.inf, '"-Infinity"'),
    ],
    (QueueData, "broker_name"): [
        (None, "null", "[null]"),
        ("1000.0", "1e3"),
        ("Infinity", "1e400"),
        ("\u4e2d", '"\u4e2d"'),
        ("a", '["a"]'),
        (REFUSED, "NaN"),
        *(
            (text, text)
            for text in (
                *("true", "-1", "1.5", "99999999999999999999", "[]", "[1]", '[["a"]]', '["a",2]'),
                '{"a":1}',
            )
        ),
    ],
    (BatchAck, "bit_set"): [
        (None, "null", '""', "[null]"),
        (frozenset({0, 9}), '"AQI="', '"AQI"'),
        (REFUSED, '"AQI=="', '"A Q I="', '"7"', "5", "[51]", "false", "1e3"),
        # whatever can be a text is one first
        (frozenset({0, 1, 2, 5, 6, 7}), "51", '["51"]'),
        (frozenset({1, 2, 4, 5, 7, 8, 9, 11, 12, 13, 15, 17, 18, 19, 20, 23}), "true"),
    ],
    (TopicConfig, "topic_filter_type"): [
        (None, "null"),
        (TopicFilterType.MULTI_TAG, '"MULTI_TAG"', '"multi_tag"', '"MultiTag"', "1.5"),
        (TopicFilterType.MULTI_TAG, '"MULTI_ TAG"', '" -_multi-tag"', '"+0001"', '"1"'),
        (TopicFilterType.SINGLE_TAG, "0"),
        ("MULTI__TAG", '"MULTI__TAG"'),
        ("MULTI_TAG ", '"MULTI_TAG "'),
        ("MULT\u0131TAG", '"MULT\u0131TAG"'),
        ("-1", '"-1"'),
        ("2", '"2"'),
        (REFUSED, "2", "-1", "true", "[1]", "{}"),
    ],
    (GetBrokerMemberGroupResponseBody, "broker_member_group"): [
        (None, "null", '""', '"null"'),
        (BrokerMemberGroup(), "{}"),
        (REFUSED, "5", "[]", '"x"', "true"),
    ],
}


@pytest.mark.parametrize(("cls", "member", "text", "expected"), list_cases(VALUES))
def test_each_type_is_read_as_by_java(
    cls: type[Any], member: str, text: str, expected: object
) -> None:
    assert read(cls, member, text) == expected


@pytest.mark.parametrize(
    ("text", "as_int", "as_long"),
    [
        *(("5.0", 5, 5), ("0.99999999999999999", 0, 0)),
        ("46944046119201890.6", 2034314338, 46944046119201890),
        ("46944046119201890.6e0", 2034314338, 46944046119201890),
        ("4.6944046119201890e16", 2**31 - 1, 46944046119201888),
        *(("2147483648.5", -(2**31), 2147483648), ("-3000000000.5", 1294967296, -3000000000)),
        *(("1e10", 2**31 - 1, 10**10), ("-1e30", -(2**31), -(2**63))),
        *(("9223372036854775808.5", 0, -(2**63)), ("-9223372036854775809.5", -1, 2**63 - 1)),
        ("123456789012345678901234567890.5", 1312754386, -4362896299872285998),
    ],
)
@pytest.mark.parametrize("quotes", ["", '"'])
def test_fractions_keep_the_bits_of_java(text: str, as_int: int, as_long: int, quotes: str) -> None:
    assert read(QueueData, "perm", quotes + text + quotes) == as_int
    assert read(DataVersion, "state_version", quotes + text + quotes) == as_long


def test_exact_numbers_are_read_wherever_a_body_holds_them() -> None:
    queue = '{"brokerName":"b","queueId":1.0,"topic":"T"}'
    text = f'{{"offsetTable":{{{queue}:46944046119201890.6}}}}'
    body = decode_body(ResetOffsetBody, text.encode())
    several = decode_bodies(QueueData, b'[{"perm":0.99999999999999999}]')

    key = MessageQueue(broker_name="b", queue_id=1, topic="T")
    assert body == ResetOffsetBody(offset_table={key: 46944046119201890})
    assert several == (QueueData(perm=0),)


def test_a_double_of_parsed_json_keeps_its_value() -> None:
    parsed: JsonValue = {"perm": 5.0, "readQueueNums": 8, "x": [{"y": 1.0}]}

    assert from_json(QueueData, parsed) == QueueData(perm=5, read_queue_nums=8)
    assert from_json(DataVersion, {"stateVersion": 1e18}) == DataVersion(
        counter=0, state_version=10**18
    )
    assert from_json(DataVersion, {"stateVersion": math.inf}) == DataVersion(
        state_version=2**63 - 1
    )
    assert parsed == {"perm": 5.0, "readQueueNums": 8, "x": [{"y": 1.0}]}


def test_a_long_has_64_bits_and_a_byte_8() -> None:
    assert read(DataVersion, "state_version", "9223372036854775807") == 2**63 - 1
    assert read(DataVersion, "state_version", "9223372036854775808") is REFUSED
    assert read(DataVersion, "state_version", "1e400") == 2**63 - 1
    assert decode_body(PopCheckPoint, b'{"n":-128}') == PopCheckPoint(num=-128)
    assert read(DataVersion, "timestamp", "null") == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("128", -128), ("-129", 127), ("59510591", 63), ("2147483647", -1), ("1e3", -24)),
        ('"300"', 44),
    ],
)
def test_a_byte_has_the_last_eight_bits_of_a_number(text: str, expected: int) -> None:
    assert decode_body(PopCheckPoint, b'{"n":%b}' % text.encode()) == PopCheckPoint(num=expected)


def test_a_number_that_is_no_int_is_no_byte() -> None:
    with pytest.raises(
        DecodeError, match="expected an integer from -2147483648 to 2147483647, got"
    ):
        decode_body(PopCheckPoint, b'{"n":2147483648}')


def test_a_boxed_number_can_be_null() -> None:
    assert read(ReplicaIdentity, "broker_id", "null") is None
    assert read(ReplicaIdentity, "broker_id", '""') is None
    assert read(ReplicaIdentity, "broker_id", "5") == 5
    assert read(DataVersion, "counter", "null") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    cases(
        (None, "null", '""', '"null"', "[[null]]"),
        (True, "true", "1", "-1", '"true"', '"TRUE"', '"1"', '"Y"', "[1]", "[[1]]", '[[["true"]]]'),
        (False, "false", "0", "7", "1.5", '"FALSE"', '"0"', '"N"', "[[5]]"),
        (REFUSED, '"y"', '"yes"', "[[]]", "[[1,2]]", "[]", "{}"),
    ),
)
def test_a_boolean_reads_as_in_java(text: str, expected: object) -> None:
    assert read(GroupForbidden, "readable", text) is expected
    primitive = expected if expected is REFUSED else bool(expected)
    assert read(BrokerData, "enable_acting_master", text) is primitive


def test_a_double_may_be_no_number() -> None:
    assert math.isnan(read(BrokerStatsItem, "tps", "NaN"))
    assert math.isnan(read(BrokerStatsItem, "tps", '"NaN"'))


def test_a_number_that_is_too_long_for_a_text_is_refused() -> None:
    with pytest.raises(DecodeError, match="too long"):
        from_json(QueueData, {"brokerName": 10**4000})


def test_an_unknown_constant_survives_where_java_makes_it_null() -> None:
    config = decode_body(TopicConfig, b'{"topicFilterType":"TRIPLE_TAG"}')
    assert config is not None
    assert config.topic_filter_type == "TRIPLE_TAG"
    assert b'"topicFilterType":"TRIPLE_TAG"' in encode_body(config)


def test_a_decoding_error_has_its_path() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_body(TopicRouteData, b'{"brokerDatas":[{},{"brokerAddrs":{"1":"a","x":"b"}}]}')
    assert caught.value.path == "TopicRouteData.brokerDatas.1.brokerAddrs.x"


@pytest.mark.parametrize(
    "body",
    [
        QueueData(perm=2**31),
        DataVersion(counter=2**63),
        BrokerMemberGroup(broker_addrs={2**63: "a"}),
        SyncStateSet(sync_state_set=(1, -(2**63) - 1)),
    ],
)
def test_a_number_beyond_its_type_is_not_written(body: object) -> None:
    with pytest.raises(EncodeError, match="the number does not fit"):
        encode_body(body)


@pytest.mark.parametrize(
    ("cls", "member"),
    [
        (GroupForbidden, "readable"),
        (BrokerStatsItem, "tps"),
        (QueueData, "perm"),
        (QueueData, "broker_name"),
        (PolicyEntryInfo, "actions"),
        (BrokerMemberGroup, "broker_addrs"),
    ],
)
def test_deep_nesting_is_read_or_refused_and_nothing_else(cls: type[Any], member: str) -> None:
    for depth in (300, 900, 1000, 1020):
        read(cls, member, "[" * depth + "1" + "]" * depth)
        read(cls, member, '{"a":' * depth + "1" + "}" * depth)
