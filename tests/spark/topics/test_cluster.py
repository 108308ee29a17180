"""The guide's recipe for clusters, and executors that are killed while they send.

``make test-all`` runs it with 200,000 rows.
"""

import os
import signal
import threading
from pathlib import Path

import pytest

from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from tests.peers.processes import wait_until
from tests.spark.cluster import LocalCluster, read_recipe
from tests.spark.conftest import without_spark

pytestmark = pytest.mark.java

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "spark-topics.md"
ROWS = int(os.environ.get("ROCKETWIRE_SINK_ROWS", "6000"))
KILLS = int(os.environ.get("ROCKETWIRE_SINK_KILLS", "1"))
PACKAGES = ("rocketwire", "tools/rocketwire_tools", "tools/pyspark_rocketmq")
JOB = """
import os
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
rows = int(os.environ["ROWS"])
spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "200")
frame = spark.range(0, rows, 1, 6).selectExpr("lpad(cast(id as string), 400, '0') as body")
writer = frame.write.format("rocketmq").option("topic", "plain").option("ids", "stable")
writer.option("credentialsFile", "rocketmq.credentials").mode("append").save()
"""


@pytest.mark.full
def test_executors_that_are_killed_lose_no_row(rocketmq: RocketMQ, tmp_path: Path) -> None:
    without_spark()
    cluster = LocalCluster(
        tmp_path, "local-cluster[2,1,1024]", "spark.task.maxFailures 50\nspark.speculation false\n"
    )
    cluster.add_site(PACKAGES)
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "rocketmq.credentials").write_text("accessKey=spark\nsecretKey=secret-of-spark\n")
    rocketmq.topic(name="plain")
    killed: list[int] = []
    job_ended = threading.Event()

    def kill() -> None:
        for number in range(KILLS):
            count = ROWS * (number + 1) // (KILLS + 2)
            wait_until(
                lambda count=count: (  # type: ignore[misc]  # defaults as arguments
                    job_ended.is_set() or len(rocketmq.messages("plain")) >= count
                ),
                f"{count} rows",
                1800,
            )
            for pid in cluster.executors()[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        install, *commands = read_recipe(GUIDE, "On a cluster")
        assert install == 'pip install --target site "rocketwire[spark]"'
        cluster.submit(commands, {"NAMESRV_ADDR": rocketmq.address, "ROWS": str(ROWS)})
    finally:
        job_ended.set()
        killer.join()
    messages = rocketmq.messages("plain")
    keys = {message.body: message.msg_id for message in messages}

    assert len(killed) == KILLS
    assert {int(body or b"") for body in keys} == set(range(ROWS))
    assert all(keys[message.body] == message.msg_id for message in messages)
    assert len(set(keys.values())) == ROWS
