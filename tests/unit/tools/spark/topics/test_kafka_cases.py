"""Streams read like Kafka's source, case by case: the table of docs/guide/spark-topics.md.

``Query`` drives a stream as Spark does: with an offset log, and a new driver after a restart.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.loss import DataLossError
from rocketwire_tools.spark.topics.offsets import Bounds, Queue
from rocketwire_tools.spark.topics.options import read_options
from rocketwire_tools.spark.topics.planning import UnreachableError
from rocketwire_tools.spark.topics.streaming import GONE, ROUTES
from tests.unit.tools.spark.topics.test_planning import A0, A1, B0
from tests.unit.tools.spark.topics.test_streaming import Cluster, Query

OTHER = Queue("t2", "a", 0)


def drain(query: Query) -> list[int]:
    """Run ``Trigger.AvailableNow`` to its end; returns the messages of its batches."""
    query.stream.stop_at_present()
    batches: list[int] = []
    while (ranges := query.trigger()) is not None:
        batches.append(sum(end - begin for begin, end in ranges.values()))
    return batches


# ---------------------------------------------------------------------- Trigger.AvailableNow


def test_available_now_without_a_limit_is_one_batch() -> None:
    assert drain(Query(Cluster(a0=(5, 20), b0=(0, 9)))) == [24]


def test_available_now_with_a_limit_is_as_many_batches_as_it_takes() -> None:
    query = Query(Cluster(a0=(0, 55), a1=(0, 0), b0=(7, 52)), maxOffsetsPerTrigger="30")

    assert drain(query) == [30, 30, 30, 10]
    assert json.loads(query.log[-1])["t"] == {"a": {"0": 55, "1": 0}, "b": {"0": 52}}


def test_available_now_with_a_limit_of_bytes_is_as_many_batches_as_it_takes() -> None:
    query = Query(Cluster(a0=(0, 100)), maxBytesPerTrigger="3000")  # a message has 100

    assert drain(query) == [30, 30, 30, 10]


def test_available_now_leaves_later_messages_and_queues_to_the_next_run() -> None:
    query = Query(Cluster(a0=(0, 10)), maxOffsetsPerTrigger="6")
    query.stream.stop_at_present()
    assert query.trigger() == {"a0": (0, 6)}
    query.cluster.table |= {A0: Bounds(0, 11), B0: Bounds(2, 4)}
    query.clock.now += ROUTES

    assert query.trigger() == {"a0": (6, 10)}
    assert query.trigger() is None

    query.restart()
    assert drain(query) == [3]
    assert query.ranges() == {"a0": (10, 11), "b0": (2, 4)}


def test_available_now_reads_fewer_messages_than_the_smallest_batch() -> None:
    query = Query(
        Cluster(a0=(0, 10)),
        maxOffsetsPerTrigger="6",
        minOffsetsPerTrigger="5",
        maxTriggerDelay="1h",
    )

    assert drain(query) == [6, 4]


def test_available_now_of_empty_queues_has_no_batch() -> None:
    assert drain(Query(Cluster(a0=(4, 4)))) == []


def test_available_now_reads_the_others_and_then_waits_for_a_broker() -> None:
    query = Query(Cluster(a0=(0, 4), b0=(0, 4)), maxOffsetsPerTrigger="4")
    assert drain(query) == [4, 4]
    query.restart()
    del query.cluster.table[B0]
    query.cluster.table[A0] = Bounds(0, 10)

    def come_back(seconds: float) -> None:
        query.clock.now += seconds
        if query.clock.now > 1000 + GONE / 2:
            query.cluster.table[B0] = Bounds(0, 7)

    query.sleep = come_back

    assert drain(query) == [4, 2, 3]
    assert query.ranges() == {"b0": (4, 7)}


def test_available_now_does_not_end_well_without_a_broker() -> None:
    query = Query(Cluster(a0=(0, 4), b0=(0, 4)))
    drain(query)
    query.restart()
    del query.cluster.table[B0]

    with pytest.raises(DataLossError, match="queue 0: messages 4 to the end are lost, no broker"):
        drain(query)


def test_available_now_goes_on_without_a_broker_if_losses_are_no_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    query = Query(Cluster(a0=(0, 4), b0=(0, 4)), failOnDataLoss="false")
    drain(query)
    query.restart()
    del query.cluster.table[B0]
    query.cluster.table[A0] = Bounds(0, 5)

    assert drain(query) == [1]
    assert "queue 0: messages 4 to the end are lost, no broker" in capsys.readouterr().err


# ---------------------------------------------------------------------- Trigger.Once, ProcessingTime


@pytest.mark.parametrize(
    "limits",
    [
        {"maxOffsetsPerTrigger": "10"},
        {"maxBytesPerTrigger": "10"},
        {"minOffsetsPerTrigger": "1000"},
    ],
)
def test_once_ignores_limits(limits: dict[str, str]) -> None:
    query = Query(Cluster(a0=(0, 55), b0=(7, 52)), **limits)

    assert query.trigger(is_limited=False) == {"a0": (0, 55), "b0": (7, 52)}
    query.cluster.table[A0] = Bounds(0, 56)
    query.restart()
    assert query.trigger(is_limited=False) == {"a0": (55, 56)}
    query.restart()
    assert query.trigger(is_limited=False) is None


def test_processing_time_reads_what_there_is_at_each_trigger() -> None:
    query = Query(Cluster(a0=(0, 3)))

    assert query.trigger() == {"a0": (0, 3)}
    assert query.trigger() is None
    query.cluster.table[A0] = Bounds(0, 8)
    assert query.trigger() == {"a0": (3, 8)}


def test_processing_time_reads_a_backlog_at_its_limit() -> None:
    query = Query(Cluster(a0=(0, 25)), maxOffsetsPerTrigger="10")

    assert query.trigger() == {"a0": (0, 10)}
    query.cluster.table[A0] = Bounds(0, 100)
    assert query.trigger() == {"a0": (10, 20)}


# ---------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("waiting", "limit", "shares"),
    [
        ((1000, 10, 90), 110, (98, 2, 10)),
        ((7, 7, 7), 10, (4, 3, 3)),
        ((1_000_000, 1, 1), 10, (8, 1, 1)),
        ((5, 0, 5), 3, (2, 0, 1)),
        ((9, 8, 7), 2, (1, 1, 0)),
        ((2, 2, 2), 7, (2, 2, 2)),
    ],
)
def test_a_limit_is_shared_in_proportion_and_exactly(
    waiting: tuple[int, int, int], limit: int, shares: tuple[int, int, int]
) -> None:
    a, b, c = waiting
    query = Query(
        Cluster(a0=(3, 3 + a), a1=(3, 3 + b), b0=(3, 3 + c)), maxOffsetsPerTrigger=str(limit)
    )

    ranges = query.trigger() or {}

    assert tuple(ranges.get(name, (3, 3))[1] - 3 for name in ("a0", "a1", "b0")) == shares
    assert sum(shares) == min(limit, sum(waiting))


def test_a_limit_smaller_than_the_number_of_queues_reads_each_queue_in_its_turn() -> None:
    query = Query(Cluster(a0=(0, 3), a1=(0, 3), b0=(0, 3)), maxOffsetsPerTrigger="1")
    first = [query.trigger() for _ in range(3)]

    assert [list(ranges or {}) for ranges in first] == [["a0"], ["a1"], ["b0"]]
    assert drain(query) == [1] * 6


def test_few_messages_wait_for_more_or_for_the_delay() -> None:
    query = Query(Cluster(a0=(0, 2)), minOffsetsPerTrigger="5", maxTriggerDelay="30s")
    assert query.trigger() == {"a0": (0, 2)}  # the first batch does not wait
    query.cluster.table[A0] = Bounds(0, 6)
    query.clock.now += 29
    assert query.trigger() is None
    query.cluster.table[A0] = Bounds(0, 7)
    assert query.trigger() == {"a0": (2, 7)}  # five wait
    query.cluster.table[A0] = Bounds(0, 8)
    query.clock.now += 29
    assert query.trigger() is None
    query.clock.now += 1
    assert query.trigger() == {"a0": (7, 8)}  # the delay has passed since the last batch


def test_the_delay_is_a_quarter_of_an_hour_without_an_option() -> None:
    settings = read_options({"nameServers": "n:1", "subscribe": "t", "minOffsetsPerTrigger": "5"})

    assert settings.limits.max_delay == 15 * 60


def test_few_messages_become_a_batch_within_the_largest_one() -> None:
    query = Query(Cluster(a0=(0, 20)), minOffsetsPerTrigger="5", maxOffsetsPerTrigger="8")

    assert [query.trigger() for _ in range(3)] == [{"a0": (0, 8)}, {"a0": (8, 16)}, None]


# ---------------------------------------------------------------------- beginnings


@pytest.mark.parametrize(
    ("options", "ranges"),
    [
        ({"startingOffsets": "earliest"}, {"a0": (5, 20), "b0": (2, 9)}),
        ({"startingOffsets": "latest"}, None),
        ({"startingOffsets": '{"t": {"a": {"0": 7, "1": -2}, "b": {"0": -1}}}'}, {"a0": (7, 20)}),
        ({"startingOffsets": '{"t": {"a": {"0": -2, "1": -2}, "b": {"0": 9}}}'}, {"a0": (5, 20)}),
        ({"startingTimestamp": "80"}, {"a0": (8, 20), "b0": (8, 9)}),
        ({"startingTimestamp": '{"t": 60}', "startingOffsets": "latest"}, {"a0": (6, 20), "b0": (6, 9)}),
        ({"startingOffsetsByTimestamp": '{"t": {"a": {"0": 100, "1": 0}, "b": {"0": 70}}}'}, {"a0": (10, 20), "b0": (7, 9)}),
        ({"startingTimestamp": "100"}, {"a0": (10, 20)}),
    ],
)  # fmt: skip
def test_a_stream_begins_where_its_options_say(
    options: dict[str, str], ranges: dict[str, tuple[int, int]] | None
) -> None:
    cluster = Cluster(a0=(5, 20), a1=(0, 0), b0=(2, 9))
    strategy = {"startingOffsetsByTimestampStrategy": "latest"}

    assert Query(cluster, **strategy, **options).trigger() == ranges


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"startingOffsets": '{"t": {"a": {"0": 7}}}'}, "has no offset of topic t, broker b, queue 0"),
        ({"startingOffsets": '{"t": {"a": {"0": 7, "9": 7}, "b": 0}}'}, "the query does not read topic t, broker a, queue 9"),
        ({"startingOffsets": '{"t": {"a": {"0": 21}, "b": 0}}'}, "queue 0 ends before offset 21: its next message has 20"),
        ({"startingOffsets": '{"t": -3}'}, r"-3 is not an offset, -1 \(latest\) or -2 \(earliest\)"),
        ({"startingTimestamp": "100"}, "topic t, broker b, queue 0 has no message since that time"),
    ],
)  # fmt: skip
def test_a_beginning_that_there_is_not_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Query(Cluster(a0=(5, 20), b0=(2, 9)), **options).trigger()


def test_an_offset_of_a_checkpoint_is_a_beginning() -> None:
    query = Query(Cluster(a0=(5, 20), b0=(2, 9)), maxOffsetsPerTrigger="8")
    query.trigger()
    assert "(from)" in json.loads(query.log[0])

    second = Query(query.cluster, startingOffsets=query.log[0])

    assert query.trigger() is not None
    second.options["maxOffsetsPerTrigger"] = "8"
    second.restart()
    second.trigger()
    assert second.ranges() == query.ranges()


def test_a_restart_ignores_where_the_query_was_to_begin() -> None:
    query = Query(Cluster(a0=(5, 20)))
    query.trigger()
    query.cluster.table[A0] = Bounds(5, 22)
    for changed in ({"startingOffsets": "latest"}, {"startingOffsets": '{"t": 6}'}):
        query.options |= changed
        query.restart()
        end = query.cluster.table[A0].max_offset
        assert query.trigger() == {"a0": (end - 2, end)}
        query.cluster.table[A0] = Bounds(5, end + 2)


def test_limits_may_be_others_after_a_restart() -> None:
    query = Query(Cluster(a0=(0, 100)), maxOffsetsPerTrigger="10")
    assert query.trigger() == {"a0": (0, 10)}
    query.options["maxOffsetsPerTrigger"] = "50"
    query.restart()
    assert query.trigger() == {"a0": (10, 60)}


def test_a_beginning_without_messages_is_kept_in_the_log() -> None:
    query = Query(Cluster(a0=(0, 20)), startingOffsets="latest")
    query.log.append(json.dumps(query.stream.initial()))  # Spark logs a first batch without rows
    query.restart()
    query.cluster.table[A0] = Bounds(0, 23)

    assert query.trigger() == {"a0": (20, 23)}


# ---------------------------------------------------------------------- queues that come and go


def test_a_new_topic_of_a_pattern_is_read_from_its_first_message() -> None:
    query = Query(Cluster(a0=(0, 4)), startingOffsets="latest")
    del query.options["subscribe"]
    query.options["subscribePattern"] = "t.*"
    query.restart()
    query.log.append(json.dumps(query.stream.initial()))
    query.cluster.table[OTHER] = Bounds(1, 3)
    query.clock.now += ROUTES

    query.trigger()

    start, end = map(json.loads, query.log)
    ranges = query.stream.ranges(start, end)
    assert [(part.topic, part.begin, part.end) for part in ranges] == [("t2", 1, 3)]


def _recreate(cluster: Cluster) -> None:
    cluster.table[A0] = Bounds(0, 3)


def _lose(cluster: Cluster) -> None:
    del cluster.table[A0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [(_recreate, "deleted and created again"), (_lose, "no broker has the queue any more")],
)
def test_losses_fail_or_are_told(
    change: Callable[[Cluster], None], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for fails in ("true", "false"):
        query = Query(Cluster(a0=(0, 40), a1=(0, 3)), failOnDataLoss=fails)
        query.trigger()
        change(query.cluster)
        query.cluster.table[A1] = Bounds(0, 9)
        query.trigger() if change is _lose else None
        query.clock.now += GONE
        query.cluster.table[A1] = Bounds(0, 10)
        if fails == "true":
            with pytest.raises(DataLossError, match=reason):
                query.trigger()
        else:
            assert (query.trigger() or {})["a1"][1] == 10
            assert reason in capsys.readouterr().err


@pytest.mark.parametrize(("minimum", "partitions"), [("1", 2), ("2", 2), ("5", 5), ("100", 42)])
def test_long_ranges_are_cut_for_more_partitions(minimum: str, partitions: int) -> None:
    query = Query(Cluster(a0=(0, 40), a1=(0, 2)), minPartitions=minimum)
    query.trigger()
    ranges = query.stream.ranges(query.stream.initial(), json.loads(query.log[0]))

    assert len(ranges) == partitions
    assert sum(map(len, ranges)) == 42


def test_a_partition_has_at_most_the_records_of_the_option() -> None:
    query = Query(Cluster(a0=(0, 40), a1=(0, 2)), maxRecordsPerPartition="15")
    query.trigger()
    ranges = query.stream.ranges(query.stream.initial(), json.loads(query.log[0]))

    assert [len(part) for part in ranges] == [13, 13, 14, 2]


@pytest.mark.parametrize("end", ["endingOffsets", "endingTimestamp"])
def test_a_stream_has_no_end(end: str) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    from pyspark.sql.types import BinaryType, StructType

    from pyspark_rocketmq import DefaultSource

    value = {"endingOffsets": "latest", "endingTimestamp": "1"}[end]
    source: Any = DefaultSource({"nameServers": "n:1", "subscribe": "t", end: value})

    with pytest.raises(OptionError, match="a stream has no end: leave out 'endingOffsets'"):
        source.streamReader(StructType().add("body", BinaryType())).initialOffset()


def test_name_servers_that_are_away_stop_no_stream_while_brokers_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    query = Query(Cluster(a0=(0, 4)))
    query.trigger()
    query.cluster.table[A0] = Bounds(0, 5)
    query.cluster.topics = _unreachable  # type: ignore[method-assign]  # a fake
    query.clock.now += ROUTES
    assert query.trigger() == {"a0": (4, 5)}
    assert "no name server answers; its last routes are used" in capsys.readouterr().err
    query.clock.now += 3600
    query.cluster.table[A0] = Bounds(0, 6)
    assert query.trigger() == {"a0": (5, 6)}


def _unreachable() -> tuple[str, ...]:
    raise UnreachableError("no name server answers")


def test_each_case_of_the_guide_is_a_test_and_each_test_a_case() -> None:
    tests = Path(__file__).parents[4]
    guide = (tests.parent / "docs" / "guide" / "spark-topics.md").read_text("utf-8")
    table = guide.partition("### Case by case")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    named = {name for row in rows for name in re.findall(r"`(test_\w+)`", row)}
    here = set(re.findall(r"^def (test_\w+)", Path(__file__).read_text("utf-8"), re.M))
    in_spark = (tests / "spark" / "test_topics.py").read_text("utf-8")

    assert all(re.search(r"`test_\w+`", row) for row in rows)
    assert here - named == {"test_each_case_of_the_guide_is_a_test_and_each_test_a_case"}
    assert all(f"def {name}(" in in_spark for name in named - here)
