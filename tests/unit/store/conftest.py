"""Stores of real brokers, unpacked from the fixtures."""

import pytest

from tests.peers.peers import CURRENT, OLD
from tests.support.stores import BrokerStore
from tests.support.stores.fixtures import unpack


@pytest.fixture(scope="session", params=[CURRENT, OLD])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BrokerStore:
    """The store of a broker that was stopped in order; tests only read it."""
    return unpack(request.param, "plain", tmp_path_factory.mktemp("store"))
