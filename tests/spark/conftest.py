"""One Spark session for all tests; it takes a quarter of a minute to start."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.distribution import distribution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]


def without_spark() -> None:
    if importlib.util.find_spec("pyspark") is None:
        reason = "pyspark is not installed: pip install 'rocketwire[spark]'"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    # A session with two threads that finds the data source by itself; a task has three attempts.
    without_spark()
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        roots = [str(ROOT), str(ROOT / "namesrv"), str(ROOT / "tools")]
        patch.setenv("PYTHONPATH", os.pathsep.join([*roots, os.environ.get("PYTHONPATH", "")]))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        home = distribution(tmp_path_factory.mktemp("spark"))
        patch.setenv("SPARK_HOME", str(home))
        (home / "events").mkdir()
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.memory": "512m",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.showConsoleProgress": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": (home / "events").as_uri(),
        }
        builder = SparkSession.builder.master("local[2,3]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
