"""The classes that Spark calls, shared by the data sources of captures and of stores.

Rules of this file: it is imported in every Python process that searches for data sources, so it
only imports PySpark and the options; the rest is imported by a read. Readers are sent to workers
and contain plain values.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)

from rocketwire_tools.spark.option_values import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql.types import StructType

    Batches = Iterator[Any]


class FileReader(DataSourceReader):
    """Reads files once: a task reads parts of files, or several small files."""

    @abstractmethod
    def parts(self) -> list[Any]:
        """Return the parts of all files."""

    @abstractmethod
    def rows_of(self, part: Any) -> Batches:
        """Return the rows of a part, as RecordBatches."""

    def partitions(self) -> list[InputPartition]:
        from rocketwire_tools.spark.sizing import tasks

        return [InputPartition(group) for group in tasks(self.parts())]

    def read(self, partition: InputPartition) -> Batches:
        for part in partition.value or ():  # None is Spark's value for an empty list of partitions
            yield from self.rows_of(part)


class _NoStreamReader(DataSourceStreamReader):
    """Says what to do instead of a stream; PySpark hides an error of ``streamReader`` itself."""

    def initialOffset(self) -> dict[str, Any]:
        raise OptionError("files have no stream: read them again with spark.read, in a batch")

    def read(self, partition: InputPartition) -> Batches:
        return iter(())


class FileSource(DataSource):
    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return _NoStreamReader()


def schema_text(columns: Mapping[str, str]) -> str:
    return ", ".join(f"`{name}` {column_type}" for name, column_type in columns.items())


def columns_in(schema: StructType, every: Mapping[str, str]) -> list[str]:
    """Return the columns of a schema; no others are decoded."""
    for field in schema.fields:
        column_type = field.dataType.simpleString()
        if every.get(field.name) != column_type:
            names = ", ".join(f"{name} {sql_type}" for name, sql_type in every.items())
            raise OptionError(
                f"no column {field.name!r} of type {column_type}; the columns are {names}"
            )
    return [field.name for field in schema.fields]
