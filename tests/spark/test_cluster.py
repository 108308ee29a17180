"""The guide's recipe for clusters, on a cluster whose executors are processes of their own on this machine."""

import json
import re
from pathlib import Path

import pytest

from tests.spark.cluster import LocalCluster, read_recipe
from tests.spark.conftest import without_spark
from tests.spark.guide import GUIDE
from tests.support.captures.decoded_rows import rows
from tests.support.captures.fixtures import SMALL, make

pytestmark = pytest.mark.java

JOB = """
import json
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

@udf
def home(_):
    import rocketwire_tools
    return rocketwire_tools.__file__

spark = SparkSession.builder.getOrCreate()
frames = spark.read.format("rocketmq-pcap").option("splitSize", "400001").load("captures/*.pcap")
rows = frames.select("time_ns", "opaque", "frame_length").collect()
homes = [row[0] for row in frames.limit(1).select(home("opaque")).collect()]
with open("rows.json", "w") as file:
    json.dump([homes, rows], file)
"""


@pytest.mark.full
def test_recipe_for_clusters_brings_the_package_to_the_executors(tmp_path: Path) -> None:
    without_spark()
    cluster = LocalCluster(tmp_path, "local-cluster[1,2,512]")
    cluster.add_site(("rocketwire", "tools/rocketwire_tools", "tools/pyspark_rocketwire"))
    captures = tmp_path / "captures"
    captures.mkdir()
    path = make(captures / "trace.pcap", SMALL, 301).path
    (tmp_path / "job.py").write_text(JOB)
    install, *commands = read_recipe(GUIDE, "On a cluster")
    assert install == 'pip install --target site "rocketwire[pcap]"'
    cluster.submit(commands, {})
    homes, decoded = json.loads((tmp_path / "rows.json").read_text())
    assert re.search(r"/app-[^/]+/\d+/(\./)?rocketwire/rocketwire_tools/__init__\.py$", homes[0])
    expected = [[row[name] for name in ("time_ns", "opaque", "frame_length")] for row in rows(path)]
    assert sorted(expected, key=str) == sorted(decoded, key=str)
