"""``stored``, ``message-id`` and ``properties``; the packets are the worked examples of the protocol's description."""

from __future__ import annotations

from typing import Any

import pytest

from rocketwire.flags import MessageSysFlag
from rocketwire.wire.checksum import crc32
from tests.support.codec_in_process import only, refused, run

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


def stored(*messages: dict[str, Any]) -> Any:
    return only("stored", "--encode", line={"messages": list(messages)})


def test_messages_are_shown_with_the_members_of_java_and_written_again() -> None:
    line = stored(MESSAGE, {"topic": "T"})
    first, second = only("stored", line=line)["messages"]

    assert MESSAGE.items() <= first.items()
    assert {
        "msgId": "7F",
        "offsetMsgId": "0A00000100002A9F00000000000001C8",
    }.items() <= first.items()
    assert crc32(b"hi") == first["bodyCRC"]
    assert (None, None, 92) == (second["body"], second["properties"], second["storeSize"])
    assert line == stored(first, second)


@pytest.mark.parametrize(
    "kind",
    [
        0,
        MessageSysFlag.COMPRESSION_ZLIB,
        MessageSysFlag.COMPRESSION_LZ4,
        MessageSysFlag.COMPRESSION_ZSTD,
    ],
)
def test_bodies_are_shown_inflated_unless_they_are_to_be_kept(kind: int) -> None:
    body = (b"hello" * 100).hex()
    line = stored({"topic": "T", "body": body, "sysFlag": int(kind) | 1})

    assert [body] == [one["body"] for one in only("stored", line=line)["messages"]]
    kept = only("stored", "--keep-compressed", line=line)
    assert kept["messages"][0]["body"] != body
    assert line == only("stored", "--encode", "--keep-compressed", line=kept)


def test_hosts_of_ipv6_are_shown_as_java_prints_them() -> None:
    flags = int(MessageSysFlag.BORNHOST_V6 | MessageSysFlag.STOREHOSTADDRESS_V6)
    line = stored(
        {"topic": "T", "sysFlag": flags, "bornHost": "[::1]:5", "storeHost": "fe80::2:10911"}
    )

    message = only("stored", line=line)["messages"][0]

    assert ("0:0:0:0:0:0:0:1:5", "fe80:0:0:0:0:0:0:2:10911") == (
        message["bornHost"],
        message["storeHost"],
    )
    assert line == stored(message)


def test_an_inner_batch_is_taken_apart_on_demand() -> None:
    batch = only(
        "encode", line={"code": 320, "body": {"value": [{"body": "61"}, {"body": "62", "flag": 2}]}}
    )
    inner = only("decode", line=batch)["body"]["hex"]
    flags = int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP)
    line = stored({"topic": "T", "sysFlag": flags, "body": inner, "queueOffset": 5})

    assert 1 == len(only("stored", line=line)["messages"])
    both = only("stored", "--unwrap", line=line)["messages"]
    assert [("61", 5, 0), ("62", 6, 2)] == [
        (one["body"], one["queueOffset"], one["flag"]) for one in both
    ]


def test_a_checksum_is_looked_at_on_demand() -> None:
    line = stored({**MESSAGE, "bodyCRC": 5})

    assert only("stored", line=line)["messages"][0]["bodyCRC"] == 5
    assert "checksum" in refused("stored", "--check-crc", line=line)["message"]


def test_a_message_that_cannot_be_read_is_refused_with_its_place() -> None:
    good = stored(MESSAGE)["hex"]

    line = refused("stored", line=good + good[:-2])

    assert "messages[1]" in line["message"]
    assert line["offset"] >= len(good) // 2


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"messages": 1},
        {"messages": [1]},
        {"messages": [{"topic": 1}]},
        {"messages": [{"topik": "T"}]},
        {"messages": [{"topic": "T", "queueId": "1"}]},
        {"messages": [{"topic": "T", "queueId": 2**40}]},
        {"messages": [{"topic": "T", "bornHost": "x:1"}]},
        {"messages": [{"topic": "T", "body": "x"}]},
        {"messages": [{"topic": "T", "body": "61", "sysFlag": 0x401}]},
        {"messages": [{"topic": "T", "properties": {"a": 1}}]},
    ],
)
def test_a_message_that_does_not_fit_is_refused(source: Any) -> None:
    assert refused("stored", "--encode", line=source)["error"] in ("EncodeError", "DecodeError")


def test_an_id_says_where_its_message_is_and_back() -> None:
    text = "0A0000010000277700000000000001C8"

    line = only("message-id", line=text)

    assert line == {"value": {"address": "10.0.0.1:10103", "offset": 456}}
    assert {"hex": text} == only("message-id", "--encode", line=line)
    assert {"hex": text} == only("message-id", "--encode", line=line["value"])


def test_the_id_of_a_sender_says_who_that_was_and_back() -> None:
    text = "7F000001ABCD00112233000003E80007"

    line = only("message-id", "--unique", line=text)

    assert line["value"] == {
        "address": "127.0.0.1",
        "processId": 0xABCD,
        "constant": 0x00112233,
        "milliseconds": 1000,
        "counter": 7,
    }
    assert {"hex": text} == only("message-id", "--unique", "--encode", line=line)


@pytest.mark.parametrize("source", [{}, {"address": "x"}, {"address": "1.2.3.4:5", "offset": "1"}])
def test_what_is_no_id_is_refused(source: Any) -> None:
    assert refused("message-id", "--encode", line=source)["error"] == "EncodeError"
    assert refused("message-id", line="0A")["error"] == "DecodeError"


def test_an_empty_line_is_a_message_without_properties() -> None:
    none = only("properties", "--encode", line={"value": {}})

    done = run("properties", stdin=[none["hex"], "6b017602", none])

    assert [{"value": {}}, {"value": {"k": "v"}}, {"value": {}}] == done.lines


def test_properties_are_an_object_and_back() -> None:
    text = "a\x01b\x02UNIQ_KEY\x01\u4e2d\x02".encode().hex()

    line = only("properties", line=text)

    assert line == {"value": {"a": "b", "UNIQ_KEY": "\u4e2d"}}
    assert {"hex": text} == only("properties", "--encode", line=line)
    assert {"hex": text} == only("properties", "--encode", line={**line["value"], "none": None})
    assert run("properties", "--encode", stdin=['{"a":1}']).status == 1
