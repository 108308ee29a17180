"""The lag of streams, from the progress that Spark reports."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql.streaming.listener import StreamingQueryListener

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.offsets import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql.streaming.listener import (
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLag:
    """The messages of a queue that a query has not read."""

    query: str  # name of the query, or its id without one
    topic: str  # topic of the queue
    broker: str  # name of its broker
    queue_id: int  # number of the queue
    offset: int  # next offset that the query reads
    end: int  # offset of the queue's next message

    @property
    def messages(self) -> int:
        return max(0, self.end - self.offset)


def lags_of(progress: Any) -> list[QueueLag]:
    """The lag of each queue, from a ``StreamingQueryProgress``; other sources are left out."""
    query = progress.name or str(progress.id)
    lags: list[QueueLag] = []
    for source in progress.sources:
        try:
            offsets = flat(_tree(source.endOffset))
            ends = flat(_tree(source.latestOffset))
        except (OptionError, ValueError):
            continue
        lags += [
            QueueLag(
                query=query,
                topic=queue.topic,
                broker=queue.broker,
                queue_id=queue.queue_id,
                offset=offset,
                end=ends.get(queue, offset),
            )
            for queue, offset in offsets.items()
        ]
    return lags


def _tree(text: str | None) -> dict[str, Any]:
    tree: Any = json.loads(text or "{}")
    if not isinstance(tree, dict):
        raise ValueError(text)
    return cast("dict[str, Any]", tree)


class LagListener(StreamingQueryListener):
    """Passes the lag of each queue on, at each progress: ``spark.streams.addListener(...)``.

    Args:
        export: gets the lags of a query, for example to set gauges of Prometheus.
    """

    def __init__(self, export: Callable[[Sequence[QueueLag]], object]) -> None:
        self._export = export

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Do nothing."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        lags = lags_of(event.progress)
        if lags:
            self._export(lags)

    def onQueryIdle(self, event: Any) -> None:
        """Do nothing."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Do nothing."""
