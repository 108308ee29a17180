"""Finding messages: ``queryMsgById``, ``queryMsgByKey`` and their kin."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.client import Message, open_producer
from rocketwire.client.admin import message_tracks
from rocketwire.client.admin.message_search import FOREVER, INDEX_OF_KEYS, INDEX_OF_TAGS, index_key
from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.cli.mqadmin_options import (
    TOPIC,
    admin_command,
    boolean,
    charset,
    moment,
    option,
    words,
)
from rocketwire_tools.admin.command import (
    Column,
    Kind,
    NotFoundError,
    Record,
    RefusedError,
    Table,
    Value,
)

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Sequence

    from rocketwire.client import ClientConfig, ClientInstance, Producer
    from rocketwire.client.admin import Admin
    from rocketwire.wire.message.stored import StoredMessage

_GROUP: Final = "messages"
_NUMBER: Final = Kind.NUMBER
_AGAIN: Final = "ReSendMsgById"
"""Group of the producer that sends messages again (Java: ``QueryMsgByIdSubCommand``)."""


def text_of(body: bytes | None, charset: str | None = None) -> str | None:
    """A body as text, bytes that are none in its charset (UTF-8 unless told otherwise) as ``\\xff``; None where there is none."""
    return None if body is None else body.decode(charset or "utf-8", "backslashreplace")


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


async def _described(admin: Admin, message: StoredMessage, charset: str | None = None) -> Record:
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
            "body": text_of(message.body, charset),
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
        raise NotFoundError(f"no message {msg_id}")
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


async def _by_id(admin: Admin, wanted: Namespace) -> Record | Table:
    """One message as a record; of several ids, as mqadmin takes them, a row for each."""
    ids: Sequence[str] = wanted.msg_id
    if wanted.client_id is not None:
        each = [await _directly(admin, wanted, one) for one in ids]
    elif wanted.send_message:
        async with open_producer(_of_unit(admin, wanted), _AGAIN) as producer:
            each = [await _sent_again(admin, producer, wanted, one) for one in ids]
    else:
        each = await _all_shown(admin, wanted, ids)
    return each[0] if len(ids) == 1 else _together(each)


def _together(each: Sequence[Record]) -> Table:
    columns = [Column(name, Kind.VALUE) for name in each[0].members]
    rows = [list(one.members.values()) for one in each]
    return Table(columns, rows, failed=any(one.failed for one in each))


async def _all_shown(admin: Admin, wanted: Namespace, ids: Sequence[str]) -> list[Record]:
    found: list[Record] = []
    missing: list[str] = []
    for one in ids:
        try:
            found.append(await _shown(admin, wanted, one))
        except NotFoundError as error:
            missing.append(str(error))
    if missing:
        raise NotFoundError("; ".join(missing), _together(found) if found else None)
    return found


async def _shown(admin: Admin, wanted: Namespace, msg_id: str) -> Record:
    return await _described(admin, await _found(admin, wanted, msg_id), wanted.body_format)


async def _found(admin: Admin, wanted: Namespace, msg_id: str) -> StoredMessage:
    found = await admin.messages.by_id(wanted.topic, msg_id, cluster=wanted.cluster)
    if found is None:
        raise NotFoundError(f"no message {msg_id}")
    return found


def _of_unit(admin: Admin, wanted: Namespace) -> ClientInstance | ClientConfig:
    if wanted.unit_name is None:
        return admin.client
    return replace(admin.client.config, unit_name=wanted.unit_name)


async def _sent_again(admin: Admin, producer: Producer, wanted: Namespace, msg_id: str) -> Record:
    """A copy with all properties, the sender's id among them, as mqadmin sends it."""
    found = await _found(admin, wanted, msg_id)
    properties = {name: value or "" for name, value in (found.properties or {}).items()}
    wait = properties.pop(const.WAIT, "true") == "true"
    sent = await producer.send(
        Message(
            found.topic or wanted.topic, found.body or b"", flag=found.flag, wait_store_msg_ok=wait,
            system=properties,
        )
    )  # fmt: skip
    return Record(
        {
            "msgId": msg_id,
            "status": sent.status.name,
            "offsetMsgId": sent.offset_msg_id,
            "brokerName": sent.message_queue.broker_name,
            "queueId": sent.message_queue.queue_id,
            "queueOffset": sent.queue_offset,
        }
    )


