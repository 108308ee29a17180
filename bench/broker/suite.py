"""A suite of small tests with a fresh cluster each, as users write them: ``--suite``.

The same test bodies run with the fixture ``rocketmq`` in pytest, all of them, and with a name server
and a broker of Java's for each, a few of them; Java's total is the mean of those times the number of
tests, an extrapolation.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import trio

from bench.broker.small_tests import BODIES
from tests.support.java.cluster import JavaCluster

TESTS: Final = 100

_FILE: Final = """
import pytest
import trio

from bench.broker.small_tests import BODIES


@pytest.mark.parametrize("number", range({tests}))
def test_small(rocketmq, number):
    trio.run(BODIES[number % len(BODIES)], rocketmq.address)
"""


def lines(java_tests: int) -> list[str]:
    """Run the suites, and describe what they took."""
    elapsed, cpu = _ours()
    text = [
        f"{TESTS} tests with the fixture rocketmq: {elapsed:.1f} s elapsed, {cpu:.1f} s of CPU time,"
        f" {elapsed / TESTS * 1000:.0f} ms a test"
    ]
    if java_tests:
        times = [_java(number) for number in range(java_tests)]
        mean = sum(times) / len(times)
        text.append(
            f"{java_tests} of the tests with Java's servers: {mean:.1f} s each with start and stop;"
            f" {TESTS} of them, extrapolated: {mean * TESTS / 60:.0f} min"
        )
    return text


def _ours() -> tuple[float, float]:
    root = Path(__file__).parents[2]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test_small.py"
        path.write_text(_FILE.format(tests=TESTS))
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:randomly",
            "-p",
            "no:cacheprovider",
        ]
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(
            [*command, f"--rootdir={folder}", str(path)],
            check=True,
            cwd=root,
            stdout=subprocess.DEVNULL,
        )
        elapsed = time.monotonic() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _java(number: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        with JavaCluster(Path(folder)) as cluster:
            trio.run(BODIES[number % len(BODIES)], cluster.address)
        return time.monotonic() - begun
