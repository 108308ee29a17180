"""The guide's recipe for clusters, on a cluster whose executors are processes of their own on this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.conftest import ROOT, without_spark
from tests.spark.guide import GUIDE
from tests.support.captures.builder import make, save
from tests.support.captures.decoded_rows import rows
from tests.support.captures.traffic import Profile

pytestmark = [pytest.mark.java, pytest.mark.slow]

SETTINGS = """
spark.master local-cluster[1,2,512]
spark.executor.memory 512m
spark.driver.memory 512m
spark.driver.host 127.0.0.1
spark.ui.enabled false
spark.log.level ERROR
"""
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
found = frames.select("time_ns", "opaque", "frame_length").collect()
homes = [one[0] for one in frames.limit(1).select(home("opaque")).collect()]
with open("found.json", "w") as file:
    json.dump([homes, found], file)
"""


def test_the_recipe_for_clusters_brings_the_package_to_the_executors(tmp_path: Path) -> None:
    without_spark()
    import pyspark

    spark = Path(pyspark.__file__).parent
    home = tmp_path / "spark"  # executors write below it
    (home / "conf").mkdir(parents=True)
    for name in ("bin", "jars"):
        (home / name).symlink_to(spark / name)
    (home / "conf" / "spark-defaults.conf").write_text(SETTINGS)
    site = tmp_path / "site"  # numpy and the like are installed here already
    for package in ("rocketwire", "tools/rocketwire_tools", "tools/pyspark_rocketwire"):
        shutil.copytree(
            ROOT / package, site / Path(package).name, ignore=shutil.ignore_patterns("__pycache__")
        )
    captures = tmp_path / "captures"
    captures.mkdir()
    packets, _ = make(Profile(connections=12, exchanges=12, body=(64, 2500)), seed=301)
    path = save(captures / "trace.pcap", packets)
    (tmp_path / "job.py").write_text(JOB)
    install, *others = recipe()
    assert install == 'pip install --target site "rocketwire[pcap]"'
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    ran = subprocess.run(
        ["bash", "-ec", "\n".join(others)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    homes, found = json.loads((tmp_path / "found.json").read_text())
    assert re.search(r"/app-[^/]+/\d+/(\./)?rocketwire/rocketwire_tools/__init__\.py$", homes[0])
    expected = [[row[name] for name in ("time_ns", "opaque", "frame_length")] for row in rows(path)]
    assert sorted(expected, key=str) == sorted(found, key=str)


def recipe() -> list[str]:
    """The guide's commands."""
    text = GUIDE.read_text("utf-8").partition("## On a cluster")[2]
    block = text.partition("```sh\n")[2].partition("```")[0]
    return block.splitlines()
