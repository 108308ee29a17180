"""The data source ``rocketmq-store``: the classes that Spark calls.

Rules of this file: those of ``file_source``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.spark.file_source import FileReader, FileSource, columns_in, schema_text
from rocketwire_tools.spark.stores.options import Settings, read_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSourceReader
    from pyspark.sql.types import StructType

    from rocketwire_tools.spark.stores.planning import LogPart

NAME: Final = "rocketmq-store"


class StoreReader(FileReader):
    def __init__(self, fields: list[str], settings: Settings) -> None:
        self.fields = fields
        self.settings = settings

    def parts(self) -> list[LogPart]:
        from rocketwire_tools.spark.stores.planning import parts

        return parts(self.settings, self.fields)

    def rows_of(self, part: LogPart) -> Iterator[Any]:
        from rocketwire_tools.spark.stores.reading import read

        return read(part, self.fields, self.settings)


class DefaultSource(FileSource):
    """Messages out of brokers' stores: ``spark.read.format("rocketmq-store").load(path)``.

    The options and columns are in docs/guide/store-spark.md.
    """

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        from rocketwire_tools.spark.stores.columns import default_columns

        read_options(self.options)
        return schema_text(default_columns())

    def reader(self, schema: StructType) -> DataSourceReader:
        from rocketwire_tools.spark.stores.columns import sql_types

        settings = read_options(self.options)
        return StoreReader(columns_in(schema, sql_types()), settings)


def register(spark: SparkSession) -> None:
    """Register the data source with a session that does not find it by itself."""
    spark.dataSource.register(DefaultSource)
