"""Stores of real brokers, and the rows that tasks read of them."""

import pickle
from collections.abc import Sequence
from typing import Any

from rocketwire_tools.spark.stores.columns import COLUMNS
from rocketwire_tools.spark.stores.options import read_options
from rocketwire_tools.spark.stores.planning import LogPart, parts
from rocketwire_tools.spark.stores.reading import read
from tests.support.stores.fixtures import open_store as open_store

EVERY = tuple(COLUMNS)


def read_rows(
    fields: Sequence[str] = EVERY, **options: str
) -> tuple[list[LogPart], list[dict[str, Any]]]:
    """The parts of a read and all its rows, read as tasks do: planned parts travel to them first."""
    settings = read_options(options)
    planned = parts(settings, fields)
    rows: list[dict[str, Any]] = []
    for part in pickle.loads(pickle.dumps(planned)):
        for batch in read(part, fields, settings):
            rows += batch.to_pylist()
    return planned, rows
