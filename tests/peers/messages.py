"""Helpers of consumer tests: topics, messages to a chosen queue, and unique names."""

import itertools
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

import trio

from rocketwire.client import ClientInstance
from rocketwire.codes import RequestCode
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.send import SendMessageRequestHeaderV2, SendMessageResponseHeader
from rocketwire.messages.topics import CreateTopicRequestHeader
from rocketwire.wire.message.properties import encode_properties
from tests.peers.client_settings import PATIENCE

_NUMBERS = itertools.count()
_RUN = time.time_ns() // 1_000_000


def unique(word: str) -> str:
    return f"{word}-{_RUN}-{next(_NUMBERS)}"


async def create_topic(
    client: ClientInstance,
    topic: str,
    *,
    queues: int = 4,
    write_queues: int | None = None,
    perm: int = 6,
    attributes: str | None = None,
    broker: str = "broker-a",
    address: str | None = None,
) -> str:
    """Create a topic, or change it, and wait until the name server knows; returns its name.

    Without the broker's address the route of ``TBW102`` must contain it.
    """
    header = CreateTopicRequestHeader(
        topic=topic,
        default_topic="TBW102",
        read_queue_nums=queues,
        write_queue_nums=queues if write_queues is None else write_queues,
        perm=perm,
        topic_filter_type="SINGLE_TAG",
        topic_sys_flag=0,
        order=False,
        attributes=attributes,
    )
    if address is None:
        await client.refresh_route("TBW102")
        address = await client.master(broker)
    await client.brokers.call(address, RequestCode.UPDATE_AND_CREATE_TOPIC, header, within=PATIENCE)

    async def is_known() -> bool:
        table = (await client.name_servers.route(topic)).queue_datas or ()
        return any(row.read_queue_nums == queues and row.broker_name == broker for row in table)

    await eventually(is_known)
    await client.refresh_route(topic)
    return topic


async def send(
    client: ClientInstance,
    topic: str,
    bodies: Iterable[bytes],
    *,
    queue_id: int | None = None,
    broker: str = "broker-a",
    address: str | None = None,
    **properties: str,
) -> list[SendMessageResponseHeader]:
    """Send messages to the four queues in turn, or to one, and wait until they are readable.

    ``KEYS`` is the body's text.
    """
    if address is None:
        await client.route(topic)
        address = await client.master(broker)
    answers: list[SendMessageResponseHeader] = []
    for number, body in enumerate(bodies):
        all_properties = {"KEYS": body[:40].decode(), **properties}
        header = SendMessageRequestHeaderV2(
            producer_group="tests",
            topic=topic,
            default_topic="TBW102",
            default_topic_queue_nums=4,
            queue_id=number % 4 if queue_id is None else queue_id,
            sys_flag=0,
            born_timestamp=round(time.time() * 1000),
            flag=0,
            properties=encode_properties(all_properties),
            reconsume_times=0,
            unit_mode=False,
            max_reconsume_times=0,
            batch=False,
            broker_name=broker,
        )
        answer = await client.brokers.call(
            address, RequestCode.SEND_MESSAGE_V2, header, body, within=PATIENCE
        )
        answers.append(answer.header)
    ends = {answer.queue_id or 0: answer.queue_offset or 0 for answer in answers}
    for number, last in ends.items():  # a broker answers before it has put a message into its queue
        queue = MessageQueue(topic=topic, broker_name=broker, queue_id=number)
        await eventually(partial(_reaches, client, address, queue, last))
    return answers


async def _reaches(client: ClientInstance, address: str, queue: MessageQueue, last: int) -> bool:
    return await client.brokers.max_offset(address, queue) > last


def numbered(count: int, first: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(first, first + count)]


async def eventually(condition: Callable[[], Awaitable[bool]], seconds: float = 120.0) -> None:
    """Ask a real peer again and again until something holds; the failure has the last error."""
    last: Exception | None = None
    with trio.move_on_after(seconds):
        while True:
            try:
                if await condition():
                    return
                last = None
            except Exception as error:  # noqa: BLE001 - not yet
                last = error
            await trio.sleep(0.1)
    raise AssertionError(f"not within {seconds:g} s: {condition!r}, {last!r}") from last


async def until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    with trio.move_on_after(seconds):
        while not condition():
            await trio.sleep(0.05)
        return
    raise AssertionError(f"not within {seconds:g} s: {condition!r}")
