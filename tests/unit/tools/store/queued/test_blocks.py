"""Blocks of units are those of the messages of a topic, in the order of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.queued.blocks import UnitBlocks
from rocketwire_tools.store.queued.parts import scan_of
from rocketwire_tools.store.queued.planning import parts_of_topics
from tests.support.java.peers import CURRENT, OLD

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_units_lead_to_the_messages_of_their_topic(
    release: str, packed_store: Callable[[str, str], BrokerStore]
) -> None:
    store = packed_store(release, "plain")
    opened = OpenedStore([store.root])
    planned = parts_of_topics("", opened, topics=("ledger",), queue_id=None, offsets=(None, None))
    part, _ = planned or []

    blocks = UnitBlocks(part, scan_of(part), ())
    offsets = [
        offset for block in blocks for offset in block.messages.numbers("physical_offset").tolist()
    ]

    assert offsets == [
        message.physical_offset for message in store.truth.pulled if message.topic == "ledger"
    ]
    assert 0 < blocks.bytes_read < part.stop - part.start
