"""The route table: what registrations and administrators do to topics."""

from collections.abc import Iterable

import pytest

from rocketwire_namesrv.events import Reason, TopicsRegistered
from rocketwire_namesrv.routes.route_table import RouteTable
from rocketwire_namesrv.routes.steps import run_steps
from rocketwire_namesrv.routes.topic_table import TOPICS_PER_STEP
from tests.support.builders.route_table_builders import A, perms, register, registration


@pytest.fixture
def table() -> RouteTable:
    return RouteTable()


def test_event_names_the_first_topics(table: RouteTable) -> None:
    def register_topics(names: Iterable[str], counter: int, **options: bool) -> TopicsRegistered:
        broker = registration(A, 0, *names, counter=counter)
        event = register(table, broker, **options).events[-1]
        assert isinstance(event, TopicsRegistered)
        return event

    names = [f"T{number}" for number in range(12)]
    register_topics(names[:2], 0)
    first_result = register_topics(names[:5], 1)
    second_result = register_topics(names, 2)
    absent = register_topics(names[:2], 3, delete_absent_topics=True)

    assert (first_result.created, sorted(first_result.examples)) == (3, ["T2", "T3", "T4"])
    assert second_result.created == 7
    assert (len(second_result.examples), second_result.examples[-1]) == (6, "...")
    assert (absent.removed, len(absent.examples), absent.examples[-1]) == (10, 6, "...")


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
    while not table.topics.entries:  # the first steps sort the new topics
        next(steps)

    assert len(table.topics.entries) == TOPICS_PER_STEP
    table.change_perm("b1", lambda _: 4)
    registered = run_steps(steps)
    assert len(table.topics.entries) == len(names)
    assert registered.accepted
    steps = table.register(registration(A, 0, *names), 0.0)
    next(steps)
    table.change_perm("b1", lambda _: 4)
    run_steps(steps)
    assert {perms(table, name)["b1"] for name in names} == {4}


@pytest.mark.parametrize("has_topics", [False, True])
def test_a_registration_whose_broker_leaves_between_two_steps_ends_there(
    table: RouteTable, *, has_topics: bool
) -> None:
    names = [f"T{index}" for index in range(3 * TOPICS_PER_STEP)]
    steps = table.register(registration(A, 1, *names), 0.0, notify=True)
    next(steps)
    while has_topics and not table.topics.entries:
        next(steps)
    table.connection_lost(1, Reason.CLOSED)
    registered = run_steps(steps)

    assert registered.accepted
    assert dict(table.topics.entries) == {}
    assert dict(table.groups) == {}


def test_many_brokers_of_a_topic_stand_in_javas_order(table: RouteTable) -> None:
    for index in range(13):
        register(table, registration(f"a:{index}", broker_name=f"topic-{index * 7}"))
    layout = table.topics.entries["TA"]
    numbers = (7, 70, 0, 84, 63, 42, 21, 77, 56, 35, 14, 49, 28)

    assert layout.capacity == 32
    names = [queue.broker_name for queue in layout.queues]
    assert names == [f"topic-{number}" for number in numbers]
