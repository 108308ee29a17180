"""The writers of ``format("rocketmq")``: the classes that Spark calls.

Spark creates a writer in the driver and sends it to tasks, so it contains plain values. The end of
a micro-batch is handled by another writer with the same options.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.sink.columns import check_columns
from rocketwire_tools.spark.topics.sink.failures import SinkError
from rocketwire_tools.spark.topics.sink.options import read_sink_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql.types import StructType

    from rocketwire_tools.spark.topics.sink.attempts import Present
    from rocketwire_tools.spark.topics.sink.options import SinkSettings

QUERY_ID: Final = "sql.streaming.queryId"
BATCH_ID: Final = "streaming.sql.batchId"
"""Properties of a task of a streaming query, also inside ``foreachBatch``."""


class _Sink:
    """What both writers do in tasks.

    Attributes:
        is_stream: whether there are micro-batches.
    """

    names: tuple[str, ...]  # columns, with the names of ``COLUMNS``
    settings: SinkSettings  # options
    run: str  # scope of the unique keys outside of streaming queries
    present: Present  # what name servers had when the write was planned
    is_stream = False

    def prepare(self, names: tuple[str, ...], settings: SinkSettings) -> None:
        """Set the attributes, in the driver."""
        from rocketwire_tools.spark.topics.sink.attempts import present_now

        self.names = names
        self.settings = settings
        self.run = settings.run_id or uuid.uuid4().hex
        self.present = present_now(settings)

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Send the rows of a partition."""
        from rocketwire_tools.spark.topics.sink.task import write_partition

        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        write_partition(
            self.names, self.settings, iterator, self._scope(context), partition, self.present
        )
        return WriterCommitMessage()

    def _scope(self, context: TaskContext | None) -> str:
        query = batch = None
        if context is not None and self.settings.run_id is None:
            query, batch = context.getLocalProperty(QUERY_ID), context.getLocalProperty(BATCH_ID)
        if query and batch:
            return f"{query}/{batch}"
        if self.is_stream and self.settings.stable_ids:
            raise SinkError("ids=stable: Spark gives this task no micro-batch: add a column 'id'")
        return self.run


class TopicWriter(_Sink, DataSourceArrowWriter):
    """Sends the rows of a frame."""

    def __init__(self, names: tuple[str, ...], settings: SinkSettings) -> None:
        self.prepare(names, settings)


class TopicStreamWriter(_Sink, DataSourceStreamArrowWriter):
    """Sends the rows of each micro-batch."""

    is_stream = True

    def __init__(self, names: tuple[str, ...], settings: SinkSettings) -> None:
        self.prepare(names, settings)


def batch_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> TopicWriter:
    """Return the writer of a frame."""
    if overwrite:
        raise OptionError("a topic cannot be overwritten: use mode('append')")
    return TopicWriter(*_checked(options, schema))


def stream_writer(
    options: Mapping[str, str], schema: StructType, overwrite: bool
) -> TopicStreamWriter:
    """Return the writer of a query."""
    if overwrite:
        raise OptionError(
            "a topic cannot be overwritten: use outputMode('append'), or foreachBatch"
        )
    return TopicStreamWriter(*_checked(options, schema))


def _checked(
    options: Mapping[str, str], schema: StructType
) -> tuple[tuple[str, ...], SinkSettings]:
    settings = read_sink_options(options)
    fields = [(field.name, field.dataType.simpleString()) for field in schema.fields]
    names = check_columns(
        fields,
        has_topic=settings.topic is not None,
        stable_ids=settings.stable_ids,
        of_kafka=settings.of_kafka,
    )
    return names, settings
