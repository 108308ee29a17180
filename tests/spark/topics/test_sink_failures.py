"""Rows written while Java's name server and brokers stop: the guide's retries, or one line with advice.

``make test-all`` runs them.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.errors import TopicRouteNotFoundError
from rocketwire_tools.spark.topics.connection import close_sessions
from rocketwire_tools.spark.topics.sink.attempts import Present, absence_of, fetch_present
from rocketwire_tools.spark.topics.sink.options import read_sink_options
from rocketwire_tools.spark.topics.sink.sending import write_partition
from tests.peers.peers import CURRENT, OLD, JavaBroker, JavaNameServer
from tests.peers.processes import wait_until
from tests.spark.kills import marks_of_kills
from tests.spark.streams import line_of
from tests.spark.topics_of_java import Topics

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from rocketwire.client import ClientInstance

pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")  # it has no types

pytestmark = marks_of_kills()

ROWS = 3000
PATIENCE = 300.0
"""Seconds that a busy machine may take."""


class Sink:
    """A name server and a broker of one release that may be stopped, and rows that wait for it."""

    def __init__(
        self, spark: SparkSession, name_server: JavaNameServer, broker: JavaBroker, folder: Path
    ) -> None:
        self.broker = broker
        self.name_server = name_server
        self.topics = Topics(name_server.address)
        self._spark = spark
        self._folder = folder

    def rows(self) -> DataFrame:
        """Rows of 1 KB; the last third of each partition waits until the servers have changed."""
        from pyspark.sql.functions import udf

        go = self._folder / "go"

        @udf("string", useArrow=False)
        def pass_on(number: int) -> str:
            if number % (ROWS // 2) == ROWS // 3:
                wait_until(go.exists, "the servers have changed", PATIENCE)
            return f"{number:01000}"

        return self._spark.range(0, ROWS, 1, 2).select(pass_on("id").alias("body"))

    @contextlib.contextmanager
    def changing(self, topic: str, change: Callable[[], object]) -> Generator[None]:
        """Change the servers when rows of both partitions have arrived; then let the others pass."""
        count_before = self.count(topic)

        def watch() -> None:
            try:
                wait_until(
                    lambda: self.count(topic) - count_before > ROWS // 3,
                    "more rows than one partition sends",
                    PATIENCE,
                )
                change()
            finally:
                (self._folder / "go").touch()

        thread = threading.Thread(target=watch)
        thread.start()
        yield
        thread.join()

    def count(self, topic: str) -> int:
        """Messages of a topic; 4.9.4 creates the topic of half messages with the first one."""
        with contextlib.suppress(TopicRouteNotFoundError):
            return sum(self.topics.ends(topic).values())
        return 0

    def save(self, frame: DataFrame, topic: str, **options: str) -> None:
        options = {"nameServers": self.topics.address, "topic": topic, **options}
        frame.write.format("rocketmq").options(**options).mode("append").save()

    def restart(self) -> None:
        """Kill the broker, and start it again."""
        self.broker.kill()
        self.broker.start()
        self.broker.wait_registered(self.name_server.port)


@pytest.fixture(scope="module", params=[CURRENT, OLD])
def servers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[JavaNameServer, JavaBroker]]:
    folder = tmp_path_factory.mktemp("servers")
    name_server = JavaNameServer(folder / "namesrv", version=request.param)
    broker = JavaBroker(folder / "broker", [name_server.address], version=request.param)
    with name_server, broker:
        broker.wait_registered(name_server.port)
        yield name_server, broker


@pytest.fixture
def sink(
    spark: SparkSession, servers: tuple[JavaNameServer, JavaBroker], tmp_path: Path
) -> Iterator[Sink]:
    """The servers, which run again after a test."""
    name_server, broker = servers
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    yield Sink(spark, name_server, broker, tmp_path)
    spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    for server in (name_server, broker):
        server.kill()
        server.start()
    broker.wait_registered(name_server.port)


def test_rows_arrive_although_the_name_server_stops(sink: Sink) -> None:
    topic = sink.topics.create("spark-no-names")
    with sink.changing(topic, sink.name_server.kill):
        sink.save(sink.rows(), topic, batchSize="16k")
    sink.name_server.start()
    sink.broker.wait_registered(sink.name_server.port)

    assert Counter(int(m.body or b"") for m in sink.topics.messages(topic)) == dict.fromkeys(
        range(ROWS), 1
    )


def test_rows_arrive_although_the_broker_is_killed_and_starts_again(sink: Sink) -> None:
    topic = sink.topics.create("spark-restart")
    with sink.changing(topic, sink.restart):
        sink.save(sink.rows(), topic, ids="stable", batchSize="16k", retryTimeout="180")
    messages = sink.topics.messages(topic)
    keys = {message.body: message.msg_id for message in messages}

    assert {int(body or b"") for body in keys} == set(range(ROWS))
    assert all(keys[message.body] == message.msg_id for message in messages)


def test_lasting_absence_of_a_broker_is_reported_in_one_line(sink: Sink) -> None:
    topic = sink.topics.create("spark-away")
    with (
        sink.changing(topic, sink.broker.kill),
        pytest.raises(Exception, match="SinkError") as error,
    ):
        sink.save(sink.rows(), topic, batchSize="16k", retryTimeout="3")
    line = line_of(error, "SinkError: ")

    assert f"SinkError: topic {topic}: " in line
    # the last attempt of a task begins before or after the name server has dropped the broker's routes
    assert "seconds of retries: check that brokers and name servers run" in line or (
        "seconds of retries; waited for a broker: none is registered" in line
    )


def test_rows_arrive_although_the_broker_is_away_when_a_task_starts(
    servers: tuple[JavaNameServer, JavaBroker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task without Spark, so that it starts exactly then."""
    name_server, broker = servers
    topics = Topics(name_server.address)
    topic = topics.create("spark-late-broker")
    options = {"nameServers": name_server.address, "topic": topic, "retryTimeout": "300"}
    settings = read_sink_options(options)
    present = fetch_present(settings)
    close_sessions()
    away: list[str] = []
    has_asked = threading.Event()

    async def absence(client: ClientInstance, topic: str, present: Present) -> str:
        away.append(await absence_of(client, topic, present))
        has_asked.set()
        return away[-1]

    monkeypatch.setattr("rocketwire_tools.spark.topics.sink.sending.absence_of", absence)
    batch = pa.record_batch({"body": [str(number) for number in range(100)]})
    broker.kill()
    wait_until(lambda: not has_route(topics, topic), "the name server drops the route", PATIENCE)
    task = threading.Thread(
        target=write_partition, args=(("body",), settings, iter([batch]), "s", 0, present)
    )
    task.start()
    assert has_asked.wait(PATIENCE)
    broker.start()
    broker.wait_registered(name_server.port)
    task.join()

    assert Counter(int(m.body or b"") for m in topics.messages(topic)) == dict.fromkeys(
        range(100), 1
    )
    assert away[0].startswith(f"a broker: none is registered at name servers {name_server.address}")


def has_route(topics: Topics, topic: str) -> bool:
    with contextlib.suppress(TopicRouteNotFoundError):
        topics.run(lambda client: client.route(topic))
        return True
    return False
