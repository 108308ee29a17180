"""Clients for threads, asyncio and uvloop at a Java broker: one text for the three dialects."""

import ssl
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio

from rocketwire.client import Message, open_client
from rocketwire.errors import IllegalMessageError
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.wire.message.stored import StoredMessage
from tests.java.facades.dialects import DIALECTS, Face, run, until
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, unique

pytestmark = [pytest.mark.java, pytest.mark.parametrize("dialect", DIALECTS)]

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
SETTINGS: dict[str, Any] = {"send_msg_timeout": PATIENCE}


def new_topic(cluster: JavaCluster, queues: int = 4) -> str:
    name = unique("facade")

    async def create() -> None:
        async with open_client(patient(namesrv_addr=cluster.address)) as client:
            await create_topic(client, name, queues=queues)

    trio.run(create)
    return name


def last_queue(queues: Sequence[MessageQueue]) -> MessageQueue:
    return queues[-1]


def bodies(count: int, first: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(first, first + count)]


@asynccontextmanager
async def world(face: Face, cluster: JavaCluster) -> AsyncGenerator[tuple[Any, Any]]:
    async with (
        await face.open("client", patient(namesrv_addr=cluster.address)) as client,
        await face.open("producer", client.client, unique("producers"), **SETTINGS) as producer,
    ):
        yield client.client, producer


async def receive_bodies(face: Face, client: Any, topic: str, count: int) -> list[bytes]:
    async with await face.open(
        "push_consumer", client, unique("readers"), {topic: "*"}, consume_from_where=FIRST
    ) as consumer:
        messages = await face.take(consumer, count)
    return [message.body for message in messages]


def test_messages_of_all_kinds_are_stored(java_cluster: JavaCluster, dialect: str) -> None:
    topic = new_topic(java_cluster)

    async def scenario(face: Face) -> None:
        async with world(face, java_cluster) as (client, producer):
            await producer.send(Message(topic, b"0", tags="a", keys=("k",)))
            queue = (await producer.queues(topic))[0]
            sent = await producer.send_to(Message(topic, b"1"), queue)
            assert sent.message_queue == queue
            await producer.send_by(Message(topic, b"2"), last_queue)
            await producer.send_ordered(Message(topic, b"3"), "key")
            await producer.send_oneway(Message(topic, b"4"))
            await producer.send_batch([Message(topic, b"5"), Message(topic, b"6")])
            await producer.send_batches([Message(topic, b"7"), Message(topic, b"8")])
            await producer.send_many([Message(topic, body) for body in bodies(20, 9)])
            await producer.send(Message(topic, b"29", delay_level=1))
            assert sorted(await receive_bodies(face, client, topic, 30)) == sorted(bodies(30))
            with pytest.raises(IllegalMessageError):
                await producer.send(Message(topic, b""))

    run(dialect, scenario)


def test_handlers_get_every_message_once_and_failed_ones_again(
    java_cluster: JavaCluster, dialect: str
) -> None:
    topic, group = new_topic(java_cluster), unique("handlers")
    handled: list[bytes] = []
    lock = threading.Lock()

    async def scenario(face: Face) -> None:
        def handle(messages: Sequence[StoredMessage], context: Any) -> None:
            with lock:
                handled.extend(message.body or b"" for message in messages)
            if messages[0].body == b"7" and not messages[0].reconsume_times:
                context.delay_level_when_next_consume = 1
                raise ValueError("fails once")

        async with world(face, java_cluster) as (client, producer):
            await producer.send_many([Message(topic, body) for body in bodies(200)])
            open_it = partial(
                face.open, "push_consumer", client, group, {topic: "*"}, face.function(handle)
            )
            async with await open_it(consume_from_where=FIRST):
                await until(lambda: handled.count(b"7") == 2 and len(handled) == 201)
            async with await open_it(consume_from_where=FIRST):
                await producer.send(Message(topic, b"last"))
                await until(lambda: b"last" in handled)
        assert sorted(set(handled)) == sorted([*bodies(200), b"last"])
        assert len(handled) == 202

    run(dialect, scenario)


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
            assert sorted(await receive_bodies(face, client.client, topic, 40)) == sorted(
                bodies(40)
            )

    run(dialect, scenario)
