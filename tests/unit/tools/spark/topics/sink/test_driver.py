"""What the driver does when the tasks of a job or micro-batch have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.codes import RequestCode
from rocketwire_tools.spark.topics.sink.driver import (
    abort_batch,
    abort_job,
    commit_batch,
    commit_job,
)
from rocketwire_tools.spark.topics.sink.failures import SinkError
from rocketwire_tools.spark.topics.sink.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

    from rocketwire_tools.spark.topics.sink.options import SinkSettings
    from tests.unit.tools.spark.topics.sink.conftest import Rows

END = [RequestCode.END_TRANSACTION]


class Query:
    """A query with tasks in this process."""

    def __init__(self, rows: Rows, folder: Path) -> None:
        self.rows = rows
        self.topic = rows.cluster.topic()
        self.location = str(folder)

    @property
    def settings(self) -> SinkSettings:
        return self.rows.settings(checkpointLocation=self.location, retryTimeout="0")

    def tasks(self, *partitions: list[str]) -> list[bytes]:
        """Return what the tasks of a micro-batch send to the driver."""
        return [
            self.rows.write({"body": bodies}, topic=self.topic, transactional="true", ids="stable")[
                1
            ]
            for bodies in partitions
        ]

    @property
    def visible(self) -> list[str]:
        return sorted(self.rows.bodies(self.topic))


@pytest.fixture
def query(rows: Rows, tmp_path: Path) -> Query:
    return Query(rows, tmp_path)


def test_a_job_is_visible_when_the_driver_commits(query: Query) -> None:
    packed = query.tasks(["a", "b"], ["c"])
    assert query.visible == []
    commit_job(query.settings, packed)

    assert query.visible == ["a", "b", "c"]


def test_an_aborted_job_stays_invisible(query: Query) -> None:
    abort_job(query.settings, query.tasks(["a", "b"]))

    assert query.visible == []


def test_a_micro_batch_is_visible_when_the_driver_commits(query: Query) -> None:
    commit_batch(query.settings, query.tasks(["a"], ["b"]), 0)
    commit_batch(query.settings, query.tasks(["c"]), 1)

    assert query.visible == ["a", "b", "c"]
    assert Journal(query.location).decision(0) is None


def test_a_micro_batch_without_rows_needs_no_decision(query: Query) -> None:
    commit_batch(query.settings, [b"", b""], 0)
    abort_batch(query.settings, [b""], 0)

    assert Journal(query.location).decision(0) is None


def test_a_micro_batch_that_ran_again_after_its_commit_is_there_once(query: Query) -> None:
    commit_batch(query.settings, query.tasks(["a"], ["b"]), 0)
    commit_batch(query.settings, query.tasks(["a"], ["b"]), 0)

    assert query.visible == ["a", "b"]


def test_a_micro_batch_whose_driver_died_in_its_commit_is_there_once(query: Query) -> None:
    packed = query.tasks(["a", "b"], ["c", "d"])
    Journal(query.location).decide(0, packed)
    commit_job(query.settings, packed[:1])
    assert query.visible == ["a", "b"]
    commit_batch(query.settings, query.tasks(["a", "b"], ["c", "d"]), 0)

    assert query.visible == ["a", "b", "c", "d"]
    assert Journal(query.location).is_done(0)


def test_a_micro_batch_whose_commit_failed_is_there_once_at_last(query: Query) -> None:
    packed = query.tasks(["a", "b", "c"])
    query.rows.cluster.broker.refuse_next(2, times=2, requests=END)
    with pytest.raises(SinkError, match="SYSTEM_BUSY"):
        commit_batch(query.settings, packed, 0)
    abort_batch(query.settings, packed, 0)  # as Spark does
    query.rows.cluster.broker.clear_faults()
    commit_batch(query.settings, query.tasks(["a", "b", "c"]), 0)

    assert query.visible == ["a", "b", "c"]


def test_an_aborted_micro_batch_stays_invisible(query: Query) -> None:
    abort_batch(query.settings, query.tasks(["a"]), 0)
    assert query.visible == []
    commit_batch(query.settings, query.tasks(["a"]), 0)

    assert query.visible == ["a"]
