"""Stores of real brokers."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.peers.peers import CURRENT, OLD
from tests.support.stores import BrokerStore
from tests.support.stores.fixtures import open_store as open_store
from tests.support.stores.fixtures import unpack


@pytest.fixture(scope="session", params=[CURRENT, OLD])
def intact(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BrokerStore:
    """The store of a broker that was stopped in order; tests only read it."""
    return unpack(request.param, "plain", tmp_path_factory.mktemp("store"))


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> BrokerStore:
    """A store of the current release that a test may damage."""
    return unpack(CURRENT, "plain", tmp_path_factory.mktemp("source"))


@pytest.fixture
def deny(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Make the system refuse a folder or file, as one of another user, also to root."""

    def deny(denied: Path) -> None:
        def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(path: Any, *arguments: Any, **options: Any) -> Any:
                if isinstance(path, (str, Path)) and Path(path) == denied:
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
                return function(path, *arguments, **options)

            return call

        for name in ("scandir", "open"):
            monkeypatch.setattr(os, name, refusing(getattr(os, name)))

    return deny
