"""A cluster that stores what a replay sends."""

import pytest

from tests.support.fakes.storing_cluster import StoringCluster


@pytest.fixture
def cluster() -> StoringCluster:
    """A cluster with the topics ``orders`` (two queues) and ``bills`` (one)."""
    return StoringCluster(orders=2, bills=1)
