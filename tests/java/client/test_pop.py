"""Cases C23 to C29: popped messages, and lite pulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    PushConsumerConfig,
    open_client,
)
from rocketwire.client.consumer.lite.lite_pull_consumer import open_lite_pull_consumer
from rocketwire.client.consumer.lite.lite_pull_state import LitePullConsumerConfig
from rocketwire.client.consumer.pop.pop import InitMode, PopCalls, PopStatus, with_handle
from rocketwire.client.consumer.pop.pop_consumer import PopConsumerConfig, open_pop_consumer
from rocketwire.client.consumer.push.push_consumer import open_push_consumer
from rocketwire.errors import LocalProtocolError
from rocketwire.messages.enums import ConsumeFromWhere
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.messages import create_topic, numbered, send, unique, until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster


async def popped(
    calls: PopCalls, topic: str, count: int, *, invisible: float = 30.0, orderly: bool = False
) -> list[StoredMessage]:
    """So many messages, from however many pops."""
    found: list[StoredMessage] = []
    with trio.fail_after(120):
        while len(found) < count:
            result = await calls.pop(
                topic,
                "broker-a",
                invisible_time=invisible,
                poll_time=2.0,
                init_mode=InitMode.MIN,
                orderly=orderly,
                queue_id=0 if orderly else -1,
            )
            found += result.messages
    return found


async def filled(client: ClientInstance, count: int, queues: int = 1) -> str:
    topic = await create_topic(client, unique("pop"), queues=queues)
    await send(client, topic, numbered(count), queue_id=0)
    return topic


async def test_c26_hiding_a_message_for_longer_makes_its_old_handle_worthless(
    java_cluster: JavaCluster,
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic, calls = await filled(client, 2), PopCalls(client, unique("g"))
        first, second = await popped(calls, topic, 2, invisible=60)
        for message in (first, second):
            handle = await calls.change_invisible_time(message, 30 if message is second else 3)
            if message is second:
                await calls.ack(with_handle(message, handle))
            else:
                await calls.ack(message)  # the broker agrees, and it means nothing
        (again,) = await popped(calls, topic, 1)

        assert again.body == first.body


async def test_c28_an_ordered_queue_gives_nothing_more_before_its_messages_are_acknowledged(
    java_cluster: JavaCluster,
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic, calls = await filled(client, 3), PopCalls(client, unique("g"))
        first = await calls.pop(
            topic, "broker-a", queue_id=0, max_msg_nums=1, init_mode=InitMode.MIN, orderly=True
        )
        blocked = await calls.pop(
            topic, "broker-a", queue_id=0, max_msg_nums=1, poll_time=0.5, orderly=True
        )
        await calls.ack(first.messages[0])
        second = await calls.pop(topic, "broker-a", queue_id=0, max_msg_nums=1, orderly=True)

        assert [one.body for one in first.messages] == [b"0"]
        assert blocked.status is not PopStatus.FOUND
        assert [one.body for one in second.messages] == [b"1"]


async def test_a_group_that_goes_over_to_pop_gets_the_messages_that_a_push_consumer_sent_back(
    java_cluster: JavaCluster,
) -> None:
    sent_back: list[bytes | None] = []
    seen: list[tuple[bytes | None, str, int]] = []

    async def refuse(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus:
        context.delay_level_when_next_consume = 3  # ten seconds, in which the consumer is closed
        sent_back.extend(message.body for message in messages)
        return ConsumeConcurrentlyStatus.RECONSUME_LATER

    async def listen(message: StoredMessage) -> None:
        seen.append((message.body, message.topic, message.reconsume_times))

    begin = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic, group = await filled(client, 2), unique("g")
        async with open_push_consumer(client, group, {topic: "*"}, refuse, config=begin):
            await until(lambda: len(sent_back) == 2)
        config = PopConsumerConfig(init_mode=InitMode.MAX)
        async with open_pop_consumer(client, group, {topic: "*"}, listen, config=config):
            await until(lambda: {(b"0", topic, 1), (b"1", topic, 1)} <= set(seen))


async def test_c23_a_lite_pull_consumer_subscribes_seeks_and_commits(
    java_cluster: JavaCluster,
) -> None:
    group = unique("g")
    config = LitePullConsumerConfig(
        consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, auto_commit=False
    )
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await filled(client, 5)
        async with open_lite_pull_consumer(client, group, config=config) as consumer:
            consumer.subscribe(topic)
            polled = await consumer.poll(PATIENCE)
            assert polled is not None
            queue = polled.message_queue
            assert [one.body for one in polled.messages] == numbered(5)
            assert await consumer.committed(queue) in (None, 0)
            await consumer.commit()
            assert await consumer.committed(queue) == 5

            await consumer.seek(queue, 3)
            polled = await consumer.poll(PATIENCE)
            assert polled is not None
            assert [one.body for one in polled.messages] == numbered(2, 3)
            with pytest.raises(LocalProtocolError, match="not between"):
                await consumer.seek(queue, 99)
            with pytest.raises(LocalProtocolError, match="either"):
                consumer.assign([queue])
        async with open_lite_pull_consumer(client, group, config=config) as consumer:
            consumer.assign(await consumer.fetch_message_queues(topic))
            await consumer.seek_to_begin(queue)
            polled = await consumer.poll(PATIENCE)
            assert polled is not None
            assert polled.messages[0].body == b"0"
