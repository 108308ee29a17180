"""How far topics and groups are (broker.md 16.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.queries import ConsumeStats

if TYPE_CHECKING:
    from tests.support.broker import BrokerAtHand, Client


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    """A client of a broker with three messages, of which ``readers`` has consumed two."""
    client = home.connect()
    for _ in range(3):
        client.send(d=1)
        home.pass_time(1000)
    client.pulled(sysFlag=5, commitOffset=2)
    return client


def stats(client: Client, **fields: object) -> ConsumeStats:
    answer = client.call(208, {"consumerGroup": "readers", **fields})
    body = decode_body(ConsumeStats, answer.body or b"")
    assert body is not None
    return body


def test_an_unknown_group_has_an_empty_table(client: Client) -> None:
    assert stats(client, consumerGroup="nobody").offset_table == {}
    assert stats(client, topic="missing").offset_table == {}
