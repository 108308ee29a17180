"""``pop``: messages that were popped (5.x).

Some are acknowledged, some still hidden or hidden for longer, some revived into retry topics.  One
retry topic has a name of more than 127 bytes, so that its messages have the second layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.client import Message
from rocketwire.client.consumer.pop.pop import InitMode, PopCalls
from tests.support.stores.cluster import BROKER_NAME, PATIENCE
from tests.support.stores.recording import record, until_dispatched
from tests.support.stores.sending import text_body

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rocketwire.wire.message.stored import StoredMessage
    from tests.support.stores.cluster import Session
    from tests.support.stores.sending import Sender
    from tests.support.stores.truth import Truth

TASKS: Final = "tasks"
STEPS: Final = "steps"
LONG: Final = "t" * 100
TOPICS: Final = {TASKS: 2, STEPS: 1, LONG: 1}
POPPERS: Final = "poppers"
LONG_GROUP: Final = "g" * 60
REVIVE: Final = "rmq_sys_REVIVE_LOG_DefaultCluster"
LONG_WHILE: Final = 290.0
"""Seconds, nearly the most that a broker hides a message; a store is made in less."""

OPTIONS: Final[Mapping[str, object]] = {
    "reviveQueueNum": 2,
    "reviveScanTime": 2000,
    "reviveInterval": 500,
    "timerWheelEnable": "true",  # or a broker of 5.5.0 forbids pops
}


async def fill(session: Session, sender: Sender, release: str) -> dict[str, Any]:
    """Create the topics, send and pop; returns the truth's notes."""
    for topic, queues in TOPICS.items():
        await session.create_topic(topic, queues)
        messages = (
            Message(topic, text_body(40, number), tags="task", keys=(f"{topic[:5]}-{number}",))
            for number in range(40 if topic == TASKS else 8)
        )
        await sender.send_all(messages, range(queues))
    for group in (POPPERS, LONG_GROUP):
        await session.create_group(group)
    await until_dispatched(session, sender.sent)
    notes = await _pop_tasks(session)
    notes["ordered"] = await _pop_in_order(session)
    await _revive(session, sender, LONG, LONG_GROUP, 3)
    await _revive(session, sender, TASKS, POPPERS, 4)
    return notes


async def _pop_tasks(session: Session) -> dict[str, Any]:
    calls = PopCalls(session.client, POPPERS)
    messages = await _pop(calls, TASKS, 10, LONG_WHILE)
    acknowledged, longer = messages[1:5], messages[5]
    await calls.ack(acknowledged[0])
    await calls.batch_ack(acknowledged[1:])
    await calls.change_invisible_time(longer, LONG_WHILE + 1)
    return {
        "acknowledged": [_place(message) for message in acknowledged],
        "hidden_longer": [_place(longer)],
        "hidden": [_place(message) for message in (messages[0], *messages[6:])],
    }


async def _pop_in_order(session: Session) -> list[str]:
    calls = PopCalls(session.client, POPPERS)
    messages = await _pop(calls, STEPS, 4, LONG_WHILE, orderly=True)
    await calls.ack(messages[0])
    return [_place(message) for message in messages]


async def _revive(session: Session, sender: Sender, topic: str, group: str, count: int) -> None:
    """Pop messages and let their time pass; the broker puts them into the retry topic."""
    await _pop(PopCalls(session.client, group), topic, count, 1.0)
    retry = sender.queue(f"%RETRY%{group}_{topic}", 0)
    with trio.fail_after(PATIENCE):
        while await session.client.brokers.max_offset(session.address, retry) < count:
            await trio.sleep(0.2)


async def _pop(
    calls: PopCalls, topic: str, count: int, seconds: float, *, orderly: bool = False
) -> list[StoredMessage]:
    messages: list[StoredMessage] = []
    while len(messages) < count:
        popped = await calls.pop(
            topic,
            BROKER_NAME,
            queue_id=0,
            max_msg_nums=count - len(messages),
            invisible_time=seconds,
            init_mode=InitMode.MIN,
            orderly=orderly,
        )
        messages += popped.messages
    return messages


def _place(message: StoredMessage) -> str:
    return f"{message.topic}/{message.queue_id}/{message.queue_offset}"


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    return record(folder, release, "pop", fill, options=OPTIONS, topics=tuple(TOPICS))
