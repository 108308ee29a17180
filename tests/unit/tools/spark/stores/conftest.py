"""Stores of real brokers, and the rows that tasks read of them."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from rocketwire_tools.spark.stores.columns import COLUMNS
from rocketwire_tools.spark.stores.options import read_options
from rocketwire_tools.spark.stores.planning import parts
from rocketwire_tools.spark.stores.reading import read
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.spark.stores.parts import LogPart
    from tests.support.stores import BrokerStore

EVERY = tuple(COLUMNS)


@pytest.fixture(scope="session")
def packed_store(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], BrokerStore]:
    """A function of release and kind that unpacks a store of the fixtures; tests only read it."""
    stores: dict[tuple[str, str], BrokerStore] = {}

    def open_packed(release: str, kind: str) -> BrokerStore:
        if (release, kind) not in stores:
            stores[release, kind] = unpack(release, kind, tmp_path_factory.mktemp("packed"))
        return stores[release, kind]

    return open_packed


class ReadRows(Protocol):
    """Reads rows as tasks do; planned parts travel to them first."""

    def __call__(
        self, fields: Sequence[str] = ..., **options: str
    ) -> tuple[list[LogPart], list[dict[str, Any]]]: ...


@pytest.fixture(scope="session")
def read_rows() -> ReadRows:
    """A function of columns and options that returns the parts of a read and all its rows."""

    def read_all(
        fields: Sequence[str] = EVERY, **options: str
    ) -> tuple[list[LogPart], list[dict[str, Any]]]:
        settings = read_options(options)
        planned = parts(settings, fields)
        rows: list[dict[str, Any]] = []
        for part in pickle.loads(pickle.dumps(planned)):
            for batch in read(part, fields, settings):
                rows += batch.to_pylist()
        return planned, rows

    return read_all
