"""The text of trace records; Java reads it in ``tests/java/client/test_consumer_trace.py``."""

from __future__ import annotations

from rocketwire.client.trace.records import TraceRecord, build_record


def test_a_record_separates_fields_with_byte_1_and_ends_with_byte_2() -> None:
    record = build_record("Recall", "T", "R", "ID", None, 7, None, "g", "T", "ID", True)

    text = "Recall\x017\x01null\x01g\x01T\x01ID\x01true\x02"
    assert record == TraceRecord(text, ("ID",), "T", "R")


def test_a_record_has_the_message_id_and_each_key_of_the_message_as_keys() -> None:
    record = build_record("SubBefore", "T", "R", "ID", "k1  k2", 7)

    assert record.keys == ("ID", "k1", "k2")
    assert record.keys_size == 9
