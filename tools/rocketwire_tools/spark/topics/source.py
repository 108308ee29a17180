"""The data source ``rocketmq``: the classes that Spark calls.

Rules of this file: it is imported in every Python process that searches for data sources, so it
only imports PySpark; the rest is imported by a read or a write. Readers are sent to workers and
contain plain values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSourceStreamWriter, DataSourceWriter
    from pyspark.sql.types import StructType

    from rocketwire.messages.route import TopicRouteData
    from rocketwire_tools.spark.option_values import OptionError
    from rocketwire_tools.spark.topics.cluster import Cluster
    from rocketwire_tools.spark.topics.offsets import QueueRange
    from rocketwire_tools.spark.topics.options import Settings
    from rocketwire_tools.spark.topics.streaming import Stream

    Batches = Iterator[Any]
    Offset = dict[str, Any]

NAME: Final = "rocketmq"


class TopicPartition(InputPartition):
    """A range of a queue.

    Attributes:
        value: the range.
    """

    def __init__(self, value: QueueRange | None, route: TopicRouteData | None = None) -> None:
        super().__init__(value)
        self.route = route  # of its topic, so that a worker needs no name server


class TopicReader(DataSourceReader):
    def __init__(self, schema: StructType, settings: Settings) -> None:
        self.schema = schema
        self.settings = settings

    def partitions(self) -> list[InputPartition]:
        from rocketwire_tools.spark.topics.cluster import Cluster
        from rocketwire_tools.spark.topics.planning import batch_ranges

        cluster = Cluster(self.settings)
        ranges = batch_ranges(self.settings, cluster)
        return [TopicPartition(part, cluster.route(part)) for part in ranges]

    def read(self, partition: InputPartition) -> Batches:
        return _read(partition, self.schema, self.settings)


class TopicStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads topics while they grow; an offset has the next offset of each queue."""

    def __init__(self, schema: StructType, settings: Settings) -> None:
        self.schema = schema
        self.settings = settings
        self._stream: Stream | None = None
        self._cluster: Cluster

    def initialOffset(self) -> Offset:
        return self._driver().initial()

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return a limit of the options; ``latestOffset`` applies all of them."""
        limits = self.settings.limits
        if limits.max_offsets:
            return ReadMaxRows(limits.max_offsets)
        if limits.max_bytes:
            return ReadMaxBytes(limits.max_bytes)
        return ReadMinRows(limits.min_offsets) if limits.min_offsets else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        """Limit this run to the messages that exist now."""
        self._driver().stop_at_present()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        is_limited = not isinstance(limit, ReadAllAvailable)
        return self._driver().latest(start, is_limited=is_limited)

    def reportLatestOffset(self) -> Offset | None:
        """Return the ends of all queues, for the progress of the query."""
        return self._driver().newest()

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        ranges = self._driver().ranges(start, end)
        return [TopicPartition(part, self._cluster.route(part)) for part in ranges]

    def read(self, partition: InputPartition) -> Batches:
        return _read(partition, self.schema, self.settings)

    def commit(self, end: Offset) -> None:
        self._driver().commit(end)

    def stop(self) -> None:
        if self._stream is not None:
            from rocketwire_tools.spark.topics.connection import session_of

            session_of(self.settings.connection).close()

    def _driver(self) -> Stream:
        if self._stream is None:
            from rocketwire_tools.spark.topics.cluster import Cluster
            from rocketwire_tools.spark.topics.streaming import Stream

            self._cluster = Cluster(self.settings)
            self._stream = Stream(self.settings, self._cluster)
        return self._stream


class RefusingStreamReader(TopicStreamReader):
    """Raises what is wrong with the options of a stream.

    PySpark hides an error of ``streamReader`` itself behind one of its own (SPARK 4.2: it stops a
    reader that it does not have).
    """

    def __init__(self, error: OptionError) -> None:
        self._stream = None
        self._error = error

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def _driver(self) -> Stream:
        raise self._error


def _read(partition: InputPartition, schema: StructType, settings: Settings) -> Batches:
    if partition.value is None:  # Spark's value for an empty list of partitions
        return
    from pyspark.sql.pandas import types

    from rocketwire_tools.spark.topics.options import PullSettings
    from rocketwire_tools.spark.topics.reading import read_range

    pulls = PullSettings(
        group=settings.group,
        tags=settings.tags,
        sql=settings.sql,
        fails_on_loss=settings.fails_on_loss,
        timeout=settings.connection.request_timeout,
    )
    arrow_schema: Any = cast("Any", types).to_arrow_schema(schema, timezone="UTC")
    route = cast("TopicPartition", partition).route
    yield from read_range(settings.connection, partition.value, pulls, arrow_schema, route)


class DefaultSource(DataSource):
    """Topics of a cluster: ``spark.read.format("rocketmq").option("subscribe", "orders")``.

    The options and columns are in docs/guide/spark-topics.md.
    """

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        columns = self._settings().columns
        return ", ".join(f"`{name}` {column_type}" for name, column_type in columns.items())

    def reader(self, schema: StructType) -> DataSourceReader:
        settings = self._settings()
        _check_columns(schema, settings)
        return TopicReader(schema, settings)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from rocketwire_tools.spark.option_values import OptionError

        try:
            settings = self._settings()
            _check_columns(schema, settings)
            if settings.end is not None:
                raise OptionError(
                    "a stream has no end: leave out 'endingOffsets' and 'endingTimestamp'"
                )
        except OptionError as error:
            return RefusingStreamReader(error)
        return TopicStreamReader(schema, settings)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from rocketwire_tools.spark.topics.sink.writing import TopicWriter

        return TopicWriter(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        from rocketwire_tools.spark.topics.sink.writing import TopicStreamWriter

        return TopicStreamWriter(self.options, schema, overwrite)

    def _settings(self) -> Settings:
        from rocketwire_tools.spark.topics.options import read_options

        return read_options(self.options)


def _check_columns(schema: StructType, settings: Settings) -> None:
    from rocketwire_tools.spark.option_values import OptionError
    from rocketwire_tools.spark.topics.options import FORMS, KAFKA, ROCKETMQ

    if not schema.fields:
        raise OptionError("the schema has no column: leave out .schema(...) for all of them")
    form = KAFKA if settings.columns == FORMS["kafka"] else ROCKETMQ
    for field in schema.fields:
        column_type = field.dataType.simpleString()
        if form.get(field.name) != column_type:
            names = ", ".join(f"{name} {sql_type}" for name, sql_type in form.items())
            raise OptionError(
                f"no column {field.name!r} of type {column_type}; the columns are {names}"
            )


def register(spark: SparkSession) -> None:
    """Register the data source with a session that does not find it by itself."""
    spark.dataSource.register(DefaultSource)
