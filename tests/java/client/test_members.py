"""Cases C13 to C15 and C19 to C21: members of a group, some of Java, and orderly queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import open_client
from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
    PushConsumerConfig,
)
from rocketwire.client.consumer.push.push_consumer import open_push_consumer
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.allocation import (
    AllocateMessageQueueAveragely,
    AllocateMessageQueueAveragelyByCircle,
    AllocateMessageQueueConsistentHash,
)
from tests.peers.client_settings import patient
from tests.peers.messages import create_topic, eventually, numbered, send, unique, until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client.consumer.push.push_consumer import PushConsumer
    from rocketwire.policy.allocation import AllocateMessageQueueStrategy
    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET


def held(consumer: PushConsumer) -> set[tuple[str, int]]:
    return {
        (queue.broker_name or "", queue.queue_id)
        for queue in consumer.assigned
        if not (queue.topic or "").startswith("%RETRY%")
    }


@pytest.mark.parametrize(
    "strategy",
    [
        AllocateMessageQueueAveragely(),
        AllocateMessageQueueAveragelyByCircle(),
        AllocateMessageQueueConsistentHash(),
    ],
    ids=lambda strategy: strategy.name,
)
async def test_c13_c14_c15_a_java_member_and_ours_share_all_queues_whoever_joins_or_leaves(
    java_cluster: JavaCluster, java_peer: JavaPeer, strategy: AllocateMessageQueueStrategy
) -> None:
    keys = set[bytes]()

    async def listen(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> None:
        del context
        keys.update(message.body or b"" for message in messages)

    config = PushConsumerConfig(consume_from_where=FIRST, allocate_message_queue_strategy=strategy)
    group, name = unique("g"), unique("java")
    everything = {("broker-a", number) for number in range(8)}
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c13"), queues=8)
        async with open_push_consumer(
            client, group, {topic: "*"}, listen, config=config
        ) as consumer:
            await until(lambda: held(consumer) == everything)
            await trio.to_thread.run_sync(
                java_peer.join, java_cluster.address, topic, group, name, strategy.name
            )

            async def is_shared() -> bool:
                theirs = await trio.to_thread.run_sync(java_peer.queues, name)
                return (
                    bool(theirs)
                    and theirs == everything - held(consumer)
                    and held(consumer) != everything
                )

            await eventually(is_shared)
            for number in range(8):
                await send(client, topic, numbered(2, 2 * number), queue_id=number)
            await until(lambda: len(keys) >= 2 * len(held(consumer)))
            await trio.to_thread.run_sync(java_peer.close, name)
            await until(lambda: held(consumer) == everything)

            async def has_everything() -> bool:
                java = await trio.to_thread.run_sync(java_peer.received, name, 0)
                return keys | {key.encode() for key in java} == set(numbered(16))

            await eventually(has_everything)


class Orderly:
    """Remembers bodies and tries in order.

    ``failing`` are bodies that it does not handle the first so many times.
    """

    def __init__(self, failing: dict[bytes, int] | None = None) -> None:
        self.seen: list[tuple[bytes, int]] = []
        self._failing = failing or {}

    @property
    def bodies(self) -> list[bytes]:
        return [body for body, _ in self.seen]

    async def __call__(
        self, messages: Sequence[StoredMessage], context: ConsumeOrderlyContext
    ) -> ConsumeOrderlyStatus:
        context.suspend_current_queue_time_millis = 10
        for message in messages:
            body = message.body or b""
            self.seen.append((body, message.reconsume_times))
            if message.reconsume_times < self._failing.get(body, 0):
                return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT
        return ConsumeOrderlyStatus.SUCCESS


async def test_c19_a_locked_queue_has_one_owner_and_goes_on_in_order_with_the_next(
    java_cluster: JavaCluster,
) -> None:
    group, first, second = unique("g"), Orderly(), Orderly()
    config = PushConsumerConfig(consume_from_where=FIRST)
    address = patient(namesrv_addr=java_cluster.address)
    async with open_client(address) as one, open_client(address) as two:
        topic = await create_topic(one, unique("c19"), queues=1)
        queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=0)
        await send(one, topic, numbered(20), queue_id=0)
        listeners = {one.client_id: first, two.client_id: second}
        owner, other = sorted((one, two), key=lambda client: client.client_id)
        its, others = listeners[owner.client_id], listeners[other.client_id]

        async def state() -> object:
            master = await one.master("broker-a")
            offset = await one.brokers.consumer_offset(master, group, queue)
            members = await one.brokers.consumer_ids(master, group)
            return its.bodies, others.bodies, offset, members, owner.client_id, other.client_id

        async def reads(listener: Orderly, last: bytes) -> None:
            """Wait for a message, and tell how far the group is if it does not come."""
            try:
                await until(lambda: last in listener.bodies)
            except AssertionError as error:
                raise AssertionError(await state()) from error

        async with open_push_consumer(
            other, group, {topic: "*"}, orderly_listener=others, config=config
        ):
            await reads(others, b"19")
            async with open_push_consumer(
                owner, group, {topic: "*"}, orderly_listener=its, config=config
            ) as consumer:
                await until(lambda: held(consumer) == {("broker-a", 0)})
                await send(one, topic, numbered(20, 20), queue_id=0)
                await reads(its, b"39")
            await send(one, topic, numbered(5, 40), queue_id=0)
            await reads(others, b"44")

    assert its.bodies == numbered(20, 20)
    assert others.bodies == numbered(20) + numbered(5, 40)


async def test_c20_a_message_that_fails_blocks_its_queue_until_it_is_handled(
    java_cluster: JavaCluster,
) -> None:
    listener = Orderly({b"1": 2})
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c20"), queues=1)
        await send(client, topic, numbered(3), queue_id=0)
        async with open_push_consumer(
            client,
            unique("g"),
            {topic: "*"},
            orderly_listener=listener,
            config=PushConsumerConfig(consume_from_where=FIRST),
        ):
            await until(lambda: len(listener.seen) >= 5)

    assert listener.seen == [(b"0", 0), (b"1", 0), (b"1", 1), (b"1", 2), (b"2", 0)]


async def test_c21_a_message_that_failed_too_often_goes_to_the_dead_letters_and_the_queue_goes_on(
    java_cluster: JavaCluster,
) -> None:
    listener, group = Orderly({b"0": 99}), unique("g")
    config = PushConsumerConfig(consume_from_where=FIRST, max_reconsume_times=2)
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c21"), queues=1)
        await send(client, topic, numbered(2), queue_id=0)
        async with open_push_consumer(
            client, group, {topic: "*"}, orderly_listener=listener, config=config
        ):
            await until(lambda: b"1" in listener.bodies)

            async def is_dead() -> bool:
                return bool((await client.name_servers.route(f"%DLQ%{group}")).queue_datas)

            await eventually(is_dead)

    assert listener.seen == [(b"0", 0), (b"0", 1), (b"0", 2), (b"1", 0)]
