"""Columns have the types of the engine, with times as Spark has them."""

from rocketwire_tools.spark.stores.columns import default_columns, microseconds, sql_types
from rocketwire_tools.store.engine.properties import pa
from rocketwire_tools.store.verbs.export import DEFAULT_COLUMNS


def test_messages_have_the_columns_of_the_command_and_their_store() -> None:
    assert list(default_columns()) == [
        *(name for name in DEFAULT_COLUMNS if name != "state"),
        "store",
    ]
    assert {"crc_ok": "boolean", "state": "string"}.items() <= sql_types().items()
    assert sql_types()["properties"] == "map<string,string>"
    assert sql_types()["store_timestamp"] == "timestamp"


def test_times_have_microseconds_and_impossible_ones_are_null() -> None:
    times = pa.array([0, 1_700_000_000_123, -1, 1 << 62], pa.timestamp("ms", tz="UTC"))

    result = microseconds(times).cast(pa.int64()).to_pylist()

    assert result == [0, 1_700_000_000_123_000, None, None]
