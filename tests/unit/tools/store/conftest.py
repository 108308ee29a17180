"""Stores of real brokers, and the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store.__main__ import main
from tests.support.java.peers import CURRENT, OLD
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore


@pytest.fixture(scope="session", params=[CURRENT, OLD])
def plain(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BrokerStore:
    """The store of a broker that was stopped in order; tests only read it."""
    return unpack(request.param, "plain", tmp_path_factory.mktemp("store"))


@pytest.fixture
def store(tmp_path: Path) -> BrokerStore:
    """The store of a 5.5.0 broker, which the test may change."""
    return unpack(CURRENT, "plain", tmp_path / "source")


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Any]:
    """Runs the command and checks its status; returns what it printed to both streams."""

    def run(*arguments: object, status: int = 0) -> Any:
        assert main([str(argument) for argument in arguments]) == status
        return capfdbinary.readouterr()

    return run
