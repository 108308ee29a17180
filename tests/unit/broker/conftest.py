"""A broker without sockets, and clients of it.

A module defines ``home`` or ``client`` anew if its tests need other settings or topics.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import Reader
from tests.support.broker_pops import Popper
from tests.support.virtual_disk import VirtualDisk
from tests.unit.broker.storage.stores import CountingLog


@pytest.fixture
def home() -> BrokerAtHand:
    return BrokerAtHand()


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    return home.connect()


@pytest.fixture
def log(tmp_path: Path) -> CountingLog:
    return CountingLog(tmp_path)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[VirtualDisk]:
    """A disk that fails if a test asks for it, below the test's folder."""
    with VirtualDisk(tmp_path) as disk:
        yield disk


@pytest.fixture
def reader(home: BrokerAtHand, client: Client) -> Reader:
    """A reader of lite topics; the module's ``home`` has their parent topic and group."""
    return Reader(home, client)


@pytest.fixture
def popper(home: BrokerAtHand, client: Client) -> Popper:
    return Popper(home, client)
