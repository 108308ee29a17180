"""Forks while trio is at work: the child finds whole modules, and the parent goes on."""

import importlib
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rocketwire.portal.portal import Portal, PortalUser, leave_portal, use_portal

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork"),
]

SLOW = """
import time
from tests.integration.facades import test_forks
test_forks.has_begun.set()
time.sleep(0.2)
VALUE = 42
"""

has_begun = threading.Event()


@pytest.fixture
def portal() -> Iterator[Portal]:
    user = PortalUser()
    portal = use_portal(user)
    yield portal
    leave_portal(user)
    portal.join_if_unused()


async def answer() -> int:
    return 42


def fork() -> int:
    child = os.fork()
    if child == 0:
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_fork_waits_for_an_import_of_trio(
    portal: Portal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slowly_imported.py").write_text(SLOW)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    has_begun.clear()
    portal.post(lambda: importlib.import_module("slowly_imported"))
    assert has_begun.wait(30)

    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if importlib.import_module("slowly_imported").VALUE == 42 else 2
        finally:
            os._exit(status)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert portal.call(answer) == 42


def test_threads_may_fork_at_the_same_time(portal: Portal) -> None:
    with ThreadPoolExecutor(4) as pool:
        forks = [pool.submit(fork) for _ in range(4)]
        assert [future.result(60) for future in forks] == [0] * 4
    assert portal.call(answer) == 42


def test_a_function_that_trio_calls_may_fork(portal: Portal) -> None:
    statuses: list[int] = []
    portal.post(lambda: statuses.append(fork()))
    assert portal.call(answer) == 42

    assert statuses == [0]
