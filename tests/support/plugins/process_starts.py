"""Tests that start a process have the marker ``process``, so that ``make check`` can leave them out.

This plugin fails a test that starts a process without the marker.  The test that sets a shared fixture up counts as the
one that starts the fixture's process.
"""

import multiprocessing.util
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import pytest

QUICK: Final = frozenset({"git", "fc-list"})
"""Programs that any test may run: they list files or fonts within milliseconds."""

EVENTS: Final = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "os.system"})
"""Audit events of a process start, besides ``subprocess.Popen``, whose arguments name the program."""

_programs: list[str] = []


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen":
        program = Path(str(arguments[0])).name
        if program not in QUICK:
            _programs.append(program)
    elif event in EVENTS:
        _programs.append(event)


_spawn = multiprocessing.util.spawnv_passfds


def _spawn_in_sight(*arguments: Any, **named: Any) -> int:
    """Start a process of ``multiprocessing``, which raises no audit event."""
    _programs.append("multiprocessing")
    return _spawn(*arguments, **named)


def pytest_configure() -> None:
    sys.addaudithook(_listen)
    multiprocessing.util.spawnv_passfds = _spawn_in_sight


def _check(item: pytest.Item, count: int) -> None:
    programs = _programs[count:]
    if programs and not any(map(item.get_closest_marker, ("process", "java"))):
        names = ", ".join(sorted(set(programs)))
        pytest.fail(f"starts a process ({names}): add @pytest.mark.process", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    count = len(_programs)
    yield
    _check(item, count)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    count = len(_programs)
    yield
    _check(item, count)
