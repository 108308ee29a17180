"""More of what brokers of Java do for clients of threads, asyncio and uvloop: one text for all."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import pytest

from rocketwire.client import Message
from tests.java.facades.dialects import DIALECTS, Face, run, until
from tests.java.facades.test_facades import bodies, new_topic, received, world
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.messages import unique

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster

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
