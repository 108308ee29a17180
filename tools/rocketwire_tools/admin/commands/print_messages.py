"""Messages of a topic or a queue: ``printMsg``, ``printMsgByQueue``."""

from __future__ import annotations

from collections import Counter
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.resource_names import has_own_route
from rocketwire_tools.admin.cli import mqadmin_options as mq
from rocketwire_tools.admin.command import Record, RefusedError, Table, Value, record
from rocketwire_tools.admin.commands.messages import stored_between, text_of

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from rocketwire.client.admin import Admin
    from rocketwire.wire.message.stored import StoredMessage


async def _print(admin: Admin, args: Namespace) -> Table:
    messages = await _read(admin, args, None, args.lmq_parent_topic)
    return body_table(
        messages, no_messages(args), charset_name=args.charset_name, bodies=args.print_body
    )


def no_messages(args: Namespace) -> str:
    """What to say if there are no messages of the options' topic, tags and times."""
    tags = getattr(args, "sub_expression", None)
    with_tags = f" with tags {tags}" if tags else ""
    span = stored_between(args.begin_timestamp, args.end_timestamp)
    return f"no message{with_tags} in topic {args.topic}{span}"


async def _print_queue(admin: Admin, args: Namespace) -> Table | Record:
    """Messages, the count of each tag, or both, according to ``-p`` and ``-f``."""
    queue = MessageQueue(topic=args.topic, broker_name=args.broker_name, queue_id=args.queue_id)
    messages = await _read(admin, args, queue, None)
    if not messages:
        await check_queue(admin, queue)
    table = body_table(
        messages, no_messages(args), charset_name=args.charset_name, bodies=args.print_body
    )
    if not args.calculate:
        return Table(table.columns, ()) if args.print_msg is False else table
    tags = Counter(
        (message.properties or {}).get(const.TAGS) or "" for message in messages
    ).most_common()
    if not args.print_msg:
        return Table("tag count:number", tags, searched=table.searched)
    names = [column.name for column in table.typed]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    return record(messages=rows, tags=dict(tags))


async def check_queue(admin: Admin, queue: MessageQueue) -> None:
    """Check that a queue exists; static topics and topics without own route are not checked.

    Brokers report no error for a queue that does not exist.

    Raises:
        RefusedError: the queue does not exist.
    """
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


async def _read(
    admin: Admin, args: Namespace, queue: MessageQueue | None, by: str | None
) -> list[StoredMessage]:
    walk = admin.messages.walk(
        args.topic,
        begin=args.begin_timestamp,
        end=args.end_timestamp,
        expression=args.sub_expression,
        queue=queue,
        by=by,
    )
    async with aclosing(walk):
        return [message async for message in walk]


def body_table(
    messages: Iterable[StoredMessage],
    searched: str,
    *,
    charset_name: str | None = None,
    bodies: bool = True,
) -> Table:
    """A table of messages with their bodies, in UTF-8 or another charset."""
    rows: list[tuple[Value, ...]] = []
    for message in messages:
        properties = message.properties or {}
        rows.append((
            message.msg_id, message.queue_id, message.queue_offset, properties.get(const.TAGS),
            properties.get(const.KEYS), message.store_timestamp,
            text_of(message.body, charset_name) if bodies else None,
        ))  # fmt: skip
    headings = "msgId queueId:number queueOffset:number tags keys storeTime:time body"
    return Table(headings, rows, searched=searched)


_OPTIONS: Final = (
    mq.TOPIC,
    mq.option("-c --charsetName", "charset of bodies (default UTF-8)", type=mq.charset),
    mq.option("-s --subExpression", "only these tags, such as a || b"),
    mq.option("-b --beginTimestamp", "earliest store time", type=mq.moment),
    mq.option("-e --endTimestamp", "store time before which messages are shown", type=mq.moment),
    mq.boolean_option("-d --printBody", "whether to show bodies", default=True),
)

COMMANDS: Final = mq.in_group(
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
)  # fmt: skip
