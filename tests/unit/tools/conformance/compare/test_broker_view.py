"""Two brokers' responses are compared without the parts that always differ."""

from typing import Any

from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.conformance.compare.diff import (
    ext_view,
    json_view,
    messages_view,
    remark_view,
    same_remarks,
)


def test_addresses_and_times_in_remarks_are_not_compared() -> None:
    remark = "consumer 127.0.0.1:4711 at 1700000000000 is gone"

    assert remark_view(17, remark) == "consumer ADDRESS at NUMBER is gone"


def test_the_text_of_an_exception_is_as_good_as_any_other() -> None:
    thrown = remark_view(1, "java.lang.NullPointerException: x")

    assert same_remarks(thrown, remark_view(1, "the queue id is missing"))
    assert not same_remarks(remark_view(17, "a"), remark_view(17, "b"))


def test_a_leftover_of_a_success_is_no_remark() -> None:
    assert remark_view(0, "not set any response code") is None


def test_ids_and_positions_are_compared_by_their_presence() -> None:
    first = ext_view({"msgId": "7F01", "queueId": "1", "queueOffset": "9"})

    assert first == ext_view({"msgId": "7F02", "queueId": "1", "queueOffset": "3"})
    assert first != ext_view({"queueId": "1", "queueOffset": "9"})
    assert first != ext_view({"msgId": "7F01", "queueId": "2", "queueOffset": "9"})


def test_no_ext_fields_are_as_good_as_an_empty_object() -> None:
    assert ext_view(None) == ext_view({})


def test_times_in_json_are_not_compared_and_counts_are() -> None:
    value = {"a": [{"lastTimestamp": 5, "maxOffset": 3, "other": 1_700_000_000_000}]}

    assert json_view(value) == {
        "a": [{"lastTimestamp": "present", "maxOffset": 3, "other": "NUMBER"}]
    }


def test_rates_are_not_compared() -> None:
    first = {"topicPutTps": 0.35, "consumeTps": 0.0}

    assert json_view(first) == json_view({"topicPutTps": 0.0, "consumeTps": 2.5})


def test_messages_are_compared_without_their_positions() -> None:
    def body(**changes: Any) -> bytes:
        return encode_stored_message(StoredMessage(topic="t", body=b"a", **changes))

    assert messages_view(body(commit_log_offset=7)) == messages_view(body(store_timestamp=9))
    assert messages_view(body(queue_offset=1)) != messages_view(body(queue_offset=2))
