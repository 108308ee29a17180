"""The data source ``rocketmq``: the classes that Spark calls.

Rules of this file: it is imported in every Python process that searches for data sources, so it
only imports PySpark; the rest is imported by a read or a write. Readers are sent to workers and
contain plain values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import (
        DataSourceStreamWriter,
        DataSourceWriter,
    )
    from pyspark.sql.types import StructType

NAME: Final = "rocketmq"


class DefaultSource(DataSource):
    """Topics of a cluster: ``spark.read.format("rocketmq").option("subscribe", "orders")``.

    The options and columns are in docs/guide/spark-topics.md.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name for ``format``."""
        return NAME

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Sends rows as messages once."""
        from rocketwire_tools.spark.topics.sink.writing import batch_writer

        return batch_writer(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """Sends the rows of each micro-batch as messages."""
        from rocketwire_tools.spark.topics.sink.writing import stream_writer

        return stream_writer(self.options, schema, overwrite)


def register(spark: SparkSession) -> None:
    """Register the data source with a session that does not find it by itself."""
    spark.dataSource.register(DefaultSource)
