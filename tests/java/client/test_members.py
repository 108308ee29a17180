"""Cases C13 to C15 and C19 to C21: members of a group, some of Java, and orderly queues."""

import pytest
import trio

from rocketwire.client import ClientInstance, PushConsumer, open_client
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.allocation import (
    AllocateMessageQueueAveragely,
    AllocateMessageQueueAveragelyByCircle,
    AllocateMessageQueueConsistentHash,
    AllocateMessageQueueStrategy,
)
from tests.java.client.consuming import Listener, OrderlyListener, consume
from tests.peers.client_settings import patient
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, eventually, numbered, send, unique, until
from tests.peers.peers import JavaPeer


def list_queues(consumer: PushConsumer) -> set[tuple[str, int]]:
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
async def test_c13_c14_c15_a_java_member_and_ours_share_all_queues(
    java_cluster: JavaCluster,
    java_peer: JavaPeer,
    client: ClientInstance,
    strategy: AllocateMessageQueueStrategy,
) -> None:
    in_thread = trio.to_thread.run_sync
    listener, group, name = Listener(), unique("g"), unique("java")
    all_queues = {("broker-a", number) for number in range(8)}
    topic = await create_topic(client, unique("c13"), queues=8)
    async with consume(
        client, group, topic, listener, allocate_message_queue_strategy=strategy
    ) as consumer:
        await until(lambda: list_queues(consumer) == all_queues)
        await in_thread(java_peer.join, java_cluster.address, topic, group, name, strategy.name)

        async def is_shared() -> bool:
            theirs, ours = await in_thread(java_peer.queues, name), list_queues(consumer)
            return bool(theirs) and theirs == all_queues - ours and ours != all_queues

        await eventually(is_shared)
        for number in range(8):
            await send(client, topic, numbered(2, 2 * number), queue_id=number)
        await until(lambda: len(set(listener.bodies)) >= 2 * len(list_queues(consumer)))
        await in_thread(java_peer.close, name)
        await until(lambda: list_queues(consumer) == all_queues)

        async def has_everything() -> bool:
            keys = await in_thread(java_peer.received, name, 0)
            return {*listener.bodies, *(key.encode() for key in keys)} == set(numbered(16))

        await eventually(has_everything)


async def test_c19_a_locked_queue_has_one_owner_after_another(java_cluster: JavaCluster) -> None:
    group, config = unique("g"), patient(namesrv_addr=java_cluster.address)
    async with open_client(config) as first, open_client(config) as second:
        topic = await create_topic(first, unique("c19"), queues=1)
        queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=0)
        await send(first, topic, numbered(20), queue_id=0)
        owner, later = sorted((first, second), key=lambda client: client.client_id)
        by_owner, by_later = OrderlyListener(), OrderlyListener()

        async def read_state() -> object:
            master = await first.master("broker-a")
            offset = await first.brokers.consumer_offset(master, group, queue)
            members = await first.brokers.consumer_ids(master, group)
            return by_owner.bodies, by_later.bodies, offset, members, owner.client_id

        async def wait_for(listener: OrderlyListener, body: bytes) -> None:
            """Wait for a message; the error has the progress of the group."""
            try:
                await until(lambda: body in listener.bodies)
            except AssertionError as error:
                raise AssertionError(await read_state()) from error

        async with consume(later, group, topic, by_later):
            await wait_for(by_later, b"19")
            async with consume(owner, group, topic, by_owner) as consumer:
                await until(lambda: list_queues(consumer) == {("broker-a", 0)})
                await send(first, topic, numbered(20, 20), queue_id=0)
                await wait_for(by_owner, b"39")
            await send(first, topic, numbered(5, 40), queue_id=0)
            await wait_for(by_later, b"44")

    assert by_owner.bodies == numbered(20, 20)
    assert by_later.bodies == numbered(20) + numbered(5, 40)


async def test_c20_a_message_that_fails_blocks_its_queue(client: ClientInstance) -> None:
    listener = OrderlyListener({b"1": 2})
    topic = await create_topic(client, unique("c20"), queues=1)
    await send(client, topic, numbered(3), queue_id=0)
    async with consume(client, unique("g"), topic, listener):
        await until(lambda: len(listener.messages) >= 5)

    assert listener.attempts == [(b"0", 0), (b"1", 0), (b"1", 1), (b"1", 2), (b"2", 0)]


async def test_c21_a_message_that_fails_too_often_becomes_a_dead_letter(
    client: ClientInstance,
) -> None:
    listener, group = OrderlyListener({b"0": 99}), unique("g")
    topic = await create_topic(client, unique("c21"), queues=1)
    await send(client, topic, numbered(2), queue_id=0)
    async with consume(client, group, topic, listener, max_reconsume_times=2):
        await until(lambda: b"1" in listener.bodies)

        async def is_dead() -> bool:
            return bool((await client.name_servers.route(f"%DLQ%{group}")).queue_datas)

        await eventually(is_dead)

    assert listener.attempts == [(b"0", 0), (b"0", 1), (b"0", 2), (b"1", 0)]
