"""``Routes``: change detection and addresses, by Java's rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketwire.client.instance.routes import BrokerAddress, Routes, has_changed
from rocketwire.messages.route import BrokerData, QueueData, TopicQueueMappingInfo, TopicRouteData

A = BrokerData(broker_name="a", cluster="c", broker_addrs={0: "a0", 1: "a1"})
B = BrokerData(broker_name="b", cluster="c", broker_addrs={2: "b2"})
QUEUES = (QueueData(broker_name="a", perm=6), QueueData(broker_name="b", perm=6))
ROUTE = TopicRouteData(broker_datas=(A, B), queue_datas=QUEUES)


def routes(route: TopicRouteData = ROUTE) -> Routes:
    made = Routes()
    assert made.put("T", route)
    return made


@pytest.mark.parametrize(
    "other",
    [
        replace(ROUTE, broker_datas=(A,)),
        replace(ROUTE, broker_datas=(replace(A, broker_addrs={0: "x"}), B)),
        replace(ROUTE, queue_datas=(replace(QUEUES[0], perm=4), QUEUES[1])),
        replace(ROUTE, order_topic_conf="a:1"),
        replace(ROUTE, topic_queue_mapping_by_broker={"a": TopicQueueMappingInfo(epoch=1)}),
    ],
)
def test_what_clients_use_is_a_change(other: TopicRouteData) -> None:
    assert has_changed(ROUTE, other)
    assert routes().put("T", other)


def test_another_order_is_no_change() -> None:
    turned = replace(ROUTE, broker_datas=(B, A), queue_datas=QUEUES[::-1])

    assert not has_changed(ROUTE, turned)
    assert not routes().put("T", turned)


def test_a_changed_route_replaces_the_addresses_of_its_brokers() -> None:
    known = routes()
    known.put("T", replace(ROUTE, broker_datas=(replace(A, broker_addrs={0: "new"}), B)))

    assert known.brokers == {"a": {0: "new"}, "b": {2: "b2"}}
    assert known.topics == ("T",)


def test_a_master_is_written_to_and_nobody_else() -> None:
    assert routes().master("a") == "a0"
    assert routes().master("b") is None
    assert routes().master("x") is None


def test_a_replica_is_the_wanted_one_or_the_next_or_any() -> None:
    known = routes()

    assert known.replica("a", 1) == BrokerAddress("a1", 1)
    assert known.replica("b", 1) == BrokerAddress("b2", 2)
    assert known.replica("b", 7) == BrokerAddress("b2", 2)
    assert known.replica("b", 7, only_this=True) is None
    assert known.replica("b", 0, only_this=True) is None
    assert known.replica("x") is None
    assert not BrokerAddress("a0", 0).is_slave
    assert BrokerAddress("a1", 1).is_slave


def test_any_broker_of_a_topic_is_its_master_if_it_has_one() -> None:
    known = routes()

    assert {known.pick_broker("T", chance) for chance in range(4)} == {"a0", "b2"}
    assert known.pick_broker("x", 0) is None
    assert routes(TopicRouteData()).pick_broker("T", 0) is None


def test_the_other_brokers_of_a_topic_are_told_for_who_was_not_answered() -> None:
    assert routes().masters_of_topic("T") == ("a0", "b2")
    assert routes().masters_of_topic("T", but="a0") == ("b2",)
    assert routes().masters_of_topic("x") == ()


def test_everybody_or_masters_alone_are_listed() -> None:
    assert routes().all_addresses() == (("a", "a0"), ("a", "a1"), ("b", "b2"))
    assert routes().all_addresses(slaves=False) == (("a", "a0"),)
    assert routes().broker_name("b2") == "b"
    assert routes().broker_name("x") is None


def test_addresses_to_which_no_route_leads_are_dropped() -> None:
    known = routes()
    known.put("U", TopicRouteData(broker_datas=(replace(A, broker_addrs={0: "a0"}),)))
    assert known.drop_unreachable() == ()
    known.put("T", TopicRouteData(broker_datas=()))

    assert known.drop_unreachable() == ("b2",)
    assert known.brokers == {"a": {0: "a0"}}
    known.forget("U")
    assert known.drop_unreachable() == ("a0",)
    assert known.brokers == {}
