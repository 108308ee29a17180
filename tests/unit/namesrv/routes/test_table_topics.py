"""The route table: what registrations and administrators do to topics."""

from __future__ import annotations

from dataclasses import replace

from rocketwire.messages.route import QueueData, TopicQueueMappingInfo
from rocketwire_namesrv.events import (
    Reason,
    TopicRouteRefused,
    TopicRouteRegistered,
    TopicsRegistered,
)
from rocketwire_namesrv.routes.route_table import RouteTable
from rocketwire_namesrv.routes.topic_table import TOPICS_PER_STEP
from tests.support.builders.route_table_builders import A, B, drained, perms, register, registration


def test_a_registration_can_be_the_whole_truth() -> None:
    table = RouteTable()
    register(table, registration(A, 0, "TA", "TB"))
    register(table, registration(B, 0, "TA", "TB", broker_name="b2"))
    happened = register(
        table, registration(A, 0, "TB", "TC", counter=1), delete_absent_topics=True
    ).events

    removed = TopicsRegistered(broker_name="b1", created=0, changed=0, removed=1, examples=("TA",))
    assert removed in happened
    assert perms(table, "TA") == {"b2": 6}
    mapped = replace(
        registration(A, 0, "TC", "TD"), mappings={"TC": TopicQueueMappingInfo(bname="b1")}
    )
    register(table, mapped, delete_absent_topics=True)
    assert perms(table, "TB") == {"b1": 6, "b2": 6}
    register(table, registration(A, 0, "TB", "TC", "TD"), delete_absent_topics=True)
    assert perms(table, "TB") == {"b1": 6, "b2": 6}


def test_only_the_first_names_are_told_and_that_there_are_more() -> None:
    table = RouteTable()
    names = tuple(f"T{number}" for number in range(6))
    register(table, registration(A, 0, *names[:2]))
    (created,) = register(table, registration(A, 0, *names[:5], counter=1)).events
    (more,) = register(table, registration(A, 0, *names, *map(str, range(6)), counter=2)).events
    removed = register(
        table, registration(A, 0, "T0", "T1", counter=3), delete_absent_topics=True
    ).events[-1]

    assert isinstance(created, TopicsRegistered)
    assert sorted(created.examples) == ["T2", "T3", "T4"]
    assert isinstance(more, TopicsRegistered)
    assert (more.created, len(more.examples), more.examples[-1]) == (7, 6, "...")
    assert isinstance(removed, TopicsRegistered)
    assert (removed.removed, len(removed.examples), removed.examples[-1]) == (10, 6, "...")


def test_static_mappings_change_with_the_data_version_and_survive_the_topic() -> None:
    table = RouteTable()
    first = TopicQueueMappingInfo(bname="b1", epoch=1)
    second = TopicQueueMappingInfo(bname="b2", epoch=2)
    register(table, replace(registration(), mappings={"TA": first}))
    register(table, replace(registration(), mappings={"TA": second}))

    assert dict(table.topics.mappings["TA"]) == {"b1": first}
    register(table, replace(registration(counter=1), mappings={"TA": second}))
    table.delete_topic("TA", None)
    assert dict(table.topics.mappings["TA"]) == {"b1": first, "b2": second}


def test_filter_servers_are_replaced_kept_or_removed() -> None:
    table = RouteTable()
    register(table, replace(registration(), filter_servers=("f:1",)))
    register(table, replace(registration(), filter_servers=None))

    assert table.filter_servers == {("C", A): ("f:1",)}
    register(table, registration())
    assert table.filter_servers == {}


def test_a_topic_is_deleted_in_one_cluster_or_everywhere() -> None:
    table = RouteTable()
    register(table, registration())
    register(table, registration(B, broker_name="b2", cluster="D"))

    assert not table.delete_topic("TA", "unknown")
    assert not table.delete_topic("unknown", None)
    assert not table.delete_topic("unknown", "C")
    assert table.delete_topic("TA", "C")
    assert perms(table, "TA") == {"b2": 6}
    assert table.delete_topic("TA", "D")
    assert table.delete_topic("TB", "")
    assert dict(table.topics.entries) == {}


