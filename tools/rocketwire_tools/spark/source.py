"""The data source ``rocketmq-pcap``: the classes that Spark calls.

Rules of this file: it is imported in every Python process that searches for data sources, so it
only imports PySpark and the options; the rest is imported by a read. Readers are sent to workers
and contain plain values.
"""

from __future__ import annotations

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
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.options import Settings, read_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

    from rocketwire_tools.spark.part import Part

    Batches = Iterator[Any]
    Offset = dict[str, str]

NAME: Final = "rocketmq-pcap"


class CapturePartition(InputPartition):
    """The parts of captures that a task reads.

    Args:
        parts: of captures.
    """

    def __init__(self, parts: list[Part]) -> None:
        super().__init__(parts)


class CaptureReader(DataSourceReader):
    """Reads captures once.

    Args:
        fields: columns, in order.
        settings: options.
    """

    def __init__(self, fields: list[str], settings: Settings) -> None:
        self.fields = fields
        self.settings = settings
        self.filters = [] if settings.filter_text is None else [settings.filter_text]

    def partitions(self) -> list[InputPartition]:
        """Return the parts of all files."""
        from rocketwire_tools.spark.planning import parts
        from rocketwire_tools.spark.sizing import tasks

        return [CapturePartition(group) for group in tasks(parts(self.settings))]

    def read(self, partition: InputPartition) -> Batches:
        """Return the rows of a part, as RecordBatches."""
        return _read(partition, self.fields, self.filters, self.settings)


class FilteringReader(CaptureReader):
    """Reads captures once, and skips rows that a query filters out.

    It is a separate class because Spark refuses readers with ``pushFilters`` unless
    ``spark.sql.python.filterPushdown.enabled`` is set.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Apply the supported filters; return all, so that Spark applies them, too."""
        from rocketwire_tools.pcap.rows.rows import COLUMNS
        from rocketwire_tools.spark.pushing import filter_text

        texts = [filter_text(spark_filter, COLUMNS) for spark_filter in filters]
        self.filters += [text for text in texts if text is not None]
        return filters


class CaptureStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads captures as they are rotated; an offset is the path of the last file that was read.

    Args:
        fields: columns, in order.
        settings: options.
    """

    def __init__(self, fields: list[str], settings: Settings) -> None:
        self.fields = fields
        self.settings = settings
        self.filters = [] if settings.filter_text is None else [settings.filter_text]
        self.until: str | None = None

    def initialOffset(self) -> Offset:
        """Return the offset before all files."""
        return {"file": ""}

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return the limit of option ``maxFilesPerTrigger``."""
        max_files = self.settings.files_per_trigger
        return ReadMaxFiles(max_files) if max_files else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        """Limit this run to the files that exist now."""
        from rocketwire_tools.spark.planning import latest

        self.until = latest(self.settings, self._files(), "", 0, last_too=False)

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """Return the last file that has a successor, within the limit."""
        from rocketwire_tools.spark.planning import latest, order_of

        max_files = limit.max_files if isinstance(limit, ReadMaxFiles) else 0
        paths = self._files()
        if self.until is not None:
            paths = [path for path in paths if order_of(path) <= order_of(self.until)]
        last_too = self.until is not None
        return {"file": latest(self.settings, paths, start["file"], max_files, last_too=last_too)}

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """Return the parts of the files between two offsets."""
        from rocketwire_tools.spark.planning import parts_between
        from rocketwire_tools.spark.sizing import tasks

        parts = parts_between(self.settings, self._files(), start["file"], end["file"])
        return [CapturePartition(group) for group in tasks(parts)]

    def read(self, partition: InputPartition) -> Batches:
        """The rows of a part, as RecordBatches."""
        return _read(partition, self.fields, self.filters, self.settings)

    def _files(self) -> list[str]:
        from rocketwire_tools.spark.planning import files, rotated

        return rotated(files(self.settings.paths, may_be_none=True))


def _read(
    partition: InputPartition, fields: list[str], filters: list[str], settings: Settings
) -> Batches:
    from rocketwire_tools.spark.reading import read

    if partition.value is None:  # Spark's value for an empty list of partitions
        return
    for part in partition.value:
        yield from read(part, fields, filters, settings)


def _checked(settings: Settings) -> Settings:
    """Refuse an invalid filter before there are tasks, which Spark would retry.

    Raises:
        FilterError: the filter is invalid.
    """
    if settings.filter_text is not None:
        from rocketwire_tools.pcap.rows.filters import Filter
        from rocketwire_tools.pcap.rows.rows import COLUMNS

        Filter(settings.filter_text, COLUMNS)
    return settings


class DefaultSource(DataSource):
    """RocketMQ frames out of pcap and pcapng files:
    ``spark.read.format("rocketmq-pcap").load(path)``.

    The options and columns are in docs/guide/spark.md.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name for ``format``."""
        return NAME

    def schema(self) -> str:
        """Return the columns of a read without a selection."""
        from rocketwire_tools.spark.columns import columns

        every = columns(self._settings())
        return ", ".join(f"`{name}` {column_type}" for name, column_type in every.items())

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads captures once."""
        settings = _checked(self._settings())
        # Filters of a query compare masks if there are any; pushed filters would compare the names.
        pushes = settings.push_filters and settings.redact is None
        reader = FilteringReader if pushes else CaptureReader
        return reader(_fields(schema), settings)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Reads captures as they are rotated."""
        return CaptureStreamReader(_fields(schema), _checked(self._settings()))

    def _settings(self) -> Settings:
        return read_options(self.options)


def _fields(schema: StructType) -> list[str]:
    """Return the columns of a schema; no others are decoded."""
    from rocketwire_tools.spark.columns import every_column

    every = every_column()
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
