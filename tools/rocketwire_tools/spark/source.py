"""The data source ``rocketmq-pcap``: the classes that Spark calls.

Rules of this file: those of ``file_source``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.spark.file_source import FileReader, FileSource, columns_in, schema_text
from rocketwire_tools.spark.options import Settings, read_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSourceReader
    from pyspark.sql.types import StructType

    from rocketwire_tools.spark.planning import Part

NAME: Final = "rocketmq-pcap"


class CaptureReader(FileReader):
    def __init__(self, fields: list[str], settings: Settings) -> None:
        self.fields = fields
        self.settings = settings

    def parts(self) -> list[Part]:
        from rocketwire_tools.spark.planning import parts

        return parts(self.settings)

    def rows_of(self, part: Part) -> Iterator[Any]:
        from rocketwire_tools.spark.reading import read

        return read(part, self.fields, self.settings)


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
        return CaptureReader(fields, settings)


def register(spark: SparkSession) -> None:
    """Register the data source with a session that does not find it by itself."""
    spark.dataSource.register(DefaultSource)
