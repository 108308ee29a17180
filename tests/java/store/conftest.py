"""A name server for brokers that are started on copies of stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.peers.peers import JavaNameServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def name_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaNameServer]:
    """One for all brokers that are started on copies of stores."""
    with JavaNameServer(tmp_path_factory.mktemp("namesrv")) as server:
        yield server
