"""Stores of real brokers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.java.cache import JavaUnavailableError
from tests.support.java.peers import CURRENT, OLD, JavaNameServer
from tests.support.stores import BrokerStore, open_store
from tests.support.stores.store import folder_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHOSEN = {(CURRENT, "plain"), (CURRENT, "killed"), (OLD, "plain"), (OLD, "features")}
"""Release and kind of the stores that every run makes; each takes a broker some twenty seconds.

The fixtures have all kinds (``tests/support/stores/fixtures.py``), for tests without Java.
"""


@pytest.fixture(scope="session")
def store_of() -> Callable[[str, str], BrokerStore]:
    """A function of release and kind that returns a store.

    The first call for a kind makes the store, which takes half a minute.  The tests share the
    stores, so they must not write to them: ``copy_store`` makes a copy.
    """

    def opened(release: str, kind: str) -> BrokerStore:
        is_chosen = (release, kind) in CHOSEN or os.environ.get("ROCKETWIRE_STORES") == "all"
        if not is_chosen and not folder_of(release, kind).exists():
            pytest.skip("most stores are made only with ROCKETWIRE_STORES=all")
        try:
            return open_store(release, kind)
        except JavaUnavailableError as missing:
            if os.environ.get("CI") == "true":
                raise
            pytest.skip(str(missing))

    return opened


@pytest.fixture(scope="session")
def name_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaNameServer]:
    """One for all brokers that are started on copies of stores."""
    with JavaNameServer(tmp_path_factory.mktemp("namesrv")) as server:
        yield server
