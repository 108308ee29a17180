"""The writers as Spark calls them, without Spark."""

import importlib
import pickle
from typing import Any

import pytest

from tests.unit.tools.spark.topics.sink.conftest import Rows

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install rocketwire[spark]")

from pyspark.sql.types import IntegerType, StringType, StructType

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.sink.attempts import SinkError

BODY = StructType().add("body", StringType())


class Context:
    """A task's context."""

    def __init__(self, **properties: str) -> None:
        self.properties = properties

    def partitionId(self) -> int:
        return 3

    def getLocalProperty(self, name: str) -> str | None:
        return self.properties.get(name)


def source(rows: Rows, **options: str) -> Any:
    from pyspark_rocketmq import DefaultSource

    return DefaultSource({"nameServers": rows.cluster.address, **options})


def copy_to_worker(writer: Any) -> Any:
    return pickle.loads(pickle.dumps(writer))


def batches(*bodies: str) -> Any:
    pa: Any = importlib.import_module("pyarrow")
    return iter([pa.record_batch({"body": list(bodies)})])


def keys_of(rows: Rows, topic: str) -> set[str]:
    return {message.msg_id for message in rows.cluster.messages(topic)}


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> Context:
    """The context of the running task."""
    context = Context()
    monkeypatch.setattr("pyspark.TaskContext.get", lambda: context)
    return context


def test_repeated_task_of_a_job_has_the_same_unique_keys(rows: Rows, context: Context) -> None:
    topic = rows.cluster.topic()
    writer = source(rows, topic=topic, ids="stable").writer(BODY, False)
    writer.write(batches("a"))
    copy_to_worker(writer).write(batches("a"))
    assert len(keys_of(rows, topic)) == 1
    source(rows, topic=topic, ids="stable").writer(BODY, False).write(batches("a"))

    assert len(keys_of(rows, topic)) == 2


def test_stream_without_micro_batch_has_no_stable_keys(rows: Rows, context: Context) -> None:
    writer = source(rows, topic="a", ids="stable").streamWriter(BODY, False)

    with pytest.raises(SinkError, match="Spark gives this task no micro-batch: add a column 'id'"):
        writer.write(batches("a"))


@pytest.mark.parametrize("method", ["writer", "streamWriter"])
def test_topic_is_never_overwritten(rows: Rows, method: str) -> None:
    with pytest.raises(OptionError, match="a topic cannot be overwritten"):
        getattr(source(rows, topic="a"), method)(BODY, True)


def test_column_of_another_type_is_refused(rows: Rows) -> None:
    with pytest.raises(OptionError, match="column 'body' has type int"):
        source(rows, topic="a").writer(StructType().add("body", IntegerType()), False)
