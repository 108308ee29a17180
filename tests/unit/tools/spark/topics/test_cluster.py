"""Queues, offsets and times of a broker in this process."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.cluster import Cluster, UnknownTopicError, is_compacted
from rocketwire_tools.spark.topics.connection import Connection, session_of
from rocketwire_tools.spark.topics.offsets import Bounds, Queue, read_queue_values
from rocketwire_tools.spark.topics.options import Settings
from rocketwire_tools.spark.topics.planning import UnreachableError

OpenCluster: TypeAlias = "Callable[..., Cluster]"


@pytest.fixture
def cluster(connection: Connection) -> OpenCluster:
    def create(*topics: str, pattern: str = "", assign: str = "") -> Cluster:
        queues = read_queue_values("assign", assign) if assign else None
        settings = Settings(
            connection=connection, topics=topics, pattern=pattern, queues=queues, group="readers"
        )
        return Cluster(settings)

    return create


def test_queue_ends_take_one_request_per_broker(rocketmq: RocketMQ, cluster: OpenCluster) -> None:
    second = rocketmq.add_broker()
    topic = rocketmq.topic(queues=64)
    rocketmq.produce(topic, b"1", b"2", queue_id=3)
    rocketmq.produce(topic, b"1", queue_id=63, broker=second)
    questions = cluster(topic)
    queues = questions.queues(questions.topics())
    names = [broker.state.config.broker_name for broker in rocketmq.brokers]
    requests = rocketmq.broker.state.faults  # another request would be refused
    rocketmq.broker.refuse_next(times=99, requests=[RequestCode.GET_MAX_OFFSET])
    assert requests

    bounds = questions.bounds(queues)

    assert len(queues) == len(bounds) == 128
    assert bounds[Queue(topic, names[0], 3)] == Bounds(0, 2)
    assert bounds[Queue(topic, names[1], 63)] == Bounds(0, 1)
    assert sum(pair.max_offset for pair in bounds.values()) == 3


@pytest.mark.parametrize(
    ("refusal", "refused_requests"),
    [
        (ResponseCode.NO_PERMISSION, [RequestCode.GET_MAX_OFFSET, RequestCode.GET_MIN_OFFSET]),
        (ResponseCode.REQUEST_CODE_NOT_SUPPORTED, [RequestCode.PULL_MESSAGE]),
    ],
)
def test_queues_are_queried_one_by_one_without_statistics(
    rocketmq: RocketMQ,
    cluster: OpenCluster,
    refusal: ResponseCode,
    refused_requests: list[RequestCode],
) -> None:
    topic = rocketmq.topic(queues=2)
    rocketmq.produce(topic, b"1", queue_id=1)
    rocketmq.broker.refuse_next(refusal, times=9, requests=[RequestCode.GET_TOPIC_STATS_INFO])
    rocketmq.broker.refuse_next(times=9, requests=refused_requests)
    questions = cluster(topic)
    questions.bounds(questions.queues([topic]))

    bounds = questions.bounds(questions.queues([topic]))

    assert {queue.queue_id: pair for queue, pair in bounds.items()} == {
        0: Bounds(0, 0),
        1: Bounds(0, 1),
    }


def test_other_refusals_are_errors_with_advice(rocketmq: RocketMQ, cluster: OpenCluster) -> None:
    topic = rocketmq.topic()
    rocketmq.broker.refuse_next(
        ResponseCode.SYSTEM_ERROR, requests=[RequestCode.GET_TOPIC_STATS_INFO], remark="two\nlines"
    )
    questions = cluster(topic)

    with pytest.raises(UnreachableError, match="two lines; see whether name servers") as error:
        questions.bounds(questions.queues([topic]))

    assert "\n" not in str(error.value)


def test_topic_without_readable_queue_is_an_error(rocketmq: RocketMQ, cluster: OpenCluster) -> None:
    topic = rocketmq.topic(queues=0)
    questions = cluster(topic)

    with pytest.raises(UnknownTopicError, match=f"topic {topic} has no queue that can be read"):
        questions.queues([topic])
    assert questions.queues([topic], may_be_gone=True) == ()


def test_topic_unknown_to_a_broker_has_no_bounds(rocketmq: RocketMQ, cluster: OpenCluster) -> None:
    topic = rocketmq.topic()
    rocketmq.broker.refuse_next(
        ResponseCode.TOPIC_NOT_EXIST, requests=[RequestCode.GET_TOPIC_STATS_INFO]
    )
    questions = cluster(topic)

    assert questions.bounds(questions.queues([topic])) == {}


@pytest.mark.parametrize("is_absent", [True, False], ids=["absent", "busy"])
def test_broker_without_statistics_is_an_error_or_left_out(
    rocketmq: RocketMQ, cluster: OpenCluster, *, is_absent: bool
) -> None:
    topic = rocketmq.topic(queues=1)
    questions = cluster(topic)
    queues = questions.queues([topic])
    requests = [RequestCode.GET_TOPIC_STATS_INFO]
    if is_absent:
        rocketmq.broker.cut_next(2, requests=requests)
    else:
        rocketmq.broker.refuse_next(ResponseCode.SYSTEM_BUSY, times=2, requests=requests)

    with pytest.raises(UnreachableError, match="see whether name servers"):
        questions.bounds(queues)

    assert questions.bounds(queues, may_be_missing=True) == {}


def test_pattern_matches_topics_of_users(rocketmq: RocketMQ, cluster: OpenCluster) -> None:
    for name in ("logs-a", "logs-b", "other-logs-c", "%RETRY%logs-g"):
        rocketmq.topic(name=name)

    assert cluster(pattern="logs-.").topics() == ("logs-a", "logs-b")
    assert cluster(pattern=".*").topics() == ("logs-a", "logs-b", "other-logs-c")
    assert cluster(pattern="%RETRY%logs-.").topics() == ("%RETRY%logs-g",)


def test_queues_are_assigned(rocketmq: RocketMQ, cluster: OpenCluster) -> None:
    topic = rocketmq.topic(queues=4)
    name = rocketmq.broker.state.config.broker_name
    assigned = cluster(assign=f'{{"{topic}": {{"{name}": {{"2": 0}}}}}}')
    missing = cluster(assign=f'{{"{topic}": {{"{name}": {{"9": 0}}}}}}')

    assert assigned.queues(assigned.topics()) == (Queue(topic, name, 2),)
    with pytest.raises(OptionError, match=f"'assign': there is no topic {topic}, broker"):
        missing.queues(missing.topics())


def test_topic_without_a_route_is_named(rocketmq: RocketMQ, cluster: OpenCluster) -> None:
    rocketmq.produce("such-a-topic", b"x")
    questions = cluster("such-topic")

    with pytest.raises(UnknownTopicError, match=r"such-topic does not exist.*mean such-a-topic\?"):
        questions.queues(["such-topic"])

    assert questions.queues(["no-such-topic"], may_be_gone=True) == ()


def test_times_offsets_of_groups_and_sizes(rocketmq: RocketMQ, cluster: OpenCluster) -> None:
    topic = rocketmq.topic(queues=1)
    rocketmq.produce(topic, b"1" * 100)
    rocketmq.advance(60)
    rocketmq.produce(topic, b"2" * 300)
    times = [message.store_timestamp for message in rocketmq.messages(topic)]
    questions = cluster(topic)
    (queue,) = questions.queues([topic])

    assert questions.offsets_at({queue: times[0] + 1}) == {queue: 1}
    assert questions.offsets_at({queue: times[1] + 1}) == {queue: 2}
    assert 200 < questions.mean_sizes({queue: 0})[topic] < 600
    assert questions.mean_sizes({queue: 2}) == {}

    questions.commit({queue: 1})
    questions.commit({queue: 1})
    assert questions.bounds([queue]) == {queue: Bounds(0, 2)}  # after the one-way requests
    assert rocketmq.lag("readers", topic) == 1
    # operators find the group by its retry topic, and it has no members
    assert questions.queues(["%RETRY%readers"])
    assert not rocketmq.do(lambda: rocketmq.broker.state.members.online("readers"))


def test_cleanup_policy_is_that_of_the_topic(rocketmq: RocketMQ, connection: Connection) -> None:
    topic = rocketmq.topic()
    name = rocketmq.broker.state.config.broker_name
    session = session_of(connection)

    assert not session.call(is_compacted, topic, name)
    assert not session.call(is_compacted, "no-such-topic", "nowhere")
