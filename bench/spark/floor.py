"""A data source that sends record batches as they are: what any Python data source costs Spark."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.types import StructType


class FloorReader(DataSourceReader):
    """Reads a folder of files of Arrow.

    Args:
        folder: with them.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def partitions(self) -> list[InputPartition]:
        """Return the files."""
        return [InputPartition(str(path)) for path in sorted(Path(self._folder).iterdir())]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Return the record batches of a file, as they stand in memory."""
        pa: Any = importlib.import_module("pyarrow")
        with pa.memory_map(partition.value) as source, pa.ipc.open_file(source) as file:
            for number in range(file.num_record_batches):
                yield file.get_batch(number)


class FloorSource(DataSource):
    """``spark.read.format("bench-floor").schema(...).load(folder)``."""

    @classmethod
    def name(cls) -> str:
        """Return the name for ``format``."""
        return "bench-floor"

    def reader(self, schema: StructType) -> FloorReader:
        """Reads the files."""
        return FloorReader(self.options["path"])
