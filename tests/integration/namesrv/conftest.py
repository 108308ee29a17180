"""Fixtures of a running server: each driver in turn."""

import threading
from collections.abc import Iterator

import pytest

from rocketwire_namesrv.runtime import storage
from tests.support.running_server import REACTOR, Driver


@pytest.fixture(params=["portable", pytest.param("reactor", marks=REACTOR)])
def driver_name(request: pytest.FixtureRequest) -> Iterator[str]:
    Driver.name = request.param
    yield Driver.name
    while Driver.sockets:
        Driver.sockets.pop().close()


@pytest.fixture
def may_save(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    # The event that a file waits for before it is saved.
    event, save = threading.Event(), storage.save

    def save_later(path: str, content: bytes) -> None:
        event.wait(10)
        save(path, content)

    monkeypatch.setattr(storage, "save", save_later)
    return event
