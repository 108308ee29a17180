"""The ends of transactions, with a broker in this process."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from rocketwire.codes import RequestCode
from rocketwire.wire.message.stored import StoredMessage
from rocketwire_tools.spark.topics.sink.ending import end_transactions, unknown_state
from rocketwire_tools.spark.topics.sink.failures import SinkError
from rocketwire_tools.spark.topics.sink.halves import Half, unpack
from rocketwire_tools.spark.topics.sink.task import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.tools.spark.topics.sink.conftest import Rows

END = [RequestCode.END_TRANSACTION]


def halves(rows: Rows, topic: str, *bodies: str) -> list[Half]:
    """Send half messages one after the other; returns them in the order of the bodies."""
    columns = {"body": list(bodies)}
    _, packed = rows.write(columns, topic=topic, transactional="true", inFlight="1")
    return list(unpack(packed))


def end(
    rows: Rows,
    commits: list[Half],
    rollbacks: list[Half],
    *,
    may_be_ended: bool = False,
    **options: str,
) -> None:
    async def end_both() -> None:
        await end_transactions(
            rows.settings(**options), commits, rollbacks, may_be_ended=may_be_ended
        )

    run(end_both)


def test_committed_rows_are_visible_and_others_are_not(rows: Rows) -> None:
    topic = rows.cluster.topic()
    first, second, third = halves(rows, topic, "a", "b", "c")
    end(rows, [first, third], [second])

    assert sorted(rows.bodies(topic)) == ["a", "c"]


def test_a_commit_whose_answer_is_lost_is_not_repeated(rows: Rows) -> None:
    topic = rows.cluster.topic()
    half = halves(rows, topic, "a")
    rows.cluster.broker.lose_next_answers(requests=END)
    end(rows, half, [], requestTimeout="0.3")

    assert rows.bodies(topic) == ["a"]


def test_a_commit_that_did_not_arrive_is_repeated(rows: Rows) -> None:
    topic = rows.cluster.topic()
    half = halves(rows, topic, "a")
    rows.cluster.broker.cut_next(requests=END)
    end(rows, half, [])

    assert rows.bodies(topic) == ["a"]


def test_what_an_earlier_driver_has_committed_stays_as_it_is(rows: Rows) -> None:
    topic = rows.cluster.topic()
    first, second = halves(rows, topic, "a", "b")
    end(rows, [first], [])
    end(rows, [first, second], [], may_be_ended=True)

    assert sorted(rows.bodies(topic)) == ["a", "b"]


def test_a_broker_that_refuses_a_commit_is_named(rows: Rows) -> None:
    topic = rows.cluster.topic()
    half = halves(rows, topic, "a")
    rows.cluster.broker.refuse_next(16, times=9, requests=END)

    with pytest.raises(SinkError, match=f"topic {topic}: .*END_TRANSACTION.*check the credentials"):
        end(rows, half, [])


def test_a_rollback_that_fails_is_logged(rows: Rows, caplog: pytest.LogCaptureFixture) -> None:
    topic = rows.cluster.topic()
    half = halves(rows, topic, "a")
    rows.cluster.broker.refuse_next(16, times=9, requests=END)
    with caplog.at_level(logging.WARNING):
        end(rows, [], half)

    assert "half messages stay until brokers give them up" in caplog.text
    assert rows.bodies(topic) == []


def test_a_brokers_check_gets_no_state() -> None:
    check: Callable[[StoredMessage], object] = unknown_state

    assert check(StoredMessage.__new__(StoredMessage)) is None
