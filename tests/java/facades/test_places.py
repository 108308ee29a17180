"""Servers of Java behind TLS, IPv6 and a replica; dead letters and batches of acknowledgements.

One text for threads, asyncio and uvloop, at the brokers of the other tests.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client import ConsumeConcurrentlyStatus, Message, open_client
from rocketwire.client.consumer.pop.pop import PopCalls
from rocketwire.client.net.pool import ChannelPool
from rocketwire.codes import RequestCode
from rocketwire.errors import ChannelError, ClientError
from tests.java.client.messages import unique
from tests.java.client.settings import PATIENCE, patient
from tests.java.client.test_replicas import set_ratio, until_the_slave_has
from tests.java.facades.dialects import DIALECTS, Face, run, until
from tests.java.facades.test_facades import FIRST, bodies, new_topic, received, world

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocketwire.client import ConsumeConcurrentlyContext
    from rocketwire.wire.message.stored import StoredMessage
    from tests.support.java.cluster import JavaCluster
    from tests.support.java.peers import JavaPeer

pytestmark = [pytest.mark.java, pytest.mark.parametrize("dialect", DIALECTS)]


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


def test_a_certificate_that_nobody_vouches_for_is_refused(
    java_cluster: JavaCluster, dialect: str
) -> None:
    async def scenario(face: Face) -> None:
        config = patient(namesrv_addr=java_cluster.address, tls=ssl.create_default_context())
        async with await face.open("producer", config, unique("p")) as producer:
            with pytest.raises((ClientError, ChannelError)) as refused:
                await producer.send(Message("TBW102", b"x"), within=PATIENCE)
        assert "certificate" in str(refused.value).lower()

    run(dialect, scenario)


def test_a_name_server_is_asked_over_ipv6(java_cluster: JavaCluster, dialect: str) -> None:
    topic = new_topic(java_cluster)
    name_server = f"[::1]:{java_cluster.name_server.port}"

    async def scenario(face: Face) -> None:
        async with (
            await face.open("client", patient(namesrv_addr=name_server)) as client,
            await face.open("producer", client.client, unique("p")) as producer,
        ):
            for body in bodies(20):
                await producer.send(Message(topic, body), within=PATIENCE)
            assert sorted(await received(face, client.client, topic, 20)) == sorted(bodies(20))

    run(dialect, scenario)


def test_old_messages_are_read_from_the_replica_that_the_master_suggests(
    java_cluster: JavaCluster,
    java_peer: JavaPeer,
    dialect: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topic = "BenchmarkTest"  # every broker has it from the start
    slave, asked = java_cluster.slave(), set[str]()
    request_by = ChannelPool.request_by

    async def noting(pool: ChannelPool, address: str, command: Any, **others: Any) -> Any:
        if command.code == RequestCode.PULL_MESSAGE:
            asked.add(address)
        return await request_by(pool, address, command, **others)

    monkeypatch.setattr(ChannelPool, "request_by", noting)

    async def scenario(face: Face) -> None:
        async with world(face, java_cluster) as (client, producer):
            queue = next(q for q in await producer.queues(topic) if q.broker_name == "broker-a")
            expected = [b"%s %d" % (dialect.encode(), number) for number in range(64)]
            sent = [await producer.send_to(Message(topic, body), queue) for body in expected]
            first, end = sent[0].queue_offset, sent[-1].queue_offset + 1
            await replicated(slave.address, topic, end, queue.queue_id)
            async with await face.open("lite_pull_consumer", client, unique("lite")) as consumer:
                await consumer.assign([queue])
                await consumer.seek(queue, first)
                found: list[bytes] = []
                while len(found) < 64:
                    polled = await consumer.poll(within=PATIENCE)
                    found += [message.body for message in polled.messages]
            assert found == expected

    trio.run(set_ratio, java_cluster, java_peer, 0)
    try:
        run(dialect, scenario)
    finally:
        trio.run(set_ratio, java_cluster, java_peer, 40)
    assert slave.address in asked


def test_what_is_never_handled_ends_among_the_dead_letters(
    java_cluster: JavaCluster, dialect: str
) -> None:
    topic, group = new_topic(java_cluster, queues=1), unique("g")
    handled: list[tuple[bytes, int]] = []

    async def scenario(face: Face) -> None:
        def handle(
            messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
        ) -> ConsumeConcurrentlyStatus | None:
            handled.extend((message.body or b"", message.reconsume_times) for message in messages)
            context.delay_level_when_next_consume = 1
            if messages[0].body == b"bad":
                return ConsumeConcurrentlyStatus.RECONSUME_LATER
            return None

        async with world(face, java_cluster) as (client, producer):
            await producer.send(Message(topic, b"bad"))
            await producer.send(Message(topic, b"good"))
            async with (
                await face.open(
                    "push_consumer",
                    client,
                    group,
                    {topic: "*"},
                    face.function(handle),
                    consume_from_where=FIRST,
                    max_reconsume_times=1,
                ),
                await face.open("name_servers", client) as servers,
            ):

                async def is_dead() -> bool:
                    try:
                        return bool((await servers.route(f"%DLQ%{group}")).queue_datas)
                    except ClientError:
                        return False

                await until(is_dead)
            assert await received(face, client, f"%DLQ%{group}", 1) == [b"bad"]
        assert sorted(handled) == [(b"bad", 0), (b"bad", 1), (b"good", 0)]

    run(dialect, scenario)


def test_acknowledgements_of_popped_messages_travel_together(
    java_cluster: JavaCluster, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    together: list[int] = []
    batch_ack = PopCalls.batch_ack

    async def counted(calls: PopCalls, messages: Iterable[StoredMessage]) -> None:
        given = list(messages)
        await batch_ack(calls, given)
        together.append(len(given))

    monkeypatch.setattr(PopCalls, "batch_ack", counted)
    topic, group, handled = new_topic(java_cluster, queues=1), unique("poppers"), list[bytes]()
    lock = threading.Lock()

    async def scenario(face: Face) -> None:
        def handle(message: StoredMessage) -> None:
            with lock:
                handled.append(message.body or b"")

        async with world(face, java_cluster) as (client, producer):
            await producer.send_batch([Message(topic, body) for body in bodies(60)])
            async with await face.open(
                "pop_consumer", client, group, {topic: "*"}, face.function(handle)
            ):
                await until(lambda: len(handled) >= 60)
        assert sorted(handled) == sorted(bodies(60))

    run(dialect, scenario)
    assert sum(together) > 1


async def replicated(slave: str, topic: str, end: int, queue_id: int) -> None:
    """Wait until a replica has the messages before an offset; called from another loop."""

    async def wait() -> None:
        async with open_client(patient(namesrv_addr=[])) as client:
            await until_the_slave_has(client, slave, topic, end, queue_id)

    await asyncio.to_thread(trio.run, wait)
