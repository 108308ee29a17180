"""Requests of one connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.codes import SerializeType
from rocketwire.wire.command import RemotingCommand, encode
from tests.support.broker import BrokerAtHand

if TYPE_CHECKING:
    import pytest


def request(code: int, opaque: int, ext: dict[str, str] | None = None) -> bytes:
    return encode(RemotingCommand(code=code, opaque=opaque, ext_fields=ext))


def test_an_error_of_ours_is_answered_and_the_connection_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home = BrokerAtHand()
    client = home.connect()
    monkeypatch.setattr(home.broker, "groups", None)

    answer = client.pulled()

    assert answer.code == 1
    assert "AttributeError" in (answer.remark or "")
    assert "request 11 of 127.0.0.1:40001 failed" in caplog.text
    assert client.call(26).code == 0


def test_a_broker_may_write_binary_headers_only() -> None:
    client = BrokerAtHand(binary=True).connect()

    assert client.call(26).serialize_type == SerializeType.ROCKETMQ
