"""The text of trace records; Java reads it in ``tests/java/client/test_consumer_trace.py``."""

from __future__ import annotations

from rocketwire.client.trace.records import TraceRecord, consume_before_record, recall_record


def test_a_record_ends_each_field_but_the_last_with_byte_1_and_itself_with_byte_2() -> None:
    record = recall_record(
        timestamp=7, region=None, group="g", topic="T", msg_id="ID", is_success=True
    )

    assert record == TraceRecord("Recall\x017\x01null\x01g\x01T\x01ID\x01true\x02", ("ID",), "T")


def test_a_record_has_the_message_id_and_each_key_of_the_message_as_keys() -> None:
    record = consume_before_record(
        timestamp=7,
        region="R",
        group="g",
        topic="T",
        request_id="Q",
        msg_id="ID",
        retry_times=0,
        keys="k1  k2",
    )

    assert record.keys == ("ID", "k1", "k2")
    assert record.keys_size == 9
