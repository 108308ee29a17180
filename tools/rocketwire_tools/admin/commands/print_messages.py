"""Reading what a topic or a queue holds: ``printMsg``, ``printMsgByQueue``."""

from __future__ import annotations

from collections import Counter
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.resource_names import has_own_route
from rocketwire_tools.admin.cli.mqadmin_options import (
    TOPIC,
    admin_command,
    boolean,
    charset,
    moment,
    option,
)
from rocketwire_tools.admin.command import Column, Kind, Record, RefusedError, Table, Value
from rocketwire_tools.admin.commands.messages import text_of

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from rocketwire.client.admin import Admin
    from rocketwire.wire.message.stored import StoredMessage

_GROUP: Final = "messages"
_NUMBER: Final = Kind.NUMBER


async def _print(admin: Admin, wanted: Namespace) -> Table:
    found = await _read(admin, wanted, None, wanted.lmq_parent_topic)
    return printed(found, charset_name=wanted.charset_name, bodies=wanted.print_body)


async def _print_queue(admin: Admin, wanted: Namespace) -> Table | Record:
    """Messages, the number of each tag, or both, as ``-p`` and ``-f`` want it."""
    queue = MessageQueue(
        topic=wanted.topic, broker_name=wanted.broker_name, queue_id=wanted.queue_id
    )
    found = await _read(admin, wanted, queue, None)
    if not found:
        await check_queue(admin, queue)
    table = printed(found, charset_name=wanted.charset_name, bodies=wanted.print_body)
    if not wanted.calculate:
        return Table(table.columns, ()) if wanted.print_msg is False else table
    tags = Counter((one.properties or {}).get(const.TAGS) or "" for one in found).most_common()
    if not wanted.print_msg:
        return Table(("tag", Column("count", _NUMBER)), tags)
    names = [column.name for column in table.typed]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    return Record({"messages": rows, "tags": dict(tags)})


async def check_queue(admin: Admin, queue: MessageQueue) -> None:
    """Do nothing if the route has a queue, readable or not, or does not number the topic's: brokers tell nothing of others.

    Raises:
        RefusedError: there is no such queue.
    """
    topic, name, number = queue.topic or "", queue.broker_name, queue.queue_id
    if not has_own_route(topic):
        return
    route = await admin.clusters.route(topic)
    sizes = [
        max(one.read_queue_nums, one.write_queue_nums)
        for one in route.queue_datas or ()
        if one.broker_name == name
    ]
    is_static = bool(route.topic_queue_mapping_by_broker)
    if not is_static and not 0 <= number < max(sizes, default=0):
        raise RefusedError(f"topic {topic} has no queue {number} in {name}")


async def _read(
    admin: Admin, wanted: Namespace, queue: MessageQueue | None, by: str | None
) -> list[StoredMessage]:
    walk = admin.messages.walk(
        wanted.topic,
        begin=wanted.begin_timestamp,
        end=wanted.end_timestamp,
        expression=wanted.sub_expression,
        queue=queue,
        by=by,
    )
    async with aclosing(walk):
        return [message async for message in walk]


def printed(
    messages: Iterable[StoredMessage], *, charset_name: str | None = None, bodies: bool = True
) -> Table:
    """Messages with a row for each, and their bodies.

    Args:
        messages: which.
        charset_name: how bodies are written; None for UTF-8.
        bodies: whether they are shown.
    """
    rows: list[tuple[Value, ...]] = []
    for one in messages:
        held = one.properties or {}
        rows.append((
            one.msg_id, one.queue_id, one.queue_offset, held.get(const.TAGS), held.get(const.KEYS),
            one.store_timestamp, text_of(one.body, charset_name) if bodies else None,
        ))  # fmt: skip
    columns = (
        "msgId", Column("queueId", _NUMBER), Column("queueOffset", _NUMBER), "tags", "keys",
        Column("storeTime", Kind.TIME), "body",
    )  # fmt: skip
    return Table(columns, rows)


_PRINTED: Final = (
    TOPIC,
    option("-c --charsetName", "how bodies are written; UTF-8 otherwise", type=charset),
    option("-s --subExpression", "only these tags, as a || b"),
    option("-b --beginTimestamp", "stored not before this", type=moment),
    option("-e --endTimestamp", "stored before this", type=moment),
    option("-d --printBody", "whether bodies are shown", type=boolean, default=True),
)

COMMANDS: Final = (
    admin_command(
        "printMsg", "list the messages of a topic", _print, *_PRINTED,
        option("-l --lmqParentTopic", "parent topic of a lite topic's queue (%%LMQ%%...)", metavar="NAME"),
        group=_GROUP, collects=True,
    ),
    admin_command(
        "printMsgByQueue", "list the messages of a queue", _print_queue, *_PRINTED,
        option("-a --brokerName", "name of the broker group", required=True),
        option("-i --queueId", "which queue", type=int, required=True),
        option("-p --printMsg", "whether messages are listed; not with -f true otherwise", type=boolean),
        option("-f --calculate", "tell how many messages each tag has", type=boolean, default=False),
        group=_GROUP,
    ),
)  # fmt: skip
