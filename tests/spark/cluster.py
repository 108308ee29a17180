"""Spark's standalone cluster on this machine: executors are processes of their own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.spark.conftest import ROOT
from tests.spark.distribution import distribution

_SETTINGS = """
spark.executor.memory 512m
spark.driver.memory 512m
spark.driver.host 127.0.0.1
spark.ui.enabled false
spark.log.level ERROR
"""


class LocalCluster:
    """A distribution of Spark that pip's PySpark makes up, below which executors write."""

    def __init__(self, folder: Path, master: str) -> None:
        self.folder = folder
        self.home = distribution(folder)
        defaults = f"spark.master {master}\n{_SETTINGS}"
        (self.home / "conf" / "spark-defaults.conf").write_text(defaults)

    def add_site(self, packages: Iterable[str]) -> None:
        # Copy packages as ``pip install --target site`` does; numpy and others are installed.
        for package in packages:
            shutil.copytree(
                ROOT / package,
                self.folder / "site" / Path(package).name,
                ignore=shutil.ignore_patterns("__pycache__"),
            )

    def submit(self, commands: Iterable[str], environment: Mapping[str, str]) -> None:
        variables = {
            **os.environ,
            "SPARK_HOME": str(self.home),
            "PATH": f"{self.home / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            **environment,
        }
        process = subprocess.run(
            ["bash", "-ec", "\n".join(commands)],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )
        assert process.returncode == 0, process.stderr[-5000:]


def read_recipe(guide: Path, heading: str) -> list[str]:
    text = guide.read_text("utf-8").partition(f"\n## {heading}\n")[2]
    return text.partition("```sh\n")[2].partition("```")[0].splitlines()
