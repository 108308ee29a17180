"""Columns have the types of the engine, with times as Spark has them."""

from __future__ import annotations

import pytest

from rocketwire_tools.spark.stores.columns import (
    COLUMNS,
    batch_of,
    default_columns,
    microseconds,
    sql_types,
)
from rocketwire_tools.store.formats.arrow_rows import pa
from rocketwire_tools.store.verbs.export import DEFAULT_COLUMNS


def test_messages_have_the_columns_of_the_command_and_their_store() -> None:
    assert list(default_columns("messages")) == [
        *(name for name in DEFAULT_COLUMNS if name != "state"),
        "store",
    ]
    assert {"crc_ok": "boolean", "state": "string"}.items() <= sql_types("messages").items()
    assert sql_types("messages")["properties"] == "map<string,string>"
    assert sql_types("messages")["store_timestamp"] == "timestamp"


@pytest.mark.parametrize("table", COLUMNS)
def test_each_column_has_a_type_in_sql(table: str) -> None:
    assert all(sql_types(table).values())


def test_times_have_microseconds_and_impossible_ones_are_null() -> None:
    times = pa.array([0, 1_700_000_000_123, -1, 1 << 62], pa.timestamp("ms", tz="UTC"))

    result = microseconds(times).cast(pa.int64()).to_pylist()

    assert result == [0, 1_700_000_000_123_000, None, None]


def test_rows_become_a_batch_with_the_chosen_columns() -> None:
    row = {"due": 5, "topic": "t", "rolled": None, "store": "s"}

    batch = batch_of("timers", ["topic", "due"], [row])

    assert batch.to_pydict()["topic"] == ["t"]
    assert batch.column("due").cast(pa.int64()).to_pylist() == [5000]
