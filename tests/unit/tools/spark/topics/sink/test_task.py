"""What a task does, with a broker in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.errors import LocalProtocolError
from rocketwire_tools.spark.topics.sink.failures import SinkError
from rocketwire_tools.spark.topics.sink.halves import unpack
from rocketwire_tools.spark.topics.sink.task import run

if TYPE_CHECKING:
    from tests.unit.tools.spark.topics.sink.conftest import Rows


def test_all_rows_of_all_record_batches_are_sent(rows: Rows) -> None:
    topic = rows.cluster.topic()
    count, halves = rows.write({"body": ["a", "b"]}, {"body": ["c"]}, topic=topic)

    assert (count, halves) == (3, b"")
    assert sorted(rows.bodies(topic)) == ["a", "b", "c"]


def test_a_partition_without_rows_opens_no_connection(rows: Rows) -> None:
    assert rows.write(topic="a", nameServers="127.0.0.1:1") == (0, b"")


def test_repeated_attempts_have_equal_unique_keys(rows: Rows) -> None:
    topic = rows.cluster.topic()
    for _ in range(2):
        rows.write({"body": ["a", "b", "a"]}, topic=topic, ids="stable")
    keys = [message.msg_id for message in rows.cluster.messages(topic)]

    assert len(keys) == 6
    assert len(set(keys)) == 3


def test_half_messages_are_invisible_and_go_to_the_driver(rows: Rows) -> None:
    topic = rows.cluster.topic()
    _, packed = rows.write({"body": ["a", "b"]}, topic=topic, transactional="true")

    assert rows.bodies(topic) == []
    assert [(half.topic, half.broker) for half in unpack(packed)] == [(topic, "broker-a")] * 2


def test_a_task_that_fails_rolls_its_half_messages_back(rows: Rows) -> None:
    topic = rows.cluster.topic()
    with pytest.raises(SinkError, match="row 3 of the partition: column 'body' is null"):
        rows.write({"body": ["a", "b", "c", None]}, topic=topic, transactional="true", inFlight="1")

    assert rows.bodies(topic) == []
    assert rows.cluster.do(lambda: rows.cluster.broker.state.halves.undecided_count) <= 1


def test_one_error_is_raised_without_its_group() -> None:
    async def fail() -> None:
        raise BaseExceptionGroup("g", [LocalProtocolError("x"), SinkError("what to do")])

    with pytest.raises(SinkError, match="what to do"):
        run(fail)