async def _by_unique_key(admin: Admin, wanted: Namespace) -> Record | Table:
    if wanted.client_id is not None:
        return await _directly(admin, wanted, wanted.msg_id)
    found = await admin.messages.by_unique_key(
        wanted.topic,
        wanted.msg_id,
        begin=wanted.start_time,
        end=wanted.end_time,
        cluster=wanted.cluster,
    )
    if wanted.show_all:
        return listed(found)
    if not found:
        raise NotFoundError(f"no message {wanted.msg_id}")
    return await _described(admin, found[0])


async def _by_key(admin: Admin, wanted: Namespace) -> Table:
    """As ``listed``, with what ``--last-key`` of a next query may be."""
    key, kind = wanted.msg_key, wanted.key_type
    query = admin.messages.by_tag if kind == INDEX_OF_TAGS else admin.messages.by_key
    found = await query(
        wanted.topic,
        key,
        max_num=wanted.max_num,
        begin=wanted.begin_timestamp,
        end=wanted.end_timestamp,
        cluster=wanted.cluster,
        last_key=wanted.last_key,
    )
    table = listed(found)
    rows = [
        (*row, index_key(message, kind, key))
        for row, message in zip(table.rows, found, strict=True)
    ]
    return Table((*table.columns, "indexKey"), rows, failed=table.failed)


async def _by_offset(admin: Admin, wanted: Namespace) -> Record:
    queue = MessageQueue(
        topic=wanted.topic, broker_name=wanted.broker_name, queue_id=wanted.queue_id
    )
    await admin.clusters.of_topic(wanted.topic, by=wanted.route_topic)
    found = await admin.messages.at(queue, wanted.offset)
    if found is None:
        raise NotFoundError(f"no message at {wanted.offset}")
    return await _described(admin, found, wanted.body_format)


_ID: Final = option("-i --msgId", "id of the message", required=True, metavar="ID")
_FOR: Final = option("-g --consumerGroup", "whose member is to handle it", metavar="NAME")
_CLIENT: Final = option("-d --clientId", "have this member handle it now", metavar="ID")
_OF_CLUSTER: Final = option(
    "-c --cluster",
    "only on brokers of this cluster; of a lite topic's queue (%%LMQ%%...) its parent topic",
    metavar="NAME",
)
_CHARSET: Final = option("-f --bodyFormat", "charset of the body; UTF-8 otherwise", type=charset)
_BEGIN: Final = option("-b --beginTimestamp", "stored not before this", type=moment, default=0)
_END: Final = option("-e --endTimestamp", "stored not after this", type=moment, default=FOREVER)
COMMANDS: Final = (
    admin_command(
        "queryMsgById", "find messages by either id", _by_id, TOPIC,
        option("-i --msgId", "id of the message; several with commas between", required=True, type=words, metavar="ID"),
        _FOR, _CLIENT, _CHARSET, _OF_CLUSTER,
        option("-s --sendMessage", "send it again instead", type=boolean, default=False),
        option("-u --unitName", "of the unit that it is sent from"), group=_GROUP, collects=True,
    ),
    admin_command(
        "queryMsgByUniqueKey", "find messages by the sender's id", _by_unique_key, TOPIC, _ID, _FOR, _CLIENT,
        option("-a --showAll", "all of them, as a table", switch=True), _OF_CLUSTER,
        option("-s --startTime", "stored not before this", type=moment, default=0),
        option("-e --endTime", "stored not after this", type=moment, default=FOREVER), group=_GROUP, collects=True,
    ),
    admin_command(
        "queryMsgByKey", "find messages by key", _by_key, TOPIC,
        option("-k --msgKey", "one of the message's keys", required=True), _BEGIN, _END, _OF_CLUSTER,
        option("-m --maxNum", "most messages of each broker", type=int, default=64),
        option("-p --keyType", "K of keys, T of tags (since 5.5.0)", choices=(INDEX_OF_KEYS, INDEX_OF_TAGS), default=INDEX_OF_KEYS),
        option("-l --lastKey", "go on behind this indexKey, where brokers index in RocksDB", metavar="INDEXKEY"),
        group=_GROUP, collects=True,
    ),
    admin_command(
        "queryMsgByOffset", "find the message at a place of a queue", _by_offset, TOPIC,
        option("-b --brokerName", "name of the broker group", required=True),
        option("-i --queueId", "which queue", type=int, required=True),
        option("-o --offset", "where in it", type=int, required=True), _CHARSET,
        option("-r --routeTopic", "whose route tells where a lite topic's queue (%%LMQ%%...) is"), group=_GROUP,
        collects=True,
    ),
)  # fmt: skip
