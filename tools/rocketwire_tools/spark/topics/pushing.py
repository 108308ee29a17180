"""Filters of Spark as ranges of a batch query.

Rules of this file: pure; filters are recognised by their names and fields, not by PySpark's
classes.  Spark applies every filter again, so a range may be too wide, never too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocketwire_tools.spark.topics.offsets import Queue

_INT64: Final = 1 << 63
_LOWER: Final = {"EqualTo": 0, "GreaterThanOrEqual": 0, "GreaterThan": 1}
_UPPER: Final = {"EqualTo": 0, "LessThanOrEqual": 0, "LessThan": -1}
_COLUMNS: Final = {
    "topic": "topics",
    "brokerName": "brokers",
    "queueId": "queue_ids",
    "partition": "queue_ids",
    "queueOffset": "offsets",
    "offset": "offsets",
    "storeTimestamp": "times",
    "timestamp": "times",
}
"""Column → the field of ``Narrowing`` that its filters change."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The queues and ranges that the filters of a query leave."""

    topics: frozenset[Any] | None = None  # names of topics; None for all
    brokers: frozenset[Any] | None = None  # names of brokers; None for all
    queue_ids: frozenset[Any] | None = None  # numbers of queues; None for all
    offsets: tuple[int, int] = field(default=(0, _INT64))  # first and last offset
    # first and last store timestamp, in milliseconds since 1970
    times: tuple[int, int] = field(default=(0, _INT64))

    def has(self, queue: Queue) -> bool:
        """Whether a queue can have rows of the query."""
        return all(
            values is None or value in values
            for value, values in (
                (queue.topic, self.topics),
                (queue.broker, self.brokers),
                (queue.queue_id, self.queue_ids),
            )
        )

    @property
    def has_times(self) -> bool:
        """Whether filters name times."""
        return self.times != (0, _INT64)


def narrow(filters: Iterable[Any]) -> Narrowing:
    """Return the queues and ranges for which all filters can be true."""
    narrowing = Narrowing()
    for spark_filter in filters:
        path: tuple[str, ...] = getattr(spark_filter, "attribute", ())
        value = getattr(spark_filter, "value", None)
        target = _COLUMNS.get(path[0]) if len(path) == 1 else None
        if target is None or value is None:
            continue
        name = type(spark_filter).__name__
        changes: dict[str, Any] = {}
        if target in ("offsets", "times"):
            number = _number(value)
            if number is not None:
                bounds = _bound(getattr(narrowing, target), name, *number)
                changes = {target: bounds}
        else:
            values = _values(name, value)
            if values is not None:
                before = getattr(narrowing, target)
                both = values if before is None else before & values
                changes = {target: both}
        narrowing = replace(narrowing, **changes)
    return narrowing


def _values(name: str, value: Any) -> frozenset[Any] | None:
    """The values to one of which a column has to be equal; None for any other filter."""
    if name == "EqualTo":
        return frozenset((value,))
    return frozenset(value) if name == "In" else None


def _number(value: Any) -> tuple[int, int] | None:
    if isinstance(value, datetime):
        moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        milliseconds = int((moment.timestamp() * 1_000_000) // 1000)
        return milliseconds, milliseconds + 1
    return (value, value) if type(value) is int else None


def _bound(bounds: tuple[int, int], name: str, low: int, high: int) -> tuple[int, int]:
    """Bounds, less what a comparison leaves out."""
    first, last = bounds
    if name in _LOWER:
        first = max(first, low + (_LOWER[name] if low == high else 0))
    if name in _UPPER:
        last = min(last, high + (_UPPER[name] if low == high else 0))
    return first, last
