"""Large bodies and whole batches at a real Java broker; ``unit/client/consumer/test_unreadable.py`` has the rest."""

from typing import Any

import pytest
import trio

from rocketwire.client import ClientInstance, Message, open_producer
from tests.peers.client_settings import PATIENCE, patient_producer
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, send, unique, until
from tests.peers.peers import JavaPeer
from tests.support.collecting import collect_bodies
from tests.support.fakes.consumer_fakes import FLAVOURS, list_logged

LARGE, MANY = 2_000_000, 40


async def fill_topic(
    client: ClientInstance, cluster: JavaCluster, peer: JavaPeer, size: int, count: int, **how: Any
) -> str:
    # Create a topic whose only queue has messages of equal bytes from Java's producer.
    topic = await create_topic(client, unique("inflating"), queues=1)
    await trio.to_thread.run_sync(
        lambda: peer.fill(cluster.address, topic, unique("pg"), size=size, count=count, **how)
    )
    return topic


@pytest.mark.full
@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_all_messages_come_that_inflate_to_more_than_one_answer_may_hold(
    java_cluster: JavaCluster, java_peer: JavaPeer, client: ClientInstance, flavour: str
) -> None:
    bodies: list[bytes] = []
    topic = await fill_topic(client, java_cluster, java_peer, LARGE, MANY)
    async with collect_bodies(flavour, client, topic, bodies, unique("g")):
        await until(lambda: len(bodies) >= MANY)

    expected = [bytes([b"a"[0] + number % 26]) * LARGE for number in range(MANY)]
    assert sorted(bodies) == sorted(expected)
    if flavour in ("orderly", "lite pull"):
        assert bodies == expected


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_body_is_read_up_to_the_setting_and_skipped_beyond_it(
    java_cluster: JavaCluster,
    java_peer: JavaPeer,
    client: ClientInstance,
    caplog: pytest.LogCaptureFixture,
    flavour: str,
) -> None:
    topic = await fill_topic(client, java_cluster, java_peer, LARGE, 1)
    await send(client, topic, [b"small"], queue_id=0)
    both, small = list[bytes](), list[bytes]()
    async with collect_bodies(flavour, client, topic, both, unique("g"), max_body_size=LARGE):
        await until(lambda: {*map(len, both)} >= {5, LARGE})
    async with collect_bodies(
        flavour, client, topic, small, unique("g"), max_body_size=LARGE - 1
    ) as consumer:
        await until(lambda: bool(small) and consumer.unreadable_messages >= 1)

    # a slow machine may deliver a message twice
    assert {*map(len, both)} == {5, LARGE}
    assert {*small} == {b"small"}
    assert any(f"more than {LARGE - 1} bytes" in line for line in list_logged(caplog))


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_batches_that_a_queue_keeps_whole_come_as_messages(
    client: ClientInstance, flavour: str
) -> None:
    bodies: list[bytes] = []
    topic = await create_topic(
        client, unique("batches"), queues=1, attributes="+queue.type=BatchCQ"
    )
    async with open_producer(client, unique("p"), patient_producer()) as producer:
        expected = [b"%02d" % number for number in range(15)]
        for first in range(0, 15, 3):
            batch = [Message(topic, body) for body in expected[first : first + 3]]
            await producer.send_batch(batch, within=PATIENCE)
        async with collect_bodies(flavour, client, topic, bodies, unique("g")):
            await until(lambda: len(bodies) >= 15)
    assert sorted(bodies) == expected


@pytest.mark.full
@pytest.mark.parametrize("level", [1, 5, 19, 20, 21, 22])
async def test_zstd_of_every_level_that_javas_producers_write_is_read(
    java_cluster: JavaCluster, java_peer: JavaPeer, client: ClientInstance, level: int
) -> None:
    bodies: list[bytes] = []
    size = 4 * 1024 * 1024 - 1024
    compression = {"compression": "ZSTD", "level": level}
    topic = await fill_topic(client, java_cluster, java_peer, size, 2, **compression)
    async with collect_bodies("concurrent", client, topic, bodies, unique("g")):
        await until(lambda: len(bodies) >= 2)

    assert sorted(bodies) == [b"a" * size, b"b" * size]
