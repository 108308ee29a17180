"""Rows written to topics by a running Spark; the broker is in this process."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.queue_selectors import queue_by_hash
from tests.spark.streams import run_to_end
from tests.support.topics import properties_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from rocketwire_tools.pytest_plugin.cluster import RocketMQ

# PySpark leaves sockets to the collector
pytestmark = [pytest.mark.java, pytest.mark.filterwarnings("default")]


def save(frame: DataFrame, cluster: RocketMQ, topic: str | None, **options: str) -> None:
    options = {"nameServers": cluster.address, **options}
    if topic is not None:
        options["topic"] = topic
    frame.write.format("rocketmq").options(**options).mode("append").save()


def bodies(cluster: RocketMQ, topic: str) -> Counter[str]:
    return Counter((message.body or b"").decode() for message in cluster.messages(topic))


def test_rows_with_kafkas_columns_are_written_as_they_were_read(
    spark: SparkSession, rocketmq: RocketMQ
) -> None:
    source, target = rocketmq.topic(), rocketmq.topic(queues=7)
    rocketmq.produce(source, b"\x00\xff", tag="red", keys="customer-7", properties={"x": "1"})
    rocketmq.produce(source, b"y")
    frame = spark.read.format("rocketmq").options(
        nameServers=rocketmq.address, subscribe=source, columns="kafka"
    )
    save(frame.load().drop("partition", "topic"), rocketmq, target, columns="kafka")
    by_body = {message.body: message for message in rocketmq.messages(target)}
    first, second = by_body[b"\x00\xff"], by_body[b"y"]
    queues = [MessageQueue(topic=target, broker_name="broker-a", queue_id=n) for n in range(7)]

    assert first.queue_id == queue_by_hash(queues, "customer-7").queue_id
    assert properties_of(first)[const.TAGS] == "red"
    assert properties_of(first)[const.KEYS] == "customer-7"
    assert properties_of(first)["x"] == "1"
    assert {const.TAGS, const.KEYS, "x"}.isdisjoint(properties_of(second))


class Query:
    def __init__(self, spark: SparkSession, cluster: RocketMQ, folder: Path) -> None:
        self.topic = cluster.topic()
        self._spark = spark
        self._cluster = cluster
        self.folder = folder
        (folder / "in").mkdir()
        (folder / "ready").mkdir()

    def put(self, name: str, *lines: str) -> None:
        path = self.folder / "ready" / name
        path.write_text("\n".join(lines))
        path.rename(self.folder / "in" / name)

    def run(self, checkpoint: Path | None = None, **options: str) -> None:
        lines = (
            self._spark.readStream.option("maxFilesPerTrigger", 1)
            .text(str(self.folder / "in"))
            .selectExpr("value as body")
        )
        options = {"nameServers": self._cluster.address, "topic": self.topic, **options}
        location = str(checkpoint or self.folder / "checkpoint")
        writer = lines.writeStream.format("rocketmq").options(**options)
        writer = writer.option("checkpointLocation", location).trigger(availableNow=True)
        run_to_end(writer.start)

    def forget_commit(self, batch: int) -> None:
        # Undo what Spark noted after a micro-batch, as if the driver had died before.
        for name in (f"{batch}", f".{batch}.crc"):
            (self.folder / "checkpoint" / "commits" / name).unlink(missing_ok=True)


@pytest.fixture
def query(spark: SparkSession, rocketmq: RocketMQ, tmp_path: Path) -> Query:
    return Query(spark, rocketmq, tmp_path)


def test_repeated_micro_batch_has_the_same_unique_keys(query: Query, rocketmq: RocketMQ) -> None:
    query.put("1", "a", "b", "a")
    query.run(ids="stable")
    query.put("2", "a", "c")
    query.forget_commit(0)
    query.run(ids="stable")
    messages = rocketmq.messages(query.topic)
    keys = Counter(message.msg_id for message in messages)

    assert bodies(rocketmq, query.topic) == {"a": 5, "b": 2, "c": 1}
    assert sorted(keys.values()) == [1, 1, 2, 2, 2]


@pytest.mark.full
def test_micro_batch_of_foreach_batch_has_stable_keys_too(
    spark: SparkSession, query: Query, rocketmq: RocketMQ
) -> None:
    query.put("1", "a")

    def run(checkpoint: str) -> None:
        def write(frame: DataFrame, _: int) -> None:
            for _again in range(2):
                save(frame, rocketmq, query.topic, ids="stable")

        lines = spark.readStream.text(str(query.folder / "in")).selectExpr("value as body")
        writer = lines.writeStream.foreachBatch(write).trigger(availableNow=True)
        run_to_end(writer.option("checkpointLocation", checkpoint).start)

    run(str(query.folder / "other"))

    assert bodies(rocketmq, query.topic) == {"a": 2}
    assert len({message.msg_id for message in rocketmq.messages(query.topic)}) == 1
