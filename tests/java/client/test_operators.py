"""Cases C30 to C32, A15 and A16: mqadmin reads and controls a consumer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import open_client
from rocketwire.client.consumer.config import ConsumeConcurrentlyContext, PushConsumerConfig
from rocketwire.client.consumer.push.push_consumer import open_push_consumer
from rocketwire.messages.enums import ConsumeFromWhere
from tests.peers.client_settings import patient
from tests.peers.messages import create_topic, eventually, numbered, send, unique, until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


FIRST = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)


@pytest.mark.parametrize("by_broker", [False, True], ids=["told-by-220", "told-by-pulls"])
async def test_c30_an_operator_resets_the_offsets_of_a_running_consumer(
    java_cluster: JavaCluster, java_peer: JavaPeer, by_broker: bool
) -> None:
    seen: list[bytes | None] = []

    async def listen(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> None:
        del context
        seen.extend(message.body for message in messages)

    async def admin(line: str) -> str:
        output = await trio.to_thread.run_sync(java_peer.admin, java_cluster.address, line)
        return output.out + output.err

    async def set_server_side(on: bool) -> None:
        where = f"-b {java_cluster.master.address} -k useServerSideResetOffset"
        await admin(f"updateBrokerConfig {where} -v {str(on).lower()}")

    group = unique("g")
    config = patient(namesrv_addr=java_cluster.address, persist_consumer_offset_interval=0.5)
    async with open_client(config) as client:
        topic = await create_topic(client, unique("c30"), queues=1)
        await send(client, topic, numbered(3), queue_id=0)
        async with open_push_consumer(
            client, group, {topic: "*"}, listen, config=FIRST
        ) as consumer:
            await until(lambda: seen == numbered(3))
            (queue,) = [one for one in consumer.assigned if one.topic == topic]

            async def is_committed() -> bool:
                address = await client.master("broker-a")
                return await client.brokers.consumer_offset(address, group, queue) == 3

            await eventually(is_committed)
            try:
                await set_server_side(by_broker)
                told = await admin(f"resetOffsetByTime -g {group} -t {topic} -s 0")
            finally:
                await set_server_side(True)
            assert "broker-a" in told
            await until(lambda: len(seen) >= 6)

    assert seen[:6] == numbered(3) * 2
