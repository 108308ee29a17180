"""The route table: what registrations and administrators do to topics."""

from __future__ import annotations

import pytest

from rocketwire_namesrv.events import Reason, TopicsRegistered
from rocketwire_namesrv.routes.route_table import RouteTable
from rocketwire_namesrv.routes.topic_table import TOPICS_PER_STEP
from tests.support.builders.route_table_builders import A, perms, register, registration, run_steps


@pytest.fixture
def table() -> RouteTable:
    return RouteTable()


def test_only_the_first_names_are_told_and_that_there_are_more(table: RouteTable) -> None:
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


def test_an_address_under_two_names_has_one_live_entry_until_both_leave(table: RouteTable) -> None:
    register(table, registration(broker_name="b1"))
    register(table, registration(broker_name="b2"))
    table.unregister("C", A, "b1", 1)

    assert list(table.groups) == ["b2"]
    assert table.data_version("C", A) is not None
    table.unregister("C", A, "b2", 1)
    assert dict(table.live) == {}


def test_one_broker_in_two_clusters_leaves_with_its_last_registration(table: RouteTable) -> None:
    register(table, registration(cluster="C"))
    register(table, registration(cluster="D", connection_id=2))

    assert table.groups["b1"].cluster == "C"
    table.connection_lost(1, Reason.CLOSED)
    assert dict(table.groups["b1"].addresses) == {0: A}
    table.connection_lost(2, Reason.CLOSED)
    assert (dict(table.groups), dict(table.clusters)) == ({}, {})


def test_each_step_of_a_registration_leaves_a_table_that_can_be_read(table: RouteTable) -> None:
    names = [f"T{index}" for index in range(3 * TOPICS_PER_STEP)]
    steps = table.register(registration(A, 0, *names), 0.0)
    while not table.topics.entries:  # new topics are put in order first
        next(steps)

    assert len(table.topics.entries) == TOPICS_PER_STEP
    table.change_perm("b1", lambda _: 4)
    registered = run_steps(steps)
    assert len(table.topics.entries) == len(names)
    assert registered.accepted
    again = table.register(registration(A, 0, *names), 0.0)
    next(again)
    table.change_perm("b1", lambda _: 4)
    run_steps(again)
    assert {perms(table, name)["b1"] for name in names} == {4}


def test_a_registration_whose_broker_leaves_between_two_steps_ends_there(table: RouteTable) -> None:
    names = [f"T{index}" for index in range(3 * TOPICS_PER_STEP)]
    steps = table.register(registration(A, 1, *names), 0.0, notify=True)
    while not table.topics.entries:
        next(steps)
    table.connection_lost(1, Reason.CLOSED)
    registered = run_steps(steps)

    assert registered.accepted
    assert dict(table.topics.entries) == {}
    assert dict(table.groups) == {}


def test_a_registration_ends_when_its_broker_leaves_in_the_midst(table: RouteTable) -> None:
    names = [f"T{index}" for index in range(3 * TOPICS_PER_STEP)]
    steps = table.register(registration(A, 1, *names), 0.0)
    next(steps)
    assert dict(table.topics.entries) == {}
    table.connection_lost(1, Reason.CLOSED)

    assert run_steps(steps).accepted
    assert dict(table.topics.entries) == {}
    assert dict(table.groups) == {}


def test_many_brokers_of_a_topic_stand_in_javas_order(table: RouteTable) -> None:
    for index in range(13):
        register(table, registration(f"a:{index}", broker_name=f"topic-{index * 7}"))
    layout = table.topics.entries["TA"]
    numbers = (7, 70, 0, 84, 63, 42, 21, 77, 56, 35, 14, 49, 28)

    assert layout.capacity == 32
    assert [queue.broker_name for queue in layout.queues] == [f"topic-{each}" for each in numbers]
