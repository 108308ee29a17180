"""Times that people type and that programs print."""

import time

import pytest

from rocketwire_tools.admin.commands.consume import start_of_group
from rocketwire_tools.spark.option_values import read_time
from rocketwire_tools.values import parse_time, utc

NOON = 1_769_860_800_123
"""2026-01-31T12:00:00.123Z."""


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T12:00:00.123Z",
        "2026-01-31T12:00:00.123",
        "2026-01-31 12:00:00.123",
        "2026-01-31T20:00:00.123+08:00",
        "1769860800123",
        "2026-01-31#20:00:00:123",
    ],
)
def test_a_time_is_typed_in_many_forms(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert parse_time(text) == NOON
        assert start_of_group(text) == str(NOON)
        assert read_time("startingTimestamp", text) == NOON
    finally:
        monkeypatch.undo()
        time.tzset()


def test_what_is_printed_can_be_typed() -> None:
    assert utc(NOON) == "2026-01-31T12:00:00.123Z"
    assert parse_time(utc(NOON)) == NOON


@pytest.mark.parametrize(
    ("text", "seconds"), [("now", 0), ("2h ago", 7200), ("1.5 m ago", 90), ("1w ago", 604_800)]
)
def test_a_time_may_be_relative_to_now(text: str, seconds: float) -> None:
    assert abs(time.time() - seconds - parse_time(text) / 1000) < 60


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2h", "-1", "2026-13-01", "2026-01-31#12", "9" * 30]
)
def test_another_text_is_an_error_that_shows_the_forms(text: str) -> None:
    with pytest.raises(ValueError, match="must be now, 2h ago, 2026-01-31T12:00:00Z"):
        parse_time(text)
