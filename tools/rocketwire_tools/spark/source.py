"""The data source ``rocketmq-pcap``: the classes that Spark calls.

Rules of this file: those of ``file_source``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.spark.file_source import FileReader, FileSource, columns_in, schema_text
from rocketwire_tools.spark.options import Settings, read_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSourceReader, Filter
    from pyspark.sql.types import StructType

    from rocketwire_tools.spark.planning import Part

NAME: Final = "rocketmq-pcap"


class CaptureReader(FileReader):
    """Reads captures once."""

    def __init__(self, fields: list[str], settings: Settings) -> None:
        self.fields = fields
        self.settings = settings
        self.filters = [] if settings.filter_text is None else [settings.filter_text]

    def parts(self) -> list[Part]:
        from rocketwire_tools.spark.planning import parts

        return parts(self.settings)

    def rows_of(self, part: Part) -> Iterator[Any]:
        from rocketwire_tools.spark.reading import read

        return read(part, self.fields, self.filters, self.settings)


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


class DefaultSource(FileSource):
    """RocketMQ frames out of pcap and pcapng files:
    ``spark.read.format("rocketmq-pcap").load(path)``.

    The options and columns are in docs/guide/spark.md.
    """

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        from rocketwire_tools.spark.columns import columns

        return schema_text(columns(read_options(self.options)))

    def reader(self, schema: StructType) -> DataSourceReader:
        from rocketwire_tools.pcap.rows.selection import Selection
        from rocketwire_tools.spark.columns import every_column

        settings = read_options(self.options)
        fields = columns_in(schema, every_column())
        Selection(fields, settings.filter_text, redact=settings.redact)
        # Filters of a query compare masks if there are any; pushed filters would compare the names.
        pushes = settings.push_filters and settings.redact is None
        reader = FilteringReader if pushes else CaptureReader
        return reader(fields, settings)


def register(spark: SparkSession) -> None:
    """Register the data source with a session that does not find it by itself."""
    spark.dataSource.register(DefaultSource)
