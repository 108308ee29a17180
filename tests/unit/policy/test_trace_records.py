"""Reading message trace; that Java's records are read is tested against Java in the cases of operators' calls."""

from __future__ import annotations

import pytest

from rocketwire.client.trace.records import (
    end_transaction_record,
    format_record,
    publish_record,
    recall_record,
)
from rocketwire.policy.trace_records import TraceContext, read_trace


def test_what_our_own_clients_record_is_read() -> None:
    sent = publish_record(
        timestamp=17,
        region="r",
        group="g",
        topic="t",
        msg_id="M",
        tags=None,
        keys="k1 k2",
        store_host="127.0.0.1:10911",
        body_length=5,
        cost_millis=3,
        message_type=0,
        offset_msg_id="O",
        is_success=True,
    )
    ended = end_transaction_record(
        timestamp=18,
        region=None,
        group="g",
        topic="t",
        msg_id="M",
        tags="x",
        keys="",
        store_host="h:1",
        transaction_id="T",
        state="COMMIT_MESSAGE",
        from_check=True,
    )
    recalled = recall_record(
        timestamp=19, region="r", group="g", topic="t", msg_id="M", is_success=False
    )

    first, second, third = read_trace(sent.text + ended.text + recalled.text)

    assert first == TraceContext(
        trace_type="Pub",
        msg_id="M",
        time_stamp=17,
        region_id="r",
        group_name="g",
        topic="t",
        keys="k1 k2",
        store_host="127.0.0.1:10911",
        body_length=5,
        cost_time=3,
        msg_type="Normal_Msg",
        offset_msg_id="O",
        is_success=True,
    )
    assert (second.trace_type, second.transaction_state) == ("EndTransaction", "COMMIT_MESSAGE")
    assert second.from_transaction_check
    assert (third.trace_type, third.is_success) == ("Recall", False)


def test_what_consumers_record_is_read_before_and_after() -> None:
    before = format_record("SubBefore", 1, "r", "g", "REQ", "M", 2, "k")
    after = format_record("SubAfter", "REQ", "M", 7, True, "k", 0, 8, "g")
    of_old = format_record("SubAfter", "REQ", "M", 7, False, "k")

    first, second, third = read_trace(before + after + of_old)

    assert (first.request_id, first.retry_times, first.keys) == ("REQ", 2, "k")
    assert (second.cost_time, second.is_success, second.context_code) == (7, True, 0)
    assert (second.time_stamp, second.group_name) == (8, "g")
    assert (third.is_success, third.time_stamp) == (False, None)


def test_an_old_record_of_a_send_has_no_offset_id() -> None:
    old = format_record("Pub", 1, "r", "g", "t", "M", "tag", "k", "h:1", 5, 3, 3, False)

    (one,) = read_trace(old)

    assert (one.offset_msg_id, one.is_success, one.msg_type) == (None, False, "Delay_Msg")


@pytest.mark.parametrize(
    "text",
    ["", "\x02", "Pub", "Pub\x01x", "Nothing\x011\x02", format_record("SubBefore", "x", *"abcdef")],
)
def test_what_is_no_record_is_left_out(text: str) -> None:
    assert read_trace(text) == []
