"""Sending one message and reading some: ``sendMessage``, ``consumeMessage``."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.client import Message, Producer, ProducerConfig, open_producer
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.cli import mqadmin_options as mq
from rocketwire_tools.admin.command import RefusedError, Table, UsageError
from rocketwire_tools.admin.commands.print_messages import body_table, check_queue, no_messages
from rocketwire_tools.numbers import positive

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncGenerator

    from rocketwire.client.admin import Admin
    from rocketwire.wire.message.stored import StoredMessage

_PRODUCERS: Final = "rocketwire-admin"
"""Producer group."""


async def _send(admin: Admin, args: Namespace) -> Table:
    topic, broker, number = args.topic, args.broker, args.qid
    if number is not None and broker is None:
        raise UsageError("--qid needs --broker")
    keys = [args.key] if args.key else []
    message = Message(topic, args.body.encode(), tags=args.tags, keys=keys)
    config = ProducerConfig(
        send_msg_timeout=admin.clusters.within, enable_trace=args.msg_trace_enable
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
    return Table("brokerName queueId:number sendResult msgId", [row])


async def _consume(admin: Admin, args: Namespace) -> Table:
    if args.queue_id is not None and args.broker_name is None:
        raise UsageError("--queue-id needs --broker-name")
    if args.offset is not None and args.queue_id is None:
        raise UsageError("--offset needs --queue-id")
    queue = None
    if args.queue_id is not None:
        queue = MessageQueue(topic=args.topic, broker_name=args.broker_name, queue_id=args.queue_id)
    walk = admin.messages.walk(
        args.topic, begin=args.begin_timestamp, end=args.end_timestamp, queue=queue
    )
    messages = await _first(walk, args.message_number, args.offset or 0)
    if queue is not None and not messages:
        await check_queue(admin, queue)
    return body_table(messages, no_messages(args))


async def _first(
    walk: AsyncGenerator[StoredMessage], count: int, offset: int
) -> list[StoredMessage]:
    """The first ``count`` messages at or after an offset."""
    messages: list[StoredMessage] = []
    async with aclosing(walk):
        async for message in walk:
            if message.queue_offset >= offset:
                messages.append(message)
            if len(messages) == count:
                break
    return messages


async def _queue_at(producer: Producer, topic: str, broker: str) -> MessageQueue:
    """The first queue of a topic in a broker group.

    Raises:
        RefusedError: it has no queue.
    """
    for queue in await producer.queues(topic):
        if queue.broker_name == broker:
            return queue
    raise RefusedError(f"{broker} has no queue of {topic}")


COMMANDS: Final = mq.in_group(
    "messages",
    mq.admin_command("sendMessage", "send one message", _send, mq.TOPIC,
        mq.option("-p --body", "body, as text", required=True), mq.option("-k --key", "keys"),
        mq.option("-c --tags", "tag"),
        mq.option("-b --broker", "name of the broker group to send to", metavar="NAME"),
        mq.option("-i --qid", "queue id in that group", type=int),
        mq.boolean_option("-m --msgTraceEnable", "whether to record a message trace")),
    mq.admin_command("consumeMessage", "list the first messages of a topic or a queue", _consume,
        mq.TOPIC, mq.option("-b --brokerName", "name of the broker group", metavar="NAME"),
        mq.option("-i --queueId", "only this queue", type=int),
        mq.option("-o --offset", "only from this offset of the queue", type=int),
        mq.option("-g --consumerGroup", "accepted for mqadmin; nothing is committed",
            metavar="NAME"),
        mq.option("-s --beginTimestamp", "earliest store time", type=mq.moment),
        mq.option("-e --endTimestamp", "store time before which messages are listed",
            type=mq.moment),
        mq.option("-c --MessageNumber --message-number", "number of messages", type=positive,
            default=128),
        collects=True),
)  # fmt: skip
