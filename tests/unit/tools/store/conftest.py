"""Stores of real brokers, and the command."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store.__main__ import main
from tests.peers.peers import CURRENT, OLD
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore


@pytest.fixture(scope="session", params=[CURRENT, OLD])
def plain(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BrokerStore:
    """The store of a broker that was stopped in order; tests only read it."""
    return unpack(request.param, "plain", tmp_path_factory.mktemp("store"))


@pytest.fixture
def copy(tmp_path_factory: pytest.TempPathFactory) -> BrokerStore:
    """A store of the current release that a test may damage."""
    return unpack(CURRENT, "plain", tmp_path_factory.mktemp("copy"))


@pytest.fixture
def store(tmp_path: Path) -> BrokerStore:
    """As ``copy``, in the folder ``source`` of the test's own."""
    return unpack(CURRENT, "plain", tmp_path / "source")


@pytest.fixture(scope="session")
def packed_store(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, str], BrokerStore]:
    """A function of release and kind that unpacks a store of the fixtures; tests only read it."""
    stores: dict[tuple[str, str], BrokerStore] = {}

    def open_packed(release: str, kind: str) -> BrokerStore:
        name = (release, kind)
        if name not in stores:
            stores[name] = unpack(release, kind, tmp_path_factory.mktemp("packed"))
        return stores[name]

    return open_packed


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Any]:
    """Runs the command and checks its status; returns what it printed to both streams."""

    def run(*arguments: object, status: int = 0) -> Any:
        assert main([str(argument) for argument in arguments]) == status
        return capfdbinary.readouterr()

    return run


@pytest.fixture
def deny(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes the system refuse a folder or file, as one of another user, also to root."""

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
