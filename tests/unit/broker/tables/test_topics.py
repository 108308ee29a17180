"""Topics, their queues at other brokers, and the offsets of groups."""

import pytest

from rocketwire.messages.message_queue import MessageQueue
from rocketwire_broker.config import Config
from rocketwire_broker.tables.offsets import Offsets
from rocketwire_broker.tables.routes import FRESH_MS, Routes
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


QUEUE = MessageQueue(topic="orders", broker_name="broker-b", queue_id=0)


def test_without_a_name_server_there_is_nothing_to_ask_for() -> None:
    routes = Routes()

    assert routes.is_fresh("orders", 5)
    assert routes.queues("orders") == ()


def test_answer_goes_to_all_requests_and_is_kept() -> None:
    routes = Routes()
    calls: list[int] = []
    times: list[int] = []
    routes.on_asked = lambda: calls.append(1)

    assert not routes.is_fresh("orders", 10_000)
    routes.ask("orders", times.append)
    routes.ask("orders", times.append)
    assert routes.pending() == ["orders"]
    routes.put("orders", [QUEUE], 10_000)

    assert calls == [1, 1]
    assert times == [10_000, 10_000]
    assert routes.pending() == []
    assert routes.queues("orders") == [QUEUE]
    assert routes.is_fresh("orders", 10_000 + FRESH_MS - 1)
    assert not routes.is_fresh("orders", 10_000 + FRESH_MS)


def test_the_last_queues_stay_if_no_name_server_answers() -> None:
    routes = Routes()
    routes.put("orders", [QUEUE], 10_000)

    routes.put("orders", None, 20_000)
    assert routes.queues("orders") == [QUEUE]

    routes.delete_topic("orders")
    assert routes.queues("orders") == ()


@pytest.fixture
def offsets() -> Offsets:
    offsets = Offsets(now=7)
    offsets.commit("readers", "orders", 0, 5, now=8)
    return offsets


def test_a_queue_beyond_all_limits_has_no_offset(offsets: Offsets) -> None:
    for queue_id in (-1, 65_536):
        offsets.commit("readers", "orders", queue_id, 5, now=8)

    assert offsets.of("readers", "orders") == {0: 5}


def test_a_reset_is_pending_until_it_was_taken(offsets: Offsets) -> None:
    offsets.reset("readers", "orders", 0, 2, now=9)

    assert offsets.get("readers", "orders", 0) == 2
    assert offsets.pending_reset("readers", "orders", 0) == 2
    assert offsets.take_reset("readers", "orders", 0) == 2
    assert offsets.take_reset("readers", "orders", 0) is None
    assert offsets.get("readers", "orders", 0) == 2


def test_the_place_of_the_next_pull_is_not_the_committed_offset(offsets: Offsets) -> None:
    offsets.note_pulled("readers", "orders", 0, 9)

    assert offsets.next_pull("readers", "orders", 0) == 9
    assert offsets.next_pull("readers", "orders", 1) is None
    assert offsets.get("readers", "orders", 0) == 5
