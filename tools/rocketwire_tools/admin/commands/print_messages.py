"""Messages of a topic or a queue: ``printMsg``, ``printMsgByQueue``, ``consumeMessage``."""

from __future__ import annotations

from collections import Counter
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.resource_names import has_own_route
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.admin.commands.messages import describe_times, text_of
from rocketwire_tools.cli.command import (
    Listing,
    Record,
    RefusedError,
    Table,
    UsageError,
    Value,
    record,
)
from rocketwire_tools.numbers import natural

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncGenerator, Sequence

    from rocketwire.client.admin import Admin

_MAX: Final = 1000
"""Messages that are listed unless ``--max`` is given."""
_HEADINGS: Final = "msgId queueId:number queueOffset:number tags keys storeTimestamp:time body"


def _list(
    admin: Admin, args: Namespace, queue: MessageQueue | None, limit: str, max_messages: int
) -> Listing:
    chosen: int | None = getattr(args, limit)
    tags: str | None = getattr(args, "sub_expression", None)
    by: str | None = getattr(args, "lmq_parent_topic", None)
    with_tags = f" with tags {tags}" if tags else ""
    span = describe_times(args.begin_timestamp, args.end_timestamp)
    head = Table(_HEADINGS, (), searched=f"no message{with_tags} in topic {args.topic}{span}")

    async def rows() -> AsyncGenerator[Sequence[Value]]:
        is_empty, first = True, getattr(args, "offset", None) or 0
        walk = admin.messages.walk(
            args.topic, begin=args.begin_timestamp, end=args.end_timestamp, expression=tags,
            queue=queue, by=by,
        )  # fmt: skip
        async with aclosing(walk):
            async for message in walk:
                if message.queue_offset < first:
                    continue
                is_empty = False
                properties = message.properties or {}
                yield (
                    message.msg_id, message.queue_id, message.queue_offset,
                    properties.get(const.TAGS), properties.get(const.KEYS), message.store_timestamp,
                    text_of(message.body, getattr(args, "charset_name", None))
                    if getattr(args, "print_body", True) else None,
                )  # fmt: skip
        if is_empty and queue is not None:
            await _check_queue(admin, queue)

    async def more() -> str:
        table = (await admin.topics.stats(args.topic, by=by)).offset_table or {}
        number = sum(
            offsets.max_offset - offsets.min_offset
            for each, offsets in table.items()
            if queue is None
            or (each.broker_name, each.queue_id) == (queue.broker_name, queue.queue_id)
        )
        subject = f"topic {args.topic}" if queue is None else f"queue {queue.queue_id}"
        return (
            f"listed the first {max_messages:,} messages; {subject} has {number:,}:"
            f" --{limit.replace('_', '-')} 0 lists all"
        )

    return Listing(
        head, rows(), max_messages if chosen is None else chosen, more if chosen is None else None
    )


async def _print(admin: Admin, args: Namespace) -> Listing:
    return _list(admin, args, None, "max", _MAX)


async def _print_queue(admin: Admin, args: Namespace) -> Listing | Table | Record:
    queue = MessageQueue(topic=args.topic, broker_name=args.broker_name, queue_id=args.queue_id)
    listing = _list(admin, args, queue, "max", _MAX)
    if not args.calculate:
        return Table(_HEADINGS, ()) if args.print_msg is False else listing
    tags: Counter[Any] = Counter()
    messages: list[dict[str, Value]] = []
    names = [column.name for column in listing.head.typed]
    async with aclosing(listing.rows) as rows:
        async for row in rows:
            tags[row[3] or ""] += 1
            if args.print_msg and not 0 < listing.limit <= len(messages):
                messages.append(dict(zip(names, row, strict=True)))
    if not args.print_msg:
        counts = [(tag or None, count) for tag, count in tags.most_common()]
        return Table("tag count:number", counts, searched=listing.head.searched)
    return record(messages=messages, tags=dict(tags.most_common()))


async def _consume(admin: Admin, args: Namespace) -> Listing:
    if args.queue_id is not None and args.broker_name is None:
        raise UsageError("--queue-id needs --broker-name")
    if args.offset is not None and args.queue_id is None:
        raise UsageError("--offset needs --queue-id")
    queue = None
    if args.queue_id is not None:
        queue = MessageQueue(topic=args.topic, broker_name=args.broker_name, queue_id=args.queue_id)
    return _list(admin, args, queue, "message_number", _CONSUMED)


async def _check_queue(admin: Admin, queue: MessageQueue) -> None:
    # Brokers report no error for a queue that does not exist.
    topic, name, number = queue.topic or "", queue.broker_name, queue.queue_id
    if not has_own_route(topic):
        return
    route = await admin.clusters.route(topic)
    sizes = [
        max(queues.read_queue_nums, queues.write_queue_nums)
        for queues in route.queue_datas or ()
        if queues.broker_name == name
    ]
    is_static = bool(route.topic_queue_mapping_by_broker)
    if not is_static and not 0 <= number < max(sizes, default=0):
        raise RefusedError(f"topic {topic} has no queue {number} in {name}")


_CONSUMED: Final = 128
"""Messages that ``consumeMessage`` lists by default, as mqadmin."""
_OPTIONS: Final = (
    mq.TOPIC,
    mq.option("-c --charsetName", "charset of bodies (default UTF-8)", type=mq.charset),
    mq.option("-s --subExpression", "only these tags, such as a || b"),
    mq.option("-b --beginTimestamp", "earliest store time", type=mq.moment),
    mq.option("-e --endTimestamp", "store time before which messages are shown", type=mq.moment),
    mq.boolean_option("-d --printBody", "whether to show bodies", default=True),
    mq.option(
        "--max", f"number of messages, 0 for all (default {_MAX})", type=natural, metavar="N"
    ),
)

COMMANDS: Final = mq.group_commands(
    "messages",
    mq.admin_command("printMsg", "list the messages of a topic", _print, *_OPTIONS,
        mq.option("-l --lmqParentTopic", "parent topic of a lite topic's queue (%%LMQ%%...)",
            metavar="NAME"),
        collects=True),
    mq.admin_command("printMsgByQueue", "list the messages of a queue", _print_queue, *_OPTIONS,
        mq.option("-a --brokerName", "name of the broker group", required=True),
        mq.option("-i --queueId", "id of the queue", type=int, required=True),
        mq.boolean_option("-p --printMsg", "whether to list messages (default: not with -f true)",
            default=None),
        mq.boolean_option("-f --calculate", "show the number of messages of each tag")),
    mq.admin_command("consumeMessage", "list the first messages of a topic or a queue", _consume,
        mq.TOPIC, mq.option("-b --brokerName", "name of the broker group", metavar="NAME"),
        mq.option("-i --queueId", "only this queue", type=int),
        mq.option("-o --offset", "only from this offset of the queue", type=int),
        mq.option("-g --consumerGroup", "accepted for mqadmin; nothing is committed",
            metavar="NAME"),
        mq.option("-s --beginTimestamp", "earliest store time", type=mq.moment),
        mq.option("-e --endTimestamp", "store time before which messages are listed",
            type=mq.moment),
        mq.option("-c --MessageNumber --message-number",
            f"number of messages, 0 for all (default {_CONSUMED})", type=natural),
        collects=True),
)  # fmt: skip
