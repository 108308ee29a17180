"""Stores of real brokers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.java.cache import JavaUnavailableError
from tests.support.stores import BrokerStore, open_store

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def store_of() -> Callable[[str, str], BrokerStore]:
    """A function of release and kind that returns a store.

    The first call for a kind makes the store, which takes half a minute.  The tests share the
    stores, so they must not write to them: ``copy_store`` makes a copy.
    """

    def opened(release: str, kind: str) -> BrokerStore:
        try:
            return open_store(release, kind)
        except JavaUnavailableError as missing:
            if os.environ.get("CI") == "true":
                raise
            pytest.skip(str(missing))

    return opened
