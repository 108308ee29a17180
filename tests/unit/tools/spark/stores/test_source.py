"""The readers as Spark calls them, without Spark: what they plan, read and remember."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.stores.columns import default_columns
from tests.support.java.peers import CURRENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.support.stores import BrokerStore

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install rocketwire[spark]")


def source(**options: str) -> Any:
    from pyspark_rocketwire_store import DefaultSource

    return DefaultSource(options)


def schema(**columns: str) -> Any:
    from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

    types = {"string": StringType, "bigint": LongType, "int": IntegerType}
    return StructType([StructField(name, types[kind]()) for name, kind in columns.items()])


def rows_of(reader: Any, partitions: Iterable[Any]) -> list[dict[str, Any]]:
    """All rows; readers and partitions travel to workers first."""
    return [
        row
        for partition in partitions
        for batch in pickle.loads(pickle.dumps(reader)).read(partition)
        for row in batch.to_pylist()
    ]


def test_it_has_the_name_and_the_columns_that_are_documented() -> None:
    expected = ", ".join(f"`{name}` {kind}" for name, kind in default_columns("messages").items())

    assert source(path="x").name() == "rocketmq-store"
    assert source(path="x").schema() == expected
    assert "`lag` bigint" in source(path="x", table="offsets").schema()


def test_a_schema_chooses_what_is_read(packed_store: Callable[[str, str], BrokerStore]) -> None:
    store = packed_store(CURRENT, "plain")
    reader = source(path=str(store.root), splitSize="50k").reader(
        schema(queue_offset="bigint", topic="string", state="string")
    )

    rows = rows_of(reader, reader.partitions())

    assert rows == [
        {"queue_offset": message.queue_offset, "topic": message.topic, "state": "live"}
        for message in store.truth.pulled
    ]


@pytest.mark.parametrize(("name", "kind"), [("topic", "int"), ("subject", "string")])
def test_a_column_that_is_not_there_or_of_another_type_is_refused(name: str, kind: str) -> None:
    with pytest.raises(OptionError, match=f"no column '{name}' of type {kind}"):
        source(path="x").reader(schema(**{name: kind}))


def test_filters_choose_what_is_read_and_are_given_back(
    packed_store: Callable[[str, str], BrokerStore],
) -> None:
    from pyspark.sql.datasource import EqualTo, Not

    store = packed_store(CURRENT, "plain")
    reader = source(path=str(store.root), pushFilters="true").reader(schema(topic="string"))
    filters = [EqualTo(("topic",), "bills"), Not(EqualTo(("queue_id",), 9))]

    assert list(reader.pushFilters(filters)) == filters

    rows = rows_of(reader, reader.partitions())
    count = sum(message.topic == "bills" for message in store.truth.pulled)
    assert rows == [{"topic": "bills"}] * count
    list(reader.pushFilters([EqualTo(("topic",), "orders")]))
    assert rows_of(reader, reader.partitions()) == []


def test_a_table_has_a_partition_for_each_store(
    packed_store: Callable[[str, str], BrokerStore],
) -> None:
    store = packed_store(CURRENT, "plain")
    reader = source(path=str(store.root), table="queues").reader(schema(queue_offset="bigint"))
    partitions = reader.partitions()

    assert len(partitions) == 1
    assert len(rows_of(reader, partitions)) == len(store.truth.pulled)


def test_no_partitions_are_no_rows() -> None:
    from pyspark.sql.datasource import InputPartition

    for table in ("messages", "damage"):
        reader = source(path="x", table=table).reader(schema())
        assert list(reader.read(InputPartition(None))) == []


def test_a_stream_goes_on_where_it_was(packed_store: Callable[[str, str], BrokerStore]) -> None:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes

    store = packed_store(CURRENT, "plain")
    options = {"path": str(store.root), "maxBytesPerTrigger": "100k"}
    reader = source(**options).streamReader(schema(physical_offset="bigint"))
    assert reader.getDefaultReadLimit() == ReadMaxBytes(100 << 10)
    start = reader.initialOffset()
    reader.prepareForTriggerAvailableNow()
    middle = reader.latestOffset(start, ReadMaxBytes(100 << 10))
    end = reader.latestOffset(middle, ReadAllAvailable())

    rows = rows_of(reader, reader.partitions(start, middle))
    rest = rows_of(reader, reader.partitions(middle, end))

    offsets = [row["physical_offset"] for row in rows + rest]
    assert offsets == [message.physical_offset for message in store.truth.pulled]
    assert reader.latestOffset(end, ReadAllAvailable()) == end
    unlimited = source(path="x", maxBytesPerTrigger="0").streamReader(schema())
    assert unlimited.getDefaultReadLimit() == ReadAllAvailable()


def test_a_stream_has_messages_alone() -> None:
    with pytest.raises(OptionError, match="a stream has no table 'damage'"):
        source(path="x", table="damage").streamReader(schema())


@pytest.mark.process
def test_importing_what_spark_looks_at_is_cheap() -> None:
    code = (
        "import sys, pyspark_rocketwire_store;"
        "print([m for m in ('numpy', 'trio', 'msgspec', 'rocketwire') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout.strip() == b"[]"
