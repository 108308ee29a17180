"""Message trace: its records, as text in Java's format, and the task that sends them.

Tracing never delays or fails a traced call. If the trace topic cannot keep up, the newest records
are dropped, counted and logged.

Java: ``AsyncTraceDispatcher``, ``TraceDataEncoder``.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.client.config import AccessChannel
from rocketwire.client.message import Message
from rocketwire.client.outages import Outages, advice_on
from rocketwire.client.periodic import now_millis
from rocketwire.client.publish.config import ProducerConfig
from rocketwire.client.publish.request_builder import build_outgoing_message
from rocketwire.client.publish.sender import MessageSender
from rocketwire.client.publish.unique_keys import unique_keys
from rocketwire.errors import RocketWireError
from rocketwire.policy.validation import check_message, check_producer_group
from rocketwire.transport.nursery import background
from rocketwire.wire.message.properties import split_keys

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance

TRACE_TOPIC: Final = "RMQ_SYS_TRACE_TOPIC"

# Beginning of the trace topics of managed clouds, before the region
CLOUD_TRACE_PREFIX: Final = "rmq_sys_TRACE_DATA_"
MAX_QUEUED: Final = 2048  # maximum queued records; more are dropped
BATCH: Final = 20  # maximum records in a message
MAX_TRACE_BYTES: Final = 128_000  # approximate limit for the body of a trace message, in bytes
# Subject of warnings about dropped records
_DROPPED_RECORDS: Final = "records of the message trace"
# Approximate limit for the keys of a trace message: all properties must fit into 32,767 bytes
MAX_KEYS_BYTES: Final = 24_000
FLUSH_INTERVAL: Final = 5.0  # maximum seconds between a record and its message


DEFAULT_REGION: Final = "DefaultRegion"

# Message types with Java's numbers (``MessageType``)
NORMAL, TRANS_HALF, TRANS_COMMIT, DELAY = range(4)


class TraceRecord(NamedTuple):
    text: str  # fields, with Java's separators
    keys: tuple[str, ...]  # keys of the record for operators
    topic: str = ""  # topic of the traced message; a trace message contains records of one topic
    region: str = ""  # region of the broker

    @property
    def keys_size(self) -> int:
        return sum(len(key) + 1 for key in self.keys)


def build_record(
    kind: str, topic: str, region: str, msg_id: str, keys: str | None, *fields: object
) -> TraceRecord:
    # ``fields`` are in the order of ``rocketwire.policy.trace_records``; None becomes ``null``, and
    # a bool what it is in Java. The other arguments are those of the traced message.
    text = "\x01".join((kind, *map(_format_field, fields))) + "\x02"
    return TraceRecord(text, (msg_id, *split_keys(keys)), topic, region)


def _format_field(field: object) -> str:
    if field is None:
        return "null"
    if isinstance(field, bool):
        return "true" if field else "false"
    return str(field)


class TraceDispatcher:
    def __init__(
        self,
        send: Callable[[Message], Awaitable[object]],
        topic: str | None = None,
        *,
        is_cloud: bool = False,
    ) -> None:
        self.is_cloud: bool = is_cloud  # whether records go to the topic of their region
        self.topic: str = topic or TRACE_TOPIC
        self.dropped: int = 0  # number of dropped records
        self._send = send
        self._queue: deque[TraceRecord] = deque()
        self._batch_ready = trio.Event()
        self._send_lock = trio.Lock()
        self._outages = Outages()

    def append(self, record: TraceRecord) -> None:
        if len(self._queue) >= MAX_QUEUED:
            self.dropped += 1
            self._outages.report(
                _DROPPED_RECORDS,
                f"{self.dropped} records were dropped: the queue has {MAX_QUEUED} records",
                "the broker stores records more slowly than the client creates them",
            )
            return
        self._queue.append(record)
        if len(self._queue) >= BATCH:
            self._batch_ready.set()

    async def run(self) -> None:
        while True:
            with trio.move_on_after(FLUSH_INTERVAL):
                await self._batch_ready.wait()
            self._batch_ready = trio.Event()
            await self.flush()

    async def flush(self) -> None:
        async with self._send_lock:
            while self._queue:
                await self._send_next()

    async def _send_next(self) -> None:
        batch = self._take_batch()
        topic = CLOUD_TRACE_PREFIX + batch[0].region if self.is_cloud else self.topic
        message = build_trace_message(topic, batch)
        try:
            await self._send(message)
        except RocketWireError as error:
            self._outages.report(
                "message trace", f"trace records were not sent: {error}", advice_on(error)
            )
        else:
            self._outages.end("message trace")
            if not self._queue:
                self._outages.end(_DROPPED_RECORDS)

    def _take_batch(self) -> list[TraceRecord]:
        batch = [self._queue.popleft()]
        first = batch[0]
        size, keys_size = len(first.text), first.keys_size
        while self._queue and len(batch) < BATCH:
            record = self._queue[0]
            size += len(record.text)
            keys_size += record.keys_size
            is_alike = record.topic == first.topic and record.region == first.region
            if not is_alike or size > MAX_TRACE_BYTES or keys_size > MAX_KEYS_BYTES:
                break
            batch.append(self._queue.popleft())
        return batch


def build_trace_message(topic: str, records: Sequence[TraceRecord]) -> Message:
    keys = tuple(dict.fromkeys(key for record in records for key in record.keys))
    body = "".join(record.text for record in records).encode()
    return Message(topic, body, keys=keys)


_CONFIG: Final = ProducerConfig(send_msg_timeout=5.0)


class TraceSender:
    def __init__(self, instance: ClientInstance, name: str) -> None:
        # brokers do not get its producer group in heartbeats
        group = f"_INNER_TRACE_PRODUCER-{name}"
        check_producer_group(group)
        chance = random.Random()  # noqa: S311 - spreads load, hides nothing
        # as in Java, where the producer of traces has no namespace
        self._sender = MessageSender(instance, group, _CONFIG, chance, adds_namespace=False)
        self._keys = unique_keys(instance.own_ip)

    async def send(self, message: Message) -> None:
        check_message(
            message.topic, message.body, message.properties, max_size=_CONFIG.max_message_size
        )
        born = now_millis()
        unique_key = self._keys.next_key(born)
        outgoing = build_outgoing_message(message, unique_key, born, _CONFIG)
        await self._sender.send(message.topic, outgoing, _CONFIG.send_msg_timeout)


@asynccontextmanager
async def open_trace(
    instance: ClientInstance, name: str, topic: str | None, within: float
) -> AsyncGenerator[TraceDispatcher]:
    is_cloud = instance.config.access_channel is AccessChannel.CLOUD
    dispatcher = TraceDispatcher(TraceSender(instance, name).send, topic, is_cloud=is_cloud)
    async with background() as nursery:
        nursery.start_soon(dispatcher.run)
        try:
            yield dispatcher
        finally:
            with trio.move_on_after(within, shield=True):
                await dispatcher.flush()
