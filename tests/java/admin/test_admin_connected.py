"""``rocketwire-admin`` and mqadmin about a connected producer and a connected consumer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

import trio

from rocketwire.client import (
    Message,
    PushConsumerConfig,
    open_client,
    open_producer,
    open_push_consumer,
)
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.wire.message.stored import StoredMessage
from tests.java.admin.commands import LONG, Mqadmin, Ours, columns, rows
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, eventually, unique, until
from tests.support.admin_process import run

FIRST = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
STATS = "topic group brokerName queueId brokerOffset consumerOffset diff"


class Members(NamedTuple):
    """A producer and a consumer that share a client; two messages were sent and handled."""

    topic: str
    producers: str
    consumers: str
    client_id: str


@asynccontextmanager
async def open_members(cluster: JavaCluster) -> AsyncGenerator[Members]:
    bodies: list[bytes | None] = []

    async def listen(messages: Sequence[StoredMessage], _: object) -> None:
        bodies.extend(message.body for message in messages)

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
            await until(lambda: len(bodies) >= 2)
            yield Members(topic, producers, consumers, client.client_id)


async def test_members_and_their_progress_are_shown_as_by_mqadmin(
    java_cluster: JavaCluster, ours: Ours, mqadmin: Mqadmin
) -> None:
    async def by_us(line: str) -> Any:
        return await trio.to_thread.run_sync(ours, line)

    async def java(line: str) -> str:
        return await trio.to_thread.run_sync(mqadmin, line)

    async with open_members(java_cluster) as it:
        line = f"producerConnection -g {it.producers} -t {it.topic}"
        (producer,) = await by_us(line)
        (printed,) = rows(await java(line), begin="0001")
        assert columns([producer], "clientId clientAddr language version") == [printed[1:5]]
        producers = await by_us(f"producer -b {ours.broker}")
        assert [row["clientId"] for row in producers if row["group"] == it.producers] == [
            it.client_id
        ]
        assert it.producers in await java(f"producer -b {ours.broker}")
        await check_consumer(it, by_us, java)

        async def is_committed() -> bool:
            table = await by_us(f"consumerProgress -g {it.consumers} -t {it.topic} -s true")
            return columns(table, "consumerOffset clientId") == [["1", it.client_id]] * 2

        await eventually(is_committed)
        (row,) = [row for row in await by_us("consumerProgress") if row["group"] == it.consumers]
        assert (row["count"], row["diffTotal"], row["model"]) == (1, 0, "CLUSTERING")
        assert it.consumers in await java("consumerProgress")

        stats = await by_us(f"brokerConsumeStats -b {ours.broker}")
        table = columns([row for row in stats if row["topic"] == it.topic], STATS)
        printed_stats = rows(await java(f"brokerConsumeStats -b {ours.broker}"), begin=it.topic)
        assert table == [words[:7] for words in printed_stats]
        assert len(table) == 2
        offsets = await by_us(f"getConsumerStatus -g {it.consumers} -t {it.topic}")
        assert columns(offsets, "clientId offset") == [[it.client_id, "1"]] * 2

        words = ("startMonitoring", "-n", java_cluster.address, "--rounds", "1", *LONG)
        monitored = await trio.to_thread.run_sync(partial(run, *words))
        assert (monitored.status, monitored.complaint) == (0, "")
        place = (it.consumers, it.topic)
        lines = [line for line in monitored.lines if (line["group"], line.get("topic")) == place]
        assert columns(lines, "kind round total delayMillis") == [["undone", "1", "0", "0"]]

    await by_us(f"producerConnection -g {unique('nobody')} -t {it.topic}")
    assert ours.status == 1

    async def is_gone() -> bool:
        await by_us(f"consumerStatus -g {it.consumers}")
        return (ours.status, "CONSUMER_NOT_ONLINE" in ours.error) == (1, True)

    await eventually(is_gone)


async def check_consumer(it: Members, by_us: Any, java: Any) -> None:
    line = f"consumerStatus -g {it.consumers}"

    async def has_all_queues() -> bool:  # two, and one of its retry topic
        return [row["queues"] for row in await by_us(line)] == [3]

    await eventually(has_all_queues)
    (member,) = await by_us(line)
    assert member["clientId"] == it.client_id
    assert f"{it.topic} *" in member["subscriptions"]
    assert it.client_id in await java(line)
    info = await by_us(f"{line} -i {it.client_id} -s")
    assert info["subscriptions"][it.topic] == "*"
    assert f"{it.topic}/broker-a/1" in info["queues"]
    assert info["jstack"]
