"""Errors of Spark's topics as users see them: the last line gives advice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.peers.processes import wait_until
from tests.spark.topics_of_java import PLACE, Reader, Topics

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.peers.cluster import JavaCluster

# PySpark leaves sockets to the collector
pytestmark = [pytest.mark.java, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def topics(shared_java_cluster: JavaCluster) -> Topics:
    # The topics of one broker; ``spark-ten`` has ten messages in one queue.
    topics = Topics(shared_java_cluster.address, only=shared_java_cluster.master.address)
    topics.create("spark-ten", queues=1)
    topics.fill("spark-ten", [b"x"] * 10)
    wait_until(lambda: sum(topics.ends("spark-ten").values()) == 10, "ten messages")
    return topics


@pytest.fixture
def reader(spark: SparkSession, topics: Topics, tmp_path: Path) -> Reader:
    return Reader(spark, topics, tmp_path)


def last_line(error: BaseException) -> str:
    # The last line that a user reads of an error, without what Spark adds: its state, its stack.
    of_spark = ("\tat ", "Driver stacktrace", " SQLSTATE")
    text = str(error).partition("=== Streaming Query ===")[0]
    lines = [line for line in text.splitlines() if line.strip()]
    return next(line for line in reversed(lines) if not line.startswith(of_spark))


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"subscribe": "no-such-topic"}, "UnknownTopicError: topic no-such-topic does not exist: no name server has a route of it; create it, or"),
        ({"subscribe": "t", "nameServers": "127.0.0.1:1"}, "see whether name servers 127.0.0.1:1"),
        ({"subscribe": "t", "topics": "t"}, "unknown option 'topics'; the options are"),
        ({"subscribe": "t", "secretKey": "hidden"}, "'secretKey' would show a secret"),
        ({"subscribe": "spark-ten", "credentialsFile": "/no/file"}, "/no/file: No such file"),
        ({"subscribePattern": "no-such-.*"}, "option 'subscribePattern': no topic matches 'no-such-.*'"),
        ({"assign": json.dumps({"spark-ten": {"broker-a": [7]}})}, "option 'assign': there is no topic spark-ten, broker broker-a, queue 7"),
        ({"subscribe": "spark-ten", "startingOffsets": '{"spark-ten": 11}'}, "broker broker-a, queue 0 ends before offset 11: its next message has 10"),
        ({"subscribe": "spark-ten", "schema": "body string"}, "no column 'body' of type string; the columns are topic string"),
        ({"subscribe": "spark-ten", "caFile": "/no/ca.pem"}, "certificates /no/ca.pem: [Errno 2]"),
    ],
)  # fmt: skip
def test_batch_ends_in_one_line_that_says_what_to_do(
    reader: Reader, options: dict[str, Any], line: str
) -> None:
    schema = options.pop("schema", None)
    with pytest.raises(Exception, match=r"OptionError|UnknownTopicError|Unreachable") as error:
        reader.batch(schema, **options).show()

    assert line in last_line(error.value)
    assert "hidden" not in str(error.value)


@pytest.mark.full
@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"subscribe": "no-such-topic"}, "UnknownTopicError: topic no-such-topic does not exist"),
        ({"subscribe": "t", "nameServers": "127.0.0.1:1"}, "see whether name servers 127.0.0.1:1"),
        ({"subscribe": "t", "maxTriggerDelay": "soon"}, "'soon' is not a time such as 500ms"),
        ({"subscribe": "spark-ten", "startingOffsets": '{"spark-ten": 11}'}, "broker broker-a, queue 0 ends before offset 11: its next message has 10"),
        ({"subscribe": "spark-ten", "endingOffsets": "latest"}, "a stream has no end: leave out 'endingOffsets'"),
    ],
)  # fmt: skip
def test_stream_ends_in_one_line_that_says_what_to_do(
    reader: Reader, options: dict[str, Any], line: str
) -> None:
    with pytest.raises(Exception, match=r"OptionError|UnknownTopicError|Unreachable") as error:
        reader.stream("bad", **options)

    assert line in last_line(error.value)


def test_task_that_fails_ends_in_one_line(reader: Reader, topics: Topics) -> None:
    topics.forbid("spark-forbidden")
    with pytest.raises(Exception, match="PullFailedError") as error:
        reader.batch(PLACE, subscribe="spark-ten", group="spark-forbidden").show()

    assert last_line(error.value).startswith(
        "rocketwire_tools.spark.topics.pulling.PullFailedError: topic spark-ten, broker broker-a,"
        " queue 0: broker 127.0.0.1:"
    )
    assert last_line(error.value).endswith("and see the permission of the topic")
