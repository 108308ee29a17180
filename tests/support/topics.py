"""Messages of topics, as tests compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rocketwire.wire.message.stored import StoredMessage


def properties_of(message: StoredMessage) -> dict[str, str]:
    return {name: value for name, value in (message.properties or {}).items() if value is not None}


def frame_of(spark: Any, rows: list[Any], schema: str) -> DataFrame:
    """Return a frame of rows; PySpark's own types of this call are incomplete."""
    frame: DataFrame = spark.createDataFrame(rows, schema)
    return frame
