"""Trying brokers out: ``sendMessage``, ``consumeMessage``, ``checkMsgSendRT``, ``clusterRT``, ``sendMsgStatus``."""

from __future__ import annotations

import itertools
import time
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.client import Message, ProducerConfig, open_producer
from rocketwire.errors import RocketWireError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.arguments import positive, seconds
from rocketwire_tools.admin.command import Column, Kind, RefusedError, Table, UsageError, Value
from rocketwire_tools.admin.commands.browsing import printed
from rocketwire_tools.admin.operating import (
    TOPIC,
    admin_command,
    boolean,
    moment,
    option,
)
from rocketwire_tools.admin.statuses import line_of

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from rocketwire.client import Producer, SendResult
    from rocketwire.client.admin import Admin
    from rocketwire.wire.stored import StoredMessage

_GROUP: Final = "messages"
_NUMBER: Final = Kind.NUMBER
_PRODUCERS: Final = "rocketwire-admin"
"""Group of these producers."""


# ---------------------------------------------------------------------------- one message, or some


async def _send(admin: Admin, wanted: Namespace) -> Table:
    topic, broker, number = wanted.topic, wanted.broker, wanted.qid
    if number is not None and broker is None:
        raise UsageError("--qid needs --broker")
    keys = [wanted.key] if wanted.key else []
    message = Message(topic, wanted.body.encode(), tags=wanted.tags, keys=keys)
    config = ProducerConfig(
        send_msg_timeout=admin.clusters.within, enable_trace=wanted.msg_trace_enable
    )
    async with open_producer(admin.client, _PRODUCERS, config) as producer:
        if broker is None:
            result = await producer.send(message)
        else:
            queue = await _queue_at(producer, topic, broker)
            if number is not None:
                queue = replace(queue, queue_id=number)
            result = await producer.send_to(message, queue)
    place = result.message_queue
    row = (place.broker_name, place.queue_id, result.status.name, result.msg_id)
    return Table(("brokerName", Column("queueId", _NUMBER), "sendResult", "msgId"), [row])


async def _consume(admin: Admin, wanted: Namespace) -> Table:
    if wanted.queue_id is not None and wanted.broker_name is None:
        raise UsageError("--queue-id needs --broker-name")
    if wanted.offset is not None and wanted.queue_id is None:
        raise UsageError("--offset needs --queue-id")
    queue = None
    if wanted.queue_id is not None:
        queue = MessageQueue(
            topic=wanted.topic, broker_name=wanted.broker_name, queue_id=wanted.queue_id
        )
    walk = admin.messages.walk(
        wanted.topic, begin=wanted.begin_timestamp, end=wanted.end_timestamp, queue=queue
    )
    return printed(await _first(walk, wanted.message_number, wanted.offset or 0))


async def _first(
    walk: AsyncGenerator[StoredMessage], count: int, offset: int
) -> list[StoredMessage]:
    """The first so many that do not lie before an offset."""
    found: list[StoredMessage] = []
    async with aclosing(walk):
        async for message in walk:
            if message.queue_offset >= offset:
                found.append(message)
            if len(found) == count:
                break
    return found


# ---------------------------------------------------------------------------- how long it takes


class _Sent(NamedTuple):
    """One send, timed.

    Attributes:
        millis: how long it took.
        result: what the broker said; None where it failed.
        error: why it failed; None where it did not.
    """

    millis: float
    result: SendResult | None
    error: str | None


async def _timed(send: Callable[[], Awaitable[SendResult]]) -> _Sent:
    began = time.perf_counter()
    try:
        result, error = await send(), None
    except RocketWireError as failure:
        result, error = None, line_of(failure)
    return _Sent(round((time.perf_counter() - began) * 1000, 3), result, error)


def _average(sent: list[_Sent]) -> float | None:
    """Of all but the first, which also connects."""
    rest = [one.millis for one in sent[1:]]
    return round(sum(rest) / len(rest), 3) if rest else None


async def _check(admin: Admin, wanted: Namespace) -> Table:
    """Each message to the next queue of the topic."""
    message = Message(wanted.topic, b"a" * wanted.size)
    config = ProducerConfig(send_msg_timeout=admin.clusters.within)
    async with open_producer(admin.client, _PRODUCERS, config) as producer:
        queues = await producer.queues(wanted.topic)
        sent = [
            (queue, await _timed(partial(producer.send_to, message, queue)))
            for queue in itertools.islice(itertools.cycle(queues), wanted.amount)
        ]
    rows: list[tuple[Value, ...]] = [
        (queue.broker_name, queue.queue_id, one.error is None, one.millis, one.error)
        for queue, one in sent
    ]
    average = _average([one for _, one in sent])
    rows.append(("average", None, all(one.error is None for _, one in sent), average, None))
    columns = (
        "brokerName", Column("queueId", _NUMBER), "success", Column("millis", _NUMBER), "error",
    )  # fmt: skip
    return Table(columns, rows, failed=any(one.error is not None for _, one in sent))


