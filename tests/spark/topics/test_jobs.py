"""The five jobs of the guide, as they are written there."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.sync import ConsumeConcurrentlyStatus, open_push_consumer
from tests.spark.streams import run_to_end
from tests.support.topics import properties_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rocketwire_tools.pytest_plugin.cluster import RocketMQ

# PySpark leaves sockets to the collector
pytestmark = [pytest.mark.java, pytest.mark.filterwarnings("default")]

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "spark-topics.md"
ORDERS = [("7", 10), ("8", 20), ("7", 30), ("9", 40)]


class Jobs:
    def __init__(self, spark: SparkSession, cluster: RocketMQ, folder: Path) -> None:
        from pyspark.sql import functions

        self.cluster = cluster
        self.folder = folder  #: what the guide calls ``out``
        self.ids: list[str] = []
        self._names: dict[str, Any] = {
            "spark": spark,
            "F": functions,
            "NAME_SERVERS": cluster.address,
        }
        cluster.topic(name="orders")
        for customer, amount in ORDERS:
            body = json.dumps({"customer": customer, "amount": amount}).encode()
            self.ids += cluster.produce("orders", body, tag=f"t{customer}", keys=f"k{amount}")

    def run(self, heading: str, **names: object) -> None:
        # Run the code below a heading; a query that Spark starts too slowly goes on.
        text = GUIDE.read_text("utf-8").partition(f"\n### {heading}\n")[2]
        code = re.sub(r'"out/', f'"{self.folder}/', text.partition("```py\n")[2])
        code = code.partition("```")[0]

        class Done:
            def awaitTermination(self) -> None:
                exec(code, self_names)

        self_names = self._names | names
        run_to_end(lambda: Done())  # type: ignore[arg-type, return-value]  # a fake query

    def bodies(self, topic: str) -> list[str]:
        return [(message.body or b"").decode() for message in self.cluster.messages(topic)]


@pytest.fixture
def jobs(spark: SparkSession, rocketmq: RocketMQ, tmp_path: Path) -> Jobs:
    return Jobs(spark, rocketmq, tmp_path / "out")


def test_topic_goes_to_parquet(jobs: Jobs, spark: SparkSession) -> None:
    for _ in range(2):
        jobs.run("A topic to Parquet")
    rows = spark.read.parquet(str(jobs.folder / "orders")).collect()

    assert sorted(row["order"] for row in rows) == sorted(jobs.bodies("orders"))
    assert len({(row.brokerName, row.queueId, row.queueOffset) for row in rows}) == len(ORDERS)


@pytest.mark.full
def test_orders_are_counted_by_minute(jobs: Jobs) -> None:
    jobs.run("Windowed counts")
    counts: Counter[str] = Counter()
    for message in jobs.cluster.messages("orders-per-minute"):
        counts[properties_of(message)["TAGS"]] += int(message.body or b"")

    assert counts == {"t7": 2, "t8": 1, "t9": 1}


@pytest.mark.full
def test_orders_are_enriched_and_written_back(jobs: Jobs) -> None:
    jobs.run("Enrich and write back")
    bodies = [json.loads(body) for body in jobs.bodies("orders-enriched")]
    names = {"7": "Ada", "8": "Grace", "9": None}

    assert Counter((body["customer"], body["amount"]) for body in bodies) == Counter(ORDERS)
    assert all(body.get("name") == names[body["customer"]] for body in bodies)
    assert len({message.msg_id for message in jobs.cluster.messages("orders-enriched")}) == 4


@pytest.mark.full
def test_backfill_that_runs_again_repeats_its_unique_keys(jobs: Jobs) -> None:
    start = min(message.store_timestamp for message in jobs.cluster.messages("orders"))
    for _ in range(2):
        jobs.run("Backfill by time", BEGIN=str(start), END=str(start + 3_600_000))
    messages = jobs.cluster.messages("orders-again")

    assert sorted(jobs.bodies("orders-again")) == sorted(2 * jobs.bodies("orders"))
    assert sorted(Counter(message.msg_id for message in messages).values()) == [2, 2, 2, 2]
    assert {properties_of(message)["KEYS"] for message in messages} == {"k10", "k20", "k30", "k40"}


def test_dead_letters_go_to_a_table(jobs: Jobs, spark: SparkSession) -> None:
    def fail(*_: object) -> ConsumeConcurrentlyStatus:
        return ConsumeConcurrentlyStatus.RECONSUME_LATER

    deadline = time.monotonic() + 60
    with open_push_consumer(
        jobs.cluster.address, "billing", {"orders": "t9"}, fail, max_reconsume_times=1
    ):
        while not jobs.cluster.dead_letters("billing") and time.monotonic() < deadline:
            jobs.cluster.advance(3600)
            time.sleep(0.1)
    jobs.run("Dead letters to a table")
    (row,) = spark.read.parquet(str(jobs.folder / "dead-letters")).collect()

    assert (row.topic, row.message, row.body) == ("orders", jobs.ids[3], jobs.bodies("orders")[3])
