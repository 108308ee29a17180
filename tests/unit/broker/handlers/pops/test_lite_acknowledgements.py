"""Acknowledging messages of lite topics, and hiding them for another time."""

from __future__ import annotations

import pytest

from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import GROUP, Reader, light, put_group, put_parent, send


@pytest.fixture
def home() -> BrokerAtHand:
    home = BrokerAtHand()
    put_parent(home)
    put_group(home)
    return home


def test_an_acknowledgement_does_not_undo_a_reset(
    home: BrokerAtHand, client: Client, reader: Reader
) -> None:
    send(client, "a", "1", "2")
    reader.subscribe("a")
    reader.pop()
    home.broker.offsets.reset(GROUP, light("a"), 0, 0, home.now)
    reader.ack("a", 0)

    home.pass_time(10_000)
    assert reader.pop() == [b"1", b"2"]