async def _status(admin: Admin, wanted: Namespace) -> Table:
    """To the topic that each broker has under its own name."""
    text = b"hello jodie" * -(-wanted.message_size // 11)
    config = ProducerConfig(send_msg_timeout=admin.clusters.within)
    async with open_producer(admin.client, "PID_SMSC", config) as producer:
        await producer.send(Message(wanted.broker_name, b"hello jodie" * 2))
        sent = [
            await _timed(lambda: producer.send(Message(wanted.broker_name, text)))
            for _ in range(wanted.count)
        ]
    rows: list[tuple[Value, ...]] = []
    for one in sent:
        place = one.result.message_queue if one.result else None
        rows.append((
            one.millis, one.result.status.name if one.result else None, one.result.msg_id if one.result else None,
            place.queue_id if place else None, one.result.queue_offset if one.result else None, one.error,
        ))  # fmt: skip
    columns = (
        Column("millis", _NUMBER), "sendResult", "msgId", Column("queueId", _NUMBER),
        Column("queueOffset", _NUMBER), "error",
    )  # fmt: skip
    return Table(columns, rows, failed=any(one.error is not None for one in sent))


async def _clusters(admin: Admin, wanted: Namespace) -> Table:
    """To the topic that each broker has under its own name."""
    table = (await admin.clusters.info()).cluster_addr_table or {}
    clusters = [wanted.cluster] if wanted.cluster is not None else sorted(table)
    rows: list[tuple[Value, ...]] = []
    config = ProducerConfig(send_msg_timeout=admin.clusters.within)
    async with open_producer(admin.client, _PRODUCERS, config) as producer:
        for number in range(wanted.rounds):
            if number:
                await trio.sleep(wanted.interval)
            for cluster in clusters:
                names = await admin.clusters.broker_names(cluster)
                rows += [(cluster, one, *await _round(producer, one, wanted)) for one in names]
    columns = (
        "clusterName", "brokerName", Column("millis", _NUMBER), Column("successCount", _NUMBER),
        Column("failCount", _NUMBER), "error",
    )  # fmt: skip
    return Table(columns, rows, failed=any(error is not None for *_, error in rows))


async def _round(producer: Producer, topic: str, wanted: Namespace) -> tuple[Value, ...]:
    """What became of the messages to one topic, and why the first of those failed that did."""
    message = Message(topic, b"a" * wanted.size)
    sent = [await _timed(lambda: producer.send(message)) for _ in range(wanted.amount)]
    errors = [one.error for one in sent if one.error is not None]
    return _average(sent), len(sent) - len(errors), len(errors), errors[0] if errors else None


async def _queue_at(producer: Producer, topic: str, broker: str) -> MessageQueue:
    """The first queue that a broker group has of a topic.

    Raises:
        RefusedError: it has none.
    """
    for queue in await producer.queues(topic):
        if queue.broker_name == broker:
            return queue
    raise RefusedError(f"{broker} has no queue of {topic}")


_AMOUNT: Final = option("-a --amount", "messages", type=positive, default=100)
_SIZE: Final = option("-s --size", "bytes of each", type=positive, default=128)

COMMANDS: Final = (
    admin_command(
        "sendMessage", "send one message", _send, TOPIC,
        option("-p --body", "its body, as text", required=True),
        option("-k --key", "its keys"),
        option("-c --tags", "its tag"),
        option("-b --broker", "name of the broker group that is to have it", metavar="NAME"),
        option("-i --qid", "the queue of that group", type=int),
        option("-m --msgTraceEnable", "whether to record that it was sent", type=boolean, default=False),
        group=_GROUP,
    ),
    admin_command(
        "consumeMessage", "list the first messages of a topic or a queue", _consume, TOPIC,
        option("-b --brokerName", "name of the broker group", metavar="NAME"),
        option("-i --queueId", "only this queue", type=int),
        option("-o --offset", "not those before this offset of the queue", type=int),
        option("-g --consumerGroup", "accepted as mqadmin does; nothing is committed", metavar="NAME"),
        option("-s --beginTimestamp", "stored not before this", type=moment),
        option("-e --endTimestamp", "stored before this", type=moment),
        option("-c --MessageNumber --message-number", "how many", type=positive, default=128),
        group=_GROUP, collects=True,
    ),
    admin_command(
        "checkMsgSendRT", "send messages to the queues of a topic in turn, and time that", _check, TOPIC, _AMOUNT, _SIZE,
        group=_GROUP, epilog="Exit status 1 if one could not be sent.",
    ),
    admin_command(
        "clusterRT", "send messages to every broker, and time that", _clusters, _AMOUNT, _SIZE,
        option("-c --cluster", "only brokers of this cluster", metavar="NAME"),
        option("-i --interval", "seconds between two rounds", type=seconds, default=10.0),
        option("--rounds", "how many; mqadmin never ends", type=positive, default=1),
        option("-p --printLog", "accepted as mqadmin does; see --output", type=boolean),
        option("-m --machineRoom", "accepted as mqadmin does; nothing shows it", metavar="NAME"),
        group=_GROUP, epilog="They go to the topic that each broker has under its own name. Exit status 1 if one could not be sent.",
    ),
    admin_command(
        "sendMsgStatus", "send messages to a broker's own topic, and time that", _status,
        option("-b --brokerName", "name of the broker group", required=True, metavar="NAME"),
        option("-s --messageSize", "bytes of each, in steps of 11", type=positive, default=128),
        option("-c --count", "messages, after one that is not counted", type=positive, default=50),
        group=_GROUP, epilog="Exit status 1 if one could not be sent.",
    ),
)  # fmt: skip
