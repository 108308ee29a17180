"""Group members at a real broker: both kinds of heartbeats, credentials, leaving."""

from functools import partial

import pytest

from rocketwire.client import (
    ClientInstance,
    Credentials,
    Message,
    open_client,
    open_producer,
)
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from tests.java.client.consuming import Listener, consume
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, eventually, unique, until
from tests.support.fakes.member_fakes import Consumer

TOPIC = "TBW102"
RIGHT = Credentials("rocket", "wire1234")
ONCE = patient_producer(retry_times_when_send_failed=0)
"""After NO_PERMISSION a producer would try other brokers."""
PROVIDER = "org.apache.rocketmq.auth.authentication.provider"
AUTH = {
    "authenticationEnabled": "true",
    "authenticationProvider": f"{PROVIDER}.DefaultAuthenticationProvider",
    "authenticationMetadataProvider": f"{PROVIDER}.LocalAuthenticationMetadataProvider",
    "initAuthenticationUser": '{"username":"rocket","password":"wire1234"}',
    "innerClientAuthenticationCredentials": '{"accessKey":"rocket","secretKey":"wire1234"}',
}


async def wait_for_members(client: ClientInstance, address: str, group: str, *ids: str) -> None:
    async def are_members() -> bool:
        return sorted(await client.brokers.consumer_ids(address, group)) == sorted(ids)

    await eventually(are_members)


@pytest.mark.parametrize("is_short", [False, True], ids=["whole", "short"])
async def test_members_learn_that_one_joins_and_leaves(
    java_cluster: JavaCluster, is_short: bool
) -> None:
    group = unique("CID_members")
    config = patient(namesrv_addr=java_cluster.address, use_heartbeat_v2=is_short)
    broker = java_cluster.master.address
    member = Consumer(group, (TOPIC,))
    async with open_client(config) as client:
        await client.route(TOPIC)
        client.add_consumer(member)
        await wait_for_members(client, broker, group, client.client_id)
        await until(lambda: client.broker_version(broker) == 513)
        async with open_client(config) as second:
            await second.route(TOPIC)
            second.add_consumer(Consumer(group, (TOPIC,)))
            await wait_for_members(client, broker, group, client.client_id, second.client_id)
            await until(lambda: "rebalance" in member.heard)
            for _ in range(3):
                assert await client.send_heartbeat(broker)
            assert len(await client.brokers.consumer_ids(broker, group)) == 2
            member.heard.clear()
        await wait_for_members(client, broker, group, client.client_id)
        await until(lambda: "rebalance" in member.heard)


async def test_a10_only_right_credentials_send_consume_and_are_members(
    java_cluster: JavaCluster,
) -> None:
    broker = java_cluster.broker("broker-auth", options=AUTH)
    group, listener, codes = unique("g"), Listener(), list[int]()
    bodies = [b"one", b"two", b"three"]
    right = patient(namesrv_addr=java_cluster.address, credentials=RIGHT)
    async with (
        open_client(right) as client,
        open_producer(client, unique("p"), patient_producer()) as producer,
    ):
        topic = await create_topic(
            client, unique("a10"), broker=broker.name, address=broker.address
        )
        async with consume(client, group, topic, listener):
            await wait_for_members(client, broker.address, group, client.client_id)
            await producer.send(Message(topic, bodies[0]), within=PATIENCE)
            batch = [Message(topic, body) for body in bodies[1:]]
            await producer.send_batch(batch, within=PATIENCE)
            await until(lambda: set(listener.bodies) == set(bodies))
    for credentials in (None, Credentials("rocket", "wrong"), Credentials("nobody", "wire1234")):
        config = patient(namesrv_addr=java_cluster.address, credentials=credentials)
        async with (
            open_client(config) as client,
            open_producer(client, unique("p"), ONCE) as producer,
        ):
            for attempt in (
                partial(producer.send, Message(topic, b"x"), within=PATIENCE),
                partial(producer.send_batch, [Message(topic, b"x")] * 2, within=PATIENCE),
                partial(client.brokers.consumer_ids, broker.address, group),
            ):
                with pytest.raises(BrokerError) as refused:
                    await attempt()
                codes.append(int(refused.value.code))

    assert codes == [ResponseCode.NO_PERMISSION] * 9
    assert sorted(listener.bodies) == sorted(bodies)
