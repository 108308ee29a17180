"""Group members at a real broker: both kinds of heartbeats, the broker's requests, leaving."""

from __future__ import annotations

import ssl
from functools import partial
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import (
    Credentials,
    Message,
    open_client,
    open_pool,
    open_producer,
    open_push_consumer,
)
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import BrokerError
from rocketwire.wire.command import RemotingCommand
from tests.java.client.client_process import FIRST
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.messages import create_topic, eventually, unique
from tests.peers.peers import JavaNameServer
from tests.support.fakes.member_fakes import Consumer, Producer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rocketwire.client import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster


SECONDS = 120.0
TOPIC = "TBW102"
ONCE = patient_producer(retry_times_when_send_failed=0)
"""Code 16 is one after which other brokers are tried."""
AUTH = {
    "authenticationEnabled": "true",
    "authenticationProvider": (
        "org.apache.rocketmq.auth.authentication.provider.DefaultAuthenticationProvider"
    ),
    "authenticationMetadataProvider": (
        "org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider"
    ),
    "initAuthenticationUser": '{"username":"rocket","password":"wire1234"}',
    "innerClientAuthenticationCredentials": '{"accessKey":"rocket","secretKey":"wire1234"}',
}


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(SECONDS):
        while not condition():
            await trio.sleep(0.05)


async def members(client: ClientInstance, address: str, group: str, count: int) -> tuple[str, ...]:
    """The client ids of a group, once there are so many."""
    ids: tuple[str, ...] = ()
    with trio.fail_after(SECONDS):
        while len(ids := await client.brokers.consumer_ids(address, group)) != count:
            await trio.sleep(0.05)
    return ids


@pytest.mark.parametrize("short", [False, True], ids=["whole", "short"])
async def test_members_know_each_other_and_are_told_when_one_leaves(
    java_cluster: JavaCluster, short: bool
) -> None:
    group = unique("CID_members")
    config = patient(namesrv_addr=java_cluster.address, use_heartbeat_v2=short)
    broker = java_cluster.master.address
    one, two = Consumer(group, (TOPIC,)), Consumer(group, (TOPIC,))
    async with open_client(config) as client:
        await client.route(TOPIC)
        client.add_consumer(one)
        assert await members(client, broker, group, 1) == (client.client_id,)
        await until(lambda: client.broker_version(broker) == 513)
        async with open_client(config) as other:
            await other.route(TOPIC)
            other.add_consumer(two)
            both = await members(client, broker, group, 2)
            assert set(both) == {client.client_id, other.client_id}
            await until(lambda: "rebalance" in one.heard)
            for _ in range(3):
                assert await client.send_heartbeat(broker)
            assert len(await client.brokers.consumer_ids(broker, group)) == 2
            one.heard.clear()
        assert await members(client, broker, group, 1) == (client.client_id,)
        await until(lambda: "rebalance" in one.heard)


async def test_a_broker_passes_on_what_operators_ask(java_cluster: JavaCluster) -> None:
    config = patient(namesrv_addr=java_cluster.address)
    broker, consumers, producing = java_cluster.master.address, unique("CID"), unique("PID")
    async with open_client(config) as client, open_client(config) as operator:
        await client.route(TOPIC)
        client.add_consumer(Consumer(consumers, (TOPIC,)))
        client.add_producer(Producer(producing, (TOPIC,)))
        await members(client, broker, consumers, 1)
        fields = {"consumerGroup": consumers, "clientId": client.client_id}
        info = await operator.brokers.call(
            broker, Code.GET_CONSUMER_RUNNING_INFO, fields, within=PATIENCE
        )
        status = await operator.brokers.call(
            broker,
            Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS,
            {"topic": TOPIC, "group": consumers},
            within=PATIENCE,
        )
        producers = await operator.brokers.call(broker, Code.GET_ALL_PRODUCER_INFO)

    assert info.body.properties["PROP_CLIENT_VERSION"] == "V5_5_0"
    assert info.body.properties["PROP_NAMESERVER_ADDR"] == f"{java_cluster.address};"
    assert list(status.body.consumer_table) == [client.client_id]
    assert [one.client_id for one in producers.body.data[producing]] == [client.client_id]


async def test_requests_are_signed_for_a_broker_that_authenticates(
    java_cluster: JavaCluster,
) -> None:
    broker = java_cluster.broker("broker-auth", options=AUTH).address
    good, bad = Credentials("rocket", "wire1234"), Credentials("rocket", "wrong")
    versions: list[str | None] = []
    async with open_client(patient(namesrv_addr=[], credentials=good)) as client:

        async def is_answered() -> bool:  # a young broker may be too busy
            answer = await client.brokers.call(broker, Code.GET_BROKER_RUNTIME_INFO)
            versions.append(answer.body.table["brokerVersionDesc"])
            return True

        await eventually(is_answered)
    for credentials in (bad, None):
        config = patient(namesrv_addr=[], credentials=credentials)
        async with open_client(config) as client:
            with pytest.raises(BrokerError):
                await client.brokers.call(broker, Code.GET_BROKER_RUNTIME_INFO)

    assert versions == ["V5_5_0"]


async def test_a10_only_right_credentials_send_consume_and_are_members(
    java_cluster: JavaCluster,
) -> None:
    """Sends are signed with their bodies, heartbeats too; 16 is ``NO_PERMISSION``."""
    broker = java_cluster.broker("broker-auth", options=AUTH)
    group, got, codes = unique("g"), list[bytes](), list[int]()
    bodies = [b"one", b"two", b"three"]

    async def listen(messages: Sequence[StoredMessage], _: object) -> None:
        got.extend(message.body or b"" for message in messages)

    right = patient(
        namesrv_addr=java_cluster.address, credentials=Credentials("rocket", "wire1234")
    )
    async with (
        open_client(right) as client,
        open_producer(client, unique("p"), patient_producer()) as producer,
    ):
        topic = await create_topic(
            client, unique("a10"), broker=broker.name, address=broker.address
        )
        async with open_push_consumer(client, group, {topic: "*"}, listen, config=FIRST):
            assert await members(client, broker.address, group, 1) == (client.client_id,)
            await producer.send(Message(topic, bodies[0]), within=PATIENCE)
            await producer.send_batch(
                [Message(topic, body) for body in bodies[1:]], within=PATIENCE
            )
            await until(lambda: set(got) == set(bodies))
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

    assert codes == [16] * 9
    assert sorted(got) == sorted(bodies)


async def test_everything_goes_over_tls_where_that_is_wanted(
    java_cluster: JavaCluster, tmp_path: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    jvm = ["-Dtls.server.mode=enforcing", "-Dtls.test.mode.enable=true"]
    ask = RemotingCommand(code=Code.GET_BROKER_CLUSTER_INFO)
    with JavaNameServer(tmp_path, jvm=jvm) as server:
        async with open_pool(patient(tls=context, connect_timeout=30)) as pool:
            assert (await pool.request(server.address, ask, within=PATIENCE)).code == 0
