"""The header codec is as lenient and as strict as Java's.

Expectations were measured with the oracle's ``encode_frame`` and ``decode_frame`` on 5.5.0.
"""

from typing import Any

import pytest

from rocketwire.codes import SerializeType
from rocketwire.errors import DecodeError, EncodeError
from rocketwire.messages import decode_header, encode_header
from rocketwire.messages.controller import ElectMasterRequestHeader
from rocketwire.messages.kvconfig import PutKVConfigRequestHeader
from rocketwire.messages.lite import GetLiteClientInfoRequestHeader
from rocketwire.messages.pull import PullMessageResponseHeader
from rocketwire.messages.registration import RegisterBrokerRequestHeader
from rocketwire.messages.route import GetRouteInfoRequestHeader
from rocketwire.messages.send import SendMessageRequestHeaderV2
from rocketwire.messages.topics import CreateTopicRequestHeader
from rocketwire.messages.transactions import (
    CheckTransactionStateResponseHeader,
    EndTransactionRequestHeader,
)

SENT: dict[str, Any] = {
    "producer_group": "pg",
    "topic": "T",
    "default_topic": "TBW102",
    "default_topic_queue_nums": 4,
    "queue_id": 1,
    "sys_flag": 0,
    "born_timestamp": 1700000000000,
    "flag": 0,
    "properties": "UNIQ_KEY\x017F000001\x02WAIT\x01true\x02",
    "reconsume_times": 0,
    "unit_mode": False,
    "batch": False,
    "broker_name": "broker-a",
}


def test_missing_and_unreadable_fields_keep_their_default() -> None:
    fields = {"brokerName": "b", "brokerId": "x", "bodyCrc32": " 5", "heartbeatTimeoutMillis": ""}
    header = decode_header(RegisterBrokerRequestHeader, fields)

    assert header == RegisterBrokerRequestHeader(
        broker_name="b", broker_addr=None, cluster_name=None, ha_server_addr=None, broker_id=None
    )
    assert header.body_crc32 == 0
    assert header.compressed is False
    assert header.enable_acting_master is None


def test_without_a_map_every_field_has_its_default() -> None:
    assert decode_header(GetRouteInfoRequestHeader, None) == GetRouteInfoRequestHeader(topic=None)


def test_a_value_that_is_null_counts_as_missing() -> None:
    header = decode_header(PutKVConfigRequestHeader, {"namespace": None, "key": "", "value": "v"})
    assert header == PutKVConfigRequestHeader(namespace=None, key="", value="v")


def test_unknown_fields_are_ignored() -> None:
    fields = {"topic": "T", "zzz": "1", "lo": "true", "bname": "b"}
    header = decode_header(GetRouteInfoRequestHeader, fields)
    assert header == GetRouteInfoRequestHeader(topic="T", lo=True, bname="b")


def test_a_required_field_must_be_given_and_may_be_none() -> None:
    with pytest.raises(TypeError, match="namespace"):
        PutKVConfigRequestHeader(key="k", value="v")
    assert encode_header(PutKVConfigRequestHeader(namespace=None, key="k", value="v")) == {
        "key": "k",
        "value": "v",
    }


@pytest.mark.parametrize(
    ("cls", "field", "good", "bad"),
    [
        (CreateTopicRequestHeader, "topicFilterType", ["SINGLE_TAG", "MULTI_TAG"], ["x", ""]),
        (EndTransactionRequestHeader, "commitOrRollback", ["0", "8", "12"], ["4", "x"]),
        (CheckTransactionStateResponseHeader, "commitOrRollback", ["8", "12"], ["0", "x"]),
        (GetLiteClientInfoRequestHeader, "maxCount", ["1", "x", "2147483647"], ["0", "-1"]),
    ],
)
def test_four_headers_are_checked_once_there_is_any_field(
    cls: type[Any], field: str, good: list[str], bad: list[str]
) -> None:
    for text in good:
        decode_header(cls, {field: text})
    for text in bad:
        with pytest.raises(DecodeError, match=field):
            decode_header(cls, {field: text})
    decode_header(cls, None)


def test_a_check_counts_a_missing_field() -> None:
    with pytest.raises(DecodeError, match="topicFilterType: Java rejects the value None"):
        decode_header(CreateTopicRequestHeader, {"topic": "T"})
    with pytest.raises(DecodeError, match="topicFilterType: Java rejects the value None"):
        decode_header(CreateTopicRequestHeader, {})
    assert decode_header(GetLiteClientInfoRequestHeader, {}).max_count == 1000


def test_the_short_send_header_omits_inherited_fields_in_binary_form() -> None:
    # origin: the frame of "worked example" SEND_MESSAGE_V2, binary, written by Java 5.5.0
    header = SendMessageRequestHeaderV2(**SENT, ns="n", lo=True)
    letters = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "m", "n"]
    assert list(encode_header(header, serialize_type=SerializeType.ROCKETMQ)) == letters
    assert list(encode_header(header)) == [*letters, "ns", "lo"]


def test_the_short_send_header_does_not_read_inherited_fields() -> None:
    header = SendMessageRequestHeaderV2(**SENT, ns="n", lo=True)
    assert decode_header(SendMessageRequestHeaderV2, encode_header(header)) == (
        SendMessageRequestHeaderV2(**SENT)
    )


def test_a_number_beyond_its_type_is_not_written() -> None:
    with pytest.raises(EncodeError) as caught:
        encode_header(
            PullMessageResponseHeader(
                suggest_which_broker_id=1 << 63, next_begin_offset=0, min_offset=0, max_offset=0
            )
        )

    assert caught.value.path == "PullMessageResponseHeader.suggestWhichBrokerId"


def test_javas_clock_stays_open() -> None:
    header = decode_header(ElectMasterRequestHeader, {})

    assert header.invoke_time is None
    assert encode_header(header) == {
        "clusterName": "",
        "brokerName": "",
        "brokerId": "-1",
        "designateElect": "false",
    }
