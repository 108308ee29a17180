"""The topics of a broker."""

import pytest

from rocketwire_broker.config import Config
from rocketwire_broker.tables.topics import Topics, new_topic
from tests.support.values import require


@pytest.fixture
def topics() -> Topics:
    return Topics(Config(), now=7)


@pytest.mark.parametrize(
    ("name", "queues", "perm"),
    [
        ("TBW102", 8, 7),
        ("DefaultCluster", 16, 7),
        ("broker-a", 1, 7),
        ("BenchmarkTest", 1024, 6),
        ("SCHEDULE_TOPIC_XXXX", 18, 6),
        ("rmq_sys_REVIVE_LOG_DefaultCluster", 8, 6),
        ("rmq_sys_SYNC_BROKER_MEMBER_broker-a", 1, 1),
    ],
)
def test_system_topics_are_javas(topics: Topics, name: str, queues: int, perm: int) -> None:
    topic = require(topics.get(name))

    assert (topic.read_queue_nums, topic.write_queue_nums, topic.perm) == (queues, queues, perm)
    assert topics.changed == {}


def test_a_deleted_topic_is_remembered_for_the_name_servers(topics: Topics) -> None:
    topics.put(new_topic("orders", 4), now=8)

    assert topics.delete("orders", now=9)
    assert not topics.delete("orders", now=9)
    assert (topics.changed, topics.removed) == ({}, {"orders"})


def test_system_topics_are_known_by_their_prefix_too(topics: Topics) -> None:
    assert topics.is_system("rmq_sys_anything")
    assert topics.is_system("broker-a")
    assert topics.is_system("TRANS_CHECK_MAX_TIME_TOPIC")
    assert not topics.is_system("orders")


def test_there_are_no_more_topics_than_the_limit() -> None:
    topics = Topics(Config(max_topics=1), now=7)

    assert topics.create_by_send("orders", "TBW102", 4, 0, now=8) is None
    assert topics.create_for_group("%RETRY%g", 1, now=8) is None
