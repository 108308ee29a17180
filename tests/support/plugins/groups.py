"""Which tests one process of pytest-xdist runs (``--dist loadgroup``), and which groups come first.

The tests of a file run in one process, for they share fixtures.  Spark, the oracles and the shared cluster of Java
peers cost up to fifteen seconds of CPU time to start, so few processes start them.
"""

from __future__ import annotations

import zlib
from typing import Final

import pytest

FOLDERS: Final = ("tests/spark", "tests/java/oracle")
"""Folders whose tests one process runs."""

CLUSTER: Final = "shared_java_cluster"
CLUSTERS: Final = 2
"""Processes that start the shared cluster."""


def _group_of(item: pytest.Item) -> str:
    file = item.nodeid.partition("::")[0]
    for folder in FOLDERS:
        if file.startswith(folder):
            return folder
    if CLUSTER in getattr(item, "fixturenames", ()):
        return f"cluster {zlib.crc32(file.encode()) % CLUSTERS}"
    return file


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Keep the order in which the tests were collected."""
    config.option.loadscopereorder = False


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its group; put the long groups first, then other tests with Java peers."""
    groups = {item: _group_of(item) for item in items}
    for item in items:
        if item.get_closest_marker("java"):  # a peer may be late on a loaded machine
            item.add_marker(pytest.mark.flaky(reruns=1))
    for item, group in groups.items():
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: (".py" in groups[item], item.get_closest_marker("java") is None))
