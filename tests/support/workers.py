"""Tests in several processes, as ``make test`` runs them (pytest-xdist): who runs what, and in which order.

The tests of a file share peers, so one process runs them all.  Files with real peers come first: most of their time is waiting,
which is best done beside other work, and the short files that come last make all processes end at the same time.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
"""``gw0``, ``gw1`` and so on; empty where pytest runs the tests itself."""


def are_to_start(config: pytest.Config) -> bool:
    """Whether this process runs no tests itself but starts others that do."""
    return not WORKER and config.getoption("dist", "no") != "no"


def pytest_configure(config: pytest.Config) -> None:
    """Measure the processes that run tests alone: what they start is not slowed down by it."""
    if not are_to_start(config):
        os.environ.pop("COVERAGE_PROCESS_START", None)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Hand files out in the order in which they were collected."""
    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files with real peers first; within files, and among those of a kind, the order stays."""
    if not WORKER:
        return
    waiting = {item.path for item in items if item.get_closest_marker("java")}
    items.sort(key=lambda item: item.path not in waiting)
