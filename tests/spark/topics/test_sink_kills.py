"""Rows written to Java's brokers of both releases by drivers and executors that are killed.

``make spark-kills`` writes 200,000 rows in each mode.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from rocketwire.errors import RocketWireError
from tests.spark.conftest import without_spark
from tests.spark.driver import Drivers, next_of
from tests.spark.kills import WRITE, marks_of_kills
from tests.spark.topics_of_java import Topics
from tests.support.java.peers import CURRENT, OLD

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.java.cluster import JavaCluster

pytestmark = marks_of_kills(WRITE)

ROWS = int(os.environ.get("ROCKETWIRE_SINK_ROWS", "6000"))
KILLS = int(os.environ.get(WRITE, "1"))
HALVES = "RMQ_SYS_TRANS_HALF_TOPIC"
BODY = "lpad(cast(id as string), 100, '0') as body"
MASTER = "local-cluster[2,1,512]"
STEPS = (("offsets", ""), ("rocketmq-sink", "decided"), ("rocketmq-sink", "done"), ("commits", ""))
"""Logs in which a driver notes its steps, and suffixes of their entries."""
AS_JAVA = {
    "transactionTimeOut": 6000,
    "transactionCheckInterval": 30_000,
    "transactionOpMsgMaxSize": 4096,
}
"""Java's own values; those that tests of clients have let a broker of 5.x note 500 ends a second."""


class Broker:
    """A broker of one release, and its topics.

    Attributes:
        topics: they are on this broker alone.
    """

    def __init__(self, cluster: JavaCluster, release: str) -> None:
        self.name = f"broker-{release.replace('.', '-')}"
        broker = cluster.broker(self.name, version=release, options=AS_JAVA)
        self.topics = Topics(cluster.address, only=broker.address)

    def count(self, topic: str) -> int:
        """Messages of a topic, now."""
        with contextlib.suppress(RocketWireError):  # the broker is busy
            ends = self.topics.ends(topic)
            return sum(end for (broker, _), end in ends.items() if broker == self.name)
        return 0

    def rows(self, topic: str) -> Counter[int]:
        """The rows that a reader sees, by number."""
        return Counter(int(message.body or b"") for message in self.topics.messages(topic))


@pytest.fixture(scope="module", params=[CURRENT, OLD])
def broker(request: pytest.FixtureRequest, java_cluster: JavaCluster) -> Broker:
    without_spark()
    return Broker(java_cluster, request.param)


def job_of(broker: Broker, topic: str, **options: str) -> dict[str, object]:
    """A job that writes ``ROWS`` rows."""
    write = {"format": "rocketmq", "nameServers": broker.topics.address, "topic": topic, **options}
    return {"master": MASTER, "rows": ROWS, "expressions": [BODY], "write": write}


def kill_while(drivers: Drivers, count: Callable[[], int]) -> None:
    """Kill executors, and a driver in the middle of them, while a number of rows grows."""
    for number in range(KILLS):
        if number == KILLS // 2:
            wait_for_more(drivers, count)
            drivers.kill_driver()
        wait_for_more(drivers, count)
        drivers.kill_executor()


def wait_for_more(drivers: Drivers, count: Callable[[], int]) -> None:
    """Wait until a part of the rows has arrived from now on."""
    enough = count() + ROWS // (KILLS + 2)
    assert drivers.wait(lambda: count() >= enough, 0.1), "the job has ended before it was killed"


def test_no_row_is_missing_and_repeated_ones_have_equal_unique_keys(
    broker: Broker, tmp_path: Path
) -> None:
    topic = broker.topics.create(f"stable-{broker.name}", queues=8)
    job = job_of(broker, topic, ids="stable", runId="run-1", batchSize="2k", inFlight="1")
    with Drivers(tmp_path, job) as drivers:
        kill_while(drivers, lambda: broker.count(topic))
        drivers.run_to_end()
    messages = broker.topics.messages(topic)
    keys: dict[bytes | None, set[str]] = {}
    for message in messages:
        keys.setdefault(message.body, set()).add(message.msg_id)

    drivers.report(f"{broker.name}, ids=stable: {ROWS} rows, {len(messages)} messages")
    assert (drivers.killed["driver"], drivers.killed["executor"]) == (1, KILLS)
    assert sorted(int(body or b"") for body in keys) == list(range(ROWS))
    assert all(len(each) == 1 for each in keys.values())
    assert len({key for each in keys.values() for key in each}) == ROWS


def test_a_reader_sees_no_row_of_an_aborted_batch(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topics.create(f"committed-{broker.name}", queues=8)
    start = broker.count(HALVES)

    def halves() -> int:
        assert broker.count(topic) == 0, "a row is seen before the driver commits"
        return broker.count(HALVES) - start

    job = job_of(broker, topic, transactional="true")
    failing = f"if(id = {ROWS - 1}, raise_error('the last row'), {BODY.removesuffix(' as body')})"
    aborted = {
        **job,
        "expressions": [f"{failing} as body"],
        "settings": {"spark.task.maxFailures": "1"},
    }
    with Drivers(tmp_path / "aborted", aborted) as drivers:
        drivers.run_to_failure()
        assert "the last row" in drivers.log
        assert halves() > 0
    start = broker.count(HALVES)
    with Drivers(tmp_path / "killed", job) as drivers:
        kill_while(drivers, halves)
        drivers.run_to_end()
    rows = broker.rows(topic)

    drivers.report(f"{broker.name}, transactional=true: {ROWS} rows, {rows.total()} seen")
    assert (drivers.killed["driver"], drivers.killed["executor"]) == (1, KILLS)
    assert rows == dict.fromkeys(range(ROWS), 1)


def test_each_row_of_a_stream_is_seen_once_wherever_its_driver_is_killed(
    broker: Broker, tmp_path: Path
) -> None:
    rows = ROWS // 10
    source = broker.topics.create(f"from-{broker.name}", queues=4)
    target = broker.topics.create(f"to-{broker.name}", queues=4)
    places = broker.topics.fill_fast(source, rows)
    read = {
        "format": "rocketmq",
        "nameServers": broker.topics.address,
        "subscribe": source,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": str(rows // 20),
    }
    checkpoint = tmp_path / "checkpoint"
    write = {
        "format": "rocketmq",
        "nameServers": broker.topics.address,
        "topic": target,
        "transactional": "true",
        "checkpointLocation": str(checkpoint),
    }
    body = "concat(queueId, '/', queueOffset) as body"
    job = {"master": "local[2,4]", "is_stream": True, "expressions": [body]}
    with Drivers(tmp_path, {**job, "read": read, "write": write}) as drivers:
        for log, suffix in STEPS:
            before = next_of(checkpoint / log, suffix)
            assert drivers.wait(lambda: next_of(checkpoint / log, suffix) > before)  # noqa: B023 - called at once
            drivers.kill_driver(suffix or log)
        drivers.run_to_end()
    seen = Counter((message.body or b"").decode() for message in broker.topics.messages(target))

    drivers.report(
        f"{broker.name}, stream with transactional=true: {rows} rows, {seen.total()} seen"
    )
    assert seen == {f"{queue}/{offset}": 1 for _, queue, offset in places}
