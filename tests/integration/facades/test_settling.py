"""Settled messages reach trio soon, and at the latest when the consumer closes."""

import asyncio
from collections.abc import Sequence

import pytest

from rocketwire import aio, sync
from rocketwire.client import ClientConfig, ConsumeConcurrentlyContext
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.wire.message.stored import StoredMessage
from rocketwire_tools.pytest_plugin.cluster import RocketMQ

pytestmark = pytest.mark.process

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
PATIENCE = 30.0


@pytest.fixture
def config(rocketmq: RocketMQ) -> ClientConfig:
    return ClientConfig(namesrv_addr=rocketmq.address, persist_consumer_offset_interval=0.1)


def test_a_failed_message_comes_again_while_another_is_being_handled(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(1)
    rocketmq.produce(topic, b"slow", b"handled", b"failed")

    async def consume() -> None:
        has_come_again = asyncio.Event()

        async def handle(
            messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
        ) -> None:
            for message in messages:
                if message.body == b"slow":
                    await has_come_again.wait()
                elif message.reconsume_times:
                    has_come_again.set()
                elif message.body == b"failed":
                    await asyncio.sleep(0.02)  # trio has just taken what was settled
                    context.delay_level_when_next_consume = 1
                    raise ValueError("fails once")

        async with (
            asyncio.timeout(30),
            aio.open_push_consumer(
                rocketmq.address, "readers", {topic: "*"}, handle, consume_from_where=FIRST
            ),
        ):
            while not has_come_again.is_set():
                await asyncio.to_thread(rocketmq.advance, 1)
                await asyncio.sleep(0.02)

    asyncio.run(consume())


def two_batches(rocketmq: RocketMQ) -> str:
    # A topic with a message in each of two queues; trio is woken for the first one settled.
    topic = rocketmq.topic(2)
    for queue in range(2):
        rocketmq.produce(topic, b"%d" % queue, queue_id=queue)
    return topic


def test_batches_of_a_thread_are_stored_without_another_poll(
    rocketmq: RocketMQ, config: ClientConfig
) -> None:
    topic = two_batches(rocketmq)

    with sync.open_push_consumer(config, "g", {topic: "*"}, consume_from_where=FIRST) as consumer:
        batches = [consumer.poll(within=PATIENCE), consumer.poll(within=PATIENCE)]
        assert rocketmq.lag("g", topic) == 2
        for batch in batches:
            assert batch
            batch.ack()
            rocketmq.lag("g", topic)  # meanwhile trio takes the first one
        rocketmq.wait_until_consumed("g", topic)


def test_batches_of_a_task_are_stored_without_another_poll(
    rocketmq: RocketMQ, config: ClientConfig
) -> None:
    topic = two_batches(rocketmq)

    async def consume() -> None:
        async with aio.open_push_consumer(
            config, "g", {topic: "*"}, consume_from_where=FIRST
        ) as consumer:
            for batch in [await consumer.poll(within=PATIENCE) for _ in range(2)]:
                assert batch
                batch.ack()
                rocketmq.lag("g", topic)
            rocketmq.wait_until_consumed("g", topic)  # the loop itself has nothing to do for it

    asyncio.run(consume())


def test_what_is_acknowledged_before_the_client_ends_is_stored(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(1)
    rocketmq.produce(topic, b"one")

    with sync.open_client(rocketmq.address) as client:
        consumer = sync.open_push_consumer(client, "g", {topic: "*"}, consume_from_where=FIRST)
        batch = consumer.poll(within=PATIENCE)
        assert batch
        batch.ack()
        consumer.close()

    assert rocketmq.lag("g", topic) == 0


def test_settling_after_the_end_disturbs_no_other_client(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(1)
    rocketmq.produce(topic, b"one", b"two")

    with sync.open_producer(rocketmq.address, "p") as producer:
        with sync.open_push_consumer(
            rocketmq.address, "g", {topic: "*"}, consume_from_where=FIRST
        ) as consumer:
            batches = [consumer.poll(1, within=PATIENCE), consumer.poll(1, within=PATIENCE)]
        for batch in batches:
            assert batch
            batch.reconsume_later()

        assert producer.send(sync.Message(topic, b"more")).is_ok
        assert rocketmq.lag("g", topic) == 3
