"""Series of measurements: attributes that are built once, and numbers of messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from opentelemetry.metrics import Observation

from rocketwire.client.telemetry import semantic_conventions as names
from rocketwire.client.telemetry.attributes import server_attributes

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions

    from rocketwire.client.telemetry.attributes import Attributes

# Maximum series of a metric, for topics, groups, brokers and errors; others are one series
MAX_SERIES: Final = 1024
_OVERFLOW: Final = "otel.metric.overflow"  # attribute of the series for all others, as in SDKs

Key: TypeAlias = tuple[str | None, ...]


@dataclass(slots=True, eq=False)
class Series:
    attributes: Attributes
    messages: int = 0


def find_series(
    all_series: dict[Key, Series],
    operation: str,
    kind: str,
    topic: str,
    group: str | None,
    address: str | None,
    error: str | None,
) -> Series:
    key = (operation, topic, group, address, error)
    series = all_series.get(key)
    if series is not None:
        return series
    attributes: Attributes = {
        names.MESSAGING_SYSTEM: names.ROCKETMQ,
        names.MESSAGING_OPERATION_NAME: operation,
        names.MESSAGING_OPERATION_TYPE: kind,
    }
    if len(all_series) >= MAX_SERIES:
        attributes[_OVERFLOW] = True
        return all_series.setdefault((operation,), Series(attributes))
    attributes[names.MESSAGING_DESTINATION_NAME] = topic
    attributes.update(server_attributes(address))
    if group is not None:
        attributes[names.MESSAGING_CONSUMER_GROUP_NAME] = group
    if error is not None:
        attributes[names.ERROR_TYPE] = error
    series = all_series[key] = Series(attributes)
    return series


def observe(all_series: dict[Key, Series], _: CallbackOptions) -> Iterable[Observation]:
    """Return the numbers of messages; also called by other threads."""
    return [Observation(one.messages, one.attributes) for one in list(all_series.values())]
