"""Jobs whose driver, executors and Python are killed read each offset of Java's brokers once.

``make test-all`` reads a million messages and kills at twenty places.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.peers.cluster import JavaCluster
from tests.peers.peers import OLD
from tests.spark.conftest import without_spark
from tests.spark.driver import Drivers, Steps, steps_of
from tests.spark.job import STARTED
from tests.spark.streams import places_in, read_committed
from tests.spark.topics_of_java import Place, Topics

pytestmark = [
    pytest.mark.java,
    pytest.mark.full,
    pytest.mark.filterwarnings("default"),  # PySpark leaves sockets to the collector
]

IS_LONG = os.environ.get("ROCKETWIRE_KILLS") == "long"
MESSAGES = 1_000_000 if IS_LONG else 40_000
MASTER = "local-cluster[1,2,512]" if IS_LONG else "local[2,4]"
BATCHES = 40 if IS_LONG else 12
STEPS = ("started", "planned", "reading", "written", "committed", "executor", "planner")
KILLS = (3 * STEPS)[:20] if IS_LONG else ("reading", "executor", "written")
PLACE = "brokerName string, queueId int, queueOffset bigint"


@pytest.fixture(scope="module")
def topics(java_cluster: JavaCluster) -> Topics:
    without_spark()
    java_cluster.broker("broker-old", version=OLD)
    return Topics(java_cluster.address, brokers=2)


class Stream:
    def __init__(self, topics: Topics, topic: str, folder: Path) -> None:
        self.folder = folder
        read = {
            "format": "rocketmq",
            "nameServers": topics.address,
            "subscribe": topic,
            "startingOffsets": "earliest",
            "maxOffsetsPerTrigger": str(MESSAGES // BATCHES),
        }
        write = {
            "format": "parquet",
            "path": str(folder / "out"),
            "checkpointLocation": str(folder / "checkpoint"),
        }
        job = {"master": MASTER, "is_stream": True, "schema": PLACE, "read": read, "write": write}
        self.drivers = Drivers(folder, job)

    @property
    def steps(self) -> Steps:
        return steps_of(self.folder / "checkpoint", self.folder / "out" / "_spark_metadata")

    def kill_at(self, step: str) -> None:
        drivers = self.drivers
        starts, files, steps_before = drivers.log_count(STARTED), self._files(), self.steps
        conditions: dict[str, Callable[[], bool]] = {
            "started": lambda: drivers.log_count(STARTED) > starts,
            "reading": lambda: self._files() > files,
            "written": lambda: self.steps.written > steps_before.written,
            "committed": lambda: self.steps.committed > steps_before.committed,
        }
        if step == "started" and drivers.runs:
            drivers.kill_driver(self.steps.place)
        condition = conditions.get(step, lambda: self.steps.planned > steps_before.planned)
        assert drivers.wait(condition), f"the job has ended before it was killed ({step})"
        if step == "executor":
            drivers.kill_executor()
            drivers.wait(lambda: self.steps.committed > steps_before.committed)
        elif step == "planner":
            drivers.kill_planner()
        else:
            drivers.kill_driver(step)
            drivers.killed[self.steps.place] += 1

    def _files(self) -> int:
        out = self.folder / "out"
        return len(os.listdir(out)) if out.exists() else 0

    def read_places(self) -> list[Place]:
        # Places in the files that the sink has committed; Spark leaves those of killed attempts.
        return read_committed(self.folder / "out")


def test_stream_reads_each_offset_once_whatever_is_killed(topics: Topics, tmp_path: Path) -> None:
    topic = topics.create("spark-kills", queues=8)
    stored = topics.fill_fast(topic, MESSAGES)
    stream = Stream(topics, topic, tmp_path)
    with stream.drivers as drivers:
        for step in KILLS:
            stream.kill_at(step)
        drivers.run_to_end()

    drivers.report(f"{len(stored)} messages")
    assert drivers.kills >= len(KILLS)
    assert len(stored) == MESSAGES
    assert Counter(stream.read_places()) == Counter(stored)


def test_batch_reads_each_offset_once_whatever_is_killed(topics: Topics, tmp_path: Path) -> None:
    topic = topics.create("spark-batch-kills", queues=8)
    stored = topics.fill_fast(topic, MESSAGES)
    read = {
        "format": "rocketmq",
        "nameServers": topics.address,
        "subscribe": topic,
        "minPartitions": "64",
    }
    write = {"format": "parquet", "path": str(tmp_path / "out")}
    job = {"master": MASTER, "mode": "overwrite", "schema": PLACE, "read": read, "write": write}
    chance = random.Random(4)

    def tasks() -> int:
        return len(list((tmp_path / "out" / "_temporary").glob("0/task_*")))

    with Drivers(tmp_path, job) as drivers:
        for what in ("driver", "executor", "driver", "executor", "executor")[: len(KILLS)]:
            ended = 0 if what == "driver" else tasks()
            count = chance.randrange(1, 12)
            assert drivers.wait(lambda: tasks() >= ended + count)  # noqa: B023 - now
            time.sleep(chance.random() * 0.2)  # at any step of a task
            drivers.kill_driver() if what == "driver" else drivers.kill_executor()
        drivers.run_to_end()

    drivers.report(f"{len(stored)} messages")
    assert drivers.killed["driver"]
    assert drivers.killed["executor"]
    assert len(stored) == MESSAGES
    assert Counter(places_in((tmp_path / "out").glob("*.parquet"))) == Counter(stored)
