"""The records of message traces, as text in Java's format.

Java: ``TraceDataEncoder``, ``SendMessageTraceHookImpl``, ``EndTransactionTraceHookImpl``,
``ConsumeMessageTraceHookImpl``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from rocketwire.wire.message.properties import split_keys

DEFAULT_REGION: Final = "DefaultRegion"

NORMAL, TRANS_HALF, TRANS_COMMIT, DELAY = range(4)
"""Message types with Java's numbers (``MessageType``)."""


class TraceRecord(NamedTuple):
    """A trace record.

    Attributes:
        text: fields, with Java's separators.
        keys: keys of the record for operators.
        topic: topic of the traced message; a trace message contains records of one topic.
        region: region of the broker.
    """

    text: str
    keys: tuple[str, ...]
    topic: str = ""
    region: str = ""

    @property
    def keys_size(self) -> int:
        """Approximate size of the encoded keys in bytes."""
        return sum(len(key) + 1 for key in self.keys)


def format_record(*fields: object) -> str:
    """Format the fields of a record; None as ``null``, a bool as in Java."""
    return "\x01".join(map(_format_field, fields)) + "\x02"


def _format_field(field: object) -> str:
    if field is None:
        return "null"
    if isinstance(field, bool):
        return "true" if field else "false"
    return str(field)


def publish_record(
    *,
    timestamp: int,
    region: str,
    group: str,
    topic: str,
    msg_id: str,
    tags: str | None,
    keys: str | None,
    store_host: str,
    body_length: int,
    cost_millis: int,
    message_type: int,
    offset_msg_id: str,
    is_success: bool,
) -> TraceRecord:
    """Build the record of a sent message."""
    text = format_record(
        "Pub", timestamp, region, group, topic, msg_id, tags, keys, store_host, body_length,
        cost_millis, message_type, offset_msg_id, is_success,
    )  # fmt: skip
    return TraceRecord(text, (msg_id, *split_keys(keys)), topic, region)


def end_transaction_record(
    *,
    timestamp: int,
    region: str | None,
    group: str,
    topic: str,
    msg_id: str,
    tags: str | None,
    keys: str | None,
    store_host: str,
    transaction_id: str | None,
    state: str,
    from_check: bool,
) -> TraceRecord:
    """Build the record of the end of a transaction."""
    region = region or DEFAULT_REGION
    text = format_record(
        "EndTransaction", timestamp, region, group, topic, msg_id, tags, keys,
        store_host, TRANS_COMMIT, transaction_id, state, from_check,
    )  # fmt: skip
    return TraceRecord(text, (msg_id, *split_keys(keys)), topic, region)


def recall_record(
    *, timestamp: int, region: str | None, group: str, topic: str, msg_id: str, is_success: bool
) -> TraceRecord:
    """Build the record of a recalled message."""
    text = format_record("Recall", timestamp, region, group, topic, msg_id, is_success)
    return TraceRecord(text, (msg_id,), topic, region or "")


def consume_before_record(
    *,
    timestamp: int,
    region: str,
    group: str,
    topic: str,
    request_id: str,
    msg_id: str,
    retry_times: int,
    keys: str | None,
) -> TraceRecord:
    """Build the record before the handler of a message is called."""
    text = format_record(
        "SubBefore", timestamp, region, group, request_id, msg_id, retry_times, keys
    )
    return TraceRecord(text, (msg_id, *split_keys(keys)), topic, region)


def consume_after_record(
    *,
    timestamp: int,
    region: str,
    group: str,
    topic: str,
    request_id: str,
    msg_id: str,
    cost_millis: int,
    is_success: bool,
    keys: str | None,
    outcome: int,
    is_cloud: bool,
) -> TraceRecord:
    """Build the record after the handler of a message has returned or raised.

    In the topics of managed clouds (``is_cloud``) time and group are missing, as in Java.
    """
    end = ("",) if is_cloud else (timestamp, group)
    text = format_record(
        "SubAfter", request_id, msg_id, cost_millis, is_success, keys, outcome, *end
    )
    return TraceRecord(text, (msg_id, *split_keys(keys)), topic, region)
