"""``features``: delays, transactions, retries, dead letters, lag, traces, a deleted topic.

Nothing changes between the answers and the end: pending messages are due in half an hour at the
earliest, and the checks of open transactions are switched off before.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.client import (
    ConsumeConcurrentlyStatus,
    LocalTransactionState,
    Message,
    ProducerConfig,
    PushConsumerConfig,
    open_producer,
    open_push_consumer,
)
from rocketwire.messages.enums import ConsumeFromWhere
from tests.support.stores.cluster import PATIENCE
from tests.support.stores.recording import record
from tests.support.stores.sending import now, sent, text_body

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rocketwire.client import ConsumeConcurrentlyContext, Producer, SendResult
    from rocketwire.wire.message.stored import StoredMessage
    from tests.support.stores.cluster import Session
    from tests.support.stores.sending import Sender
    from tests.support.stores.truth import Truth

LATER: Final = "later"
TRANSFERS: Final = "transfers"
WORK: Final = "work"
GONE: Final = "gone"
TRACED: Final = "traced"
TOPICS: Final = {LATER: 2, TRANSFERS: 2, WORK: 2, GONE: 1, TRACED: 1}

SCHEDULED: Final = "SCHEDULE_TOPIC_XXXX"
HALF: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
OP: Final = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
WORKERS: Final = "workers"
TRACES: Final = "RMQ_SYS_TRACE_TOPIC"

SOON: Final = (1, 2, 1, 2, 1)
"""Delay levels of messages that are delivered while the broker runs: 1 and 5 seconds."""
PENDING: Final = (16, 18, 17, 18, 16, 30)
"""Delay levels of messages that are not: half an hour, one and two hours.

The broker takes level 30 for 18.
"""
RETRIED_LATE: Final = 16

OPTIONS: Final[Mapping[str, object]] = {
    "transactionTimeOut": 2000,
    "transactionCheckInterval": 2000,
    "transactionOpMsgMaxSize": 4096,
    "transactionOpBatchInterval": 1000,
    "traceTopicEnable": "true",
    "timerWheelEnable": "true",  # 5.5.0 cannot delete a topic without it
}
QUIET: Final = {"transactionTimeOut": "86400000", "transactionCheckInterval": "86400000"}

COMMIT: Final = LocalTransactionState.COMMIT_MESSAGE
ROLLBACK: Final = LocalTransactionState.ROLLBACK_MESSAGE
UNKNOWN: Final = LocalTransactionState.UNKNOW
TRANSACTIONS: Final = (COMMIT, ROLLBACK, UNKNOWN, COMMIT, UNKNOWN, ROLLBACK, UNKNOWN, COMMIT)
OUTCOMES: Final = {COMMIT: "commit", ROLLBACK: "rollback", UNKNOWN: "open"}
CHECKED: Final = (COMMIT, ROLLBACK)
"""What the producer says of two more transactions when the broker asks."""


async def fill(session: Session, sender: Sender, release: str) -> dict[str, Any]:
    """Create the topics and send; returns the truth's notes."""
    for topic, queues in TOPICS.items():
        await session.create_topic(topic, queues)
    await sender.send_all(Message(GONE, b"%d" % number, keys=("gone",)) for number in range(5))
    await session.admin.topics.delete(GONE, "DefaultCluster")
    await _send_later(sender)
    await _consume(session, sender)
    await _trace(session, sender)
    await _transact(session, sender)
    await _until_delivered(session, sender)
    return {"delivered": len(SOON), "pending": len(PENDING), "levels": [*SOON, *PENDING]}


async def _send_later(sender: Sender) -> None:
    messages = [
        Message(
            LATER,
            text_body(100, number),
            tags=f"level{level}",
            keys=(f"later-{number}",),
            properties={"level": str(level)},
            delay_level=level,
        )
        for number, level in enumerate((*SOON, *PENDING))
    ]
    config = ProducerConfig(send_msg_timeout=PATIENCE)
    async with open_producer(sender.session.client, "stores", config) as producer:
        for number, message in enumerate(messages):
            outcome = "delivered" if number < len(SOON) else "pending"
            queue = sender.queue(LATER, number % 2)
            await sender.send_by(producer, message, queue, how="delayed", outcome=outcome)


