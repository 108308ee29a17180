"""Topics of Java's brokers 5.5.0 and 4.9.4 in a running Spark: what brokers store is read once.

One session and one cluster serve all tests.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.spark.topics.options import ROCKETMQ
from tests.peers.peers import OLD
from tests.peers.processes import wait_until
from tests.spark.topics_of_java import Reader, Topics

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer
    from tests.spark.topics_of_java import Place

# PySpark leaves sockets to the collector
pytestmark = [pytest.mark.java, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def topics(java_cluster: JavaCluster) -> Topics:
    java_cluster.broker("broker-old", version=OLD)
    return Topics(java_cluster.address, brokers=2)


@pytest.fixture
def reader(spark: SparkSession, topics: Topics, tmp_path: Path) -> Reader:
    return Reader(spark, topics, tmp_path)


def wait_dispatched(topics: Topics, topic: str, count: int) -> dict[tuple[str, int], int]:
    # The ends of the queues when they have this number of messages: Java builds queues a moment later.
    wait_until(lambda: sum(topics.ends(topic).values()) == count, f"{count} messages in {topic}")
    return topics.ends(topic)


def once(places: list[Place], stored: set[Place]) -> bool:
    assert Counter(places) == Counter(stored)
    return True


def test_batch_has_what_java_has_sent(reader: Reader, topics: Topics, java_peer: JavaPeer) -> None:
    topic = topics.create("spark-from-java")
    java_peer.send(topics.address, topic, "java-producers", range(300))
    java_peer.fill(topics.address, topic, "java-fillers", size=9000, count=3, compression="ZLIB")
    # a producer on a busy machine sends a message again
    wait_until(lambda: sum(topics.ends(topic).values()) >= 303, "all are in queues")
    rows = reader.batch(subscribe=topic).collect()

    keys = {key for row in rows for key in row["keys"] or ()}
    places = {(row.brokerName, row.queueId, row.queueOffset) for row in rows}
    assert len(places) == len(rows) >= 303
    assert [name for name, _ in reader.batch(subscribe=topic).dtypes] == list(ROCKETMQ)
    assert len(keys) >= 300
    assert {row.topic for row in rows} == {topic}
    assert {row.brokerName for row in rows} == {"broker-a", "broker-old"}
    assert sorted(len(row.body) for row in rows)[-3:] == [9000] * 3
    assert {len(row.msgId) for row in rows} <= {32, 56}  # of a host with IPv4, or IPv6
    assert all(row.properties["UNIQ_KEY"] == row.msgId for row in rows)
    assert all(row.bornTimestamp <= row.storeTimestamp for row in rows)
    assert all(row.bornHost.startswith("127.0.0.1:") and row.reconsumeTimes == 0 for row in rows)


def test_options_choose_what_a_batch_reads(reader: Reader, topics: Topics) -> None:
    topic = topics.create("spark-batches", queues=2)
    stored = topics.fill(topic, [b"%d" % number for number in range(400)], tags="even")
    stored |= topics.fill(topic, [b"x"] * 100, tags="odd")
    ends = wait_dispatched(topics, topic, 500)

    assert once(reader.places(subscribe=topic), stored)
    assert once(reader.places(subscribe=topic, minPartitions="9"), stored)
    assert once(reader.places(subscribePattern="spark-bat.*"), stored)
    queue = json.dumps({topic: {"broker-old": [1]}})
    assert once(reader.places(assign=queue), {p for p in stored if p[:2] == ("broker-old", 1)})
    half = {topic: {b: {"0": ends[b, 0] // 2, "1": -1} for b in ("broker-a", "broker-old")}}
    text = json.dumps(half)
    later = {p for p in stored if p[1] == 0 and p[2] >= ends[p[0], 0] // 2}
    assert once(reader.places(subscribe=topic, startingOffsets=text), later)
    earlier = {p for p in stored if p[1] == 1 or p not in later}
    assert once(reader.places(subscribe=topic, endingOffsets=text), earlier)
    assert reader.batch(subscribe=topic, tags="odd").count() == 100
    assert reader.batch(subscribe=topic, sql="TAGS = 'odd'").count() == 100


@pytest.mark.full
def test_times_are_those_of_the_broker_at_both_releases(reader: Reader, topics: Topics) -> None:
    topic = topics.create("spark-times", queues=1)
    topics.fill(topic, [b"%d" % number for number in range(60)])
    wait_dispatched(topics, topic, 60)
    rows = reader.batch(subscribe=topic).collect()
    middle = sorted(row.storeTimestamp for row in rows)[30]
    milliseconds = str(round(middle.timestamp() * 1000))
    at_least = sum(row.storeTimestamp >= middle for row in rows)

    lenient = {"startingTimestamp": milliseconds, "startingOffsetsByTimestampStrategy": "latest"}
    assert reader.batch(subscribe=topic, **lenient).count() == at_least
    assert reader.batch(subscribe=topic, endingTimestamp=milliseconds).count() == 60 - at_least


def test_a_stream_reads_each_message_once_while_queues_are_added(
    reader: Reader, topics: Topics
) -> None:
    topic = topics.create("spark-streams", queues=2)
    stored = topics.fill(topic, [b"x"] * 900)
    wait_dispatched(topics, topic, 900)

    group: dict[str, Any] = {"group": "spark-streams", "commitGroup": "true"}
    progress = reader.stream("out", subscribe=topic, maxOffsetsPerTrigger="400", **group)
    assert [batch["numInputRows"] for batch in progress if batch["numInputRows"]] == [400, 400, 100]

    wait_until(
        lambda: topics.read_committed(topic, "spark-streams") == topics.ends(topic),
        "both releases note how far the stream is",
    )

    topics.create(topic, queues=6)
    stored |= topics.fill(topic, [b"y"] * 600)
    wait_dispatched(topics, topic, 1500)
    progress = reader.stream("out", subscribe=topic, once=True, maxOffsetsPerTrigger="10")
    assert [batch["numInputRows"] for batch in progress if batch["numInputRows"]] == [600]

    last = progress[-1]["sources"][0]
    queues = last["endOffset"][topic]["broker-a"]
    assert len(queues) == 6
    assert {k: v for k, v in last["latestOffset"].items() if not k.startswith("(")} == {
        k: v for k, v in last["endOffset"].items() if not k.startswith("(")
    }
    assert not any(batch["numInputRows"] for batch in reader.stream("out", subscribe=topic))
    assert once(reader.read_files("out"), stored)

    offsets = reader.read_checkpoint("out")
    assert reader.places(subscribe=topic, startingOffsets=offsets) == []
    assert once(reader.places(subscribe=topic, endingOffsets=offsets), stored)


@pytest.mark.full
def test_group_and_a_listener_show_how_far_a_stream_is(
    reader: Reader, java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    from pyspark_rocketmq import LagListener, QueueLag

    # mqadmin's consumerProgress of 5.5.0 fails at a group that a broker of 4.9.4 has, too
    topics = Topics(java_cluster.address, only=java_cluster.master.address)
    topic = topics.create("spark-progress", queues=2)
    topics.fill(topic, [b"x"] * 50)
    wait_dispatched(topics, topic, 50)
    lags: list[QueueLag] = []
    listener = LagListener(lags.extend)
    reader.spark.streams.addListener(listener)
    try:
        options: dict[str, Any] = {
            "group": "spark-readers",
            "commitGroup": "true",
            "maxOffsetsPerTrigger": "30",
        }
        reader.stream("out", subscribe=topic, **options)
        wait_until(lambda: len(lags) >= 4, "the listener has seen both batches")
    finally:
        reader.spark.streams.removeListener(listener)

    assert sum(lag.messages for lag in lags[:2]) == 20
    assert sum(lag.messages for lag in lags[-2:]) == 0

    progress = java_peer.admin(topics.address, "consumerProgress -g spark-readers")
    assert "Consume Diff Total: 0" in progress.out, progress.err


@pytest.mark.full
def test_a_topic_that_was_created_again_fails_with_its_reason(
    reader: Reader, java_cluster: JavaCluster
) -> None:
    # 4.9.4 goes on at the old offsets of a topic that it has deleted
    topics = Topics(java_cluster.address, only=java_cluster.master.address)
    topic = topics.create("spark-again", queues=1)
    topics.fill(topic, [b"x"] * 60)
    wait_dispatched(topics, topic, 60)
    reader.stream("out", subscribe=topic)
    topics.delete(topic)
    wait_until(lambda: not has_route(topics, topic), "the route is gone")
    topics.create(topic, queues=1)
    stored = topics.fill(topic, [b"y"] * 4)
    wait_dispatched(topics, topic, 4)

    with pytest.raises(Exception, match="the topic was deleted and created again") as error:
        reader.stream("out", subscribe=topic)

    assert f"topic {topic}, broker broker-" in str(error.value)
    reader.stream("out", subscribe=topic, failOnDataLoss="false")
    counts = Counter(reader.read_files("out"))
    assert all(counts[place] == 2 for place in stored)
    assert sum(counts.values()) == 64


def has_route(topics: Topics, topic: str) -> bool:
    try:
        topics.ends(topic)
    except Exception:  # noqa: BLE001 - of any kind
        return False
    return True
