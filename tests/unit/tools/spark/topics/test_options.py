"""Options of reads have their values, or are refused by name."""

import pickle

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.offsets import Queue
from rocketwire_tools.spark.topics.options import ROCKETMQ, Settings, read_options
from rocketwire_tools.spark.topics.ranges import Limits


def options(**changes: str) -> dict[str, str]:
    return {"nameServers": "127.0.0.1:9876", "subscribe": "orders", **changes}


def settings(**changes: str) -> Settings:
    return read_options(options(**changes))


def test_defaults_need_name_servers_and_topics_only() -> None:
    read = settings()

    assert read.topics == ("orders",)
    assert read.columns == ROCKETMQ
    assert read.fails_on_loss
    assert read.group == "spark-rocketwire"
    assert (read.start, read.end) == (None, None)
    assert pickle.loads(pickle.dumps(read)) == read


def test_case_of_names_does_not_matter() -> None:
    read = read_options({"NAMESERVERS": "a:1", "SUBSCRIBE": "a, b,a", "MINPARTITIONS": "3"})

    assert read.topics == ("a", "b")
    assert read.min_partitions == 3


def test_queues_can_be_assigned() -> None:
    read = read_options({"nameServers": "a:1", "assign": '{"t": {"broker-a": [0, 3]}}'})

    assert read.queues is not None
    assert list(read.queues.by_queue) == [Queue("t", "broker-a", 0), Queue("t", "broker-a", 3)]


def test_names_are_in_the_namespace() -> None:
    read = settings(
        namespace="shop",
        startingOffsets='{"orders": {"a": {"0": 9}, "b": 4}}',
        endingTimestamp='{"orders": 1700000000000}',
    )
    in_shop = Queue("shop%orders", "a", 0)

    assert (read.topics, read.group) == (("shop%orders",), "shop%spark-rocketwire")
    assert read.start is not None
    assert read.start.offsets.of(in_shop) == 9
    assert read.start.offsets.of(Queue("shop%orders", "b", 2)) == 4
    assert read.end is not None
    assert read.end.time_of(in_shop) == 1_700_000_000_000
    assert read.reads(in_shop)
    assert not read.reads(Queue("orders", "a", 0))


def test_assignment_and_a_pattern_are_in_the_namespace() -> None:
    servers = {"nameServers": "a:1", "namespace": "shop"}
    assigned = read_options({**servers, "assign": '{"orders": {"a": [0]}}'})
    pattern = read_options({**servers, "subscribePattern": "o.*"})

    assert assigned.queues is not None
    assert list(assigned.queues.by_queue) == [Queue("shop%orders", "a", 0)]
    assert pattern.matches("shop%orders")
    assert not pattern.matches("orders")
    assert not pattern.matches("other%orders")
    assert pattern.reads(Queue("shop%orders", "a", 0))


def test_limits_are_numbers_sizes_and_times() -> None:
    read = settings(
        maxOffsetsPerTrigger="100",
        maxBytesPerTrigger="64m",
        minOffsetsPerTrigger="10",
        maxTriggerDelay="15m",
        maxRecordsPerPartition="7",
    )

    assert read.limits == Limits(max_offsets=100, max_bytes=64 << 20, min_offsets=10, max_delay=900)
    assert read.max_records == 7
    assert settings(maxTriggerDelay="500").limits.max_delay == 0.5
    assert settings(maxTriggerDelay="2 h").limits.max_delay == 7200


def test_offsets_are_words_or_places() -> None:
    read = settings(startingOffsets="EARLIEST", endingOffsets='{"orders": {"a": {"0": 9}}}')

    assert read.start is not None
    assert read.start.everywhere == -2
    assert read.end is not None
    assert read.end.offsets.of(Queue("orders", "a", 0)) == 9


@pytest.mark.parametrize(
    "text",
    ["1700000000000", "2023-11-14T22:13:20Z", "2023-11-14T22:13:20", "2023-11-14 23:13:20+01:00"],
)
def test_time_is_milliseconds_or_a_date_and_comes_before_offsets(text: str) -> None:
    read = settings(startingTimestamp=text, startingOffsets="latest", endingTimestamp=text)

    assert read.start is not None
    assert read.start.time == 1_700_000_000_000
    assert read.end is not None
    assert read.end.time == 1_700_000_000_000


def test_times_by_topic_have_the_shape_of_offsets() -> None:
    read = settings(
        startingOffsetsByTimestamp='{"orders": 5}', startingOffsetsByTimestampStrategy="latest"
    )

    assert read.start is not None
    assert read.start.times is not None
    assert read.start.times.of(Queue("orders", "a", 1)) == 5
    assert not read.by_time_fails


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topics": "a"}, "unknown option 'topics'; the options are subscribe, .*nameServers"),
        (
            {"subscribepatern": "a"},
            "unknown option 'subscribepatern'; did you mean subscribePattern",
        ),
        ({"path": "x"}, "a topic has no path"),
        ({"subscribe": " ,"}, "option 'subscribe': ' ,' has no topic"),
        ({"assign": '{"t": {"a": [0]}}'}, "there is 'subscribe' and 'assign'"),
        ({"assign": '{"t": {"a": [-1]}}'}, "option 'assign': .* is not JSON like"),
        ({"assign": '{"t": ["a"]}'}, "option 'assign': .* is not JSON like"),
        ({"assign": "{}"}, "option 'assign': .* is not JSON like"),
        ({"subscribePattern": "("}, "option 'subscribePattern': .* is not a pattern"),
        ({"subscribePattern": ""}, "the pattern is empty"),
        ({"startingOffsets": "oldest"}, "option 'startingOffsets': 'oldest' is not JSON like"),
        ({"endingOffsets": "earliest"}, "cannot end at 'earliest'; use 'latest'"),
        ({"startingTimestamp": "noon"}, "option 'startingTimestamp': 'noon': must be now"),
        ({"startingTimestamp": '{"t": -1}'}, "-1 is not a number of milliseconds since 1970"),
        ({"maxOffsetsPerTrigger": "0"}, "'0' is not a whole number from 1 on"),
        ({"maxOffsetsPerTrigger": "many"}, "'many' is not a whole number from 1 on"),
        ({"maxBytesPerTrigger": "0"}, "a trigger has at least one byte"),
        ({"maxTriggerDelay": "soon"}, "'soon' is not a time such as 500ms"),
        ({"minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "8"}, "is larger than"),
        ({"failOnDataLoss": "no"}, "option 'failOnDataLoss': 'no' is not one of true, false"),
        ({"tags": "||"}, "option 'tags': no tag"),
        ({"sql": "a ="}, "option 'sql': "),
        ({"sql": "a = 1", "tags": "A"}, "exclude each other"),
        ({"group": "a b"}, "'a b' is not the name of a group"),
        ({"columns": "payload"}, "option 'columns': no column 'payload'"),
    ],
)
def test_wrong_options_are_refused_by_name(changes: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_options(options(**changes))


def test_read_needs_a_topic() -> None:
    with pytest.raises(
        OptionError, match=r"give one of options subscribe, .* say what to read; there is none"
    ):
        read_options({"nameServers": "a:1"})


def test_all_tags_are_no_filter() -> None:
    assert settings(tags="*").tags == ""
    assert settings(tags="A || B").tags == "A || B"
    assert settings(sql="a > 1").sql == "a > 1"
