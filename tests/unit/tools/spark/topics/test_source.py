"""The data source as Spark calls it, without Spark."""

import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest

from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.connection import Connection
from tests.support.spark_sources import make_schema, read_partitions

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install rocketwire[spark]")


def source(**options: str) -> Any:
    from pyspark_rocketmq import DefaultSource

    return DefaultSource({"nameServers": "127.0.0.1:9876", "subscribe": "t", **options})


def source_of(connection: Connection, topic: str, **options: str) -> Any:
    return source(nameServers=connection.name_servers, subscribe=topic, **options)


OFFSETS = {"queueId": "int", "queueOffset": "bigint"}


def rows_of(reader: Any, partitions: Iterable[Any]) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in read_partitions(reader, partitions)]


def test_source_has_its_documented_name_and_columns() -> None:
    from rocketwire_tools.spark.topics.options import ROCKETMQ

    assert source().name() == "rocketmq"
    assert source().schema() == ", ".join(f"`{name}` {type_}" for name, type_ in ROCKETMQ.items())
    assert source(columns="body,tags").schema() == "`body` binary, `tags` string"
    assert "`value` binary" in source(columns="kafka").schema()


def test_stream_reads_on_where_it_was(rocketmq: RocketMQ, connection: Connection) -> None:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

    topic = rocketmq.topic(queues=1)
    rocketmq.produce(topic, *[b"x"] * 5)
    options = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": "3"}
    reader = source_of(connection, topic, **options).streamReader(make_schema(OFFSETS))
    assert reader.getDefaultReadLimit() == ReadMaxRows(3)
    start = json.loads(json.dumps(reader.initialOffset()))

    middle = json.loads(json.dumps(reader.latestOffset(start, ReadMaxRows(3))))
    end = reader.latestOffset(middle, ReadAllAvailable())

    assert rows_of(reader, reader.partitions(start, middle)) == [(0, 0), (0, 1), (0, 2)]
    assert rows_of(reader, reader.partitions(middle, end)) == [(0, 3), (0, 4)]
    assert reader.latestOffset(end, ReadMaxRows(3)) == end == reader.reportLatestOffset()
    reader.commit(end)
    reader.prepareForTriggerAvailableNow()
    rocketmq.produce(topic, b"later")
    assert reader.latestOffset(end, ReadMaxRows(3)) == end
    reader.stop()
    source_of(connection, topic).streamReader(make_schema(OFFSETS)).stop()


def test_read_limit_is_one_of_the_options() -> None:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, ReadMinRows

    def limit(**options: str) -> Any:
        return source(**options).streamReader(make_schema(OFFSETS)).getDefaultReadLimit()

    assert limit() == ReadAllAvailable()
    assert limit(maxBytesPerTrigger="1m") == ReadMaxBytes(1 << 20)
    assert limit(minOffsetsPerTrigger="5") == ReadMinRows(5)


def test_wrong_options_and_columns_are_refused_at_once() -> None:
    with pytest.raises(OptionError, match="unknown option 'topics'"):
        source(topics="t").schema()
    with pytest.raises(OptionError, match="no column 'payload' of type string; the columns are"):
        source().reader(make_schema({"payload": "string"}))
    with pytest.raises(OptionError, match="no column 'body' of type string"):
        source().streamReader(make_schema({"body": "string"})).initialOffset()
    with pytest.raises(OptionError, match=r"no column 'body' of type binary; .*value binary"):
        source(columns="kafka").reader(make_schema({"body": "binary"}))
    with pytest.raises(OptionError, match="the schema has no column"):
        source().reader(make_schema({}))
    with pytest.raises(OptionError, match="a stream has no end"):
        source(endingOffsets="latest").streamReader(
            make_schema(OFFSETS)
        ).prepareForTriggerAvailableNow()


@pytest.mark.process
def test_import_of_the_package_is_cheap() -> None:
    program = (
        "import sys; import pyspark_rocketmq; pyspark_rocketmq.DefaultSource({}).name();"
        "print(sorted({'trio', 'numpy', 'pyarrow', 'rocketwire.client'} & sys.modules.keys()))"
    )

    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert process.stdout == "[]\n"


def test_refused_stream_has_no_limit_and_can_be_stopped() -> None:
    from pyspark.sql.streaming.datasource import ReadAllAvailable

    reader = source(maxOffsetsPerTrigger="soon").streamReader(make_schema(OFFSETS))

    assert reader.getDefaultReadLimit() == ReadAllAvailable()
    reader.stop()
