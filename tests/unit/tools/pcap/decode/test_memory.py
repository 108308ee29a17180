"""Processes that decode start no threads that they do not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ONE_THREAD = """
import os
os.environ.pop("OPENBLAS_NUM_THREADS", None)
from rocketwire_tools.pcap.decode.memory import start_no_algebra_threads
start_no_algebra_threads()
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="another system")
def test_no_threads_are_started_for_linear_algebra() -> None:
    command = [sys.executable, "-c", ONE_THREAD]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1\n"
