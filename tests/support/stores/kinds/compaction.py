"""``compaction``: a topic of which the broker keeps the newest message of each key (5.x).

The topic has ``cleanup.policy=COMPACTION``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.client import Message
from tests.support.stores.answers import pull_all
from tests.support.stores.cluster import PATIENCE
from tests.support.stores.recording import record
from tests.support.stores.sending import text_body

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.stores.cluster import Session
    from tests.support.stores.sending import Sender
    from tests.support.stores.truth import Truth

PRICES: Final = "prices"
OTHER: Final = "other"
TOPICS: Final = {PRICES: 2, OTHER: 1}
KEYS: Final = 15
OPTIONS: Final[Mapping[str, object]] = {
    "compactionMappedFileSize": 20_000,
    "compactionCqMappedFileSize": 4600,
    "compactionScheduleInternal": 2000,
    "maxOffsetMapSize": 1_000_000,
}


async def fill(session: Session, sender: Sender, release: str) -> dict[str, Any]:
    """Send, and wait until the broker has compacted; returns the truth's notes."""
    await session.create_topic(PRICES, TOPICS[PRICES], cleanup_policy="COMPACTION")
    await session.create_topic(OTHER, TOPICS[OTHER])
    prices = (
        Message(PRICES, text_body(100 + number % 900, number), keys=(f"price-{number % KEYS}",))
        for number in range(300)
    )
    await sender.send_all(prices, (0, 1))
    await sender.send_all(Message(OTHER, b"%d" % number) for number in range(5))
    queues = [sender.queue(PRICES, queue_id) for queue_id in range(2)]
    brokers = session.client.brokers
    with trio.fail_after(PATIENCE):
        while not await _is_compacted(session, sender):
            await trio.sleep(0.5)
    await trio.sleep(5)  # two more rounds, which find nothing to do
    ends = [await brokers.max_offset(session.address, queue) for queue in queues]
    return {"max_offsets": ends}


async def _is_compacted(session: Session, sender: Sender) -> bool:
    for queue_id in range(2):
        messages = await pull_all(session, sender.queue(PRICES, queue_id), 0, 150, ())
        if not 0 < len(messages) < 120:
            return False
    return True


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    return record(folder, release, "compaction", fill, options=OPTIONS, topics=tuple(TOPICS))
