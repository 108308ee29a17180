"""The route table: brokers that register, stay and leave, and their roles."""

from dataclasses import replace

import pytest

from rocketwire_namesrv.events import (
    BrokerRegistered,
    BrokerUnregistered,
    Reason,
    TopicsRegistered,
    UnregistrationIgnored,
)
from rocketwire_namesrv.routes.brokers import DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, clamp_timeout
from rocketwire_namesrv.routes.route_table import RouteTable
from tests.support.builders.route_table_builders import (
    A,
    B,
    perms,
    register,
    registration,
    settings_of,
)


@pytest.fixture
def table() -> RouteTable:
    return RouteTable()


def test_the_outcome_of_a_first_registration(table: RouteTable) -> None:
    registered = register(table, registration())

    assert registered.accepted
    assert registered.events == [
        BrokerRegistered(
            cluster="C", address=A, broker_name="b1", broker_id=0, ha_address=f"ha-{A}"
        ),
        TopicsRegistered(broker_name="b1", created=2, changed=0, removed=0, examples=("TA", "TB")),
    ]
    assert register(table, registration()).events == []


def test_a_late_unregistration_does_not_touch_a_newer_registration(table: RouteTable) -> None:
    register(table, registration(connection_id=1))
    register(table, registration(connection_id=2))

    reason = "registered over another connection since"
    ignored = UnregistrationIgnored(cluster="C", address=A, broker_name="b1", reason=reason)
    assert table.unregister("C", A, "b1", 1) == [ignored]
    assert perms(table, "TA") == {"b1": 6}
    assert ignored not in table.unregister("C", A, "b1", 2)
    assert perms(table, "TA") == {}
    register(table, registration(connection_id=3))
    assert table.unregister("C", A, "b1", 2) == [ignored]
    assert perms(table, "TA") == {"b1": 6}


def test_a_lost_connection_takes_all_its_brokers_along_and_no_others(table: RouteTable) -> None:
    register(table, registration(broker_name="b1"))
    register(table, registration(B, broker_name="b2"))
    register(table, registration("c:1", broker_name="b3", connection_id=2))
    events = table.connection_lost(1, Reason.IDLE)

    assert [
        (event.broker_name, event.reason)
        for event in events
        if isinstance(event, BrokerUnregistered)
    ] == [("b1", "idle"), ("b2", "idle")]
    assert perms(table, "TA") == {"b3": 6}
    assert table.connection_lost(1, Reason.CLOSED) == []


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
    assert expected == clamp_timeout(timeout)


def test_a_topic_that_comes_twice_with_the_same_version_is_taken_once(table: RouteTable) -> None:
    register(table, registration(A, 0, "TA", "TB"))
    twice = (("TC", settings_of(4)), ("TC", settings_of(2)))
    several = [(f"T{index}", settings_of()) for index in range(5000)]
    register(table, replace(registration(), topics=(*several, *twice)))

    assert perms(table, "TC") == {"b1": 4}


def test_the_place_of_a_dead_broker_is_free(table: RouteTable) -> None:
    register(table, registration(state_version=2))
    register(table, registration(B, 0, cluster="D", state_version=1))

    assert dict(table.groups["b1"].addresses) == {0: B}
