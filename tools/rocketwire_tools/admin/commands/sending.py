"""Sending one message: ``sendMessage``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.client import Message, Producer, ProducerConfig, open_producer
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.command import NotFoundError, Table, UsageError

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin
    from rocketwire.messages.message_queue import MessageQueue

PRODUCERS: Final = "rocketwire-admin"
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
    async with open_producer(admin.client, PRODUCERS, config) as producer:
        if broker is None:
            result = await producer.send(message)
        else:
            queue = await _queue_at(producer, topic, broker)
            if number is not None:
                queue = replace(queue, queue_id=number)
            result = await producer.send_to(message, queue)
    place = result.message_queue
    row = (place.broker_name, place.queue_id, result.status.name, result.msg_id)
    return Table("brokerName queueId:number status msgId", [row])


async def _queue_at(producer: Producer, topic: str, broker: str) -> MessageQueue:
    for queue in await producer.queues(topic):
        if queue.broker_name == broker:
            return queue
    text = f"{broker} has no queue of {topic}"
    raise NotFoundError(text, kind="broker", name=broker)


COMMANDS: Final = mq.in_group(
    "messages",
    mq.admin_command("sendMessage", "send one message", _send, mq.TOPIC,
        mq.option("-p --body", "body, as text", required=True), mq.option("-k --key", "keys"),
        mq.option("-c --tags", "tag"),
        mq.option("-b --broker", "name of the broker group to send to", metavar="NAME"),
        mq.option("-i --qid", "queue id in that group", type=int),
        mq.boolean_option("-m --msgTraceEnable", "whether to record a message trace")),
)  # fmt: skip
