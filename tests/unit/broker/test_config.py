"""Settings with Java's names."""

import re
from pathlib import Path

import pytest

from rocketwire.errors import IllegalValueError
from rocketwire_broker.config import SETTINGS, Config, read_settings, write_settings


def test_settings_are_read() -> None:
    texts = {
        "brokerName": "b",
        "listenPort": "23010",
        "autoCreateTopicEnable": "false",
        "timerMaxDelaySec": "60",
        "fileReservedTime": "48",
        "deleteWhen": "04",
        "haListenPort": "1",
    }

    config, unknown = read_settings(Config(), texts)

    assert (config.broker_name, config.listen_port) == ("b", 23010)
    assert not config.auto_create_topics
    assert (config.timer_max_delay_ms, config.retain_hours) == (60_000, 48.0)
    assert unknown == ["haListenPort"]


@pytest.mark.parametrize(
    "texts",
    [
        {"listenPort": "x"},
        {"traceTopicEnable": "yes"},
        {"messageDelayLevel": "1s 5"},
        {"rocketwire.maxTopics": "-1"},
        {"rocketwire.maxUnsentBytes": "2147483648"},
        {"rocketwire.maxConnections": "0"},
    ],
    ids=lambda texts: next(iter(texts)),
)
def test_invalid_values_are_errors(texts: dict[str, str]) -> None:
    with pytest.raises(IllegalValueError):
        read_settings(Config(), texts)


def test_settings_are_written_as_they_are_read() -> None:
    config = Config(retain_hours=1.5, transaction_check_max=3, property_filter=False)

    assert read_settings(Config(), write_settings(config)) == (config, [])


def test_delays_are_javas_by_default() -> None:
    delays = Config().delays_ms()

    assert (len(delays), delays[0], delays[4], delays[-1]) == (18, 1_000, 60_000, 7_200_000)


def test_the_page_of_limits_has_the_defaults_of_the_declaration() -> None:
    page = (Path(__file__).parents[3] / "docs" / "limits.md").read_text("utf-8")
    shown = dict(re.findall(r"^\| broker: `([\w.]+)` \| (\d+)", page, re.MULTILINE))
    limits = {name for name, item in SETTINGS.items() if "limit" in item.read.__name__}

    assert shown == {name: write_settings(Config())[name] for name in shown}
    assert limits - shown.keys() == {"serverSocketSndBufSize", "serverSocketRcvBufSize"}
