"""Sending one message and reading some: ``sendMessage``, ``consumeMessage``.  ``latency`` times sends."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.client import Message, ProducerConfig, open_producer
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.cli.mqadmin_options import (
    TOPIC,
    admin_command,
    boolean,
    moment,
    option,
)
from rocketwire_tools.admin.command import Column, Kind, RefusedError, Table, UsageError
from rocketwire_tools.admin.commands.print_messages import check_queue, printed
from rocketwire_tools.numbers import positive

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncGenerator

    from rocketwire.client import Producer
    from rocketwire.client.admin import Admin
    from rocketwire.wire.message.stored import StoredMessage

_GROUP: Final = "messages"
_NUMBER: Final = Kind.NUMBER
_PRODUCERS: Final = "rocketwire-admin"
"""Group of these producers."""


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
    found = await _first(walk, wanted.message_number, wanted.offset or 0)
    if queue is not None and not found:
        await check_queue(admin, queue)
    return printed(found)


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


async def _queue_at(producer: Producer, topic: str, broker: str) -> MessageQueue:
    """The first queue that a broker group has of a topic.

    Raises:
        RefusedError: it has none.
    """
    for queue in await producer.queues(topic):
        if queue.broker_name == broker:
            return queue
    raise RefusedError(f"{broker} has no queue of {topic}")


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
)  # fmt: skip
