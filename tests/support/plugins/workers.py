"""Tests in several processes, as ``make test`` runs them (pytest-xdist): who runs what, and in which order.

The tests of a file share peers, so one process runs them all.  The longest files come first, then the other files with
real peers, and the short files that come last make all processes end at the same time.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, cast

import pytest
from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from collections.abc import Generator

    from _pytest.fixtures import SubRequest
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

LONGEST: Final = (
    "tests/spark/test_source.py",
    "tests/java/store/test_rebuild.py",
    "tests/java/oracle/test_vectors.py",
    "tests/java/namesrv/test_mqadmin.py",
    "tests/integration/conformance/test_name_servers.py",
    "tests/java/admin/test_releases.py",
    "tests/java/namesrv/test_releases.py",
    "tests/java/admin/test_hanging.py",
    "tests/java/admin/test_secured.py",
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
)
"""Files that take more than half a minute, longest first: one that came last would keep the others waiting."""

TOGETHER: Final = ("tests/spark/", "tests/java/oracle/")
"""Folders whose tests one process runs: Spark takes 15 s to start, three oracles take 5 s."""

CLUSTER: Final = "shared_java_cluster"

PEERS: Final = frozenset({CLUSTER, "java_peer", "cluster", "peer", "peers"})
"""Fixtures of the session that hold Java peers."""

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
"""``gw0``, ``gw1`` and so on; empty where pytest runs the tests itself."""


def are_to_start(config: pytest.Config) -> bool:
    """Whether this process runs no tests itself but starts others that do."""
    return not WORKER and config.getoption("dist", "no") != "no"


def pytest_configure(config: pytest.Config) -> None:
    """Measure the processes that run tests alone: what they start is not slowed down by it."""
    if not are_to_start(config):
        os.environ.pop("COVERAGE_PROCESS_START", None)


class Scheduler(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Hands out files, and the folders of ``TOGETHER`` as one."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Hand files out in the order in which they were collected."""
    config.option.loadscopereorder = False
    return Scheduler(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files and the files with real peers first; otherwise the order stays.

    Files with the shared cluster follow each other, so that it starts and ends once.
    """
    if not WORKER:
        return
    places = {config.rootpath / file: place for place, file in enumerate(LONGEST)}
    first = {item.path for item in items if item.get_closest_marker("java")} | set(places)
    functions = (item for item in items if isinstance(item, pytest.Function))
    sharing = {item.path for item in functions if CLUSTER in item.fixturenames}
    last = len(LONGEST)
    items.sort(
        key=lambda item: (
            item.path not in first,
            item.path in sharing,
            places.get(item.path, last),
        )
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """End the Java peers of the session that the tests of the next file do not use.

    They start again for a later file.  An idle broker takes 6 % of a core.
    """
    yield
    if nextitem is None or nextitem.path == item.path or not item.get_closest_marker("java"):
        return
    functions = [each for each in item.session.items if isinstance(each, pytest.Function)]
    needed = {
        name for each in functions if each.path == nextitem.path for name in each.fixturenames
    }
    request = cast("SubRequest", cast("pytest.Function", item)._request)  # pyright: ignore[reportPrivateUsage] - pytest has no public name
    for each in functions:
        if each.path == item.path:
            definitions = each._fixtureinfo.name2fixturedefs  # pyright: ignore[reportPrivateUsage] - pytest has no public name
            for name in PEERS.intersection(definitions) - needed:
                for fixture in definitions[name]:
                    fixture.finish(request)
