"""``Routes``: change detection and addresses, by Java's rules."""

from dataclasses import replace

import pytest

from rocketwire.client.instance.routes import BrokerAddress, Routes, has_changed
from rocketwire.messages.route import BrokerData, QueueData, TopicQueueMappingInfo, TopicRouteData

A = BrokerData(broker_name="a", cluster="c", broker_addrs={0: "a0", 1: "a1"})
B = BrokerData(broker_name="b", cluster="c", broker_addrs={2: "b2"})
QUEUES = (QueueData(broker_name="a", perm=6), QueueData(broker_name="b", perm=6))
ROUTE = TopicRouteData(broker_datas=(A, B), queue_datas=QUEUES)


def fill_routes(route: TopicRouteData = ROUTE) -> Routes:
    filled = Routes()
    assert filled.put("T", route)
    return filled


@pytest.mark.parametrize(
    "changed",
    [
        replace(ROUTE, broker_datas=(A,)),
        replace(ROUTE, broker_datas=(replace(A, broker_addrs={0: "x"}), B)),
        replace(ROUTE, queue_datas=(replace(QUEUES[0], perm=4), QUEUES[1])),
        replace(ROUTE, order_topic_conf="a:1"),
        replace(ROUTE, topic_queue_mapping_by_broker={"a": TopicQueueMappingInfo(epoch=1)}),
    ],
)
def test_changes_of_used_fields_are_detected(changed: TopicRouteData) -> None:
    assert has_changed(ROUTE, changed)
    assert fill_routes().put("T", changed)


def test_another_order_is_no_change() -> None:
    turned = replace(ROUTE, broker_datas=(B, A), queue_datas=QUEUES[::-1])
    assert not has_changed(ROUTE, turned)
    assert not fill_routes().put("T", turned)


def test_a_changed_route_replaces_the_addresses_of_its_brokers() -> None:
    table = fill_routes()
    table.put("T", replace(ROUTE, broker_datas=(replace(A, broker_addrs={0: "new"}), B)))
    assert table.brokers == {"a": {0: "new"}, "b": {2: "b2"}}


def test_only_a_master_can_be_written_to() -> None:
    assert fill_routes().master("a") == "a0"
    assert fill_routes().master("b") is None
    assert fill_routes().master("x") is None


def test_a_replica_is_the_requested_one_or_another() -> None:
    table = fill_routes()

    assert table.replica("a", 1) == BrokerAddress("a1", 1)
    assert table.replica("b", 1) == BrokerAddress("b2", 2)
    assert table.replica("b", 7) == BrokerAddress("b2", 2)
    assert table.replica("b", 7, only_this=True) is None
    assert table.replica("b", 0, only_this=True) is None
    assert table.replica("x") is None
    assert not BrokerAddress("a0", 0).is_slave
    assert BrokerAddress("a1", 1).is_slave


def test_any_broker_of_a_topic_is_its_master_if_it_has_one() -> None:
    table = fill_routes()
    assert {table.pick_broker("T", chance) for chance in range(4)} == {"a0", "b2"}
    assert table.pick_broker("x", 0) is None
    assert fill_routes(TopicRouteData()).pick_broker("T", 0) is None


def test_masters_of_a_topic_can_exclude_one_address() -> None:
    assert fill_routes().masters_of_topic("T") == ("a0", "b2")
    assert fill_routes().masters_of_topic("T", but="a0") == ("b2",)
    assert fill_routes().masters_of_topic("x") == ()


def test_all_addresses_or_those_of_masters_are_listed() -> None:
    assert fill_routes().all_addresses() == (("a", "a0"), ("a", "a1"), ("b", "b2"))
    assert fill_routes().all_addresses(slaves=False) == (("a", "a0"),)
    assert fill_routes().broker_name("b2") == "b"
    assert fill_routes().broker_name("x") is None


def test_unreachable_addresses_are_dropped() -> None:
    table = fill_routes()
    table.put("U", TopicRouteData(broker_datas=(replace(A, broker_addrs={0: "a0"}),)))
    assert table.drop_unreachable() == ()
    table.put("T", TopicRouteData(broker_datas=()))

    assert table.drop_unreachable() == ("b2",)
    assert table.brokers == {"a": {0: "a0"}}
    table.forget("U")
    assert table.drop_unreachable() == ("a0",)
    assert table.brokers == {}
