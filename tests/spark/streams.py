"""Streaming queries on a busy machine."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pytest
    from pyspark.sql.streaming.query import StreamingQuery

_STARTS: Final = 20
LATE_WORKER: Final = "Python worker failed to connect back"
"""Spark gives a new Python process ten seconds, which no setting changes."""


def run_to_end(start: Callable[[], StreamingQuery]) -> None:
    """Start a query and wait for its end; once more if its Python process started too slowly.

    A query that is started again goes on from its checkpoint.
    """
    from pyspark.errors import StreamingQueryException

    for remaining in reversed(range(_STARTS)):
        try:
            start().awaitTermination()
        except StreamingQueryException as error:
            if not remaining or LATE_WORKER not in str(error):
                raise
        else:
            return


COLUMNS: Final = ("brokerName", "queueId", "queueOffset")
"""Those of a place."""


def read_committed(folder: Path, columns: Sequence[str] = COLUMNS) -> list[tuple[Any, ...]]:
    # Places in the files that a stream's sink has committed; Spark leaves those of killed attempts.
    names: set[str] = set()
    logs = folder / "_spark_metadata"
    for log in logs.iterdir() if logs.exists() else ():
        if log.name.removesuffix(".compact").isdecimal():
            lines = log.read_text().splitlines()[1:]
            names |= {json.loads(line)["path"].rpartition("/")[2] for line in lines}
    return places_in([folder / name for name in sorted(names)], columns)


def places_in(files: Iterable[Path], columns: Sequence[str] = COLUMNS) -> list[tuple[Any, ...]]:
    parquet: Any = importlib.import_module("pyarrow.parquet")  # it has no types
    places: list[tuple[Any, ...]] = []
    for file in files:
        table: Any = parquet.read_table(file)
        places.extend(zip(*(table.column(name).to_pylist() for name in columns), strict=True))
    return places


def line_of(error: pytest.ExceptionInfo[Exception], text: str) -> str:
    # The line of an error of Spark that has a text, without the stacks of Java and Python.
    return next(line for line in str(error.value).splitlines() if text in line)
