"""Tests in several processes, as ``make test`` runs them (pytest-xdist): who runs what, and in which order.

The tests of a file share peers, so one process runs them all.  The longest files come first, then the other files with
real peers, and the short files that come last make all processes end at the same time.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest
from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

LONGEST: Final = (
    "tests/java/namesrv/test_mqadmin.py",
    "tests/integration/conformance/test_name_servers.py",
    "tests/java/admin/test_releases.py",
    "tests/java/namesrv/test_releases.py",
    "tests/java/admin/test_hanging.py",
    "tests/java/namesrv/test_groups.py",
    "tests/java/namesrv/test_proxy.py",
    "tests/java/client/test_members.py",
    "tests/java/client/test_releases.py",
    "tests/java/client/test_producer_faults.py",
    "tests/java/admin/test_messages.py",
    "tests/java/admin/test_looking.py",
    "tests/java/namesrv/test_switchover.py",
    "tests/java/namesrv/test_variants.py",
    "tests/java/namesrv/test_tls.py",
    "tests/java/namesrv/test_process.py",
    "tests/spark/test_source.py",
    "tests/spark/test_cluster.py",
)
"""Files that take more than half a minute, longest first: one that came last would keep the others waiting."""

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
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files and the files with real peers first; among those of a kind the order stays."""
    if not WORKER:
        return
    waiting = {item.path for item in items if item.get_closest_marker("java")}
    places = {config.rootpath / file: place for place, file in enumerate(LONGEST)}
    last = len(LONGEST)
    items.sort(key=lambda item: (places.get(item.path, last), item.path not in waiting))
