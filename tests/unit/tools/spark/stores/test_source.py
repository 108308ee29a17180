"""The readers as Spark calls them, without Spark."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.stores.columns import default_columns
from tests.peers.peers import CURRENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.stores.fixtures import OpenStore

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install rocketwire[spark]")


def source(**options: str) -> Any:
    from pyspark_rocketwire_store import DefaultSource

    return DefaultSource(options)


def schema(**columns: str) -> Any:
    from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

    types = {"string": StringType, "bigint": LongType, "int": IntegerType}
    return StructType([StructField(name, types[type_]()) for name, type_ in columns.items()])


def rows_of(reader: Any, partitions: Iterable[Any]) -> list[dict[str, Any]]:
    """All rows; readers and partitions travel to workers first."""
    return [
        row
        for partition in partitions
        for batch in pickle.loads(pickle.dumps(reader)).read(partition)
        for row in batch.to_pylist()
    ]


def test_source_has_its_documented_name_and_columns() -> None:
    expected = ", ".join(f"`{name}` {type_}" for name, type_ in default_columns().items())

    assert source(path="x").name() == "rocketmq-store"
    assert source(path="x").schema() == expected


def test_stream_is_refused_with_advice() -> None:
    reader = source(path="x").streamReader(schema())

    with pytest.raises(
        OptionError, match=r"files have no stream: read them again with spark\.read"
    ):
        reader.initialOffset()


def test_schema_chooses_the_columns(open_store: OpenStore) -> None:
    store = open_store(CURRENT, "plain")
    reader = source(path=str(store.root), splitSize="50k").reader(
        schema(queue_offset="bigint", topic="string", state="string")
    )

    rows = rows_of(reader, reader.partitions())

    assert rows == [
        {"queue_offset": message.queue_offset, "topic": message.topic, "state": "live"}
        for message in store.truth.pulled
    ]


@pytest.mark.process
def test_import_of_the_package_is_cheap() -> None:
    code = (
        "import sys, pyspark_rocketwire_store;"
        "print([m for m in ('numpy', 'trio', 'msgspec', 'rocketwire') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout.strip() == b"[]"
