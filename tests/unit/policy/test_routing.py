"""Routes become the queues that Java makes of them."""

import pytest

from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData
from rocketwire.policy import routing
from tests.support.policy_vectors import decisions, rows
from tests.support.vectors import JavaVector

QUEUES = (
    QueueData(broker_name="a", read_queue_nums=8, write_queue_nums=2, perm=7),
    QueueData(broker_name="b", read_queue_nums=1, write_queue_nums=9, perm=6),
)
ROUTE = TopicRouteData(
    queue_datas=QUEUES,
    broker_datas=(BrokerData(broker_name="a", broker_addrs={0: "10.0.0.1:10911"}),),
)


def route_of(vector: JavaVector) -> TopicRouteData:
    route = decode_body(TopicRouteData, vector["route"].encode())
    assert route is not None
    return route


@pytest.mark.parametrize("vector", decisions("routing", "publish"), ids=str)
def test_the_queues_to_publish_to_are_java_s_in_its_order(vector: JavaVector) -> None:
    route = route_of(vector)

    if "refused" in vector.line:
        with pytest.raises(DecodeError):
            routing.publish_info("T", route)
        return
    info = routing.publish_info("T", route)

    assert rows(info.queues) == vector["value"]["queues"]
    assert info.order_topic == vector["value"]["ordered"]


@pytest.mark.parametrize("vector", decisions("routing", "subscribe"), ids=str)
def test_the_queues_to_read_from_are_java_s(vector: JavaVector) -> None:
    actual = rows(routing.subscribe_queues("T", route_of(vector)))
    assert sorted(actual) == sorted(vector["value"])
    assert len(actual) == len(vector["value"])


@pytest.mark.parametrize("vector", decisions("routing", "static"), ids=str)
def test_queues_of_a_static_topic_have_the_brokers_of_java(vector: JavaVector) -> None:
    places = routing.static_queues("T", route_of(vector))
    actual = [[*rows([queue])[0], broker] for queue, broker in places.items()]
    assert sorted(actual) == sorted(vector["value"])


def test_a_queue_of_a_static_topic_is_found_at_its_broker() -> None:
    logical = MessageQueue(topic="T", broker_name="__syslo__global__", queue_id=0)
    queue = MessageQueue(topic="T", broker_name="a", queue_id=0)
    info = routing.PublishInfo(queues=(logical, queue), broker_of={logical: "b"})
    assert info.broker_name(logical) == "b"
    assert info.broker_name(queue) == "a"
    assert info.broker_name(MessageQueue()) == ""


def test_a_topic_to_be_created_gets_no_more_queues_than_the_broker_offers() -> None:
    copy = routing.default_route(ROUTE, 4)
    numbers = [(data.read_queue_nums, data.write_queue_nums) for data in copy.queue_datas or ()]
    assert numbers == [(4, 4), (1, 1)]


def test_a_route_has_write_queues_and_master_of_its_brokers() -> None:
    assert routing.write_queue_nums(ROUTE, "b") == 9
    assert routing.write_queue_nums(ROUTE, "x") is None
    assert routing.master_address(ROUTE, "a") == "10.0.0.1:10911"
    assert routing.master_address(ROUTE, "b") is None


def test_a_route_of_absurdly_many_queues_is_refused() -> None:
    huge = QueueData(broker_name="a", read_queue_nums=1 << 30, write_queue_nums=1 << 30, perm=6)
    route = TopicRouteData(queue_datas=(huge,), broker_datas=ROUTE.broker_datas)
    with pytest.raises(DecodeError):
        routing.subscribe_queues("T", route)
    with pytest.raises(DecodeError):
        routing.publish_info("T", route)
