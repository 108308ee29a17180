"""Messages by id, key, offset or time, and all of a topic or a queue."""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client import ClientConfig, ClientInstance, Message, Producer, open_producer
from rocketwire.client.admin import Admin, message_tracks
from rocketwire.client.admin.messages import FOREVER, INDEX_OF_KEYS, INDEX_OF_TAGS, index_key
from rocketwire.client.trace import TRACE_TOPIC
from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.resource_names import has_own_route
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.command import (
    CellType,
    Column,
    Listing,
    NotFoundError,
    Record,
    RefusedError,
    Table,
    UsageError,
    Value,
    record,
)
from rocketwire_tools.values import natural, utc

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncGenerator, Iterable, Sequence

    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.admin")
_RESEND_GROUP: Final = "ReSendMsgById"
"""Group of the producer that resends messages (Java: ``QueryMsgByIdSubCommand``)."""


def text_of(body: bytes | None, charset: str | None = None) -> str | None:
    """Decode a body (default UTF-8), with invalid bytes as ``\\xff``; None for no body."""
    return None if body is None else body.decode(charset or "utf-8", "backslashreplace")


def message_table(messages: Iterable[StoredMessage], searched: str) -> Table:
    rows: list[tuple[Value, ...]] = []
    for message in messages:
        properties = message.properties or {}
        rows.append((
            message.msg_id, message.offset_msg_id, message.queue_id, message.queue_offset,
            properties.get(const.TAGS), properties.get(const.KEYS), message.store_timestamp,
            str(message.store_host), message.store_size,
        ))  # fmt: skip
    return Table(
        "msgId offsetMsgId queueId:number queueOffset:number tags keys "
        "storeTimestamp:time storeHost storeSize:bytes",
        rows,
        searched=searched,
    )


def describe_times(begin: int | None, end: int | None) -> str:
    if not begin and end in (None, FOREVER):
        return ""
    last = "now" if end is None or end >= FOREVER else utc(end)
    return f" (stored from {utc(begin or 0)} to {last})"


async def _describe(admin: Admin, message: StoredMessage, charset: str | None = None) -> Record:
    tracks = await message_tracks(admin, message)
    return record(
        msgId=message.msg_id,
        offsetMsgId=message.offset_msg_id,
        topic=message.topic,
        tags=(message.properties or {}).get(const.TAGS),
        keys=(message.properties or {}).get(const.KEYS),
        queueId=message.queue_id,
        queueOffset=message.queue_offset,
        commitLogOffset=message.commit_log_offset,
        reconsumeTimes=message.reconsume_times,
        bornTimestamp=message.born_timestamp,
        storeTimestamp=message.store_timestamp,
        bornHost=str(message.born_host),
        storeHost=str(message.store_host),
        sysFlag=message.sys_flag,
        properties=dict(message.properties or {}),
        body=text_of(message.body, charset),
        tracks={track.consumer_group: track.track_type.value for track in tracks},
    )


async def _consume_directly(admin: Admin, args: Namespace, msg_id: str) -> Record:
    if args.consumer_group is None:
        raise RefusedError("--client-id needs --consumer-group")
    result = await admin.messages.consume_directly(
        args.consumer_group, args.client_id, args.topic, msg_id
    )
    if result is None:
        raise NotFoundError(f"no message {msg_id} in topic {args.topic}")
    succeeded = result.consume_result in ("CR_SUCCESS", "CR_COMMIT")
    return record(
        msgId=msg_id, consumeResult=result.consume_result, remark=result.remark, order=result.order,
        spentTimeMills=result.spent_time_mills, failed=not succeeded,
    )  # fmt: skip


async def _query_by_id(admin: Admin, args: Namespace) -> Record | Table:
    ids: Sequence[str] = args.msg_id
    if args.client_id is not None:
        records = [await _consume_directly(admin, args, msg_id) for msg_id in ids]
    elif args.send_message:
        async with open_producer(_client_of_unit(admin, args), _RESEND_GROUP) as producer:
            records = [await _resend(admin, producer, args, msg_id) for msg_id in ids]
    else:
        records = await _find_all(admin, args, ids)
    return records[0] if len(ids) == 1 else _merge(records)


def _merge(records: Sequence[Record]) -> Table:
    headings = [Column(name, CellType.VALUE) for name in records[0].members]
    rows = [list(record.members.values()) for record in records]
    return Table(headings, rows, failed=any(record.failed for record in records))


async def _find_all(admin: Admin, args: Namespace, ids: Sequence[str]) -> list[Record]:
    records: list[Record] = []
    missing: list[str] = []
    for msg_id in ids:
        try:
            records.append(await _find_details(admin, args, msg_id))
        except NotFoundError as error:
            missing.append(str(error))
    if missing:
        raise NotFoundError("; ".join(missing), partial=_merge(records) if records else None)
    return records


async def _find_details(admin: Admin, args: Namespace, msg_id: str) -> Record:
    return await _describe(admin, await _find(admin, args, msg_id), args.body_format)


