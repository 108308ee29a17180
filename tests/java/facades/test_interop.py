"""More of what brokers of Java do for clients of threads, asyncio and uvloop: one text for all."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client import Credentials, Message, open_client
from rocketwire.errors import BrokerError, IllegalMessageError
from rocketwire.messages.enums import MessageModel
from rocketwire.wire.message.body_compression import CompressionType
from tests.java.client.messages import create_topic, unique
from tests.java.client.settings import PATIENCE, patient
from tests.java.client.test_membership import AUTH
from tests.java.facades.dialects import DIALECTS, Face, run, until
from tests.java.facades.test_facades import FIRST, bodies, new_topic, received, world

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage
    from tests.support.java.cluster import JavaCluster

pytestmark = [pytest.mark.java, pytest.mark.parametrize("dialect", DIALECTS)]


@pytest.mark.parametrize("compression", ["ZLIB", "LZ4", "ZSTD"])
def test_large_bodies_are_compressed_and_read_as_they_were(
    java_cluster: JavaCluster, dialect: str, compression: str
) -> None:
    topic, body = new_topic(java_cluster, queues=1), b"compress me " * 2_000

    async def scenario(face: Face) -> None:
        async with (
            await face.open("client", patient(namesrv_addr=java_cluster.address)) as client,
            await face.open(
                "producer",
                client.client,
                unique("producers"),
                send_msg_timeout=PATIENCE,
                compress_type=CompressionType[compression],
            ) as producer,
        ):
            await producer.send(Message(topic, body))
            async with await face.open(
                "push_consumer",
                client.client,
                unique("readers"),
                {topic: "*"},
                consume_from_where=FIRST,
            ) as consumer:
                (message,) = await face.take(consumer, 1)
        assert message.body == body
        assert message.store_size < len(body) // 10

    run(dialect, scenario)


def test_a_delayed_message_that_is_taken_back_is_not_delivered(
    java_cluster: JavaCluster, dialect: str
) -> None:
    topic = new_topic(java_cluster)

    async def scenario(face: Face) -> None:
        async with world(face, java_cluster) as (client, producer):
            for seconds in (4, 20, 60):  # the first but on a machine that takes longer
                kept = await producer.send(Message(topic, b"kept", delay_seconds=seconds))
                back = await producer.send(Message(topic, b"back", delay_seconds=seconds))
                assert kept.recall_handle != back.recall_handle
                with contextlib.suppress(BrokerError):
                    assert await producer.recall(topic, back.recall_handle) == back.msg_id
                    break
            await producer.send(Message(topic, b"end", delay_seconds=seconds + 2))
            found = await received(face, client, topic, 2)
            assert b"end" in found or found == [b"kept", b"kept"]
            assert found[0] == b"kept"

    run(dialect, scenario)


def test_filters_select_by_tags_and_by_expressions(java_cluster: JavaCluster, dialect: str) -> None:
    topic = new_topic(java_cluster)

    async def scenario(face: Face) -> None:
        async with world(face, java_cluster) as (client, producer):
            for number in range(12):
                tags = ("a", "b", "c")[number % 3]
                properties = {"n": str(number)}
                await producer.send(
                    Message(topic, b"%d" % number, tags=tags, properties=properties)
                )
            for filter_, expected in (
                ("a || c", [0, 2, 3, 5, 6, 8, 9, 11]),
                (("n > 8", "SQL92"), [9, 10, 11]),
            ):
                async with await face.open(
                    "push_consumer",
                    client,
                    unique("readers"),
                    {topic: filter_},
                    consume_from_where=FIRST,
                ) as consumer:
                    messages = await face.take(consumer, len(expected))
                assert sorted(int(message.body) for message in messages) == expected
            with pytest.raises(BrokerError):
                await face.open("push_consumer", client, unique("g"), {topic: ("n >", "SQL92")})

    run(dialect, scenario)


def test_every_broadcasting_consumer_gets_every_message(
    java_cluster: JavaCluster, dialect: str, tmp_path: Any
) -> None:
    topic, group = new_topic(java_cluster), unique("all")

    async def scenario(face: Face) -> None:
        async with world(face, java_cluster) as (_, producer):
            for body in bodies(10):
                await producer.send(Message(topic, body))
            for number in range(2):
                async with await face.open(
                    "push_consumer",
                    patient(namesrv_addr=java_cluster.address, instance_name=unique("i")),
                    group,
                    {topic: "*"},
                    consume_from_where=FIRST,
                    message_model=MessageModel.BROADCASTING,
                    local_offset_store_dir=str(tmp_path / str(number)),
                ) as consumer:
                    messages = await face.take(consumer, 10)
                assert sorted(message.body for message in messages) == bodies(10)

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


def test_a_lite_pull_consumer_subscribes_and_goes_to_the_ends(
    java_cluster: JavaCluster, dialect: str
) -> None:
    topic = new_topic(java_cluster, queues=1)

    async def scenario(face: Face) -> None:
        async with world(face, java_cluster) as (client, producer):
            for body in bodies(6):
                await producer.send(Message(topic, body))
            async with await face.open(
                "lite_pull_consumer", client, unique("lite"), consume_from_where=FIRST
            ) as consumer:
                await consumer.subscribe(topic)
                found: list[bytes] = []
                while len(found) < 6:
                    polled = await consumer.poll(within=PATIENCE)
                    found += [message.body for message in polled.messages]
                assert found == bodies(6)
                (queue,) = consumer.client.assignment
                first = await consumer.offset_range(queue)
                assert (first[0], first[1]) == (0, 6)
                await consumer.seek_to_end(queue)
                await producer.send(Message(topic, b"new"))
                polled = await consumer.poll(within=PATIENCE)
                assert [message.body for message in polled.messages] == [b"new"]
                await consumer.seek_to_begin(queue)
                polled = await consumer.poll(within=PATIENCE)
                assert polled.messages[0].body == b"0"

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
