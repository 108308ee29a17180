"""The runs that several tests look at: a run takes seconds, so there is one for each server."""

from __future__ import annotations

import pytest
from trio.testing import MockClock

from tests.integration.conformance.runs import DRIVERS, Played, java_played, ours_played


@pytest.fixture(scope="session")
def java_run() -> Played:
    """The suite on Java's name server 5.5.0."""
    return java_played()


@pytest.fixture(params=DRIVERS)
def our_run(request: pytest.FixtureRequest) -> Played:
    """The suite on our name server, on each driver; kept over tests in any order."""
    return ours_played(request.param)


@pytest.fixture
def jumping_clock() -> MockClock:
    """Time that passes at once while all tasks of this process wait, also for each other's bytes.

    Bytes over loopback arrive before this long.
    """
    return MockClock(autojump_threshold=0.001)
