"""The runs that several tests look at: a run takes seconds, so there is one for each server."""

import pytest
from trio.testing import MockClock

from tests.integration.conformance.runs import Played, java_played, ours_played


@pytest.fixture(params=["one server", pytest.param("all servers", marks=pytest.mark.full)])
def java_run(request: pytest.FixtureRequest) -> Played:
    # The suite on Java's name server 5.5.0: the cases that share a server, or all, whose thirty JVMs take a minute.
    return java_played(quick=request.param == "one server")


@pytest.fixture(params=["reactor", pytest.param("portable", marks=pytest.mark.full)])
def our_run(request: pytest.FixtureRequest) -> Played:
    # The suite on our name server, on each driver; kept over tests in any order.
    return ours_played(request.param, quick=request.param == "reactor")


@pytest.fixture
def jumping_clock() -> MockClock:
    """Time that passes at once while all tasks of this process wait, also for each other's bytes.

    Bytes over loopback arrive before this long.
    """
    return MockClock(autojump_threshold=0.001)
