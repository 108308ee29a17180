"""Reading message trace; that Java's records are read is tested against Java in the cases of operators' calls."""

import pytest

from rocketwire.client.trace import build_record
from rocketwire.policy.trace_records import TraceContext, read_trace


def text(record_type: str, *fields: object) -> str:
    return build_record(record_type, "t", "r", "M", None, *fields).text


def test_records_of_our_own_clients_are_read() -> None:
    host = "127.0.0.1:10911"
    sent = text("Pub", 17, "r", "g", "t", "M", None, "k1 k2", host, 5, 3, 0, "O", True)
    end = (18, "r", "g", "t", "M", "x", "", "h:1", 2, "T", "COMMIT_MESSAGE", True)
    ended = text("EndTransaction", *end)
    recalled = text("Recall", 19, "r", "g", "t", "M", False)

    first, second, third = read_trace(sent + ended + recalled)

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


def test_records_of_consumers_are_read() -> None:
    begin = text("SubBefore", 1, "r", "g", "REQ", "M", 2, "k")
    end = text("SubAfter", "REQ", "M", 7, True, "k", 0, 8, "g")
    of_old = text("SubAfter", "REQ", "M", 7, False, "k")

    first, second, third = read_trace(begin + end + of_old)

    assert (first.request_id, first.retry_times, first.keys) == ("REQ", 2, "k")
    assert (second.cost_time, second.is_success, second.context_code) == (7, True, 0)
    assert (second.time_stamp, second.group_name) == (8, "g")
    assert (third.is_success, third.time_stamp) == (False, None)


def test_an_old_record_of_a_send_has_no_offset_id() -> None:
    old = text("Pub", 1, "r", "g", "t", "M", "tag", "k", "h:1", 5, 3, 3, False)
    (record,) = read_trace(old)
    assert (record.offset_msg_id, record.is_success, record.msg_type) == (None, False, "Delay_Msg")


@pytest.mark.parametrize(
    "text", ["", "\x02", "Pub", "Pub\x01x", "Nothing\x011\x02", text("SubBefore", "x", *"abcdef")]
)
def test_invalid_records_are_left_out(text: str) -> None:
    assert read_trace(text) == []
