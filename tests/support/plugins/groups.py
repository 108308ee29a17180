"""Which tests one process of pytest-xdist runs, and which come first.

The tests of a file run in one process, for they share fixtures.  Spark, the oracles and the shared cluster of Java
peers cost up to fifteen seconds of CPU time to start: only a few processes start them.  (xdist's own groups, ``--dist
loadgroup``, have no effect with pytest 9.2: xdist 3.8 writes them to an attribute that is not read any more.)
"""

import zlib
from typing import Final

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

FOLDERS: Final = ("tests/spark/", "tests/java/oracle/")
"""Folders whose tests one process runs."""
CLUSTER_FOLDERS: Final = (
    "tests/java/admin/",
    "tests/java/broker/",
    "tests/java/client/",
    "tests/java/facades/",
)
"""Folders whose tests use the shared cluster of Java peers."""
CLUSTERS: Final = 2
"""Processes that start the shared cluster."""


def group_of(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    if file.startswith(CLUSTER_FOLDERS):
        return f"cluster {zlib.crc32(file.encode()) % CLUSTERS}"
    return next((folder for folder in FOLDERS if file.startswith(folder)), file)


class Scheduler(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Hands out groups in the order in which their tests were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduler:
    config.option.loadscopereorder = False
    return Scheduler(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long groups first, then other tests with Java peers."""
    items.sort(
        key=lambda item: (".py" in group_of(item.nodeid), item.get_closest_marker("java") is None)
    )
