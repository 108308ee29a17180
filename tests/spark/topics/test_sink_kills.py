"""Rows written to Java's brokers of both releases by drivers and executors that are killed.

``make test-all`` writes 200,000 rows in each mode.
"""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rocketwire.errors import RocketWireError
from tests.peers.cluster import JavaCluster
from tests.peers.peers import CURRENT, OLD
from tests.spark.conftest import without_spark
from tests.spark.driver import Drivers
from tests.spark.topics_of_java import Topics

pytestmark = [
    pytest.mark.java,
    pytest.mark.full,
    pytest.mark.filterwarnings("default"),  # PySpark leaves sockets to the collector
]

ROWS, KILLS = (200_000, 4) if os.environ.get("ROCKETWIRE_KILLS") == "long" else (6000, 1)
BODY = "lpad(cast(id as string), 100, '0') as body"
MASTER = "local-cluster[2,1,512]"


class Broker:
    def __init__(self, cluster: JavaCluster, release: str) -> None:
        self.name = f"broker-{release.replace('.', '-')}"
        broker = cluster.broker(self.name, version=release)
        self.topics = Topics(cluster.address, only=broker.address)  #: they are on this broker alone

    def count(self, topic: str) -> int:
        with contextlib.suppress(RocketWireError):  # the broker is busy
            ends = self.topics.ends(topic)
            return sum(end for (broker, _), end in ends.items() if broker == self.name)
        return 0


@pytest.fixture(scope="module", params=[CURRENT, OLD])
def broker(request: pytest.FixtureRequest, java_cluster: JavaCluster) -> Broker:
    without_spark()
    return Broker(java_cluster, request.param)


def job_of(broker: Broker, topic: str, **options: str) -> dict[str, object]:
    write = {"format": "rocketmq", "nameServers": broker.topics.address, "topic": topic, **options}
    return {"master": MASTER, "rows": ROWS, "expressions": [BODY], "write": write}


def kill_while(drivers: Drivers, count: Callable[[], int]) -> None:
    for number in range(KILLS):
        if number == KILLS // 2:
            wait_for_more(drivers, count)
            drivers.kill_driver()
        wait_for_more(drivers, count)
        drivers.kill_executor()


def wait_for_more(drivers: Drivers, count: Callable[[], int]) -> None:
    enough = count() + ROWS // (KILLS + 2)
    assert drivers.wait(lambda: count() >= enough, 0.1), "the job has ended before it was killed"


def test_rows_are_kept_and_repeated_ones_have_equal_keys(broker: Broker, tmp_path: Path) -> None:
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
    assert all(len(ids) == 1 for ids in keys.values())
    assert len({key for ids in keys.values() for key in ids}) == ROWS
