"""More of what brokers of Java do for clients of threads, asyncio and uvloop: one text for all."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import Credentials, Message, open_client
from rocketwire.errors import BrokerError, IllegalMessageError
from tests.java.client.messages import create_topic, unique
from tests.java.client.settings import PATIENCE, patient
from tests.java.client.test_membership import AUTH
from tests.java.facades.dialects import DIALECTS, Face, run, until
from tests.java.facades.test_facades import bodies, new_topic, received, world

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage
    from tests.support.java.cluster import JavaCluster

pytestmark = [pytest.mark.java, pytest.mark.parametrize("dialect", DIALECTS)]


def test_a_popped_message_that_its_handler_rejects_comes_again(
    java_cluster: JavaCluster, dialect: str
) -> None:
    topic = new_topic(java_cluster)
    handled: list[tuple[bytes, int]] = []

    async def scenario(face: Face) -> None:
        def handle(message: StoredMessage) -> bool:
            handled.append((message.body or b"", message.reconsume_times))
            return message.body != b"3" or bool(message.reconsume_times)

        async with world(face, java_cluster) as (client, producer):
            await producer.send_many([Message(topic, body) for body in bodies(8)])
            async with await face.open(
                "pop_consumer", client, unique("poppers"), {topic: "*"}, face.function(handle)
            ):
                await until(lambda: (b"3", 1) in handled)
        assert {body for body, _ in handled} == set(bodies(8))

    run(dialect, scenario)


def test_a_namespace_keeps_names_apart(java_cluster: JavaCluster, dialect: str) -> None:
    space, name = unique("space"), unique("topic")

    async def create() -> None:
        async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
            for topic in (f"{space}%{name}", name):
                await create_topic(client, topic)

    trio.run(create)

    async def scenario(face: Face) -> None:
        config = patient(namesrv_addr=java_cluster.address, namespace=space)
        async with (
            await face.open("client", config) as client,
            await face.open("producer", client.client, "p", send_msg_timeout=PATIENCE) as producer,
            world(face, java_cluster) as (other, others),
        ):
            await others.send(Message(name, b"outside"))
            for body in bodies(12):
                assert (await producer.send(Message(name, body))).message_queue.topic == name
            found = await received(face, client.client, name, 12)
            assert sorted(found) == sorted(bodies(12))
            assert await received(face, other, name, 1) == [b"outside"]

    run(dialect, scenario)


def test_only_right_credentials_send_and_consume(java_cluster: JavaCluster, dialect: str) -> None:
    broker, topic = java_cluster.broker("broker-auth", options=AUTH), unique("acl")
    right = patient(
        namesrv_addr=java_cluster.address, credentials=Credentials("rocket", "wire1234")
    )

    async def create() -> None:
        async with open_client(right) as client:
            await create_topic(client, topic, broker=broker.name, address=broker.address)

    trio.run(create)

    async def scenario(face: Face) -> None:
        async with (
            await face.open("client", right) as client,
            await face.open("producer", client.client, unique("p")) as producer,
        ):
            for body in bodies(12):
                await producer.send(Message(topic, body), within=PATIENCE)
            found = await received(face, client.client, topic, 12)
            assert sorted(found) == sorted(bodies(12))
        wrong = patient(
            namesrv_addr=java_cluster.address, credentials=Credentials("rocket", "wrong")
        )
        async with await face.open(
            "producer", wrong, unique("p"), retry_times_when_send_failed=0
        ) as producer:
            with pytest.raises(BrokerError) as refused:
                await producer.send(Message(topic, b"x"), within=PATIENCE)
            assert int(refused.value.code) == 16
            with pytest.raises(IllegalMessageError):
                await producer.send(Message(topic, b""))

    run(dialect, scenario)


def trusting() -> ssl.SSLContext:
    """Takes the certificate that Java makes up for tests."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def test_everything_goes_over_tls(java_cluster: JavaCluster, dialect: str) -> None:
    topic = new_topic(java_cluster)

    async def scenario(face: Face) -> None:
        config = patient(namesrv_addr=java_cluster.address, tls=trusting())
        async with (
            await face.open("client", config) as client,
            await face.open("producer", client.client, unique("p")) as producer,
        ):
            for body in bodies(20):  # more than the first ones, after which others go directly
                await producer.send(Message(topic, body), within=PATIENCE)
            await producer.send_many([Message(topic, body) for body in bodies(20, 20)])
            assert sorted(await received(face, client.client, topic, 40)) == sorted(bodies(40))

    run(dialect, scenario)
