"""``inner``: batches that stay one message each in the log (5.x, ``queue.type=BatchCQ``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire.client import Message
from tests.support.stores.recording import record
from tests.support.stores.sending import text_body

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.stores.cluster import Session
    from tests.support.stores.sending import Sender
    from tests.support.stores.truth import Truth

BATCHES: Final = "batches"
MIXED: Final = "mixed"
TOPICS: Final = {BATCHES: 2, MIXED: 1}
OPTIONS: Final[Mapping[str, object]] = {"mapperFileSizeBatchConsumeQueue": 460}
"""Files of ten entries."""


async def fill(session: Session, sender: Sender, release: str) -> dict[str, Any]:
    """Create the topics and send; returns the truth's notes."""
    for topic, queues in TOPICS.items():
        await session.create_topic(topic, queues, queue_type="BatchCQ")
    for batch in range(26):
        size = (1, 2, 10, 32)[batch % 4]
        await sender.send_batch(_batch(BATCHES, batch, size), batch % 2, how="inner")
    await sender.send_batch(_batch(BATCHES, 26, 4, 40_000), 0, how="inner")
    await sender.send_batch(_batch(BATCHES, 27, 4, 45_000), 1, how="inner")
    for number in range(12):
        single = Message(MIXED, text_body(40, number), tags="single", keys=(f"single-{number}",))
        await sender.send_all([single])
        await sender.send_batch(_batch(MIXED, 100 + number, 3), how="inner")
    return {}


def _batch(topic: str, batch: int, size: int, length: int = 30) -> list[Message]:
    return [
        Message(
            topic,
            text_body(length + number, number),
            tags=("even", "odd")[number % 2],
            keys=(f"inner-{batch}-{number}",),
            flag=number,
            properties={"batch": str(batch)},
        )
        for number in range(size)
    ]


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    return record(folder, release, "inner", fill, options=OPTIONS, topics=tuple(TOPICS))
