"""Everything that a live broker answers about its store."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketwire.client.net.rpc import Response
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages import encode_header
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pull import PullMessageRequestHeader
from rocketwire.messages.queries import (
    ConsumeQueueData,
    QueryConsumeQueueRequestHeader,
    QueryMessageRequestHeader,
    ViewMessageRequestHeader,
)
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import StoredMessage
from tests.support.stores.cluster import BROKER_NAME, PATIENCE, Session
from tests.support.stores.truth import Lookup, Pulled, Queue, Sent, Unit, digest

FOREVER: Final = 2**63 - 1
UNITS_OF_ONE_ANSWER: Final = 500
READER: Final = "stores_reader"
"""A group that commits nothing; pulls need one."""

_SUBSCRIPTION: Final = 4  # PullSysFlag: the request carries its expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    queues: tuple[Queue, ...]
    lookups: tuple[Lookup, ...]
    by_id: Mapping[str, str]
    consumer_offsets: Mapping[str, Mapping[int, int]]
    delay_offsets: Mapping[int, int]


async def ask_everything(
    session: Session, sent: Iterable[Sent], topics: Collection[str]
) -> Answers:
    """Ask the broker for all queues, keys, ids and offsets.

    Args:
        sent: whose keys and ids are asked for.
        topics: the test's own, whose empty queues are wanted too.
    """
    sent = tuple(sent)
    configs = await session.admin.topics.configs(session.address)
    queues: list[Queue] = []
    for topic, config in sorted(configs.items()):
        for queue_id in range(max(config.read_queue_nums, config.write_queue_nums)):
            queue = await read_queue(session, topic, queue_id)
            if queue.max_offset > 0 or topic in topics:
                queues.append(queue)
    return Answers(
        queues=tuple(queues),
        lookups=tuple([await look_up(session, *lookup) for lookup in _list_lookups(sent, topics)]),
        by_id={message.offset_msg_id: await digest_by_id(session, message) for message in sent},
        consumer_offsets=await session.admin.offsets.all_of_broker(session.address),
        delay_offsets=await session.admin.offsets.delays(session.address),
    )


async def read_queue(session: Session, topic: str, queue_id: int) -> Queue:
    brokers = session.client.brokers
    place = MessageQueue(topic=topic, broker_name=BROKER_NAME, queue_id=queue_id)
    first = await brokers.min_offset(session.address, place)
    end = await brokers.max_offset(session.address, place)
    messages: list[Pulled] = []
    units: list[Unit] = []
    earliest = -1
    if end > first:
        earliest = await brokers.earliest_store_time(session.address, place)
        units = await read_units(session, place, first, end)
        messages = await pull_all(session, place, first, end, units)
    times = sorted({message.store_timestamp for message in messages})
    searched = sorted({time + step for time in (*times[:2], *times[-2:]) for step in (-1, 0, 1)})
    return Queue(
        topic=topic,
        queue_id=queue_id,
        min_offset=first,
        max_offset=end,
        earliest_store_time=earliest,
        messages=tuple(messages),
        units=tuple(units),
        by_time=tuple(
            [(time, await brokers.search_offset(session.address, place, time)) for time in searched]
        ),
    )


async def pull(
    session: Session, place: MessageQueue, offset: int, *accepted: ResponseCode, count: int = 32
) -> Response:
    header = PullMessageRequestHeader(
        consumer_group=READER,
        topic=place.topic,
        queue_id=place.queue_id,
        queue_offset=offset,
        max_msg_nums=count,
        sys_flag=_SUBSCRIPTION,
        commit_offset=0,
        suspend_timeout_millis=0,
        subscription="*",
        sub_version=0,
        expression_type="TAG",
        bname=BROKER_NAME,
    )
    return await session.client.brokers.call(
        session.address,
        RequestCode.PULL_MESSAGE,
        header,
        within=PATIENCE,
        accepted=(
            ResponseCode.SUCCESS,
            ResponseCode.PULL_RETRY_IMMEDIATELY,
            ResponseCode.PULL_OFFSET_MOVED,
            ResponseCode.PULL_NOT_FOUND,
            *accepted,
        ),
    )


async def pull_all(
    session: Session, place: MessageQueue, first: int, end: int, units: Iterable[Unit]
) -> list[Pulled]:
    """The messages of a queue, as the broker sends them.

    A broker refuses pulls of a topic that it does not list, and 4.9.4 does not list the topic of
    transactions that have ended.  The messages are then viewed one by one.
    """
    messages: list[Pulled] = []
    offset = first
    while offset < end:
        answer = await pull(session, place, offset, ResponseCode.TOPIC_NOT_EXIST)
        if answer.command.code == ResponseCode.TOPIC_NOT_EXIST:
            offsets = [unit.physical_offset for unit in units]
            return [split(await view(session, place.topic, offset))[0] for offset in offsets]
        if answer.command.code == ResponseCode.SUCCESS:
            messages += split(answer.command.body or b"")
        following = answer.header.next_begin_offset
        if following <= offset:
            break
        offset = following
    return messages


def split(body: bytes) -> list[Pulled]:
    messages: list[Pulled] = []
    start = 0
    for message in decode_stored_messages(body, decompress=False):
        data = body[start : start + message.store_size]
        start += message.store_size
        messages.append(_pull(message, data))
    return messages


def _pull(message: StoredMessage, data: bytes) -> Pulled:
    return Pulled(
        queue_offset=message.queue_offset,
        physical_offset=message.commit_log_offset,
        size=len(data),
        digest=digest(data),
        magic=int.from_bytes(data[4:8]),
        topic=message.topic,
        queue_id=message.queue_id,
        flag=message.flag,
        sys_flag=message.sys_flag,
        body_crc=message.body_crc,
        body_size=len(message.body or b""),
        body_digest=digest(message.body or b""),
        properties={name: value or "" for name, value in (message.properties or {}).items()},
        born_timestamp=message.born_timestamp,
        born_host=f"{message.born_host.ip}:{message.born_host.port}",
        store_timestamp=message.store_timestamp,
        store_host=f"{message.store_host.ip}:{message.store_host.port}",
        reconsume_times=message.reconsume_times,
        prepared_transaction_offset=message.prepared_transaction_offset,
    )


async def read_units(session: Session, place: MessageQueue, first: int, end: int) -> list[Unit]:
    """The entries of a consume queue; none if the broker refuses to list them."""
    units: dict[int, Unit] = {}
    start = first
    while start < end:
        header = QueryConsumeQueueRequestHeader(
            topic=place.topic,
            queue_id=place.queue_id,
            index=start,
            count=min(UNITS_OF_ONE_ANSWER, end - start),  # and the broker stops at a file's end
        )
        try:
            answer = await session.call(RequestCode.QUERY_CONSUME_QUEUE, header)
        except BrokerError:
            return []
        listed: Sequence[ConsumeQueueData]
        listed = answer.body.queue_data or ()
        if not listed:
            break
        for number, data in enumerate(listed):
            unit = Unit(
                index=start + number,
                physical_offset=data.physic_offset,
                size=data.physic_size,
                tags_code=data.tags_code,
            )
            units.setdefault(
                unit.physical_offset, unit
            )  # a batch is listed for each of its offsets
        start += len(listed)
    return list(units.values())


def _list_lookups(sent: Iterable[Sent], topics: Collection[str]) -> list[tuple[str, str, str]]:
    lookups: dict[tuple[str, str, str], None] = {}
    for message in sent:
        lookups.update({(message.topic, key, "K"): None for key in message.keys if key.strip()})
        if message.unique_key:
            lookups[message.topic, message.unique_key, "U"] = None
        if message.tags:
            lookups[message.topic, message.tags, "T"] = None
    lookups.update({(topic, "no such key", "K"): None for topic in topics})
    return list(lookups)


async def look_up(session: Session, topic: str, key: str, index: str) -> Lookup:
    header = QueryMessageRequestHeader(
        topic=topic,
        key=key,
        max_num=5000,
        begin_timestamp=0,
        end_timestamp=FOREVER,
        index_type="T" if index == "T" else None,
    )
    fields = {**encode_header(header), "_UNIQUE_KEY_QUERY": str(index == "U").lower()}
    answer = await session.client.brokers.call(
        session.address,
        RequestCode.QUERY_MESSAGE,
        fields,
        within=PATIENCE,
        accepted=(ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND),
    )
    messages = split(answer.command.body or b"")
    places = tuple(message.physical_offset for message in messages)
    return Lookup(topic=topic, key=key, index=index, physical_offsets=places)


async def view(session: Session, topic: str | None, physical_offset: int) -> bytes:
    header = ViewMessageRequestHeader(topic=topic, offset=physical_offset)
    answer = await session.call(RequestCode.VIEW_MESSAGE_BY_ID, header)
    data: bytes = answer.command.body
    return data


async def digest_by_id(session: Session, sent: Sent) -> str:
    """The digest of the message with this id; empty if the broker has none."""
    try:
        return digest(await view(session, sent.topic, int(sent.offset_msg_id[-16:], 16)))
    except BrokerError:
        return ""
