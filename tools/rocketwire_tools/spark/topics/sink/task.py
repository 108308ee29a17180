"""Send the rows of a partition, in a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trio

from rocketwire_tools.spark.topics.sink.attempts import NOTHING, Present
from rocketwire_tools.spark.topics.sink.failures import first_error
from rocketwire_tools.spark.topics.sink.rows import RowReader
from rocketwire_tools.spark.topics.sink.sending import PartitionSender
from rocketwire_tools.spark.topics.sink.unique_keys import StableKeys

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from rocketwire_tools.spark.topics.sink.options import SinkSettings


def run(function: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
    """Return the result of a function under trio; one error is raised without its group."""
    try:
        return trio.run(function, *arguments)
    except BaseExceptionGroup as group:
        error = first_error(group)
        raise error from error.__cause__


def write_partition(
    names: Sequence[str],  # columns, with the names of ``COLUMNS`` or ``KAFKA_COLUMNS``
    settings: SinkSettings,  # options
    batches: Iterator[Any],  # record batches
    scope: str,  # what unique keys belong to
    partition: int,  # number of the partition
    present: Present = NOTHING,  # what there was when the write was planned
) -> int:
    """Send the rows of a partition; returns their number."""
    reader = RowReader(
        names,
        topic=settings.topic,
        max_message_size=settings.max_message_size,
        single_above=min(settings.compress_above or settings.batch_size, settings.batch_size),
        namespace=settings.connection.namespace,
        of_kafka=settings.of_kafka,
        keys=StableKeys(scope, partition) if settings.stable_ids else None,
    )
    run(PartitionSender(settings, reader, present).send_all, batches)
    return reader.count
