"""The arguments of the marker ``rocketmq``: an invalid one fails the marked test, in one line.

Rules of this file: like the plugin, it only imports the standard library and pytest; the settings
of the broker are imported for markers with settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NoReturn, cast

import pytest

_NAME: Final = "rocketmq"
_OWN: Final = ("brokers", "topics")  # arguments that are no settings of ``broker.conf``


def check(node: pytest.Item) -> dict[str, Any]:
    # The keyword arguments of all markers; the marker nearest to the test wins
    arguments: dict[str, Any] = {}
    for mark in node.iter_markers(_NAME):
        if mark.args:
            _refuse(f" takes keyword arguments only, not {mark.args[0]!r}")
        for key, value in mark.kwargs.items():
            if key == "brokers" and not _is_count(value):
                _refuse(f"(brokers=...): expected an integer of at least 1, got {value!r}")
            if key == "topics" and not _is_topics(value):
                _refuse(f"(topics=...): expected a list of texts, got {value!r}")
            if key not in _OWN:
                _check_setting(key, value)
        arguments = {**mark.kwargs, **arguments}
    return arguments


def setting_text(value: object) -> str:
    # As a properties file has it
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_topics(value: object) -> bool:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return False
    return all(isinstance(topic, str) and topic for topic in cast("Iterable[object]", value))


def _check_setting(key: str, value: object) -> None:
    from rocketwire.errors import IllegalValueError
    from rocketwire.nearest import did_you_mean
    from rocketwire_broker.config import SETTINGS, Config, read_settings

    if key not in SETTINGS:
        hint = did_you_mean(key, (*_OWN, *SETTINGS), count=1)
        _refuse(f": the broker has no setting {key!r}{hint}")
    try:
        read_settings(Config(), {key: setting_text(value)})
    except IllegalValueError as error:
        _refuse(f"({key}=...): {error}")


def _refuse(text: str) -> NoReturn:
    pytest.fail(f"@pytest.mark.{_NAME}{text}", pytrace=False)
