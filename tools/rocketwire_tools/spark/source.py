"""The data source ``rocketmq-pcap``: what Spark asks of it.

Rules of this file: it is imported in every Python process that looks for data sources, so it imports PySpark and the options
alone; everything else when something is read.  Readers travel to workers and hold plain values.
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

from rocketwire_tools.spark.options import OptionError, Settings, read_options

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
    """What one task reads.

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
        """The parts of all files."""
        from rocketwire_tools.spark.planning import parts
        from rocketwire_tools.spark.sizing import tasks

        return [CapturePartition(each) for each in tasks(parts(self.settings))]

    def read(self, partition: InputPartition) -> Batches:
        """The rows of a part, as RecordBatches."""
        return _read(partition, self.fields, self.filters, self.settings)


class FilteringReader(CaptureReader):
    """Reads captures once, and leaves out rows that a query does not want.

    It has a class of its own because Spark refuses readers with ``pushFilters`` unless it is told
    ``spark.sql.python.filterPushdown.enabled``.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Take what can be taken; all come back, so that Spark applies them too."""
        from rocketwire_tools.pcap.rows.rows import COLUMNS
        from rocketwire_tools.spark.pushing import filter_text

        texts = [filter_text(one, COLUMNS) for one in filters]
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
        """Nothing has been read."""
        return {"file": ""}

    def getDefaultReadLimit(self) -> ReadLimit:
        """As option ``maxFilesPerTrigger`` says."""
        most = self.settings.files_per_trigger
        return ReadMaxFiles(most) if most else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        """What is there now is all that this run reads."""
        from rocketwire_tools.spark.planning import latest

        self.until = latest(self.settings, self._files(), "", 0, last_too=False)

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """The last file that has a successor, or as far as the limit goes."""
        from rocketwire_tools.spark.planning import latest, order_of

        most = limit.max_files if isinstance(limit, ReadMaxFiles) else 0
        known = self._files()
        if self.until is not None:
            known = [path for path in known if order_of(path) <= order_of(self.until)]
        last_too = self.until is not None
        return {"file": latest(self.settings, known, start["file"], most, last_too=last_too)}

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """The parts of the files between two offsets."""
        from rocketwire_tools.spark.planning import parts_between
        from rocketwire_tools.spark.sizing import tasks

        found = parts_between(self.settings, self._files(), start["file"], end["file"])
        return [CapturePartition(each) for each in tasks(found)]

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

    if partition.value is None:  # Spark's stand-in for a list of no partitions
        return
    for part in partition.value:
        yield from read(part, fields, filters, settings)


def _checked(settings: Settings) -> Settings:
    """Refuse a filter that makes no sense before there are tasks, which try it several times.

    Raises:
        FilterError: it makes none.
    """
    if settings.filter_text is not None:
        from rocketwire_tools.pcap.rows.filters import Filter
        from rocketwire_tools.pcap.rows.rows import COLUMNS

        Filter(settings.filter_text, COLUMNS)
    return settings


class DefaultSource(DataSource):
    """RocketMQ frames out of pcap and pcapng files: ``spark.read.format("rocketmq-pcap").load(path)``.

    The options and columns are in docs/guide/spark.md.
    """

    @classmethod
    def name(cls) -> str:
        """What ``format`` takes."""
        return NAME

    def schema(self) -> str:
        """The columns of a read that does not choose any."""
        from rocketwire_tools.spark.columns import columns

        every = columns(self._settings())
        return ", ".join(f"`{name}` {kind}" for name, kind in every.items())

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads captures once."""
        settings = _checked(self._settings())
        # Filters of a query mean masks where there are any; those that are pushed read the names.
        pushes = settings.push_filters and settings.redact is None
        kind = FilteringReader if pushes else CaptureReader
        return kind(_fields(schema), settings)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Reads captures as they are rotated."""
        return CaptureStreamReader(_fields(schema), _checked(self._settings()))

    def _settings(self) -> Settings:
        return read_options(self.options)


def _fields(schema: StructType) -> list[str]:
    """The columns that a schema asks for; no others are decoded."""
    from rocketwire_tools.spark.columns import every_column

    every = every_column()
    for field in schema.fields:
        kind = field.dataType.simpleString()
        if every.get(field.name) != kind:
            known = ", ".join(f"{name} {of}" for name, of in every.items())
            raise OptionError(f"no column {field.name!r} of type {kind}; there are {known}")
    return [field.name for field in schema.fields]


def register(spark: SparkSession) -> None:
    """Make the data source known to a session that does not find it by itself."""
    spark.dataSource.register(DefaultSource)
