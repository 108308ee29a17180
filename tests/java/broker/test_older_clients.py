"""Java clients at the broker for development; those of older releases in groups and dialogues with ours."""

from collections.abc import Generator
from functools import partial
from pathlib import Path

import pytest
import trio

from rocketwire.client import Message, open_client, open_producer
from tests.java.client.consuming import Listener, OrderlyListener, consume
from tests.peers import cache as java_cache
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.dev_cluster import DevCluster
from tests.peers.messages import create_topic, eventually, unique
from tests.peers.peers import CURRENT, MIDDLE, OLD, JavaPeer
from tests.peers.processes import wait_until
from tests.peers.shared_peers import have_here

QUEUES = 4


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Generator[DevCluster]:
    with DevCluster(tmp_path_factory.mktemp("dev")) as running:
        yield running


@pytest.fixture(scope="module", params=[MIDDLE, OLD])
def java(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[JavaPeer]:
    have_here(partial(java_cache.classes, request.param, "Peer.java"))
    with JavaPeer(tmp_path_factory.mktemp("java"), version=request.param) as peer:
        yield peer


async def test_java_s_orderly_consumer_and_ours_share_a_group_in_order(
    cluster: DevCluster, java: JavaPeer, tmp_path: Path
) -> None:
    topic, group, file = unique("ledger"), unique("orderly"), tmp_path / "java.txt"
    listener = OrderlyListener()

    def list_ours() -> list[tuple[int, int]]:
        return [(message.queue_id, message.queue_offset) for message in listener.messages]

    def list_javas() -> list[tuple[int, int]]:
        lines = file.read_text().splitlines() if file.exists() else []
        return [(int(queue), int(offset)) for _, queue, offset in map(str.split, lines)]

    async with (
        open_client(patient(namesrv_addr=cluster.address)) as client,
        open_producer(client, unique("p"), patient_producer()) as producer,
    ):
        await create_topic(client, topic, queues=QUEUES)
        words = ("note", cluster.address, topic, group, group, "orderly", str(file))
        await trio.to_thread.run_sync(partial(java.call, *words))
        async with consume(client, group, topic, listener):
            sent = 0

            async def both_consume() -> bool:
                nonlocal sent
                for _ in range(4 * QUEUES):
                    await producer.send(Message(topic, b"x"), within=PATIENCE)
                    sent += 1
                return bool(listener.messages) and bool(list_javas())

            async def all_is_consumed() -> bool:
                return len({*list_ours(), *list_javas()}) == sent

            await eventually(both_consume)
            await eventually(all_is_consumed)
        await trio.to_thread.run_sync(java.call, "close", group)

    for consumed in (list_ours(), list_javas()):
        for queue in range(QUEUES):
            offsets = [offset for number, offset in consumed if number == queue]
            assert offsets == sorted(offsets)


async def test_java_s_consumers_answer_our_requests(cluster: DevCluster, java: JavaPeer) -> None:
    """Their own synchronous requests depend on the speed of the broker.

    That of 4.9.4 completes its future with the request once that is stored, unless the reply was
    there before, and that of 5.3.3 ends without waiting (``DefaultMQProducerImpl.request``).
    """
    topic, group = unique("questions"), unique("replies")
    async with (
        open_client(patient(namesrv_addr=cluster.address)) as client,
        open_producer(client, unique("p"), patient_producer()) as producer,
    ):
        await create_topic(client, topic)
        await trio.to_thread.run_sync(java.call, "reply", cluster.address, topic, group)
        reply = await producer.request(Message(topic, b"who?"), within=PATIENCE)
        await trio.to_thread.run_sync(java.call, "close", group)

    assert reply.body == b"re: who?"


async def test_transactions_of_java_end_by_it_or_by_its_check(
    cluster: DevCluster, java: JavaPeer
) -> None:
    topic, group = unique("transfers"), unique("tellers")
    listener = Listener()

    async def both_are_there() -> bool:
        return len(listener.messages) == 2

    async with open_client(patient(namesrv_addr=cluster.address)) as client:
        await create_topic(client, topic)
        async with consume(client, unique("g"), topic, listener):
            for body in ("rollback", "checked", "commit"):
                words = ("transact", cluster.address, topic, group, body)
                await trio.to_thread.run_sync(partial(java.call, *words))
            await eventually(both_are_there)
        await trio.to_thread.run_sync(java.call, "close", group)

    assert sorted(listener.bodies) == [b"checked", b"commit"]


def test_two_java_consumers_share_the_queues_and_one_takes_over(
    cluster: DevCluster, tmp_path: Path
) -> None:
    have_here(partial(java_cache.classes, CURRENT, "Peer.java"))
    with JavaPeer(tmp_path) as java:
        java.send(cluster.address, "shared", "producers", range(1))
        for name in ("one", "two"):
            java.join(cluster.address, "shared", "sharers", name)
        queues = {("broker-a", number) for number in range(QUEUES)}
        wait_until(lambda: len(java.queues("one")) == len(java.queues("two")) == 2, "halves")
        assert java.queues("one") | java.queues("two") == queues

        java.close("one")
        wait_until(lambda: java.queues("two") == queues, "the second has all")
