"""Attributes of spans and series."""

from rocketwire.client.telemetry.attributes import server_attributes
from rocketwire.client.telemetry.otel import Key, Series, find_series


def find(all_series: dict[Key, Series], topic: str, error: str | None = None) -> Series:
    return find_series(all_series, "send", "send", topic, None, "10.0.0.2:10911", error)


def test_equal_attributes_are_one_series() -> None:
    all_series: dict[Key, Series] = {}

    assert find(all_series, "T") is find(all_series, "T")
    assert find(all_series, "T", "SYSTEM_BUSY") is not find(all_series, "T")
    assert [series.attributes.get("error.type") for series in all_series.values()] == [
        None,
        "SYSTEM_BUSY",
    ]


def test_an_unknown_broker_has_no_address() -> None:
    assert server_attributes(None) == {}
    assert server_attributes("[::1]:10911") == {"server.address": "::1", "server.port": 10911}