async def _consume(session: Session, sender: Sender) -> None:
    """Let a group handle messages.

    Some are handled at the second try, some wait for it, some are dead letters, and some are sent
    after the group has ended.
    """
    handled: list[str] = []
    given_back: list[str] = []

    async def handle(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus:
        text = (messages[0].properties or {}).get("fate") or ""
        if text == "once" and messages[0].reconsume_times:
            text = "well"
        if text == "well":
            handled.append(text)
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS
        levels = {"once": 1, "waits": RETRIED_LATE, "dead": -1}
        context.delay_level_when_next_consume = levels[text]
        given_back.append(text)
        return ConsumeConcurrentlyStatus.RECONSUME_LATER

    fates = ("well", "well", "once", "waits", "well", "dead", "waits", "dead", "well", "once")
    await session.create_group(WORKERS)
    await sender.send_all(
        (
            Message(
                WORK, text_body(80, number), keys=(f"work-{number}",), properties={"fate": fate}
            )
            for number, fate in enumerate(fates)
        ),
        (0, 1),
    )
    config = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
    async with open_push_consumer(session.client, WORKERS, {WORK: "*"}, handle, config=config):
        with trio.fail_after(120):
            while len(handled) < fates.count("well") + fates.count("once") or len(given_back) < 6:
                await trio.sleep(0.1)
        await trio.sleep(0.5)  # for the broker to answer what was given back
    late = (Message(WORK, b"late %d" % number, keys=("lag",)) for number in range(7))
    await sender.send_all(late, (0, 1))


async def _trace(session: Session, sender: Sender) -> None:
    config = ProducerConfig(send_msg_timeout=PATIENCE, enable_trace=True)
    async with open_producer(session.client, "traced_producer", config) as producer:
        for number in range(3):
            message = Message(TRACED, b"%d" % number, keys=(f"traced-{number}",))
            await sender.send_by(producer, message, sender.queue(TRACED, 0))


async def _transact(session: Session, sender: Sender) -> None:
    """Transactions that are committed, rolled back, open, and ended when the broker asked."""
    asked: dict[str, int] = {}

    def check(half: StoredMessage) -> LocalTransactionState:
        key = (half.properties or {}).get("KEYS") or ""
        asked[key] = asked.get(key, 0) + 1
        if key.startswith("checked-"):
            return CHECKED[int(key.removeprefix("checked-"))]
        return UNKNOWN

    config = ProducerConfig(send_msg_timeout=PATIENCE)
    async with open_producer(session.client, "transactors", config, check=check) as producer:
        for number, state in enumerate(TRANSACTIONS):
            message = Message(
                TRANSFERS, text_body(70, number), tags=state.name, keys=(f"transfer-{number}",)
            )
            await _transaction(sender, producer, message, state, OUTCOMES[state])
        for number, state in enumerate(CHECKED):
            message = Message(TRANSFERS, text_body(70, number), keys=(f"checked-{number}",))
            await _transaction(sender, producer, message, UNKNOWN, OUTCOMES[state])
        with trio.fail_after(180):
            while {"checked-0", "checked-1", "transfer-2"} - set(asked):
                await trio.sleep(0.1)
        await session.admin.brokers.update_config(session.address, QUIET)
        await trio.sleep(5)  # a last round, and the operations that the broker writes in batches
        # the broker has no time to write down that these have ended
        for number, state in enumerate((COMMIT, ROLLBACK, UNKNOWN)):
            message = Message(TRANSFERS, text_body(70, number), keys=(f"last-{number}",))
            await _transaction(sender, producer, message, state, OUTCOMES[state])


async def _transaction(
    sender: Sender,
    producer: Producer,
    message: Message,
    state: LocalTransactionState,
    outcome: str,
) -> None:
    def execute(
        said: LocalTransactionState, _message: Message, _result: SendResult
    ) -> LocalTransactionState:
        return said

    started = now()
    result = await producer.send_in_transaction(message, partial(execute, state))
    told = sent(message, result.send_result, started, how="half", outcome=outcome)
    sender.sent.append(told)


async def _until_delivered(session: Session, sender: Sender) -> None:
    committed = sum(one.outcome == "commit" for one in sender.sent)
    with trio.fail_after(120):
        for topic, wanted in ((LATER, len(SOON)), (TRANSFERS, committed)):
            ends = 0
            while ends < wanted:
                await trio.sleep(0.1)
                queues = [sender.queue(topic, queue_id) for queue_id in range(2)]
                brokers = session.client.brokers
                ends = sum([await brokers.max_offset(session.address, one) for one in queues])


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    return record(
        folder,
        release,
        "features",
        fill,
        options=OPTIONS,
        topics=tuple(TOPICS),
        more=(OP,),
        deleted_topics=(GONE,),
    )
