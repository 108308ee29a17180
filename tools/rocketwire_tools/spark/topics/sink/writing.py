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
from rocketwire_tools.spark.topics.sink.attempts import SinkError
from rocketwire_tools.spark.topics.sink.columns import check_columns
from rocketwire_tools.spark.topics.sink.options import read_sink_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql.types import StructType

QUERY_ID: Final = "sql.streaming.queryId"
BATCH_ID: Final = "streaming.sql.batchId"
"""Properties of a task of a streaming query, also inside ``foreachBatch``."""


class _Sink:
    is_stream = False

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        from rocketwire_tools.spark.topics.sink.attempts import fetch_present

        if overwrite:
            raise OptionError(
                "a topic cannot be overwritten: use mode('append'), outputMode('append') or"
                " foreachBatch"
            )
        self.settings = settings = read_sink_options(options)
        self.names = check_columns(  # with the names of ``COLUMNS``
            [(field.name, field.dataType.simpleString()) for field in schema.fields],
            has_topic=settings.topic is not None,
            stable_ids=settings.stable_ids,
            of_kafka=settings.of_kafka,
        )
        # scope of the unique keys outside of streaming queries
        self.run = settings.run_id or uuid.uuid4().hex
        self.present = fetch_present(settings)  # what name servers had when the write was planned

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        from rocketwire_tools.spark.topics.sink.sending import write_partition

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


class TopicStreamWriter(_Sink, DataSourceStreamArrowWriter):
    is_stream = True
