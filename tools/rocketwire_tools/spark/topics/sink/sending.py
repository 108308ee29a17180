"""Messages of a partition sent to brokers, under trio.

Several requests are under way, failed ones are tried again, and rows are taken as they are sent.
"""

from __future__ import annotations

from collections import deque
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import trio

from rocketwire.client import open_producer
from rocketwire.client.periodic import now_millis
from rocketwire.client.publish.request_builder import OutgoingMessage, wire_topic
from rocketwire.client.publish.unique_keys import unique_keys
from rocketwire.codes import RequestCode
from rocketwire.messages import message_const as const
from rocketwire.policy.queue_selectors import queue_by_hash
from rocketwire.wire.message.properties import encode_properties
from rocketwire_tools.spark.topics.connection import open_connection
from rocketwire_tools.spark.topics.sink.attempts import (
    NOTHING,
    Present,
    SinkError,
    absence_of,
    first_error,
    producer_config,
    with_retries,
)
from rocketwire_tools.spark.topics.sink.outbox import Destination, Outbox, SendRequest
from rocketwire_tools.spark.topics.sink.rows import RowReader
from rocketwire_tools.spark.topics.sink.unique_keys import StableKeys

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from rocketwire.client import Message, Producer, SendResult
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire_tools.spark.topics.sink.options import SinkSettings


class Dispatcher:
    """Sends requests: any number of lanes at once, ``in_flight`` requests together.

    Requests of a lane with a queue are sent one after the other, in order.
    """

    def __init__(
        self,
        nursery: trio.Nursery,  # runs the requests
        send: Callable[[SendRequest], Awaitable[None]],  # sends a request, with its retries
        in_flight: int,  # most requests together, waiting ones of their lanes included
    ) -> None:
        self._nursery = nursery
        self._send = send
        self._limit = trio.Semaphore(in_flight)
        self._waiting: dict[Destination, deque[SendRequest]] = {}

    async def put(self, request: SendRequest) -> None:
        await self._limit.acquire()
        if request.destination.queue is None:
            self._nursery.start_soon(self._send_one, request)
            return
        waiting = self._waiting.get(request.destination)
        if waiting is not None:
            waiting.append(request)
            return
        self._waiting[request.destination] = deque([request])
        self._nursery.start_soon(self._send_in_order, request.destination)

    async def _send_one(self, request: SendRequest) -> None:
        await self._send(request)
        self._limit.release()

    async def _send_in_order(self, destination: Destination) -> None:
        waiting = self._waiting[destination]
        while waiting:
            await self._send_one(waiting.popleft())
        del self._waiting[destination]


