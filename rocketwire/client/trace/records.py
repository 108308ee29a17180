"""The records of message traces, as text in Java's format.

Java: ``TraceDataEncoder``, ``SendMessageTraceHookImpl``, ``EndTransactionTraceHookImpl``,
``ConsumeMessageTraceHookImpl``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from rocketwire.wire.message.properties import split_keys

DEFAULT_REGION: Final = "DefaultRegion"

# Message types with Java's numbers (``MessageType``)
NORMAL, TRANS_HALF, TRANS_COMMIT, DELAY = range(4)


class TraceRecord(NamedTuple):
    text: str  # fields, with Java's separators
    keys: tuple[str, ...]  # keys of the record for operators
    topic: str = ""  # topic of the traced message; a trace message contains records of one topic
    region: str = ""  # region of the broker

    @property
    def keys_size(self) -> int:
        """Approximate size of the encoded keys in bytes."""
        return sum(len(key) + 1 for key in self.keys)


def build_record(
    kind: str, topic: str, region: str, msg_id: str, keys: str | None, *fields: object
) -> TraceRecord:
    """Build a record: ``Pub``, ``SubBefore``, ``SubAfter``, ``EndTransaction`` or ``Recall``.

    Its fields are in the order of ``rocketwire.policy.trace_records``; None becomes ``null``, and a
    bool what it is in Java. ``topic``, ``msg_id`` and ``keys`` are those of the traced message.
    """
    text = "\x01".join((kind, *map(_format_field, fields))) + "\x02"
    return TraceRecord(text, (msg_id, *split_keys(keys)), topic, region)


def _format_field(field: object) -> str:
    if field is None:
        return "null"
    if isinstance(field, bool):
        return "true" if field else "false"
    return str(field)
