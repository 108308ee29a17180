"""``lmq``: messages that are in further queues beside their own (5.x).

The broker has ``enableLmq`` and ``enableMultiDispatch``.
"""

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

PARENT: Final = "parent"
TOPICS: Final = {PARENT: 2}
LMQS: Final = ("%LMQ%first", "%LMQ%second", "%LMQ%third")
GROUP: Final = "%LMQ%readers"
OPTIONS: Final[Mapping[str, object]] = {"enableLmq": "true", "enableMultiDispatch": "true"}


async def fill(session: Session, sender: Sender, release: str) -> dict[str, Any]:
    """Create the topic and send; returns the truth's notes."""
    for topic, queues in TOPICS.items():
        await session.create_topic(topic, queues)
    expected: dict[str, list[str]] = {name: [] for name in LMQS}
    messages: list[Message] = []
    for number in range(70):
        names = [name for place, name in enumerate(LMQS) if number % (place + 2) == 0]
        system = {"INNER_MULTI_DISPATCH": ",".join(names)} if names else {}
        messages.append(
            Message(PARENT, text_body(60, number), keys=(f"multi-{number}",), system=system)
        )
    await sender.send_all(messages, (0, 1))
    for one in sender.sent:
        for name in one.properties.get("INNER_MULTI_DISPATCH", "").split(","):
            if name:
                expected[name].append(one.unique_key)
    await session.create_group(GROUP)
    brokers = session.client.brokers
    offsets: dict[str, int | None] = {}
    for name in LMQS[:2]:
        queue = sender.queue(name, 0)
        await brokers.update_consumer_offset(session.address, GROUP, queue, 4)
        offsets[f"{name}@{GROUP}"] = await brokers.consumer_offset(session.address, GROUP, queue)
    return {"lmq": expected, "lmq_offsets": offsets}


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    return record(folder, release, "lmq", fill, options=OPTIONS, topics=tuple(TOPICS), more=LMQS)
