"""Series: one for equal attributes, and one for all that come too late."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rocketwire.client.telemetry.series import MAX_SERIES, Series, find_series, observe

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions

    from rocketwire.client.telemetry.series import Key


def find(all_series: dict[Key, Series], topic: str, error: str | None = None) -> Series:
    return find_series(all_series, "send", "send", topic, None, "10.0.0.2:10911", error)


def test_equal_attributes_are_one_series() -> None:
    all_series: dict[Key, Series] = {}

    assert find(all_series, "T") is find(all_series, "T")
    assert find(all_series, "T", "SYSTEM_BUSY") is not find(all_series, "T")
    assert [one.attributes.get("error.type") for one in all_series.values()] == [
        None,
        "SYSTEM_BUSY",
    ]


def test_series_beyond_the_limit_are_one() -> None:
    all_series: dict[Key, Series] = {}
    for number in range(MAX_SERIES):
        find(all_series, f"T{number}")

    first, second = find(all_series, "late"), find(all_series, "later")

    assert first is second
    assert first.attributes["otel.metric.overflow"] is True
    assert len(all_series) == MAX_SERIES + 1


def test_the_messages_of_each_series_are_observed() -> None:
    all_series: dict[Key, Series] = {}
    find(all_series, "a").messages += 2
    find(all_series, "b")

    observed = list(observe(all_series, cast("CallbackOptions", None)))

    assert [
        (one.value, (one.attributes or {})["messaging.destination.name"]) for one in observed
    ] == [
        (2, "a"),
        (0, "b"),
    ]
