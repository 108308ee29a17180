"""Processes that decode keep their memory, ask for large pages, and start no threads that they do not need."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from rocketwire_tools.cli.file_program import prepare_process
prepare_process()
parts = open("/proc/self/smaps").read().split("VmFlags:")
flags = [behind.split("\\n")[0] for part, behind in zip(parts, parts[1:]) if "[heap]" in part]
print(any(" hg" in each for each in flags))
import numpy as np
data = np.ones(12 << 20, np.uint8)
inside = [line.split() for line in open("/proc/self/maps") if "[heap]" in line]
ranges = [[int(end, 16) for end in each[0].split("-")] for each in inside]
print(any(low <= data.ctypes.data < high for low, high in ranges))
"""
LARGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.mark.process
@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or not LARGE_PAGES.exists(), reason="another system"
)
def test_arrays_come_from_memory_that_is_kept_and_has_large_pages() -> None:
    assert run(PROGRAM) == "True\nTrue\n"


def run(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


ONE_THREAD = """
import os
os.environ.pop("OPENBLAS_NUM_THREADS", None)
from rocketwire_tools.cli.file_program import prepare_process
prepare_process()
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="another system")
def test_no_threads_are_started_for_linear_algebra() -> None:
    assert run(ONE_THREAD) == "1\n"
