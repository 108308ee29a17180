"""The guide's recipe for clusters: executors of their own send the rows of a job."""

from pathlib import Path

import pytest

from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from tests.spark.cluster import LocalCluster, read_recipe
from tests.spark.conftest import without_spark

pytestmark = pytest.mark.java

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "spark-topics.md"
ROWS = 2000
PACKAGES = ("rocketwire", "tools/rocketwire_tools", "tools/pyspark_rocketmq")
JOB = f"""
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "200")
frame = spark.range(0, {ROWS}, 1, 6).selectExpr("lpad(cast(id as string), 400, '0') as body")
writer = frame.write.format("rocketmq").option("topic", "plain")
writer.option("credentialsFile", "rocketmq.credentials").mode("append").save()
"""


@pytest.mark.full
def test_recipe_for_clusters_writes_every_row(rocketmq: RocketMQ, tmp_path: Path) -> None:
    without_spark()
    cluster = LocalCluster(tmp_path, "local-cluster[2,1,1024]")
    cluster.add_site(PACKAGES)
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "rocketmq.credentials").write_text("accessKey=spark\nsecretKey=secret-of-spark\n")
    rocketmq.topic(name="plain")
    install, *commands = read_recipe(GUIDE, "On a cluster")

    cluster.submit(commands, {"NAMESRV_ADDR": rocketmq.address})

    assert install == 'pip install --target site "rocketwire[spark]"'
    bodies = [int(message.body or b"") for message in rocketmq.messages("plain")]
    assert sorted(bodies) == list(range(ROWS))
