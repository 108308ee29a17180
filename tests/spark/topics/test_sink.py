"""Rows written to topics by a running Spark; the broker is in this process."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.queue_selectors import queue_by_hash
from tests.spark.streams import run_to_end
from tests.support.processes import wait_until
from tests.support.topics import frame_of, properties_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from rocketwire_tools.pytest_plugin.cluster import RocketMQ

# PySpark leaves sockets to the collector
pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.filterwarnings("default")]


PATIENCE = 300.0
"""Seconds for what a busy machine does late."""


def save(frame: DataFrame, cluster: RocketMQ, topic: str | None, **options: str) -> None:
    """Write a frame."""
    options = {"nameServers": cluster.address, **options}
    if topic is not None:
        options["topic"] = topic
    frame.write.format("rocketmq").options(**options).mode("append").save()


def bodies(cluster: RocketMQ, topic: str) -> Counter[str]:
    return Counter((message.body or b"").decode() for message in cluster.messages(topic))


def numbers(spark: SparkSession, count: int, partitions: int = 3) -> DataFrame:
    """Rows with the bodies 0, 1, 2 and so on."""
    return spark.range(0, count, 1, partitions).selectExpr("cast(id as string) as body")


def dying(frame: DataFrame, folder: Path, body: str) -> DataFrame:
    """A frame; the first worker that computes this body is killed once file ``go`` is there."""
    from pyspark.sql.functions import udf

    @udf("string", useArrow=False)
    def pass_on(value: str) -> str:
        if value == body and not (folder / "killed").exists():
            wait_until((folder / "go").exists, "rows at the broker", PATIENCE)
            (folder / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    return frame.select(pass_on("body").alias("body"))


@contextmanager
def go_when(folder: Path, condition: Callable[[], bool]) -> Generator[None]:
    """Put file ``go`` into a folder when a condition holds."""

    def watch() -> None:
        wait_until(condition, "rows at the broker", PATIENCE)
        (folder / "go").touch()

    thread = threading.Thread(target=watch)
    thread.start()
    yield
    thread.join()


def test_every_column_is_a_part_of_the_message(spark: SparkSession, rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(queues=7)
    schema = (
        "topic string, body binary, tags string, keys array<string>,"
        "properties map<string,string>, shardingKey string, id string"
    )
    rows = [
        (topic, b"\x00\xff", "red", ["k1", "k2"], {"x": "1", "ä": "ö"}, "customer-7", "17"),
        (topic, b"y", None, None, None, None, "18"),
    ]
    save(frame_of(spark, rows, schema), rocketmq, None, ids="stable")
    by_body = {message.body: message for message in rocketmq.messages(topic)}
    first, second = by_body[b"\x00\xff"], by_body[b"y"]
    queues = [MessageQueue(topic=topic, broker_name="broker-a", queue_id=n) for n in range(7)]

    assert first.queue_id == queue_by_hash(queues, "customer-7").queue_id
    assert properties_of(first)[const.TAGS] == "red"
    assert properties_of(first)[const.KEYS] == "k1 k2"
    assert properties_of(first)[const.SHARDING_KEY] == "customer-7"
    assert (properties_of(first)["x"], properties_of(first)["ä"]) == ("1", "ö")
    assert const.TAGS not in properties_of(second)


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


def test_delayed_rows_are_delivered_at_their_time(spark: SparkSession, rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic()
    in_an_hour = datetime.fromtimestamp(int(rocketmq.broker.now / 1000) + 3600, UTC)
    at = frame_of(spark, [("at", in_an_hour)], "body string, deliverTimestamp timestamp")
    after = frame_of(spark, [("after", 7200)], "body string, delaySeconds int")
    save(at, rocketmq, topic)
    save(after, rocketmq, topic)

    assert bodies(rocketmq, topic) == {}
    rocketmq.advance(3700)
    assert bodies(rocketmq, topic) == {"at": 1}
    rocketmq.advance(3600)
    assert bodies(rocketmq, topic) == {"at": 1, "after": 1}


@pytest.fixture
def wide_rows(spark: SparkSession) -> Iterator[Callable[[int], DataFrame]]:
    """Frames of rows of 1 KB, which reach the sink in parts of 100 KB."""
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(setting, "100")
    yield lambda count: numbers(spark, count).selectExpr("lpad(body, 1000, '0') as body")
    spark.conf.unset(setting)


def test_a_killed_worker_costs_duplicates_with_the_same_unique_keys(
    wide_rows: Callable[[int], DataFrame], rocketmq: RocketMQ, tmp_path: Path
) -> None:
    topic = rocketmq.topic()
    frame = dying(wide_rows(6000), tmp_path, "1900".zfill(1000))
    with go_when(tmp_path, lambda: "0" * 1000 in bodies(rocketmq, topic)):
        save(frame, rocketmq, topic, ids="stable", batchSize="16k")
    messages = rocketmq.messages(topic)
    keys = {message.body: message.msg_id for message in messages}

    assert {int(body) for body in bodies(rocketmq, topic)} == set(range(6000))
    assert len(messages) > 6000
    assert all(keys[message.body] == message.msg_id for message in messages)
    assert len(set(keys.values())) == 6000


class Query:
    """A streaming query from files to a topic.

    Attributes:
        topic: the topic.
    """

    def __init__(self, spark: SparkSession, cluster: RocketMQ, folder: Path) -> None:
        self.topic = cluster.topic()
        self._spark = spark
        self._cluster = cluster
        self.folder = folder
        (folder / "in").mkdir()
        (folder / "ready").mkdir()

    def put(self, name: str, *lines: str) -> None:
        """Add a file, which is one micro-batch."""
        path = self.folder / "ready" / name
        path.write_text("\n".join(lines))
        path.rename(self.folder / "in" / name)

    def run(self, checkpoint: Path | None = None, **options: str) -> None:
        """Run until all files are written."""
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
        """Undo what Spark noted after a micro-batch, as if the driver had died before."""
        for name in (f"{batch}", f".{batch}.crc"):
            (self.folder / "checkpoint" / "commits" / name).unlink(missing_ok=True)


@pytest.fixture
def query(spark: SparkSession, rocketmq: RocketMQ, tmp_path: Path) -> Query:
    """A streaming query."""
    return Query(spark, rocketmq, tmp_path)


def test_a_micro_batch_that_runs_again_has_the_same_unique_keys(
    query: Query, rocketmq: RocketMQ
) -> None:
    query.put("1", "a", "b", "a")
    query.run(ids="stable")
    query.put("2", "a", "c")
    query.forget_commit(0)
    query.run(ids="stable")
    messages = rocketmq.messages(query.topic)
    keys = Counter(message.msg_id for message in messages)

    assert bodies(rocketmq, query.topic) == {"a": 5, "b": 2, "c": 1}
    assert sorted(keys.values()) == [1, 1, 2, 2, 2]


def test_a_micro_batch_of_foreach_batch_has_stable_keys_too(
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


@pytest.mark.parametrize(
    ("column", "options", "line"),
    [
        ("body", {"foo": "1"}, "unknown option 'foo' of the sink; the options are topic, group"),
        ("body", {"topic": ""}, "option 'topic': the topic is blank"),
        ("value", {}, "column 'value' is unknown; the columns are topic, body"),
        ("body", {"nameServers": "nowhere"}, "option 'nameServers'"),
    ],
)
def test_what_is_wrong_before_the_first_row_is_said_in_one_line(
    spark: SparkSession, rocketmq: RocketMQ, column: str, options: dict[str, str], line: str
) -> None:
    frame = numbers(spark, 3).withColumnRenamed("body", column)
    with pytest.raises(Exception, match=f"OptionError: {line}"):
        save(frame, rocketmq, **{"topic": "a", **options})


def test_what_a_broker_refuses_is_said_in_one_line(spark: SparkSession, rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic()
    rocketmq.broker.refuse_next(16, times=99, remark="denied")
    with pytest.raises(
        Exception, match=f"SinkError: topic {topic}: .* denied: check the credentials, and that"
    ):
        save(numbers(spark, 3, 1), rocketmq, topic)


def test_name_servers_that_stop_are_said_in_one_line(
    spark: SparkSession, rocketmq: RocketMQ
) -> None:
    with pytest.raises(Exception, match=r"SinkError: topic a: .* retries: check that brokers and"):
        save(numbers(spark, 3, 1), rocketmq, "a", nameServers="127.0.0.1:1", retryTimeout="1")


def test_a_row_that_is_too_large_is_said_in_one_line(
    spark: SparkSession, rocketmq: RocketMQ
) -> None:
    frame = numbers(spark, 1).selectExpr("repeat('x', 5000000) as body")
    with pytest.raises(Exception, match="SinkError: row 0 of the partition: a body of 5000000"):
        save(frame, rocketmq, "a")