async def _find(admin: Admin, args: Namespace, msg_id: str) -> StoredMessage:
    message = await admin.messages.by_id(args.topic, msg_id, cluster=args.cluster)
    if message is None:
        raise NotFoundError(f"no message {msg_id} in topic {args.topic}")
    return message


def _client_of_unit(admin: Admin, args: Namespace) -> ClientInstance | ClientConfig:
    if args.unit_name is None:
        return admin.client
    return replace(admin.client.config, unit_name=args.unit_name)


async def _resend(admin: Admin, producer: Producer, args: Namespace, msg_id: str) -> Record:
    # Send a copy with all properties, including the sender's id, as mqadmin does
    message = await _find(admin, args, msg_id)
    properties = {name: value or "" for name, value in (message.properties or {}).items()}
    wait = properties.pop(const.WAIT, "true") == "true"
    sent = await producer.send(
        Message(
            message.topic or args.topic, message.body or b"", flag=message.flag,
            wait_store_msg_ok=wait, system=properties,
        )
    )  # fmt: skip
    return record(
        msgId=msg_id, status=sent.status.name, offsetMsgId=sent.offset_msg_id,
        brokerName=sent.message_queue.broker_name, queueId=sent.message_queue.queue_id,
        queueOffset=sent.queue_offset,
    )  # fmt: skip


async def _query_by_unique_key(admin: Admin, args: Namespace) -> Record | Table:
    if args.client_id is not None:
        return await _consume_directly(admin, args, args.msg_id)
    messages = await admin.messages.by_unique_key(
        args.topic, args.msg_id, begin=args.start_time, end=args.end_time, cluster=args.cluster
    )
    span = describe_times(args.start_time, args.end_time)
    text = f"no message {args.msg_id} in topic {args.topic}{span}"
    if args.show_all:
        return message_table(messages, text)
    if not messages:
        raise NotFoundError(text)
    return await _describe(admin, messages[0])


async def _query_by_key(admin: Admin, args: Namespace) -> Table:
    key, key_type = args.msg_key, args.key_type
    query = admin.messages.by_tag if key_type == INDEX_OF_TAGS else admin.messages.by_key
    messages = await query(
        args.topic, key, max_num=args.max_num, begin=args.begin_timestamp, end=args.end_timestamp,
        cluster=args.cluster, last_key=args.last_key,
    )  # fmt: skip
    span = describe_times(args.begin_timestamp, args.end_timestamp)
    what = "tag" if key_type == INDEX_OF_TAGS else "key"
    table = message_table(messages, f"no message with {what} {key} in topic {args.topic}{span}")
    rows = [
        (*row, index_key(message, key_type, key))
        for row, message in zip(table.rows, messages, strict=True)
    ]
    if len(rows) >= args.max_num:
        _LOG.warning("listed %d messages; there may be more: narrow the times", len(rows))
    return Table((*table.typed, "indexKey"), rows, searched=table.searched)


async def _query_by_offset(admin: Admin, args: Namespace) -> Record:
    queue = MessageQueue(topic=args.topic, broker_name=args.broker_name, queue_id=args.queue_id)
    await admin.clusters.of_topic(args.topic, by=args.route_topic)
    message = await admin.messages.at(queue, args.offset)
    if message is None:
        raise NotFoundError(
            f"no message at {args.offset} in {args.topic}/{args.broker_name}/{args.queue_id}"
        )
    return await _describe(admin, message, args.body_format)


async def _query_trace(admin: Admin, args: Namespace) -> Table:
    records = await admin.messages.trace(
        args.msg_id, trace_topic=args.trace_topic, max_num=args.max_num, begin=args.begin_timestamp,
        end=args.end_timestamp,
    )  # fmt: skip
    rows = [
        (
            record.trace_type, record.group_name, record.topic, record.time_stamp, record.cost_time,
            record.is_success, record.store_host, record.retry_times, record.request_id,
            record.transaction_state,
        )
        for record in records
    ]  # fmt: skip
    return Table(
        "type group topic timestamp:time costTime:number success storeHost "
        "retryTimes:number requestId transactionState",
        rows,
        searched=f"no record of message {args.msg_id} in topic {args.trace_topic}"
        + describe_times(args.begin_timestamp, args.end_timestamp),
    )


_ID: Final = mq.option("-i --msgId", "id of the message", required=True)
_FOR: Final = mq.option("-g --consumerGroup", "group of the member", metavar="NAME")
_CLIENT: Final = mq.option("-d --clientId", "let this member consume it now")
_OF_CLUSTER: Final = mq.option(
    "-c --cluster",
    "only brokers of this cluster, or the parent topic of a lite topic's queue (%%LMQ%%...)",
    metavar="NAME",
)
_CHARSET: Final = mq.option(
    "-f --bodyFormat", "charset of the body (default UTF-8)", type=mq.charset
)
_BEGIN: Final = mq.option("-b --beginTimestamp", "earliest store time", type=mq.moment, default=0)
_END: Final = mq.option("-e --endTimestamp", "latest store time", type=mq.moment, default=FOREVER)


