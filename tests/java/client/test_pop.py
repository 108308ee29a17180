"""Cases C23 and C29: popped messages, and lite pulls."""

from collections.abc import Sequence

import pytest

from rocketwire.client import ClientInstance, ConsumeConcurrentlyContext, ConsumeConcurrentlyStatus
from rocketwire.client.consumer.lite.lite_pull_consumer import (
    LitePullConsumer,
    LitePullConsumerConfig,
    open_lite_pull_consumer,
)
from rocketwire.client.consumer.pop.pop import InitMode
from rocketwire.client.consumer.pop.pop_consumer import PopConsumerConfig, open_pop_consumer
from rocketwire.client.consumer.rebalance import Rebalance
from rocketwire.errors import BrokerError, LocalProtocolError
from rocketwire.messages.enums import MessageModel
from rocketwire.policy.allocation import AllocateMessageQueueAveragely
from rocketwire.wire.message.stored import StoredMessage
from tests.java.client.conftest import Mqadmin
from tests.java.client.consuming import FIRST, consume
from tests.peers.client_settings import PATIENCE
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, numbered, send, unique, until


async def fill_topic(client: ClientInstance, count: int) -> str:
    topic = await create_topic(client, unique("pop"), queues=1)
    await send(client, topic, numbered(count), queue_id=0)
    return topic


def bodies_of(messages: Sequence[StoredMessage]) -> list[bytes]:
    return [message.body or b"" for message in messages]


async def test_c29_an_operator_sets_a_group_to_pop(
    java_cluster: JavaCluster, client: ClientInstance, mqadmin: Mqadmin
) -> None:
    topic, group = await fill_topic(client, 1), unique("g")
    place = f"-b {java_cluster.master.address} -t {topic} -g {group}"
    await mqadmin(f"setConsumeMode {place} -m POP -q 1")
    strategy = AllocateMessageQueueAveragely()
    sharing = Rebalance(client, group, MessageModel.CLUSTERING, strategy)
    async with open_lite_pull_consumer(client, group) as consumer:
        consumer.subscribe(topic)
        await client.send_heartbeats()
        assigned = await sharing.query_assignment(topic)

    assert assigned is not None
    assert {assignment.mode for assignment in assigned} == {"POP"}


async def test_a_pop_consumer_gets_messages_that_a_push_consumer_sent_back(
    client: ClientInstance,
) -> None:
    sent_back: list[bytes | None] = []
    attempts: list[tuple[bytes | None, str, int]] = []

    async def refuse(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus:
        context.delay_level_when_next_consume = 3  # ten seconds, in which the consumer is closed
        sent_back.extend(message.body for message in messages)
        return ConsumeConcurrentlyStatus.RECONSUME_LATER

    async def listen(message: StoredMessage) -> None:
        attempts.append((message.body, message.topic, message.reconsume_times))

    topic, group = await fill_topic(client, 2), unique("g")
    async with consume(client, group, topic, refuse):
        await until(lambda: len(sent_back) == 2)
    config = PopConsumerConfig(init_mode=InitMode.MAX)
    async with open_pop_consumer(client, group, {topic: "*"}, listen, config=config):
        await until(lambda: {(b"0", topic, 1), (b"1", topic, 1)} <= set(attempts))


async def test_a_broker_checks_the_expression_of_a_lite_pull_consumer(
    client: ClientInstance,
) -> None:
    topic = await fill_topic(client, 1)
    async with open_lite_pull_consumer(client, unique("g")) as consumer:
        consumer.subscribe(topic, "a >", expression_type="SQL92")
        with pytest.raises(BrokerError, match="SUBSCRIPTION_PARSE_FAILED"):
            await consumer.poll(PATIENCE)
        consumer.subscribe(topic)
        await consumer.poll(0.1)


async def test_c23_a_lite_pull_consumer_subscribes_seeks_and_commits(
    client: ClientInstance,
) -> None:
    async def poll_bodies(consumer: LitePullConsumer) -> list[bytes]:
        polled = await consumer.poll(PATIENCE)
        assert polled is not None
        return bodies_of(polled.messages)

    group = unique("g")
    config = LitePullConsumerConfig(consume_from_where=FIRST, auto_commit=False)
    topic = await fill_topic(client, 5)
    async with open_lite_pull_consumer(client, group, config=config) as consumer:
        (queue,) = await consumer.fetch_message_queues(topic)
        consumer.subscribe(topic)
        assert await poll_bodies(consumer) == numbered(5)
        assert await consumer.committed(queue) in (None, 0)
        await consumer.commit()
        assert await consumer.committed(queue) == 5

        await consumer.seek(queue, 3)
        assert await poll_bodies(consumer) == numbered(2, 3)
        with pytest.raises(LocalProtocolError, match="not between"):
            await consumer.seek(queue, 99)
        with pytest.raises(LocalProtocolError, match="either"):
            consumer.assign([queue])
    async with open_lite_pull_consumer(client, group, config=config) as consumer:
        consumer.assign([queue])
        await consumer.seek_to_begin(queue)
        assert (await poll_bodies(consumer))[0] == b"0"
