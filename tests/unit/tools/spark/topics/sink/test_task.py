"""What a task does, with a broker in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.errors import LocalProtocolError
from rocketwire_tools.spark.topics.sink.failures import SinkError
from rocketwire_tools.spark.topics.sink.task import run

if TYPE_CHECKING:
    from tests.unit.tools.spark.topics.sink.conftest import Rows


def test_all_rows_of_all_record_batches_are_sent(rows: Rows) -> None:
    topic = rows.cluster.topic()
    assert rows.write({"body": ["a", "b"]}, {"body": ["c"]}, topic=topic) == 3
    assert sorted(rows.bodies(topic)) == ["a", "b", "c"]


def test_a_partition_without_rows_opens_no_connection(rows: Rows) -> None:
    assert rows.write(topic="a", nameServers="127.0.0.1:1") == 0


def test_repeated_attempts_have_equal_unique_keys(rows: Rows) -> None:
    topic = rows.cluster.topic()
    for _ in range(2):
        rows.write({"body": ["a", "b", "a"]}, topic=topic, ids="stable")
    keys = [message.msg_id for message in rows.cluster.messages(topic)]

    assert len(keys) == 6
    assert len(set(keys)) == 3


def test_one_error_is_raised_without_its_group() -> None:
    async def fail() -> None:
        raise BaseExceptionGroup("g", [LocalProtocolError("x"), SinkError("what to do")])

    with pytest.raises(SinkError, match="what to do"):
        run(fail)