_PRINTED: Final = 1000
"""Messages that are listed unless ``--max`` is given."""
_LISTED: Final = "msgId queueId:number queueOffset:number tags keys storeTimestamp:time body"


def _list_messages(
    admin: Admin, args: Namespace, queue: MessageQueue | None, limit: str, max_messages: int
) -> Listing:
    chosen: int | None = getattr(args, limit)
    tags: str | None = getattr(args, "sub_expression", None)
    by: str | None = getattr(args, "lmq_parent_topic", None)
    with_tags = f" with tags {tags}" if tags else ""
    span = describe_times(args.begin_timestamp, args.end_timestamp)
    head = Table(_LISTED, (), searched=f"no message{with_tags} in topic {args.topic}{span}")

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
    return _list_messages(admin, args, None, "max", _PRINTED)


async def _print_queue(admin: Admin, args: Namespace) -> Listing | Table | Record:
    queue = MessageQueue(topic=args.topic, broker_name=args.broker_name, queue_id=args.queue_id)
    listing = _list_messages(admin, args, queue, "max", _PRINTED)
    if not args.calculate:
        return Table(_LISTED, ()) if args.print_msg is False else listing
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
    return _list_messages(admin, args, queue, "message_number", _CONSUMED)


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
_PRINTING: Final = (
    mq.TOPIC,
    mq.option("-c --charsetName", "charset of bodies (default UTF-8)", type=mq.charset),
    mq.option("-s --subExpression", "only these tags, such as a || b"),
    mq.option("-b --beginTimestamp", "earliest store time", type=mq.moment),
    mq.option("-e --endTimestamp", "store time before which messages are shown", type=mq.moment),
    mq.boolean_option("-d --printBody", "whether to show bodies", default=True),
    mq.option(
        "--max", f"number of messages, 0 for all (default {_PRINTED})", type=natural, metavar="N"
    ),
)

COMMANDS: Final = mq.group_commands(
    "messages",
    mq.admin_command("queryMsgById", "find messages by id", _query_by_id, mq.TOPIC,
        mq.option("-i --msgId", "ids of messages, separated by commas", required=True,
            type=mq.words),
        _FOR, _CLIENT, _CHARSET, _OF_CLUSTER,
        mq.boolean_option("-s --sendMessage", "resend the message"),
        mq.option("-u --unitName", "unit name of the sending client"), collects=True),
    mq.admin_command("queryMsgByUniqueKey", "find messages by the sender's id",
        _query_by_unique_key, mq.TOPIC, _ID, _FOR, _CLIENT,
        mq.option("-a --showAll", "show all matches as a table", switch=True), _OF_CLUSTER,
        mq.option("-s --startTime", "earliest store time", type=mq.moment, default=0),
        mq.option("-e --endTime", "latest store time", type=mq.moment, default=FOREVER),
        collects=True),
    mq.admin_command("queryMsgByKey", "find messages by key", _query_by_key, mq.TOPIC,
        mq.option("-k --msgKey", "a key of the message", required=True), _BEGIN, _END, _OF_CLUSTER,
        mq.option("-m --maxNum", "maximum number of messages per broker", type=int, default=64),
        mq.option("-p --keyType", "index: K for keys, T for tags (since 5.5.0)",
            choices=(INDEX_OF_KEYS, INDEX_OF_TAGS), default=INDEX_OF_KEYS),
        mq.option("-l --lastKey", "continue after this indexKey (brokers with a RocksDB index)",
            metavar="INDEXKEY"),
        collects=True),
    mq.admin_command("queryMsgByOffset", "find a message by its queue offset", _query_by_offset,
        mq.TOPIC, mq.option("-b --brokerName", "name of the broker group", required=True),
        mq.option("-i --queueId", "id of the queue", type=int, required=True),
        mq.option("-o --offset", "offset in the queue", type=int, required=True), _CHARSET,
        mq.option("-r --routeTopic", "topic with the route of a lite topic's queue (%%LMQ%%...)"),
        collects=True),
    mq.admin_command("queryMsgTraceById", "show who sent and who consumed a message", _query_trace,
        mq.option("-i --msgId", "the sender's id of the message", required=True),
        mq.option("-b --beginTimestamp", "earliest time of records", type=mq.moment, default=0),
        mq.option("-e --endTimestamp", "latest time of records", type=mq.moment, default=FOREVER),
        mq.option("-t --traceTopic", "topic of the traces", default=TRACE_TOPIC),
        mq.option("-c --maxNum", "maximum number of trace messages", type=int, default=64),
        collects=True),
    mq.admin_command("printMsg", "list the messages of a topic", _print, *_PRINTING,
        mq.option("-l --lmqParentTopic", "parent topic of a lite topic's queue (%%LMQ%%...)",
            metavar="NAME"),
        collects=True),
    mq.admin_command("printMsgByQueue", "list the messages of a queue", _print_queue, *_PRINTING,
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
