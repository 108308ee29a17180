"""Stored messages as plain values and back; the packets are the worked examples of the protocol's description."""

from typing import Any

import pytest

from rocketwire.errors import DecodeError, EncodeError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.checksum import crc32
from rocketwire_tools.codec.bodies import describe_messages, encode_messages

MESSAGE = {
    "topic": "TopicA",
    "queueId": 3,
    "queueOffset": 7,
    "commitLogOffset": 456,
    "flag": -1,
    "bornTimestamp": 1700000000000,
    "bornHost": "10.0.0.2:50000",
    "storeTimestamp": 1700000000001,
    "storeHost": "10.0.0.1:10911",
    "reconsumeTimes": 1,
    "properties": {"UNIQ_KEY": "7F", "k": "v"},
    "body": "6869",
}


def test_messages_are_shown_with_the_members_of_java_and_written_again() -> None:
    data = encode_messages([MESSAGE, {"topic": "T"}])
    first, second = describe_messages(data)

    assert MESSAGE.items() <= first.items()
    assert first["msgId"] == "7F"
    assert first["offsetMsgId"] == "0A00000100002A9F00000000000001C8"
    assert crc32(b"hi") == first["bodyCRC"]
    assert (None, None, 92) == (second["body"], second["properties"], second["storeSize"])
    assert data == encode_messages([first, second])


@pytest.mark.parametrize("compression", ["NONE", "ZLIB", "LZ4", "ZSTD"])
def test_bodies_are_shown_inflated(compression: str) -> None:
    flag = 0 if compression == "NONE" else int(MessageSysFlag[f"COMPRESSION_{compression}"])
    body = (b"hello" * 100).hex()
    data = encode_messages([{"topic": "T", "body": body, "sysFlag": flag | 1}])

    assert [body] == [message["body"] for message in describe_messages(data)]
    assert len(data) < 300


def test_hosts_of_ipv6_are_shown_as_java_prints_them() -> None:
    flags = int(MessageSysFlag.BORNHOST_V6 | MessageSysFlag.STOREHOSTADDRESS_V6)
    hosts = {"bornHost": "[::1]:5", "storeHost": "fe80::2:10911"}
    data = encode_messages([{"topic": "T", "sysFlag": flags, **hosts}])

    (message,) = describe_messages(data)

    assert message["bornHost"] == "0:0:0:0:0:0:0:1:5"
    assert message["storeHost"] == "fe80:0:0:0:0:0:0:2:10911"
    assert data == encode_messages([message])


def test_a_message_that_cannot_be_read_is_refused_with_its_place() -> None:
    good = encode_messages([MESSAGE])

    with pytest.raises(DecodeError) as refused:
        describe_messages(good + good[:-1])

    assert "messages[1]" in str(refused.value)
    assert (refused.value.offset or 0) >= len(good)


@pytest.mark.parametrize(
    "message",
    [
        1,
        {"topic": 1},
        {"topik": "T"},
        {"topic": "T", "queueId": "1"},
        {"topic": "T", "queueId": 2**40},
        {"topic": "T", "bornHost": "x:1"},
        {"topic": "T", "body": "x"},
        {"topic": "T", "body": "61", "sysFlag": 0x401},
        {"topic": "T", "properties": {"a": 1}},
    ],
)
def test_a_message_that_does_not_fit_is_refused(message: Any) -> None:
    with pytest.raises((EncodeError, DecodeError)):
        encode_messages([message])
