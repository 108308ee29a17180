"""Cases P05, P24, P26 to P30, A12 and A13: brokers that reject, are full, busy or down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import (
    Message,
    create_reply,
    open_client,
    open_producer,
    open_push_consumer,
)
from rocketwire.errors import (
    ReplyTimeoutError,
)
from tests.java.client.client_process import FIRST
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.messages import create_topic, send, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


async def test_p27_requests_are_answered_from_python_to_java_and_back(
    java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    address, here, there = java_cluster.address, unique("p27-here"), unique("p27-there")
    in_thread = trio.to_thread.run_sync
    async with (
        open_client(patient(namesrv_addr=address)) as client,
        open_producer(client, unique("p"), patient_producer()) as producer,
    ):

        async def answer(messages: Sequence[StoredMessage], _: object) -> None:
            for one in messages:
                await producer.send(create_reply(one, b"re: " + (one.body or b"")), within=PATIENCE)

        await create_topic(client, here)
        await create_topic(client, there)
        group = unique("java-replies")
        await in_thread(java_peer.call, "reply", address, there, group)
        reply = await producer.request(Message(there, b"who?"), within=PATIENCE)
        async with open_push_consumer(client, unique("g"), {here: "*"}, answer, config=FIRST):
            asked = await in_thread(
                java_peer.call, "request", address, here, unique("java-asks"), "what?", 60_000
            )
        await in_thread(java_peer.close, group)
        with pytest.raises(ReplyTimeoutError):
            await producer.request(Message(here, b"anybody?"), within=0.5)

    assert reply.body == b"re: who?"
    assert asked == ["re: what?"]


async def test_p29_p30_c17_sends_go_where_they_may_and_messages_come_back_though_their_broker_died(
    java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    second = java_cluster.broker("broker-second")
    config = patient(namesrv_addr=java_cluster.address)
    begun, again = trio.Event(), trio.Event()
    go_on = trio.Event()

    async def listen(messages: Sequence[StoredMessage], context: object) -> None:
        if messages[0].reconsume_times:
            again.set()
            return
        begun.set()
        await go_on.wait()
        raise ValueError("not now")

    async with (
        open_client(config) as client,
        open_producer(client, unique("p"), patient_producer()) as producer,
    ):
        topic = unique("p29")
        for name, address in (("broker-a", None), (second.name, second.address)):
            await create_topic(client, topic, broker=name, address=address)
        await client.refresh_route(topic)

        async def brokers_of(count: int) -> set[str]:
            results = [await producer.send(Message(topic, b"x")) for _ in range(count)]
            return {one.message_queue.broker_name or "" for one in results}

        assert await brokers_of(8) == {"broker-a", second.name}
        await trio.to_thread.run_sync(
            java_peer.admin, java_cluster.address, f"wipeWritePerm -b {second.name}"
        )
        await client.refresh_route(topic)
        assert await brokers_of(8) == {"broker-a"}
        await trio.to_thread.run_sync(
            java_peer.admin, java_cluster.address, f"addWritePerm -b {second.name}"
        )
        await client.refresh_route(topic)
        assert await brokers_of(8) == {"broker-a", second.name}

        only = await create_topic(client, unique("c17"), broker=second.name)
        group = unique("g")
        async with open_push_consumer(client, group, {only: "*"}, listen, config=FIRST):
            await send(client, only, [b"to be retried"], broker=second.name)
            await begun.wait()
            await client.refresh_route(f"%RETRY%{group}")
            second.kill()
            assert await brokers_of(8) == {"broker-a"}  # three seconds for each
            go_on.set()
            with trio.fail_after(120):
                await again.wait()
