"""Topics that are not plain ones, at Java's brokers: read by the classes that Spark calls."""

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import trio

from rocketwire.client import ClientInstance, Message, ProducerConfig, open_producer
from rocketwire.client.admin.admin import Admin
from rocketwire.errors import RocketWireError
from rocketwire_tools.spark.topics.cluster import Cluster, UnknownTopicError
from rocketwire_tools.spark.topics.connection import close_sessions
from rocketwire_tools.spark.topics.options import read_options
from rocketwire_tools.spark.topics.sink.options import read_sink_options
from rocketwire_tools.spark.topics.sink.sending import write_partition
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique
from tests.peers.peers import CURRENT, OLD
from tests.peers.processes import wait_until
from tests.spark.conftest import without_spark
from tests.spark.topics_of_java import Topics, read_here

OPTIONS = {
    "compactionMappedFileSize": 20_000,
    "compactionCqMappedFileSize": 4600,
    "compactionScheduleInternal": 2000,
    "maxOffsetMapSize": 1_000_000,
    "loadBalancePollNameServerInterval": 1000,
}
"""A broker compacts, and learns where other brokers are, within seconds."""

pytestmark = pytest.mark.java


def topics_at(cluster: JavaCluster, release: str) -> Topics:
    """The topics of a broker of a release; that of 5.5.0 compacts every two seconds."""
    without_spark()
    if release == OLD:
        broker = cluster.broker("broker-old", version=OLD)
    else:
        broker = cluster.broker("broker-b", options=OPTIONS)
    return Topics(cluster.address, only=broker.address)


@pytest.fixture(autouse=True)
def _no_sessions() -> Iterator[None]:
    yield
    close_sessions()


def read(topics: Topics, topic: str, **options: str) -> list[Any]:
    """The places of a topic; each is there once."""
    places = read_here({"nameServers": topics.address, "subscribe": topic, **options})
    assert len(set(places)) == len(places)
    return places


@pytest.mark.full
def test_compacted_topic_has_the_last_message_of_each_key(java_cluster: JavaCluster) -> None:
    topics = topics_at(java_cluster, CURRENT)
    topic = topics.create(unique("prices"), 1, attributes={"+cleanup.policy": "COMPACTION"})

    async def work(client: ClientInstance) -> None:
        async with open_producer(client, "p", ProducerConfig(send_msg_timeout=30)) as producer:
            for number in range(300):
                body = b"%d" % number * 100
                await producer.send(Message(topic, body, keys=(f"price-{number % 15}",)))

    topics.run(work)
    wait_until(lambda: len(read(topics, topic)) < 120, "old messages are gone")
    places = read(topics, topic)
    offsets = {offset for _, _, offset in places}
    assert offsets >= set(range(285, 300))


@pytest.mark.full
def test_static_topic_is_read_while_it_moves_to_another_broker(java_cluster: JavaCluster) -> None:
    java_cluster.end_brokers()  # one of 4.9.4 does not know what a static topic is
    topics, topic = topics_at(java_cluster, CURRENT), unique("static")

    async def fill(client: ClientInstance) -> None:
        async with open_producer(client, "p", ProducerConfig(send_msg_timeout=30)) as producer:
            for number in range(6):
                await producer.send(Message(topic, b"%d" % number))

    async def wait_for_route(client: ClientInstance, owner: str) -> None:
        with trio.fail_after(60):
            while True:  # until then the name server has no route of the topic, or an older one
                with contextlib.suppress(RocketWireError, KeyError):
                    route = await Admin(client).clusters.route(topic)
                    mapping = (route.topic_queue_mapping_by_broker or {})[owner]
                    if len(mapping.curr_id_map or {}) == 2:
                        return
                await trio.sleep(0.2)

    async def create(client: ClientInstance) -> None:
        await Admin(client).static_topics.create_or_update(topic, 2, ["broker-a"])
        await wait_for_route(client, "broker-a")
        await fill(client)

    async def move(client: ClientInstance) -> None:
        await Admin(client).static_topics.remap(topic, ["broker-b"])
        await wait_for_route(client, "broker-b")
        await fill(client)

    topics.run(create)
    assert len(read(topics, topic)) == 6
    topics.run(move)
    assert len(read(topics, topic)) == 12


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_light_topic_is_read_by_name(java_cluster: JavaCluster, release: str) -> None:
    topics = topics_at(java_cluster, release)
    topic, light = topics.create(unique("parent"), queues=1), f"%LMQ%{unique('light')}"
    with pytest.raises(UnknownTopicError, match=f"no broker has messages of LMQ {light}"):
        read(topics, light)
    topics.fill(topic, [b"x"] * 5, properties={"INNER_MULTI_DISPATCH": light})
    topics.fill(topic, [b"y"] * 3)

    def offsets() -> list[int]:
        close_sessions()
        with contextlib.suppress(UnknownTopicError):  # the broker dispatches a moment later
            return [offset for _, _, offset in read(topics, light)]
        return []

    wait_until(lambda: len(offsets()) >= 5, "all are dispatched")

    assert offsets() == list(range(5))


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_rows_of_a_namespace_are_read_in_it(java_cluster: JavaCluster, release: str) -> None:
    topics, shop = topics_at(java_cluster, release), unique("shop")
    stored, outside = topics.create(f"{shop}%orders", queues=1), topics.create(unique("outside"))
    options = {"nameServers": topics.address, "namespace": shop}
    pa: Any = importlib.import_module("pyarrow")
    rows = iter([pa.record_batch({"body": ["a", "b", "c"]})])
    write_partition(("body",), read_sink_options({**options, "topic": "orders"}), rows, "run", 0)
    wait_until(lambda: sum(topics.ends(stored).values()) == 3, "all are in queues")

    by_name = read(topics, "orders", namespace=shop, startingOffsets='{"orders": 1}')
    by_pattern = read_here({**options, "subscribePattern": "ord.*"})

    assert [offset for _, _, offset in by_name] == [1, 2]
    assert [offset for _, _, offset in by_pattern] == [0, 1, 2]
    with pytest.raises(UnknownTopicError, match=f"topic {shop}%{outside} does not exist"):
        read(topics, outside, namespace=shop)

    cluster = Cluster(read_options({**options, "subscribe": "orders", "group": "readers"}))
    cluster.commit(dict.fromkeys(cluster.queues([stored]), 2))
    wait_until(
        lambda: set(topics.read_committed(stored, f"{shop}%readers").values()) == {2},
        "the group of the namespace has the offset",
    )
