"""Type checkers see precise types in programs; mypy and pyright read this file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_type

from rocketwire import aio, sync
from rocketwire.client import Message, SendResult, TransactionSendResult
from rocketwire.client.consumer.lite.lite_pull_consumer import Polled
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.route import TopicRouteData
from rocketwire.portal.loans import Batch
from rocketwire.portal.settings import ProducerSettings
from rocketwire.wire.message.stored import StoredMessage


def of_threads(
    producer: sync.Producer,
    consumer: sync.PushConsumer,
    poller: sync.LitePullConsumer,
    admin: sync.Admin,
    servers: sync.NameServers,
    message: Message,
    queue: MessageQueue,
) -> None:
    assert_type(producer.send(message), SendResult)
    assert_type(producer.send_to(message, queue, within=1.0), SendResult)
    assert_type(producer.send_many([message]), list[SendResult])
    assert_type(producer.queues("t"), tuple[MessageQueue, ...])
    assert_type(producer.request(message), StoredMessage)
    assert_type(consumer.poll(8, within=1.0), Batch | None)
    assert_type(next(iter(consumer)).message, StoredMessage)
    assert_type(next(consumer.batches(8)).messages, Sequence[StoredMessage])
    assert_type(poller.poll(1.0), Polled | None)
    assert_type(poller.committed(queue), int | None)
    assert_type(admin.topics.names(), tuple[str, ...])
    assert_type(servers.route("t"), TopicRouteData)


async def of_asyncio(
    producer: aio.Producer,
    consumer: aio.PushConsumer,
    poller: aio.LitePullConsumer,
    admin: aio.Admin,
    message: Message,
    queue: MessageQueue,
) -> None:
    assert_type(await producer.send(message), SendResult)
    assert_type(await producer.send_to(message, queue, within=1.0), SendResult)
    assert_type(
        await producer.send_in_transaction(message, lambda m, r: None), TransactionSendResult
    )
    async for delivery in consumer:
        assert_type(delivery.message, StoredMessage)
    async for batch in consumer.batches(8):
        assert_type(batch.messages, Sequence[StoredMessage])
    assert_type(await poller.poll(1.0), Polled | None)
    assert_type(await admin.topics.names(), tuple[str, ...])


def of_settings() -> None:
    assert_type(sync.open_producer(None, "g", send_msg_timeout=1.0), sync.Producer)
    sync.open_producer(None, "g", send_msg_timeout="x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - invalid on purpose
    sync.open_producer(None, "g", nothing=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue] - invalid on purpose


def test_the_types_of_settings_are_loaded_at_run_time_too() -> None:
    assert "send_msg_timeout" in ProducerSettings.__annotations__
