"""Settings of the name server's process."""

import ctypes
import gc
import subprocess
import sys

import pytest

from rocketwire.serving.process_tuning import (
    MMAP_THRESHOLD,
    TRIM_THRESHOLD,
    allow_many_connections,
    give_memory_back,
    tune_garbage_collector,
)


def test_limit_of_file_descriptors_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    requests: list[tuple[int, int]] = []

    def refuse(_: int, limits: tuple[int, int]) -> None:
        requests.append(limits)
        raise ValueError("not allowed")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    allow_many_connections()

    assert requests == [(4096, 4096)]


def test_thresholds_of_the_allocator_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    options: list[tuple[int, int]] = []

    class Library:
        @staticmethod
        def mallopt(parameter: int, value: int) -> None:
            options.append((parameter, value))

    monkeypatch.setattr(ctypes, "CDLL", {None: Library}.__getitem__)
    give_memory_back()

    assert sorted(options) == [(-3, MMAP_THRESHOLD), (-1, TRIM_THRESHOLD)]


def test_another_c_library_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", {None: object()}.__getitem__)

    give_memory_back()


DEFAULT_THRESHOLD = 700
"""Python's own."""
GROW_AND_SHRINK = """
import sys
from rocketwire.serving.process_tuning import give_memory_back
if sys.argv[1] == "told":
    give_memory_back()
for size in range(1, 17):
    b"x" * (size << 20)  # each is freed at once, and what is freed sets glibc's threshold
blocks = [b"x" * (2 << 20) for _ in range(12)]
blocks[:-1] = []
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["VmRSS"].split()[0]))
"""


@pytest.mark.process
def test_the_memory_of_large_blocks_goes_back() -> None:
    def resident(how: str) -> int:
        command = [sys.executable, "-c", GROW_AND_SHRINK, how]
        return int(subprocess.run(command, capture_output=True, check=True).stdout)

    assert resident("told") < resident("untold") - 8 * 1024


def test_the_collector_skips_permanent_objects() -> None:
    thresholds = gc.get_threshold()
    gc.unfreeze()
    try:
        tune_garbage_collector()

        assert gc.get_freeze_count() > 1000
        assert gc.get_threshold()[0] > DEFAULT_THRESHOLD
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
