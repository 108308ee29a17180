"""Settings and figures of the broker (broker.md 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.broker import BrokerAtHand, Client


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"transactionTimeOut=2000\nunknown=1\nbrokerName=broker-a\n", 0),
        (b"transactionTimeOut=3000\nbrokerName=other\n", 16),
        (b"", 0),
        (b"configBlackList=x\n", 16),
        (b"transactionTimeOut=soon\n", 1),
    ],
)
def test_settings_are_changed(client: Client, home: BrokerAtHand, body: bytes, code: int) -> None:
    assert client.call(25, {}, body).code == code
    changed = home.broker.config.transaction_timeout_ms == 2000
    assert changed == body.startswith(b"transactionTimeOut=2000")
    assert home.broker.config.broker_name == "broker-a"


@pytest.mark.parametrize(("code", "answer"), [(907, 0), (1007, 1)])
def test_a_broker_alone_has_no_replicas(client: Client, code: int, answer: int) -> None:
    assert client.call(code).code == answer
