"""Finding messages: ``queryMsgById``, ``queryMsgByKey``, ``queryMsgTraceById``, ``printMsg`` and their kin."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin import message_tracks
from rocketwire.client.admin.messages import FOREVER
from rocketwire.client.trace import TRACE_TOPIC
from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.command import Column, Kind, Record, RefusedError, Table, Value
from rocketwire_tools.admin.operating import TOPIC, admin_command, boolean, moment, option

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from rocketwire.client.admin import Admin
    from rocketwire.wire.stored import StoredMessage

_GROUP: Final = "messages"
_NUMBER: Final = Kind.NUMBER


def text_of(body: bytes | None) -> str | None:
    """A body as text, bytes that are no UTF-8 as ``\\xff``; None where there is none."""
    return None if body is None else body.decode("utf-8", "backslashreplace")


def listed(messages: Iterable[StoredMessage]) -> Table:
    """Messages with a row for each, without their bodies."""
    columns = (
        "msgId", "offsetMsgId", Column("queueId", _NUMBER), Column("queueOffset", _NUMBER), "tags", "keys",
        Column("storeTime", Kind.TIME), "storeHost", Column("size", Kind.BYTES),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for one in messages:
        held = one.properties or {}
        rows.append((
            one.msg_id, one.offset_msg_id, one.queue_id, one.queue_offset, held.get(const.TAGS), held.get(const.KEYS),
            one.store_timestamp, str(one.store_host), one.store_size,
        ))  # fmt: skip
    return Table(columns, rows, failed=not rows)


async def _described(admin: Admin, message: StoredMessage) -> Record:
    tracks = await message_tracks(admin, message)
    return Record(
        {
            "msgId": message.msg_id,
            "offsetMsgId": message.offset_msg_id,
            "topic": message.topic,
            "tags": (message.properties or {}).get(const.TAGS),
            "keys": (message.properties or {}).get(const.KEYS),
            "queueId": message.queue_id,
            "queueOffset": message.queue_offset,
            "commitLogOffset": message.commit_log_offset,
            "reconsumeTimes": message.reconsume_times,
            "bornTimestamp": message.born_timestamp,
            "storeTimestamp": message.store_timestamp,
            "bornHost": str(message.born_host),
            "storeHost": str(message.store_host),
            "sysFlag": message.sys_flag,
            "properties": dict(message.properties or {}),
            "body": text_of(message.body),
            "tracks": {one.consumer_group: one.track_type.value for one in tracks},
        }
    )


async def _directly(admin: Admin, wanted: Namespace, msg_id: str) -> Record:
    if wanted.consumer_group is None:
        raise RefusedError("--client-id needs --consumer-group")
    result = await admin.messages.consume_directly(
        wanted.consumer_group, wanted.client_id, wanted.topic, msg_id
    )
    if result is None:
        raise RefusedError(f"no message {msg_id}")
    succeeded = result.consume_result in ("CR_SUCCESS", "CR_COMMIT")
    return Record(
        {
            "msgId": msg_id,
            "consumeResult": result.consume_result,
            "remark": result.remark,
            "order": result.order,
            "spentTimeMills": result.spent_time_mills,
        },
        failed=not succeeded,
    )


async def _by_id(admin: Admin, wanted: Namespace) -> Record:
    if wanted.client_id is not None:
        return await _directly(admin, wanted, wanted.msg_id)
    found = await admin.messages.by_id(wanted.topic, wanted.msg_id)
    if found is None:
        raise RefusedError(f"no message {wanted.msg_id}")
    return await _described(admin, found)


async def _by_unique_key(admin: Admin, wanted: Namespace) -> Record | Table:
    if wanted.client_id is not None:
        return await _directly(admin, wanted, wanted.msg_id)
    found = await admin.messages.by_unique_key(wanted.topic, wanted.msg_id, cluster=wanted.cluster)
    if wanted.show_all:
        return listed(found)
    if not found:
        raise RefusedError(f"no message {wanted.msg_id}")
    return await _described(admin, found[0])


async def _by_key(admin: Admin, wanted: Namespace) -> Table:
    return listed(
        await admin.messages.by_key(
            wanted.topic,
            wanted.msg_key,
            max_num=wanted.max_num,
            begin=wanted.begin_timestamp,
            end=wanted.end_timestamp,
            cluster=wanted.cluster,
        )
    )


async def _by_offset(admin: Admin, wanted: Namespace) -> Record:
    queue = MessageQueue(
        topic=wanted.topic, broker_name=wanted.broker_name, queue_id=wanted.queue_id
    )
    await admin.clusters.route(wanted.topic)
    found = await admin.messages.at(queue, wanted.offset)
    if found is None:
        raise RefusedError(f"no message at {wanted.offset}")
    return await _described(admin, found)


async def _trace(admin: Admin, wanted: Namespace) -> Table:
    found = await admin.messages.trace(
        wanted.msg_id,
        trace_topic=wanted.trace_topic,
        max_num=wanted.max_num,
        begin=wanted.begin_timestamp,
        end=wanted.end_timestamp,
    )
    columns = (
        "type", "groupName", "topic", Column("time", Kind.TIME), Column("costTime", _NUMBER), "success", "storeHost",
        Column("retryTimes", _NUMBER), "requestId", "transactionState",
    )  # fmt: skip
    rows = [
        (
            one.trace_type, one.group_name, one.topic, one.time_stamp, one.cost_time, one.is_success, one.store_host,
            one.retry_times, one.request_id, one.transaction_state,
        )
        for one in found
    ]  # fmt: skip
    return Table(columns, rows, failed=not rows)


async def _print(admin: Admin, wanted: Namespace) -> Table:
    queue = None
    if getattr(wanted, "queue_id", None) is not None:
        queue = MessageQueue(
            topic=wanted.topic, broker_name=wanted.broker_name, queue_id=wanted.queue_id
        )
    walk = admin.messages.walk(
        wanted.topic,
        begin=wanted.begin_timestamp,
        end=wanted.end_timestamp,
        expression=wanted.sub_expression,
        queue=queue,
    )
    async with aclosing(walk):
        found = [message async for message in walk]
    return printed(found, charset=wanted.charset_name, bodies=wanted.print_body)


def printed(
    messages: Iterable[StoredMessage], *, charset: str | None = None, bodies: bool = True
) -> Table:
    """Messages with a row for each, and their bodies.

    Args:
        messages: which.
        charset: how bodies are written; None for UTF-8.
        bodies: whether they are shown.
    """
    rows: list[tuple[Value, ...]] = []
    for one in messages:
        held, body = one.properties or {}, one.body
        if body is not None and charset is not None:
            shown: str | None = body.decode(charset, "backslashreplace")
        else:
            shown = text_of(body)
        rows.append((
            one.msg_id, one.queue_id, one.queue_offset, held.get(const.TAGS), held.get(const.KEYS),
            one.store_timestamp, shown if bodies else None,
        ))  # fmt: skip
    columns = (
        "msgId", Column("queueId", _NUMBER), Column("queueOffset", _NUMBER), "tags", "keys",
        Column("storeTime", Kind.TIME), "body",
    )  # fmt: skip
    return Table(columns, rows)


_ID: Final = option("-i --msgId", "id of the message", required=True, metavar="ID")
_FOR: Final = option("-g --consumerGroup", "whose member is to handle it", metavar="NAME")
_CLIENT: Final = option("-d --clientId", "have this member handle it now", metavar="ID")
_OF_CLUSTER: Final = option("-c --cluster", "only on brokers of this cluster", metavar="NAME")
_BEGIN: Final = option("-b --beginTimestamp", "stored not before this", type=moment, default=0)
_END: Final = option("-e --endTimestamp", "stored not after this", type=moment, default=FOREVER)
_PRINTED: Final = (
    TOPIC,
    option("-c --charsetName", "how bodies are written; UTF-8 otherwise"),
    option("-s --subExpression", "only these tags, as a || b"),
    option("-b --beginTimestamp", "stored not before this", type=moment),
    option("-e --endTimestamp", "stored before this", type=moment),
    option("-d --printBody", "whether bodies are shown", type=boolean, default=True),
)

COMMANDS: Final = (
    admin_command(
        "queryMsgById", "find a message by either id", _by_id, TOPIC, _ID, _FOR, _CLIENT, group=_GROUP
    ),
    admin_command(
        "queryMsgByUniqueKey", "find messages by the sender's id", _by_unique_key, TOPIC, _ID, _FOR, _CLIENT,
        option("-a --showAll", "all of them, as a table", switch=True), _OF_CLUSTER, group=_GROUP,
    ),
    admin_command(
        "queryMsgByKey", "find messages by key", _by_key, TOPIC,
        option("-k --msgKey", "one of the message's keys", required=True), _BEGIN, _END, _OF_CLUSTER,
        option("-m --maxNum", "most messages of each broker", type=int, default=64), group=_GROUP,
    ),
    admin_command(
        "queryMsgByOffset", "find the message at a place of a queue", _by_offset, TOPIC,
        option("-b --brokerName", "name of the broker group", required=True),
        option("-i --queueId", "which queue", type=int, required=True),
        option("-o --offset", "where in it", type=int, required=True), group=_GROUP,
    ),
    admin_command(
        "queryMsgTraceById", "tell who sent a message and who handled it", _trace, _ID, _BEGIN, _END,
        option("-t --traceTopic", "where clients record", default=TRACE_TOPIC),
        option("-c --maxNum", "most messages of records", type=int, default=64), group=_GROUP,
    ),
    admin_command("printMsg", "list the messages of a topic", _print, *_PRINTED, group=_GROUP),
    admin_command(
        "printMsgByQueue", "list the messages of a queue", _print, *_PRINTED,
        option("-a --brokerName", "name of the broker group", required=True),
        option("-i --queueId", "which queue", type=int, required=True), group=_GROUP,
    ),
)  # fmt: skip