def test_the_route_of_a_topic_is_registered_at_known_brokers_only() -> None:
    table = RouteTable()
    register(table, registration())
    known = QueueData(broker_name="b1", perm=4, read_queue_nums=1, write_queue_nums=1)
    unknown = replace(known, broker_name="unknown")

    assert table.register_topic("TA", [known, unknown]) == [
        TopicRouteRefused(topic="TA", broker_name="unknown"),
        TopicRouteRegistered(topic="TA", broker_names=("b1",)),
    ]
    assert perms(table, "TA") == {"b1": 4}
    assert table.register_topic("TN", [known, unknown]) == [
        TopicRouteRefused(topic="TN", broker_name="unknown")
    ]
    assert table.register_topic("TB", [replace(known, broker_name=None)]) == [
        TopicRouteRefused(topic="TB", broker_name=None)
    ]
    assert table.register_topic("TN", [known]) == [
        TopicRouteRegistered(topic="TN", broker_names=("b1",))
    ]
    assert perms(table, "TN") == {"b1": 4}


def test_one_address_under_two_names_has_one_live_entry_until_both_have_left() -> None:
    table = RouteTable()
    register(table, registration(broker_name="b1"))
    register(table, registration(broker_name="b2"))
    table.unregister("C", A, "b1", 1)

    assert list(table.groups) == ["b2"]
    assert table.data_version("C", A) is not None
    table.unregister("C", A, "b2", 1)
    assert dict(table.live) == {}


def test_one_broker_in_two_clusters_leaves_with_its_last_registration() -> None:
    table = RouteTable()
    register(table, registration(cluster="C"))
    register(table, registration(cluster="D", connection_id=2))

    assert table.groups["b1"].cluster == "C"
    table.connection_lost(1, Reason.CLOSED)
    assert dict(table.groups["b1"].addresses) == {0: A}
    table.connection_lost(2, Reason.CLOSED)
    assert (dict(table.groups), dict(table.clusters)) == ({}, {})


def test_a_registration_goes_in_steps_and_each_leaves_a_table_that_can_be_read() -> None:
    table = RouteTable()
    names = [f"T{index}" for index in range(3 * TOPICS_PER_STEP)]
    steps = table.register(registration(A, 0, *names), 0.0)
    while not table.topics.entries:  # new topics are put in order first
        next(steps)

    assert len(table.topics.entries) == TOPICS_PER_STEP
    table.change_perm("b1", lambda _: 4)
    registered = drained(steps)
    assert len(table.topics.entries) == len(names)
    assert registered.accepted
    again = table.register(registration(A, 0, *names), 0.0)
    next(again)
    table.change_perm("b1", lambda _: 4)
    drained(again)
    assert {perms(table, name)["b1"] for name in names} == {4}


def test_a_registration_whose_broker_leaves_between_two_steps_ends_there() -> None:
    table = RouteTable()
    names = [f"T{index}" for index in range(3 * TOPICS_PER_STEP)]
    steps = table.register(registration(A, 1, *names), 0.0, notify=True)
    while not table.topics.entries:
        next(steps)
    table.connection_lost(1, Reason.CLOSED)
    registered = drained(steps)

    assert registered.accepted
    assert dict(table.topics.entries) == {}
    assert dict(table.groups) == {}


def test_a_registration_whose_broker_leaves_while_its_topics_are_put_in_order_ends_there() -> None:
    table = RouteTable()
    names = [f"T{index}" for index in range(3 * TOPICS_PER_STEP)]
    steps = table.register(registration(A, 1, *names), 0.0)
    next(steps)
    assert dict(table.topics.entries) == {}
    table.connection_lost(1, Reason.CLOSED)

    assert drained(steps).accepted
    assert dict(table.topics.entries) == {}
    assert dict(table.groups) == {}


def test_many_brokers_of_a_topic_stand_in_javas_order() -> None:
    table = RouteTable()
    for index in range(13):
        register(table, registration(f"a:{index}", broker_name=f"topic-{index * 7}"))
    layout = table.topics.entries["TA"]
    numbers = (7, 70, 0, 84, 63, 42, 21, 77, 56, 35, 14, 49, 28)

    assert layout.capacity == 32
    assert [queue.broker_name for queue in layout.queues] == [f"topic-{each}" for each in numbers]
