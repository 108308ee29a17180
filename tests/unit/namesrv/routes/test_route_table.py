"""The route table: who comes, stays and leaves, and in which role."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketwire_namesrv.events import (
    BrokerExpired,
    BrokerRegistered,
    BrokerUnregistered,
    ClusterRemoved,
    GroupRemoved,
    MinBrokerIdChanged,
    Reason,
    RegistrationConflict,
    TopicsRegistered,
    UnregistrationIgnored,
)
from rocketwire_namesrv.routes.brokers import DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, sane_timeout
from rocketwire_namesrv.routes.route_table import RouteTable
from tests.support.builders.route_table_builders import (
    A,
    B,
    perms,
    register,
    registration,
    settings_of,
)


def test_a_first_registration_says_who_came_and_with_what() -> None:
    table = RouteTable()
    registered = register(table, registration())

    assert registered.accepted
    assert registered.events == [
        BrokerRegistered(
            cluster="C", address=A, broker_name="b1", broker_id=0, ha_address=f"ha-{A}"
        ),
        TopicsRegistered(broker_name="b1", created=2, changed=0, removed=0, examples=("TA", "TB")),
    ]
    assert register(table, registration()).events == []


def test_the_last_member_takes_group_cluster_and_topics_along() -> None:
    table = RouteTable()
    register(table, registration())

    assert table.unregister("C", A, "b1", 1) == [
        BrokerUnregistered(cluster="C", address=A, broker_name="b1", reason="unregistered"),
        GroupRemoved(broker_name="b1", topics=2),
        ClusterRemoved(cluster="C"),
    ]
    assert (dict(table.groups), dict(table.clusters), dict(table.live)) == ({}, {}, {})
    assert dict(table.topics.entries) == {}
    assert len(table.topics.layouts) == 0


def test_a_cluster_stays_while_another_broker_is_in_it() -> None:
    table = RouteTable()
    register(table, registration())
    register(table, registration(B, broker_name="b2"))
    happened = table.unregister("C", A, "b1", 1)

    assert happened[-1] == GroupRemoved(broker_name="b1", topics=2)
    assert perms(table, "TA") == {"b2": 6}


def test_a_late_request_to_unregister_does_not_touch_the_registration_that_came_since() -> None:
    table = RouteTable()
    register(table, registration(connection_id=1))
    register(table, registration(connection_id=2))

    assert table.unregister("C", A, "b1", 1) == [
        UnregistrationIgnored(
            cluster="C",
            address=A,
            broker_name="b1",
            reason="registered over another connection since",
        )
    ]
    assert perms(table, "TA") == {"b1": 6}
    assert [type(each) for each in table.unregister("C", A, "b1", 2)] != [UnregistrationIgnored]
    assert perms(table, "TA") == {}
    register(table, registration(connection_id=3))
    assert [type(each) for each in table.unregister("C", A, "b1", 2)] == [UnregistrationIgnored]
    assert perms(table, "TA") == {"b1": 6}


def test_anybody_may_unregister_who_has_not_registered_again() -> None:
    table = RouteTable()
    register(table, registration(connection_id=5))

    assert table.unregister("C", A, "b1", 4) != []
    assert perms(table, "TA") == {}


def test_unregistering_who_is_not_there_does_nothing() -> None:
    table = RouteTable()
    register(table, registration())
    register(table, registration(B, 1))
    ignored = [
        table.unregister("C", A, "other", 1),
        table.unregister("C", "nobody:1", "b1", 1),
        table.unregister("D", "nobody:1", "b1", 1),
        table.unregister("D", A, "b1", 1),  # Java takes the address out of its group
    ]

    assert [type(only) for (only,) in ignored] == [UnregistrationIgnored] * 4
    assert dict(table.groups["b1"].addresses) == {0: A, 1: B}
    assert table.data_version("C", A) is not None


def test_a_lost_connection_takes_all_its_brokers_along_and_no_others() -> None:
    table = RouteTable()
    register(table, registration(broker_name="b1"))
    register(table, registration(B, broker_name="b2"))
    register(table, registration("c:1", broker_name="b3", connection_id=2))
    happened = table.connection_lost(1, Reason.IDLE)

    gone = [each for each in happened if isinstance(each, BrokerUnregistered)]
    assert [(each.broker_name, each.reason) for each in gone] == [("b1", "idle"), ("b2", "idle")]
    assert perms(table, "TA") == {"b3": 6}
    assert table.connection_lost(1, Reason.CLOSED) == []


def test_the_late_loss_of_a_former_connection_is_harmless() -> None:
    table = RouteTable()
    register(table, registration(connection_id=1))
    register(table, registration(connection_id=2))

    assert table.connection_lost(1, Reason.CLOSED) == []
    assert perms(table, "TA") == {"b1": 6}
    assert table.connection_lost(2, Reason.CLOSED) != []
    assert perms(table, "TA") == {}


def test_a_silent_broker_expires_and_a_heartbeat_keeps_it() -> None:
    table = RouteTable()
    register(table, replace(registration(), timeout_ms=1500))
    register(table, registration(B, broker_name="b2", connection_id=2))
    table.refresh("C", A, 1.0)
    table.refresh("C", "unknown:1", 1.0)

    assert table.expire(2.5) == ([], [])
    happened, connections = table.expire(2.6)
    assert happened[:2] == [
        BrokerExpired(cluster="C", address=A, timeout_ms=1500),
        BrokerUnregistered(cluster="C", address=A, broker_name="b1", reason="expired"),
    ]
    assert connections == [1]
    assert perms(table, "TA") == {"b2": 6}


@pytest.mark.parametrize(
    ("timeout", "expected"),
    [
        (None, DEFAULT_TIMEOUT_MS),
        (0, DEFAULT_TIMEOUT_MS),
        (-1, DEFAULT_TIMEOUT_MS),
        (10_000, 10_000),
        (1 << 62, MAX_TIMEOUT_MS),
    ],
)
def test_a_timeout_is_kept_within_reason(timeout: int | None, expected: int) -> None:
    assert expected == sane_timeout(timeout)


def test_a_slave_learns_of_a_living_master_only() -> None:
    table = RouteTable()

    assert register(table, registration(B, 1))[1:3] == (None, None)
    register(table, registration())
    assert register(table, registration(B, 1))[1:3] == (f"ha-{A}", A)
    assert register(table, registration(B, 1, cluster="D"))[1:3] == (None, None)


def test_one_topic_of_an_unknown_broker_is_refused_and_the_name_stays() -> None:
    table = RouteTable()
    refused = register(table, registration(A, 0, "TA"))

    assert not refused.accepted
    assert dict(table.groups["b1"].addresses) == {}
    assert dict(table.topics.entries) == {}
    assert table.unregister("C", A, "b1", 1) == [
        GroupRemoved(broker_name="b1", topics=0),
        ClusterRemoved(cluster="C"),
    ]


def test_with_the_same_data_version_only_unknown_topics_are_taken() -> None:
    table = RouteTable()
    register(table, registration(A, 0, "TA", "TB"))
    table.delete_topic("TB", None)
    register(table, registration(A, 0, "TA", "TB", "TC", perm=4))

    assert [perms(table, name) for name in ("TA", "TB", "TC")] == [{"b1": 6}, {"b1": 4}, {"b1": 4}]
    register(table, registration(A, 0, "TA", perm=2, counter=1))
    assert perms(table, "TA") == {"b1": 2}


def test_a_topic_that_comes_twice_with_the_same_version_is_taken_once() -> None:
    table = RouteTable()
    register(table, registration(A, 0, "TA", "TB"))
    twice = (("TC", settings_of(4)), ("TC", settings_of(2)))
    several = [(f"T{index}", settings_of()) for index in range(5000)]
    register(table, replace(registration(), topics=(*several, *twice)))

    assert perms(table, "TC") == {"b1": 4}


def test_an_older_state_version_does_not_take_the_place_of_a_living_broker() -> None:
    table = RouteTable()
    register(table, registration(state_version=2))
    register(table, registration(B, 1, state_version=1))
    registered = register(table, registration(B, 0, state_version=1))

    assert registered.events == [
        RegistrationConflict(
            cluster="C",
            broker_name="b1",
            broker_id=0,
            old_address=A,
            old_version=2,
            new_address=B,
            new_version=1,
        )
    ]
    assert dict(table.groups["b1"].addresses) == {0: A}
    assert table.data_version("C", B) is None
    register(table, registration(B, 0, state_version=2))
    assert dict(table.groups["b1"].addresses) == {0: B}


def test_the_place_of_a_dead_broker_is_free() -> None:
    table = RouteTable()
    register(table, registration(state_version=2))
    register(table, registration(B, 0, cluster="D", state_version=1))

    assert dict(table.groups["b1"].addresses) == {0: B}


def test_a_promoted_slave_keeps_one_place() -> None:
    table = RouteTable()
    register(table, registration(A, 1))
    register(table, registration(A, 0))

    assert dict(table.groups["b1"].addresses) == {0: A}


@pytest.mark.parametrize(
    ("acting", "broker_id", "expected"),
    [(None, 1, {}), (False, 1, {"b1": 6}), (True, 1, {"b1": 4}), (True, 0, {"b1": 6})],
)
def test_who_may_register_topics_and_with_what_permission(
    acting: bool | None, broker_id: int, expected: dict[str, int]
) -> None:
    table = RouteTable()
    register(table, registration(A, broker_id, acting=acting))

    assert expected == perms(table, "TA")


def test_only_the_smallest_slave_registers_topics() -> None:
    table = RouteTable()
    register(table, registration(A, 1, acting=True))
    register(table, registration(B, 2, "TC", "TD", acting=True))

    assert perms(table, "TC") == {}


def test_without_a_master_nobody_may_write() -> None:
    table = RouteTable()
    register(table, registration(A, 0, acting=True))
    register(table, registration(B, 1, acting=True))

    assert perms(table, "TA") == {"b1": 6}
    table.unregister("C", A, "b1", 1)
    assert perms(table, "TA") == {"b1": 4}


def test_any_request_to_unregister_a_member_takes_the_permission_of_a_group_without_a_master() -> (
    None
):
    table = RouteTable()
    register(table, registration(A, 1, acting=True))
    table.change_perm("b1", lambda _: 6)
    table.unregister("C", "nobody:1", "b1", 1)

    assert perms(table, "TA") == {"b1": 4}


def test_a_slave_that_leaves_takes_no_permission() -> None:
    table = RouteTable()
    register(table, registration(A, 0, acting=True))
    register(table, registration(B, 1, acting=True))
    table.unregister("C", B, "b1", 1, notify=True)

    assert perms(table, "TA") == {"b1": 6}


def test_a_smaller_id_is_announced_to_the_others() -> None:
    table = RouteTable()
    register(table, registration(A, 2))
    joined = register(table, registration(B, 1), notify=True)

    assert joined.events[-1] == MinBrokerIdChanged(
        broker_id=1, address=B, targets=(A,), ha_address=f"ha-{B}"
    )
    alone = register(RouteTable(), registration(A, -1), notify=True)
    assert alone.events[-1] == MinBrokerIdChanged(
        broker_id=-1, address=A, targets=(A,), ha_address=f"ha-{A}"
    )


def test_the_loss_of_the_smallest_id_is_announced_to_all_who_remain() -> None:
    table = RouteTable()
    for number, address in enumerate(("a:1", "b:1", "c:1")):
        register(table, registration(address, number, acting=True, connection_id=number))
    happened = table.connection_lost(0, Reason.CLOSED, notify=True)

    assert happened[-1] == MinBrokerIdChanged(
        broker_id=1, address="b:1", targets=("b:1", "c:1"), offline_address="a:1"
    )
    assert table.expire(1000.0, notify=True)[0][-2:] == [
        GroupRemoved(broker_name="b1", topics=2),
        ClusterRemoved(cluster="C"),
    ]
