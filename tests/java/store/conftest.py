"""A name server for brokers that are started on copies of stores."""

from collections.abc import Iterator

import pytest

from tests.peers.peers import JavaNameServer


@pytest.fixture(scope="session")
def name_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaNameServer]:
    with JavaNameServer(tmp_path_factory.mktemp("namesrv")) as server:
        yield server
