"""The data source ``rocketmq-store``: the classes that Spark calls.

Rules of this file: it is imported in every Python process that searches for data sources, so it
only imports PySpark and the options; the rest is imported by a read. Readers are sent to workers
and contain plain values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

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
    SupportsTriggerAvailableNow,
)

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.stores.options import Settings, read_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

    Batches = Iterator[Any]
    Offset = dict[str, dict[str, Any]]
    Cuts = dict[str, tuple[int, list[Any]]]

NAME: Final = "rocketmq-store"


class StoreReader(DataSourceReader):
    """Reads stores once.

    Args:
        fields: columns, in order.
        settings: options.
    """

    def __init__(self, fields: list[str], settings: Settings) -> None:
        self.fields = fields
        self.settings = settings

    def partitions(self) -> list[InputPartition]:
        """Return the parts of all stores."""
        from rocketwire_tools.spark.sizing import tasks
        from rocketwire_tools.spark.stores.planning import opened_stores, parts

        if self.settings.table != "messages":
            return [InputPartition(name) for name in opened_stores(self.settings)]
        return [InputPartition(group) for group in tasks(parts(self.settings, self.fields))]

    def read(self, partition: InputPartition) -> Batches:
        """Return the rows of a part, as RecordBatches."""
        table = self.settings.table
        if table == "messages":
            yield from _read(partition, self.fields, self.settings)
        elif partition.value is not None:
            from rocketwire_tools.spark.stores.planning import opened_stores
            from rocketwire_tools.spark.stores.tables import read_table

            settings = replace(self.settings, paths=(partition.value,))
            for name, store in opened_stores(settings).items():
                yield from read_table(table, name, store, self.fields)


class FilteringReader(StoreReader):
    """Reads stores once, and leaves out what a query filters out.

    It is a separate class because Spark refuses readers with ``pushFilters`` unless
    ``spark.sql.python.filterPushdown.enabled`` is set.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Apply the supported filters; return all, so that Spark applies them, too."""
        from rocketwire_tools.spark.stores.pushing import narrowed

        self.settings = narrowed(self.settings, filters)
        return filters


class StoreStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads stores while brokers write them; an offset has a place in each log.

    Args:
        fields: columns, in order.
        settings: options.
    """

    def __init__(self, fields: list[str], settings: Settings) -> None:
        self.fields = fields
        self.settings = settings
        self.until: dict[str, int] | None = None
        self.cuts: Cuts = {}

    def initialOffset(self) -> Offset:
        """Return the offset before all messages."""
        return {}

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return the limit of option ``maxBytesPerTrigger``."""
        max_bytes = self.settings.bytes_per_trigger
        return ReadMaxBytes(max_bytes) if max_bytes else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        """Limit this run to the messages that exist now."""
        from rocketwire_tools.spark.stores.streaming import ends

        self.until = ends(self.settings)

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """Return the places after the last whole messages, within the limit."""
        from rocketwire_tools.spark.stores.streaming import latest

        max_bytes = limit.max_bytes if isinstance(limit, ReadMaxBytes) else 0
        return latest(self.settings, start, max_bytes, self.until, self.cuts)

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """Return the parts of the logs between two offsets."""
        from rocketwire_tools.spark.sizing import tasks
        from rocketwire_tools.spark.stores.streaming import parts_between

        cuts, self.cuts = self.cuts, {}  # Spark sends this reader to the workers
        parts = parts_between(self.settings, start, end, cuts)
        return [InputPartition(group) for group in tasks(parts)]

    def read(self, partition: InputPartition) -> Batches:
        """The rows of a part, as RecordBatches."""
        return _read(partition, self.fields, self.settings)


def _read(partition: InputPartition, fields: list[str], settings: Settings) -> Batches:
    from rocketwire_tools.spark.stores.reading import read

    for part in partition.value or ():  # None is Spark's value for an empty list of partitions
        yield from read(part, fields, settings)


class DefaultSource(DataSource):
    """Messages out of brokers' stores: ``spark.read.format("rocketmq-store").load(path)``.

    The options and columns are in docs/guide/store-spark.md.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name for ``format``."""
        return NAME

    def schema(self) -> str:
        """Return the columns of a read without a selection."""
        from rocketwire_tools.spark.stores.columns import default_columns

        every = default_columns(self._settings().table)
        return ", ".join(f"`{name}` {column_type}" for name, column_type in every.items())

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads stores once."""
        settings = self._settings()
        reader = FilteringReader if settings.push_filters else StoreReader
        return reader(_fields(schema, settings.table), settings)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Reads stores while brokers write them."""
        settings = self._settings()
        if settings.table != "messages":
            raise OptionError(f"option 'table': a stream has no table {settings.table!r}")
        return StoreStreamReader(_fields(schema, settings.table), settings)

    def _settings(self) -> Settings:
        return read_options(self.options)


def _fields(schema: StructType, table: str) -> list[str]:
    """Return the columns of a schema; no others are decoded."""
    from rocketwire_tools.spark.stores.columns import sql_types

    every = sql_types(table)
    for field in schema.fields:
        column_type = field.dataType.simpleString()
        if every.get(field.name) != column_type:
            names = ", ".join(f"{name} {sql_type}" for name, sql_type in every.items())
            raise OptionError(
                f"no column {field.name!r} of type {column_type}; the columns are {names}"
            )
    return [field.name for field in schema.fields]


def register(spark: SparkSession) -> None:
    """Register the data source with a session that does not find it by itself."""
    spark.dataSource.register(DefaultSource)
