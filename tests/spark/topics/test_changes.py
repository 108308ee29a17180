"""Streams whose topics and brokers change read each message of Java's brokers once.

``make test-all`` runs them.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.client.admin.admin import Admin
from tests.peers.peers import CURRENT, OLD
from tests.peers.processes import wait_until
from tests.spark.streams import COLUMNS, LATE_WORKER, line_of, read_committed
from tests.spark.topics_of_java import Topics, read_here

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from tests.peers.cluster import JavaCluster
    from tests.spark.topics_of_java import Place

pytestmark = [
    pytest.mark.java,
    pytest.mark.full,
    pytest.mark.filterwarnings("default"),  # PySpark leaves sockets to the collector
]

PLACE = "topic string, brokerName string, queueId int, queueOffset bigint"
PATIENCE = 600.0
"""Seconds that a stream may take on a busy machine."""
SMALL_FILES = {
    "mappedFileSizeCommitLog": 1 << 20,
    "maxMessageSize": 100_000,
    "fileReservedTime": 0,  # what is asked for is deleted, whatever its age
    "deleteWhen": f"{(datetime.now(UTC).hour + 12) % 24:02d}",  # nothing is by itself
}
releases = pytest.mark.parametrize("release", [CURRENT, OLD])


class Stream:
    """A stream of places into Parquet, which goes on with another query from its checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path, address: str, **topics: str) -> None:
        self._spark = spark
        self._folder = folder
        self._read = {"nameServers": address, "startingOffsets": "earliest", **topics}
        self._query: StreamingQuery | None = None

    def start(self, options: dict[str, str], *, ends: bool = False) -> StreamingQuery:
        places = self._spark.readStream.format("rocketmq").schema(PLACE)
        writer = places.options(**{**self._read, **options}).load().writeStream.format("parquet")
        writer = writer.option("checkpointLocation", str(self._folder / "checkpoint"))
        trigger: dict[str, Any] = (
            {"availableNow": True} if ends else {"processingTime": "0 seconds"}
        )
        writer = writer.trigger(**trigger)
        return writer.start(str(self._folder / "out"))

    @contextlib.contextmanager
    def running(self, **options: str) -> Generator[None]:
        self._query = self.start(options)
        self._options = options
        try:
            yield
        finally:
            self._query.stop()

    def places(self, topic: str) -> Counter[Place]:
        # Return the messages of a topic that the query has read; a query whose Python Spark started too late is started again.
        query = self._query
        if query is not None and (error := query.exception()) is not None:
            if LATE_WORKER not in str(error):
                raise error
            self._query = self.start(self._options)
        places = read_committed(self._folder / "out", ["topic", *COLUMNS])
        return Counter(place[1:] for place in places if place[0] == topic)

    def wait_for(self, topic: str, places: set[Place]) -> None:
        wait_until(lambda: places <= self.places(topic).keys(), "all are read", PATIENCE)

    def run_to_end(self, **options: str) -> None:
        while True:
            query = self.start(options, ends=True)
            try:
                query.awaitTermination()
            except Exception as error:
                if LATE_WORKER not in str(error):
                    raise
            else:
                return


def test_each_offset_is_read_once_while_topics_grow_and_servers_restart(
    spark: SparkSession, java_cluster: JavaCluster, tmp_path: Path
) -> None:
    brokers = [java_cluster.broker("broker-new"), java_cluster.broker("broker-old", version=OLD)]
    new, old = (Topics(java_cluster.address, only=broker.address) for broker in brokers)
    topic, later = new.create("spark-grows", queues=2), "spark-grows-later"
    stored = new.fill(topic, [b"x"] * 400)
    stream = Stream(spark, tmp_path, java_cluster.address, subscribePattern=f"{topic}.*")
    with stream.running(maxOffsetsPerTrigger="300"):
        stream.wait_for(topic, stored)
        new.create(topic, queues=6)
        stored |= new.fill(topic, [b"x"] * 600)
        old.create(topic, queues=4, of_all=10)
        stored |= new.fill(topic, [b"x"] * 600)
        for broker in brokers:
            stored |= new.fill(topic, [b"x"] * 1000)
            broker.kill()
            broker.start()
            broker.wait_registered(java_cluster.name_server.port)
        stream.wait_for(topic, stored)
        stored |= new.fill(topic, [b"x"] * 600)
        java_cluster.name_server.kill()
        stream.wait_for(topic, stored)  # with the last routes
        java_cluster.name_server.start()
        for broker in brokers:
            broker.wait_registered(java_cluster.name_server.port)
        stored |= new.fill(topic, [b"x"] * 200)
        stored_later = new.fill(new.create(later), [b"x"] * 100)
        stream.wait_for(topic, stored)
        stream.wait_for(later, stored_later)

    assert len(new.ends(topic)) == 10
    assert stream.places(topic) == Counter(new.places(topic))
    assert stream.places(later) == Counter(new.places(later))


@releases
def test_expired_messages_are_an_error_or_a_warning(
    spark: SparkSession,
    java_cluster: JavaCluster,
    tmp_path: Path,
    release: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = f"small-{release.replace('.', '-')}"
    broker = java_cluster.broker(name, version=release, options=SMALL_FILES)
    topics = Topics(java_cluster.address, only=broker.address)
    topic = topics.create(f"spark-expires-{name}", queues=2)
    read = topics.fill_fast(topic, 200, b"x" * 1000)
    stream = Stream(spark, tmp_path, java_cluster.address, subscribe=topic)
    stream.run_to_end()
    topics.fill_fast(topic, 6000, b"x" * 1000)

    topics.run(lambda c: Admin(c).brokers.delete_expired_commit_log(broker=broker.address))
    # every file but the last is deleted, which has less than a thousand messages
    wait_until(lambda: len(topics.places(topic)) < 1000, "files are deleted", PATIENCE)
    kept = topics.places(topic)
    first = min(offset for _, queue, offset in kept if queue == 0)
    with pytest.raises(Exception, match="are lost") as error:
        stream.run_to_end()
    line = line_of(error, "are lost")
    with stream.running(failOnDataLoss="false"):
        stream.wait_for(topic, kept)
        places = stream.places(topic)
    from_first = {
        "nameServers": java_cluster.address,
        "subscribe": topic,
        "startingOffsets": json.dumps({topic: {name: {"0": 0, "1": 0}}}),
        "failOnDataLoss": "false",
    }

    assert "DataLossError: topic" in line
    assert f"topic {topic}, broker {name}, queue " in line
    assert "are lost, they were deleted: the retention time of the broker has passed" in line
    assert "set failOnDataLoss=false to go on without them" in line
    assert first > 200
    assert places == Counter(read | kept)
    assert Counter(read_here(from_first)) == Counter(kept)
    lines = capsys.readouterr().err.splitlines()  # of this process, others have their own
    assert f"rocketmq: topic {topic}, broker {name}, queue 0: messages 0 to {first - 1}" in lines[0]
    assert len(lines) == 2
