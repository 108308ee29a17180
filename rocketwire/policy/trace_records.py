"""Decoding of message trace: records of clients about messages that they sent and consumed.

Invalid records are skipped, because any client can send to the trace topic.  Fields that a release
does not write are None.

Java: ``TraceDataEncoder.decoderFromTraceDataString``, ``TraceContext``, ``TraceBean``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

RECORD_END: Final = "\x02"
FIELD_END: Final = "\x01"

# Message types by their number in a record (Java: ``MessageType``)
MESSAGE_TYPES: Final = (
    "Normal_Msg",
    "Trans_Msg_Half",
    "Trans_msg_Commit",
    "Delay_Msg",
    "Order_Msg",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceContext:
    """One record of message trace (Java: ``TraceContext`` with its one ``TraceBean``)."""

    trace_type: str  #: ``Pub``, ``SubBefore``, ``SubAfter``, ``EndTransaction`` or ``Recall``
    msg_id: str  #: the sender's id of the message
    time_stamp: int | None = None  #: time of the record, milliseconds since 1970
    region_id: str | None = None  #: region of the broker
    group_name: str | None = None  #: group of the producer or consumer
    topic: str | None = None  #: topic of the message
    tags: str | None = None  #: tags of the message
    keys: str | None = None  #: keys of the message
    store_host: str | None = None  #: address of the broker, ``host:port``
    body_length: int | None = None  #: size of the body in bytes
    cost_time: int | None = None  #: milliseconds that sending or consuming took
    msg_type: str | None = None  #: an element of ``MESSAGE_TYPES``
    offset_msg_id: str | None = None  #: the broker's id of the message
    is_success: bool | None = None  #: whether the message was stored, or consumed
    client_host: str | None = None  #: address of the sender, from old clients
    request_id: str | None = None  #: pairs a ``SubBefore`` with its ``SubAfter``
    retry_times: int | None = None  #: number of redeliveries before
    #: result of the consumption (Java: ``ConsumeReturnType``, by number)
    context_code: int | None = None
    transaction_id: str | None = None  #: id of the transaction
    transaction_state: str | None = None  #: outcome of the transaction
    from_transaction_check: bool | None = None  #: whether the broker had checked the transaction


def _is_true(text: str) -> bool:
    return text.lower() == "true"


def _message_type(text: str) -> str:
    return MESSAGE_TYPES[int(text)]


# Decoders of the fields that are not texts
_DECODERS: Final[Mapping[str, Callable[[str], object]]] = {
    "time_stamp": int,
    "body_length": int,
    "cost_time": int,
    "retry_times": int,
    "context_code": int,
    "msg_type": _message_type,
    "is_success": _is_true,
    "from_transaction_check": _is_true,
}

# Fields of each type of record, in their order
_FIELDS: Final[Mapping[str, str]] = {
    "Pub": (
        "time_stamp region_id group_name topic msg_id tags keys store_host body_length cost_time "
        "msg_type offset_msg_id is_success client_host"
    ),
    "SubBefore": "time_stamp region_id group_name request_id msg_id retry_times keys",
    "SubAfter": "request_id msg_id cost_time is_success keys context_code time_stamp group_name",
    "EndTransaction": (
        "time_stamp region_id group_name topic msg_id tags keys store_host msg_type "
        "transaction_id transaction_state from_transaction_check"
    ),
    "Recall": "time_stamp region_id group_name topic msg_id is_success",
}

# Least number of fields of a record
_MIN_FIELDS: Final[Mapping[str, int]] = {
    "Pub": 12, "SubBefore": 7, "SubAfter": 5, "EndTransaction": 12, "Recall": 6,
}  # fmt: skip

_OLD_PUB: Final = 12  # number of fields of a ``Pub`` record without an offset id (Java 4.4)


def read_trace(text: str) -> list[TraceContext]:
    """Decode the records in the body of a trace message."""
    records = (_decode(record.split(FIELD_END)) for record in text.split(RECORD_END))
    return [record for record in records if record is not None]


def _decode(fields: list[str]) -> TraceContext | None:
    trace_type, texts = fields[0], fields[1:]
    names = _FIELDS.get(trace_type, "").split()
    if not names or len(texts) < _MIN_FIELDS[trace_type]:
        return None
    if trace_type == "Pub" and len(texts) == _OLD_PUB:
        names.remove("offset_msg_id")
    try:
        values: dict[str, Any] = {
            name: _DECODERS.get(name, str)(text)
            for name, text in zip(names, texts, strict=False)
            if text != "null"
        }
        return TraceContext(trace_type=trace_type, **values)
    except (ValueError, IndexError, TypeError):
        return None
