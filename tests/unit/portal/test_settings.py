"""Settings as keywords, and their types for type checkers."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from rocketwire.client import (
    ClientConfig,
    LitePullConsumerConfig,
    PopConsumerConfig,
    ProducerConfig,
    PushConsumerConfig,
)
from rocketwire.errors import IllegalTypeError, IllegalValueError
from rocketwire.portal import settings as typed_settings
from rocketwire.portal.settings import apply_client_settings, apply_settings, reopens


def test_settings_go_to_the_client_or_to_the_producer() -> None:
    client, config = apply_settings(
        "h:1", None, ProducerConfig, {"send_msg_timeout": 9.0, "namespace": "n"}
    )
    assert client == ClientConfig(namesrv_addr="h:1", namespace="n")
    assert config == ProducerConfig(send_msg_timeout=9.0)


def test_settings_change_a_config() -> None:
    base = ProducerConfig(compress_level=1)
    _, config = apply_settings("h:1", base, ProducerConfig, {"send_msg_timeout": 9.0})
    assert config == ProducerConfig(compress_level=1, send_msg_timeout=9.0)


def test_without_client_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMESRV_ADDR", "e:9")
    assert apply_client_settings(None, {"unit_name": "u"}) == ClientConfig(
        namesrv_addr="e:9", unit_name="u"
    )


def test_wrong_settings_are_rejected() -> None:
    with pytest.raises(IllegalTypeError, match="nothing: there is no such setting"):
        apply_settings("h:1", None, ProducerConfig, {"nothing": 1})
    with pytest.raises(IllegalTypeError, match=r"name_servers: .*; did you mean namesrv_addr"):
        apply_settings("h:1", None, ProducerConfig, {"name_servers": 1})
    with pytest.raises(IllegalValueError):
        apply_settings("h:1", None, ProducerConfig, {"send_msg_timeout": 0})
    with pytest.raises(IllegalTypeError, match="because of namespace"):
        apply_client_settings(object(), {"namespace": "n"})


def test_a_client_reopens_if_its_settings_say_so() -> None:
    assert not reopens("h:1")
    assert reopens(ClientConfig(reopen_after_fork=True))


@pytest.mark.parametrize(
    ("typed", "configs"),
    [
        (typed_settings.ClientSettings, [ClientConfig]),
        (typed_settings.ProducerSettings, [ClientConfig, ProducerConfig]),
        (typed_settings.PushConsumerSettings, [ClientConfig, PushConsumerConfig]),
        (typed_settings.PopConsumerSettings, [ClientConfig, PopConsumerConfig]),
        (typed_settings.LitePullConsumerSettings, [ClientConfig, LitePullConsumerConfig]),
    ],
)
def test_type_checkers_know_every_setting(typed: type[Any], configs: list[type[Any]]) -> None:
    expected = {
        field.name: str(field.type) for config in reversed(configs) for field in fields(config)
    }
    actual = {
        name: reference.__forward_arg__
        for base in typed.__mro__ + tuple(getattr(typed, "__orig_bases__", ()))
        for name, reference in getattr(base, "__annotations__", {}).items()
    }

    assert actual == expected
