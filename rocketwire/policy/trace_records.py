"""Reading message trace: what clients, Java's or ours, wrote about the messages they sent and handled.

Rules of this file: a record that cannot be read is left out, for anybody can send to the trace topic; fields that a release
does not write are None.

Java: ``TraceDataEncoder.decoderFromTraceDataString``, ``TraceContext``, ``TraceBean``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RECORD_END: Final = "\x02"
FIELD_END: Final = "\x01"

MESSAGE_TYPES: Final = (
    "Normal_Msg",
    "Trans_Msg_Half",
    "Trans_msg_Commit",
    "Delay_Msg",
    "Order_Msg",
)
"""Kinds of messages by their number in a record (Java: ``MessageType``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceContext:
    """One record of message trace (Java: ``TraceContext`` with its one ``TraceBean``).

    Attributes:
        trace_type: ``Pub``, ``SubBefore``, ``SubAfter``, ``EndTransaction`` or ``Recall``.
        msg_id: of the message, the sender's.
        time_stamp: when, in milliseconds since 1970.
        region_id: of the broker.
        group_name: who sent or handled it.
        topic: of the message.
        tags: of the message.
        keys: of the message.
        store_host: the broker, ``host:port``.
        body_length: in bytes.
        cost_time: milliseconds that sending or handling took.
        msg_type: one of ``MESSAGE_TYPES``.
        offset_msg_id: the broker's id.
        is_success: whether it was stored, or handled.
        client_host: the sender's, from old clients.
        request_id: the same in a ``SubBefore`` and its ``SubAfter``.
        retry_times: how often it had been given back.
        context_code: how handling ended (Java: ``ConsumeReturnType``, by number).
        transaction_id: of a transaction.
        transaction_state: how it ended.
        from_transaction_check: whether a broker had asked.
    """

    trace_type: str
    msg_id: str
    time_stamp: int | None = None
    region_id: str | None = None
    group_name: str | None = None
    topic: str | None = None
    tags: str | None = None
    keys: str | None = None
    store_host: str | None = None
    body_length: int | None = None
    cost_time: int | None = None
    msg_type: str | None = None
    offset_msg_id: str | None = None
    is_success: bool | None = None
    client_host: str | None = None
    request_id: str | None = None
    retry_times: int | None = None
    context_code: int | None = None
    transaction_id: str | None = None
    transaction_state: str | None = None
    from_transaction_check: bool | None = None


def _is_true(text: str) -> bool:
    return text.lower() == "true"


def _kind(text: str) -> str:
    return MESSAGE_TYPES[int(text)]


_READ: Final[Mapping[str, Callable[[str], object]]] = {
    "time_stamp": int,
    "body_length": int,
    "cost_time": int,
    "retry_times": int,
    "context_code": int,
    "msg_type": _kind,
    "is_success": _is_true,
    "from_transaction_check": _is_true,
}
"""How fields are read that are no texts."""

_FIELDS: Final[Mapping[str, str]] = {
    "Pub": (
        "time_stamp region_id group_name topic msg_id tags keys store_host body_length cost_time msg_type "
        "offset_msg_id is_success client_host"
    ),
    "SubBefore": "time_stamp region_id group_name request_id msg_id retry_times keys",
    "SubAfter": "request_id msg_id cost_time is_success keys context_code time_stamp group_name",
    "EndTransaction": (
        "time_stamp region_id group_name topic msg_id tags keys store_host msg_type transaction_id "
        "transaction_state from_transaction_check"
    ),
    "Recall": "time_stamp region_id group_name topic msg_id is_success",
}
"""Fields of each kind of record, in their order."""

_NEEDED: Final[Mapping[str, int]] = {
    "Pub": 12, "SubBefore": 7, "SubAfter": 5, "EndTransaction": 12, "Recall": 6,
}  # fmt: skip
"""How many of them a record has at least."""

_OLD_PUB: Final = 12
"""Fields of a ``Pub`` record that has no offset id (Java 4.4)."""


def read_trace(text: str) -> list[TraceContext]:
    """The records of one trace message's body."""
    found = [_read(record.split(FIELD_END)) for record in text.split(RECORD_END)]
    return [one for one in found if one is not None]


def _read(fields: list[str]) -> TraceContext | None:
    kind, values = fields[0], fields[1:]
    names = _FIELDS.get(kind, "").split()
    if not names or len(values) < _NEEDED[kind]:
        return None
    if kind == "Pub" and len(values) == _OLD_PUB:
        names.remove("offset_msg_id")
    try:
        read: dict[str, Any] = {
            name: _READ.get(name, str)(value)
            for name, value in zip(names, values, strict=False)
            if value != "null"
        }
        return TraceContext(trace_type=kind, **read)
    except (ValueError, IndexError, TypeError):
        return None