class PartitionSender:
    def __init__(
        self,
        settings: SinkSettings,  # options
        reader: RowReader,  # builds the messages
        present: Present = NOTHING,  # what there was when the write was planned
    ) -> None:
        self.settings = settings
        self.reader = reader
        self.present = present
        self._has_delays = not {"delaySeconds", "deliverTimestamp"}.isdisjoint(reader.names)
        self._checked: set[str] = set()
        self._keys = unique_keys()

    async def send_all(self, batches: Iterator[Any]) -> None:
        """Send the rows of all record batches.

        Args:
            batches: record batches; taken in a thread, because Spark computes them meanwhile.
        """
        first = await _next(batches)
        if first is None:
            return
        settings = self.settings
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(open_connection(settings.connection))
            producer = await stack.enter_async_context(
                open_producer(client, settings.group, producer_config(settings))
            )
            await self.send_batches(producer, first, batches)

    async def send_batches(self, producer: Producer, first: Any, batches: Iterator[Any]) -> None:
        settings = self.settings
        outbox = Outbox(settings.batch_size)

        async def send(request: SendRequest) -> None:
            await self._send(producer, request)

        batch: Any = first
        may_have_queue = self._has_delays or self.reader.has_sharding_keys
        async with trio.open_nursery() as nursery:
            dispatcher = Dispatcher(nursery, send, settings.in_flight)
            while batch is not None:
                for row in self.reader.rows(batch):
                    queue = await self._queue(producer, row.message) if may_have_queue else None
                    for request in outbox.add(row, queue):
                        await dispatcher.put(request)
                batch = await _next(batches)
            for request in outbox.flush():
                await dispatcher.put(request)

    async def _queue(self, producer: Producer, message: Message) -> MessageQueue | None:
        """Return the queue of an ordered message; check what the topic's brokers support."""
        topic = message.topic
        if self._has_delays and message.is_delayed and topic not in self._checked:
            await self._check_delays(producer, topic)
            self._checked.add(topic)
        if message.sharding_key is None:
            return None
        sender = producer.sender
        target = sender.targets.get(wire_topic(producer.instance.config, topic))
        if target is not None and target.topic == topic:
            return queue_by_hash(target.info.queues, message.sharding_key)
        queues = await self._retry(producer, lambda: producer.queues(topic), topic)
        return queue_by_hash(queues, message.sharding_key)

    async def _retry(
        self, producer: Producer, attempt: Callable[[], Awaitable[Any]], topic: str
    ) -> Any:
        async def absence(topic: str) -> str:
            return await absence_of(producer.instance, topic, self.present)

        return await with_retries(attempt, topic, self.settings.retry_timeout, absence)

    async def _check_delays(self, producer: Producer, topic: str) -> None:
        await self._retry(producer, lambda: producer.queues(topic), topic)
        for target in producer.sender.targets.values():
            if await producer.sender.has_broker_before_5(target):
                raise SinkError(
                    f"topic {topic}: a broker is older than 5.0, which ignores delays in seconds "
                    "and would deliver at once: leave out columns 'delaySeconds' and "
                    "'deliverTimestamp'"
                )

    async def _send(self, producer: Producer, request: SendRequest) -> None:
        topic, queue = request.destination
        message = request.message

        async def attempt() -> SendResult:
            if message is None:
                return await self._send_batch(producer, request)
            if queue is None:
                return await producer.send(message)
            return await producer.send_to(message, queue)

        await self._retry(producer, attempt, topic)

    async def _send_batch(self, producer: Producer, request: SendRequest) -> SendResult:
        """Send a batch; as ``Producer.send_batch`` does with messages that are not encoded."""
        topic, queue = request.destination
        sender, seconds = producer.sender, self.settings.send_timeout
        deadline = trio.current_time() + seconds
        target = await sender.find_target(wire_topic(producer.instance.config, topic))
        properties = {const.WAIT: "true"}
        if not await sender.has_broker_before_5(target):
            properties[const.UNIQ_KEY] = self._keys.next_key()
        fields = {
            "f": "0",
            "g": str(now_millis()),
            "h": "0",
            "i": encode_properties(properties),
            "m": "true",
        }
        body = b"".join(request.entries)
        outgoing = OutgoingMessage(RequestCode.SEND_BATCH_MESSAGE, "", body, fields)
        if queue is None:
            return await sender.send(topic, outgoing, seconds)
        return await sender.send_once(topic, target, queue, outgoing, deadline)


async def _next(batches: Iterator[Any]) -> Any:
    return await trio.to_thread.run_sync(next, batches, None, abandon_on_cancel=True)


def run(function: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
    """Return the result of a function under trio; one error is raised without its group."""
    try:
        return trio.run(function, *arguments)
    except BaseExceptionGroup as group:
        error = first_error(group)
        raise error from error.__cause__


def write_partition(
    names: Sequence[str],  # columns, with the names of ``COLUMNS`` or ``KAFKA_COLUMNS``
    settings: SinkSettings,  # options
    batches: Iterator[Any],  # record batches
    scope: str,  # what unique keys belong to
    partition: int,  # number of the partition
    present: Present = NOTHING,  # what there was when the write was planned
) -> int:
    reader = RowReader(
        names,
        topic=settings.topic,
        max_message_size=settings.max_message_size,
        single_above=min(settings.compress_above or settings.batch_size, settings.batch_size),
        namespace=settings.connection.namespace,
        of_kafka=settings.of_kafka,
        keys=StableKeys(scope, partition) if settings.stable_ids else None,
    )
    run(PartitionSender(settings, reader, present).send_all, batches)
    return reader.count
