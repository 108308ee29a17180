"""Fixtures of a running server: each driver in turn."""

from collections.abc import Iterator

import pytest

from tests.support.running_server import REACTOR, Driver


@pytest.fixture(params=["portable", pytest.param("reactor", marks=REACTOR)])
def driver_name(request: pytest.FixtureRequest) -> Iterator[str]:
    Driver.name = request.param
    yield Driver.name
    while Driver.sockets:
        Driver.sockets.pop().close()
