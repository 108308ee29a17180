"""The readers as Spark calls them, without Spark."""

import subprocess
import sys
from typing import Any

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.stores.columns import default_columns
from tests.peers.peers import CURRENT
from tests.support.spark_sources import make_schema, read_partitions
from tests.support.stores.fixtures import OpenStore

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install rocketwire[spark]")


def source(**options: str) -> Any:
    from pyspark_rocketwire_store import DefaultSource

    return DefaultSource(options)


def test_source_has_its_documented_name_and_columns() -> None:
    expected = ", ".join(f"`{name}` {type_}" for name, type_ in default_columns().items())

    assert source(path="x").name() == "rocketmq-store"
    assert source(path="x").schema() == expected


def test_stream_is_refused_with_advice() -> None:
    reader = source(path="x").streamReader(make_schema({}))

    with pytest.raises(
        OptionError, match=r"files have no stream: read them again with spark\.read"
    ):
        reader.initialOffset()


def test_schema_chooses_the_columns(open_store: OpenStore) -> None:
    store = open_store(CURRENT, "plain")
    reader = source(path=str(store.root), splitSize="50k").reader(
        make_schema({"queue_offset": "bigint", "topic": "string", "state": "string"})
    )

    rows = read_partitions(reader, reader.partitions())

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
