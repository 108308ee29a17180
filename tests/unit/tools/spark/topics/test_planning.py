"""The first and last offsets of batch queries."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.loss import DataLossError
from rocketwire_tools.spark.topics.offsets import Bounds, Queue
from rocketwire_tools.spark.topics.options import read_options
from rocketwire_tools.spark.topics.planning import batch_ranges

A0, A1, B0 = Queue("t", "a", 0), Queue("t", "a", 1), Queue("t", "b", 0)


class Answers:
    """A cluster: bounds of queues; a message has its offset times ten as store time."""

    def __init__(self, **bounds: tuple[int, int]) -> None:
        names = {"a0": A0, "a1": A1, "b0": B0}
        self.table = {names[name]: Bounds(*pair) for name, pair in bounds.items()}
        self.names: tuple[str, ...] = ("t",)

    def topics(self) -> tuple[str, ...]:
        return self.names

    def queues(self, topics: Iterable[str], *, may_be_gone: bool = False) -> tuple[Queue, ...]:
        return tuple(self.table)

    def bounds(
        self, queues: Iterable[Queue], *, may_be_missing: bool = False
    ) -> dict[Queue, Bounds]:
        return dict(self.table)

    def offsets_at(self, times: Mapping[Queue, int]) -> dict[Queue, int]:
        return {
            queue: min(
                max(self.table[queue].min_offset, -(-time // 10)), self.table[queue].max_offset
            )
            for queue, time in times.items()
        }

    def commit(self, offsets: Mapping[Queue, int]) -> None: ...

    def mean_sizes(self, begins: Mapping[Queue, int]) -> dict[str, float]:
        return {}


def plan(answers: Answers, **options: str) -> dict[str, Any]:
    settings = read_options({"nameServers": "n:1", "subscribe": "t", **options})
    ranges = batch_ranges(settings, answers)
    return {f"{part.broker}{part.queue_id}": (part.begin, part.end) for part in ranges}


CLUSTER = {"a0": (5, 20), "a1": (0, 0), "b0": (0, 9)}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"a0": (5, 20), "b0": (0, 9)}),
        ({"startingOffsets": '{"t": 0}', "endingOffsets": '{"t": 0}'}, {}),
        ({"startingTimestamp": "60", "endingTimestamp": "60", "startingOffsetsByTimestampStrategy": "latest"}, {}),
        ({"startingOffsets": '{"t": {"a": {"0": 7, "1": -2}, "b": -1}}'}, {"a0": (7, 20)}),
        ({"startingOffsets": '{"t": -2}', "endingOffsets": '{"t": {"a": 0, "b": {"0": 4}}}'}, {"b0": (0, 4)}),
        ({"startingOffsets": '{"t": -2}', "endingOffsets": '{"t": -1}'}, {"a0": (5, 20), "b0": (0, 9)}),
        ({"endingTimestamp": "60"}, {"a0": (5, 6), "b0": (0, 6)}),
        ({"startingTimestamp": "60", "startingOffsetsByTimestampStrategy": "latest"}, {"a0": (6, 20), "b0": (6, 9)}),
        ({"startingTimestamp": "{\"t\": {\"a\": 100, \"b\": 80}}", "startingOffsetsByTimestampStrategy": "latest"}, {"a0": (10, 20), "b0": (8, 9)}),
    ],
)  # fmt: skip
def test_batch_has_the_ranges_of_its_options(
    options: dict[str, str], expected: dict[str, tuple[int, int]]
) -> None:
    assert plan(Answers(**CLUSTER), **options) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"startingOffsets": '{"t": {"a": 0}}', "failOnDataLoss": "false"}, "'startingOffsets' has no offset of topic t, broker b, queue 0: add one, with -1 for its end or -2"),
        ({"endingOffsets": '{"t": {"a": 0}}'}, "'endingOffsets' has no offset of topic t, broker b, queue 0: add one, with -1 for its end$"),
        ({"startingOffsets": '{"t": {"a": {"0": 21}, "b": 0}}'}, "queue 0 ends before offset 21: its next message has 20"),
        ({"endingOffsets": '{"t": {"a": {"0": 21, "1": 0}, "b": 0}}'}, "no message before offset 21: its next message has 20; use -1"),
        ({"startingOffsets": '{"t": -2, "u": -2}'}, "'startingOffsets': the query does not read topic u"),
        ({"startingOffsets": '{"t": {"a": -2, "b": -2, "c": 1}}'}, "does not read topic t, broker c"),
        ({"startingTimestamp": "95"}, "has no message since that time; set startingOffsetsByTimestampStrategy=latest"),
        ({"startingTimestamp": '{"t": {"a": 1}}'}, "option 'startingTimestamp' has no time of topic t, broker b, queue 0: add one"),
        ({"startingTimestamp": '{"t": 1, "u": 1}'}, "does not read topic u"),
        ({"endingTimestamp": '{"t": 1, "u": 1}'}, "option 'endingTimestamp': the query does not read topic u"),
        ({"startingOffsets": "latest"}, "a batch that begins at 'latest' reads nothing; use 'earliest'"),
        ({"startingOffsets": '{"t": {"a": {"0": -1, "1": -1}, "b": -1}}'}, "'latest' reads nothing"),
        ({"startingOffsets": '{"t": {"a": {"0": 9, "1": 0}, "b": 0}}', "endingOffsets": '{"t": {"a": {"0": 8, "1": 0}, "b": 9}}'}, "'endingOffsets': topic t, broker a, queue 0 would end before it begins: 8 is less than 9 of 'start"),
        ({"startingTimestamp": '{"t": 60}', "endingTimestamp": "50"}, "'endingTimestamp': topic t, broker a, queue 0 would end before it begins: 50 is before 'startingTimestamp' 60"),
    ],
)  # fmt: skip
def test_options_unfit_for_the_cluster_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        plan(Answers(**CLUSTER), **options)


def test_deleted_messages_are_an_error_or_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    options = {"startingOffsets": '{"t": {"a": {"0": 3, "1": 0}, "b": 0}}'}
    with pytest.raises(DataLossError, match="queue 0: messages 3 to 4 are lost"):
        plan(Answers(**CLUSTER), **options)

    assert plan(Answers(**CLUSTER), failOnDataLoss="false", **options)["a0"] == (5, 20)
    assert "messages 3 to 4 are lost" in capsys.readouterr().err
