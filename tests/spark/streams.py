"""Streaming queries on a busy machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.streaming.query import StreamingQuery

_STARTS: Final = 20
_LATE_WORKER: Final = "Python worker failed to connect back"
"""Spark gives a new Python process ten seconds, which no setting changes."""


def run_to_end(start: Callable[[], StreamingQuery]) -> None:
    """Start a query and wait for its end; once more if its Python process started too slowly.

    A query that is started again goes on from its checkpoint.
    """
    from pyspark.errors import StreamingQueryException

    for left in reversed(range(_STARTS)):
        try:
            start().awaitTermination()
        except StreamingQueryException as error:
            if not left or _LATE_WORKER not in str(error):
                raise
        else:
            return
