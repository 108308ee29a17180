"""``ext``: as ``plain``, with extension files of the queues (5.x).

The files have bit maps of two groups that filter by properties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire.client import PushConsumerConfig, open_push_consumer
from tests.support.stores.kinds import plain
from tests.support.stores.recording import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rocketwire.client import ConsumeConcurrentlyContext
    from rocketwire.wire.message.stored import StoredMessage
    from tests.support.stores.cluster import Session
    from tests.support.stores.sending import Sender
    from tests.support.stores.truth import Truth

OPTIONS: Final[Mapping[str, object]] = {
    "enableConsumeQueueExt": "true",
    "mappedFileSizeConsumeQueueExt": 1024,
    "enableCalcFilterBitMap": "true",
    "enablePropertyFilter": "true",
    "expectConsumerNumUseFilter": 4,
}
FILTERS: Final = {"northern": "region = 'north'", "numbered": "number > 5"}


async def fill(session: Session, sender: Sender, release: str) -> dict[str, Any]:
    """Let groups with filters register, then send; returns the truth's notes."""
    await session.create_topic(plain.ORDERS, plain.TOPICS[plain.ORDERS])

    async def handle(_: Sequence[StoredMessage], __: ConsumeConcurrentlyContext) -> None:
        """Nothing."""

    config = PushConsumerConfig()
    for group, expression in FILTERS.items():
        await session.create_group(group)
        wanted = {plain.ORDERS: (expression, "SQL92")}
        async with open_push_consumer(session.client, group, wanted, handle, config=config):
            pass  # the broker keeps the filter of a group that has gone
    await plain.fill(session, sender, release)
    return {"filters": FILTERS}


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    topics = tuple(plain.TOPICS)
    return record(folder, release, "ext", fill, options=OPTIONS, topics=topics)
