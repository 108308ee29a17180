"""The writers of ``format("rocketmq")``: the classes that Spark calls.

Spark creates a writer in the driver and sends it to tasks, so it contains plain values. The end of
a micro-batch is handled by another writer with the same options.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
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


@dataclass
class Written(WriterCommitMessage):
    """What a task has sent.

    Attributes:
        rows: number of messages.
        halves: half messages that wait for the driver, as ``HalfMessages.pack`` writes them.
    """

    rows: int
    halves: bytes = b""


class _Sink:
    """What both writers do in tasks.

    Attributes:
        names: columns, with the names of ``COLUMNS``.
        settings: options.
        run: scope of the unique keys outside of streaming queries.
        present: what name servers had when the write was planned.
        is_stream: whether there are micro-batches.
    """

    names: tuple[str, ...]
    settings: SinkSettings
    run: str
    present: Present
    is_stream = False

    def prepare(self, names: tuple[str, ...], settings: SinkSettings) -> None:
        """Set the attributes, in the driver."""
        from rocketwire_tools.spark.topics.sink.attempts import present_now

        self.names = names
        self.settings = settings
        self.run = settings.run_id or uuid.uuid4().hex
        self.present = present_now(settings)

    def write(self, iterator: Iterator[Any]) -> Written:
        """Send the rows of a partition."""
        from rocketwire_tools.spark.topics.sink.task import write_partition

        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        rows, halves = write_partition(
            self.names, self.settings, iterator, self._scope(context), partition, self.present
        )
        return Written(rows, halves)

    def _scope(self, context: TaskContext | None) -> str:
        """Return what the unique keys of the rows belong to."""
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
        """Send nothing yet."""
        self.prepare(names, settings)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Make the rows visible, if option ``transactional`` is set."""
        if self.settings.transactional:
            from rocketwire_tools.spark.topics.sink.driver import commit_job

            commit_job(self.settings, _halves(messages))

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Drop the rows, if option ``transactional`` is set."""
        if self.settings.transactional:
            from rocketwire_tools.spark.topics.sink.driver import abort_job

            abort_job(self.settings, _halves(messages))


class TopicStreamWriter(_Sink, DataSourceStreamArrowWriter):
    """Sends the rows of each micro-batch."""

    is_stream = True

    def __init__(self, names: tuple[str, ...], settings: SinkSettings) -> None:
        """Send nothing yet."""
        self.prepare(names, settings)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Make the rows visible, if option ``transactional`` is set."""
        if self.settings.transactional:
            from rocketwire_tools.spark.topics.sink.driver import commit_batch

            commit_batch(self.settings, _halves(messages), batchId)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Drop the rows, if option ``transactional`` is set."""
        if self.settings.transactional:
            from rocketwire_tools.spark.topics.sink.driver import abort_batch

            abort_batch(self.settings, _halves(messages), batchId)


def _halves(messages: list[WriterCommitMessage | None]) -> list[bytes]:
    """Return the half messages of the tasks; None stands for a task that failed."""
    return [message.halves for message in messages if isinstance(message, Written)]


def batch_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> TopicWriter:
    """Return the writer of a frame.

    Raises:
        OptionError: an option or a column is invalid.
    """
    if overwrite:
        raise OptionError("a topic cannot be overwritten: use mode('append')")
    return TopicWriter(*_checked(options, schema))


def stream_writer(
    options: Mapping[str, str], schema: StructType, overwrite: bool
) -> TopicStreamWriter:
    """Return the writer of a query.

    Raises:
        OptionError: an option or a column is invalid.
    """
    if overwrite:
        raise OptionError(
            "a topic cannot be overwritten: use outputMode('append'), or foreachBatch"
        )
    names, settings = _checked(options, schema)
    if settings.transactional and not settings.checkpoint:
        raise OptionError(
            "transactional=true keeps its decisions in the query's checkpoint: set option "
            "'checkpointLocation' of writeStream"
        )
    return TopicStreamWriter(names, settings)


def _checked(
    options: Mapping[str, str], schema: StructType
) -> tuple[tuple[str, ...], SinkSettings]:
    settings = read_sink_options(options)
    fields = [(field.name, field.dataType.simpleString()) for field in schema.fields]
    names = check_columns(
        fields,
        has_topic=settings.topic is not None,
        stable_ids=settings.stable_ids,
        transactional=settings.transactional,
        of_kafka=settings.of_kafka,
    )
    return names, settings
