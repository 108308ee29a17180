"""``timers``: messages with a time of their own (5.x).

Some are delivered, some pending, some rolled because they are far away, and some recalled.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.client import Message, ProducerConfig, open_producer
from tests.support.stores.cluster import PATIENCE
from tests.support.stores.recording import record
from tests.support.stores.sending import now, text_body

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.support.stores.cluster import Session
    from tests.support.stores.sending import Sender
    from tests.support.stores.truth import Truth

ALARMS: Final = "alarms"
REMINDERS: Final = "reminders"
TOPICS: Final = {ALARMS: 2, REMINDERS: 1}
WHEEL: Final = "rmq_sys_wheel_timer"

OPTIONS: Final[Mapping[str, object]] = {
    "timerWheelEnable": "true",
    "timerFlushIntervalMs": 1000,
    "mappedFileSizeTimerLog": 1060,  # 20 records and a rest
    "recallMessageEnable": "true",
    "timerRollWindowSlot": 7200,  # a message that is due later than in two hours is rolled
}

DELIVERED: Final = 9
PENDING: Final = 40
ROLLED: Final = 5
RECALLED: Final = 3


async def fill(session: Session, sender: Sender, release: str) -> dict[str, Any]:
    """Create the topics and send; returns the truth's notes."""
    for topic, queues in TOPICS.items():
        await session.create_topic(topic, queues)
    recalled: list[str] = []
    config = ProducerConfig(send_msg_timeout=PATIENCE)
    async with open_producer(session.client, "stores", config) as producer:
        for message, outcome in _messages():
            queue_id = len(sender.sent) % TOPICS[message.topic]
            queue = sender.queue(message.topic, queue_id)
            result = await sender.send_by(producer, message, queue, how="timer", outcome=outcome)
            if outcome == "recalled":
                assert result.recall_handle is not None
                await producer.recall(message.topic, result.recall_handle)
                recalled.append(result.msg_id)
    await _until_delivered(session, sender)
    metrics = await session.admin.brokers.timer_metrics(session.address)
    counts = dict(sorted(metrics.items()))
    return {"recalled": recalled, "timing_count": counts}


def _messages() -> Iterator[tuple[Message, str]]:
    hour = 3600
    for number in range(DELIVERED):
        body, keys = text_body(50, number), (f"soon-{number}",)
        message = (
            Message(ALARMS, body, "soon", keys, delay_seconds=1 + number % 2),
            Message(ALARMS, body, "soon", keys, delay_millis=1500),
            Message(ALARMS, body, "soon", keys, deliver_millis=now() + 2000),
        )[number % 3]
        yield message, "delivered"
    for number in range(PENDING):
        # several in one slot of the wheel
        due = (int(time.time()) + hour + number // 4 * 60) * 1000
        message = Message(
            (ALARMS, REMINDERS)[number % 2],
            text_body(50, number),
            keys=(f"pending-{number}",),
            deliver_millis=due,
        )
        yield message, "pending"
    for number in range(ROLLED):
        delay = 40 * hour + number
        yield (
            Message(REMINDERS, b"far", keys=(f"rolled-{number}",), delay_seconds=delay),
            "pending",
        )
    for number in range(RECALLED):
        message = Message(ALARMS, b"no", keys=(f"recalled-{number}",), delay_seconds=hour + number)
        yield message, "recalled"


async def _until_delivered(session: Session, sender: Sender) -> None:
    brokers = session.client.brokers
    with trio.fail_after(120):
        ends = 0
        while ends < DELIVERED:
            await trio.sleep(0.1)
            queues = [sender.queue(ALARMS, queue_id) for queue_id in range(2)]
            ends = sum([await brokers.max_offset(session.address, queue) for queue in queues])
    await trio.sleep(4)  # the wheel is two rounds behind at most


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    topics = tuple(TOPICS)
    return record(folder, release, "timers", fill, options=OPTIONS, topics=topics)
