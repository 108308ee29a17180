"""``rocketwire-admin`` and mqadmin about a connected producer and a connected consumer."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import trio

from rocketwire.client import Message, open_client, open_producer
from rocketwire.client.consumer.config import PushConsumerConfig
from rocketwire.client.consumer.push.push_consumer import open_push_consumer
from rocketwire.messages.enums import ConsumeFromWhere
from tests.java.admin.commands import Ours, rows
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.messages import create_topic, eventually, unique, until
from tests.support.admin_process import run

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    import pytest

    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


LONG = ("--request-timeout", "120")
FIRST = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)


class Connected(NamedTuple):
    """A producer and a consumer that share a client; two messages were sent and handled."""

    topic: str
    producers: str
    consumers: str
    client_id: str


@asynccontextmanager
async def connected(cluster: JavaCluster) -> AsyncGenerator[Connected]:
    seen: list[StoredMessage] = []

    async def listen(messages: Sequence[StoredMessage], context: object) -> None:
        del context
        seen.extend(messages)

    config = patient(namesrv_addr=cluster.address, persist_consumer_offset_interval=0.5)
    producers, consumers = unique("p"), unique("g")
    async with (
        open_client(config) as client,
        open_producer(client, producers, patient_producer()) as producer,
    ):
        topic = await create_topic(client, unique("connected"), queues=2)
        async with open_push_consumer(client, consumers, {topic: "*"}, listen, config=FIRST):
            for queue in await producer.queues(topic):
                await producer.send_to(Message(topic, b"hello"), queue, within=PATIENCE)
            await client.send_heartbeats()
            await until(lambda: len(seen) >= 2)
            yield Connected(topic, producers, consumers, client.client_id)


async def test_who_is_connected_and_how_far_they_are(
    java_cluster: JavaCluster, java_peer: JavaPeer, capsys: pytest.CaptureFixture[str]
) -> None:
    address = java_cluster.master.address
    ours = Ours(java_cluster.address, capsys)

    async def mine(line: str) -> Any:
        return await trio.to_thread.run_sync(ours, line)

    async def java(line: str) -> str:
        run: Callable[[], Any] = partial(java_peer.admin, java_cluster.address, line)
        return str((await trio.to_thread.run_sync(run)).out)

    async with connected(java_cluster) as it:
        line = f"producerConnection -g {it.producers} -t {it.topic}"
        (producer,) = await mine(line)
        (printed,) = rows(await java(line), of="0001")
        assert [producer[key] for key in ("clientId", "clientAddr", "language", "version")] == (
            printed[1:5]
        )
        known = [
            one for one in await mine(f"producer -b {address}") if one["group"] == it.producers
        ]
        assert [one["clientId"] for one in known] == [it.client_id]
        assert it.producers in await java(f"producer -b {address}")

        async def has_all_queues() -> bool:  # two, and one of its retry topic
            return [one["queues"] for one in await mine(f"consumerStatus -g {it.consumers}")] == [3]

        await eventually(has_all_queues)
        (member,) = await mine(f"consumerStatus -g {it.consumers}")
        assert member["clientId"] == it.client_id
        assert f"{it.topic} *" in member["subscriptions"]
        assert it.client_id in await java(f"consumerStatus -g {it.consumers}")
        one = await mine(f"consumerStatus -g {it.consumers} -i {it.client_id} -s")
        assert one["subscriptions"][it.topic] == "*"
        assert f"{it.topic}/broker-a/1" in one["queues"]
        assert one["jstack"]

        async def is_committed() -> bool:
            table = await mine(f"consumerProgress -g {it.consumers} -t {it.topic} -s true")
            return [(row["consumerOffset"], row["clientId"]) for row in table] == (
                [(1, it.client_id)] * 2
            )

        await eventually(is_committed)
        listed = await mine("consumerProgress")
        (row,) = (one for one in listed if one["group"] == it.consumers)
        assert (row["count"], row["diffTotal"], row["model"]) == (1, 0, "CLUSTERING")
        assert it.consumers in await java("consumerProgress")

        names = (
            "topic",
            "group",
            "brokerName",
            "queueId",
            "brokerOffset",
            "consumerOffset",
            "diff",
        )
        told = await mine(f"brokerConsumeStats -b {address}")
        table = [[str(one[name]) for name in names] for one in told if one["topic"] == it.topic]
        printed_rows = rows(await java(f"brokerConsumeStats -b {address}"), of=it.topic)
        assert sorted(table) == [words[:7] for words in printed_rows]
        assert len(table) == 2
        held = await mine(f"getConsumerStatus -g {it.consumers} -t {it.topic}")
        assert [(one["clientId"], one["offset"]) for one in held] == [(it.client_id, 1)] * 2

        words = ("startMonitoring", "-n", java_cluster.address, "--rounds", "1", *LONG)
        watched = await trio.to_thread.run_sync(partial(run, *words))
        assert (watched.status, watched.complaint) == (0, "")
        (finding,) = (
            one
            for one in watched.lines
            if (one["group"], one.get("topic")) == (it.consumers, it.topic)
        )
        assert (finding["kind"], finding["round"], finding["total"], finding["delayMillis"]) == (
            "undone",
            1,
            0,
            0,
        )

    await mine(f"producerConnection -g {unique('nobody')} -t {it.topic}")
    assert ours.status == 1

    async def is_gone() -> bool:
        await mine(f"consumerStatus -g {it.consumers}")
        return (ours.status, "CONSUMER_NOT_ONLINE" in ours.error) == (1, True)

    await eventually(is_gone)
