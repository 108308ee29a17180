"""The route table: sequences of events, and what must hold after any of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rocketwire.messages.registration import DataVersion
from rocketwire.messages.route import QueueData, TopicQueueMappingInfo
from rocketwire_namesrv.brokers import (
    DEFAULT_TIMEOUT_MS,
    MAX_TIMEOUT_MS,
    Registered,
    Registration,
    sane_timeout,
)
from rocketwire_namesrv.occurrences import (
    BrokerExpired,
    BrokerRegistered,
    BrokerUnregistered,
    ClusterRemoved,
    GroupRemoved,
    MinBrokerIdChanged,
    Reason,
    RegistrationConflict,
    TopicRouteRefused,
    TopicRouteRegistered,
    TopicsRegistered,
    UnregistrationIgnored,
)
from rocketwire_namesrv.shapes import QueueSettings
from rocketwire_namesrv.table import RouteTable
from rocketwire_namesrv.topics import TOPICS_PER_STEP

if TYPE_CHECKING:
    from collections.abc import Generator

A, B = "10.0.0.1:10911", "10.0.0.2:10911"


def settings_of(perm: int = 6, queues: int = 8) -> QueueSettings:
    return QueueSettings(queues, queues, perm, 0)


def registration(
    address: str = A,
    broker_id: int = 0,
    *names: str,
    broker_name: str = "b1",
    cluster: str = "C",
    counter: int = 0,
    state_version: int = 0,
    connection_id: int = 1,
    acting: bool | None = False,
    perm: int = 6,
) -> Registration:
    topics = tuple((name, settings_of(perm)) for name in (names or ("TA", "TB")))
    return Registration(
        cluster=cluster,
        address=address,
        broker_name=broker_name,
        broker_id=broker_id,
        data_version=DataVersion(counter=counter, state_version=state_version, timestamp=1),
        connection_id=connection_id,
        ha_address=f"ha-{address}",
        enable_acting_master=acting,
        topics=topics,
        topic_keys=[name for name, _ in topics],
        mappings={},
    )


def drained(steps: Generator[None, None, Registered]) -> Registered:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Registered = end.value
            return result


def register(
    table: RouteTable,
    what: Registration,
    now: float = 0.0,
    *,
    delete_absent_topics: bool = False,
    notify: bool = False,
) -> Registered:
    steps = table.register(what, now, delete_absent_topics=delete_absent_topics, notify=notify)
    return drained(steps)


def perms(table: RouteTable, topic: str) -> dict[str | None, int]:
    shape = table.topics.entries.get(topic)
    return {} if shape is None else {queue.broker_name: queue.perm for queue in shape.queues}


def test_a_first_registration_says_who_came_and_with_what() -> None:
    table = RouteTable()
    registered = register(table, registration())

    assert registered.accepted
    assert registered.occurrences == [
        BrokerRegistered(
            cluster="C", address=A, broker_name="b1", broker_id=0, ha_address=f"ha-{A}"
        ),
        TopicsRegistered(broker_name="b1", created=2, changed=0, removed=0, examples=("TA", "TB")),
    ]
    assert register(table, registration()).occurrences == []


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
    assert len(table.topics.shapes) == 0


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
    ]

    assert [type(only) for (only,) in ignored] == [UnregistrationIgnored] * 3
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

    assert registered.occurrences == [
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

    assert joined.occurrences[-1] == MinBrokerIdChanged(
        broker_id=1, address=B, targets=(A,), ha_address=f"ha-{B}"
    )
    alone = register(RouteTable(), registration(A, -1), notify=True)
    assert alone.occurrences[-1] == MinBrokerIdChanged(
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


def test_a_registration_can_be_the_whole_truth() -> None:
    table = RouteTable()
    register(table, registration(A, 0, "TA", "TB"))
    register(table, registration(B, 0, "TA", "TB", broker_name="b2"))
    happened = register(
        table, registration(A, 0, "TB", "TC", counter=1), delete_absent_topics=True
    ).occurrences

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
    next(steps)
    table.connection_lost(1, Reason.CLOSED)
    registered = drained(steps)

    assert registered.accepted
    assert dict(table.topics.entries) == {}
    assert dict(table.groups) == {}


def test_many_brokers_of_a_topic_stand_in_javas_order() -> None:
    table = RouteTable()
    for index in range(13):
        register(table, registration(f"a:{index}", broker_name=f"topic-{index * 7}"))
    shape = table.topics.entries["TA"]
    numbers = (7, 70, 0, 84, 63, 42, 21, 77, 56, 35, 14, 49, 28)

    assert shape.capacity == 32
    assert [queue.broker_name for queue in shape.queues] == [f"topic-{each}" for each in numbers]


# ---------------------------------------- invariants

ADDRESSES = st.sampled_from(["a:1", "b:1", "c:1"])
NAMES = st.sampled_from(["b1", "b2"])
CLUSTERS = st.sampled_from(["C", "D"])
CONNECTIONS = st.integers(1, 4)
TOPICS = st.lists(st.sampled_from(["T1", "T2", "T3"]), max_size=3, unique=True)


class Events(RuleBasedStateMachine):
    """Any events in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.table = RouteTable()
        self.now = 0.0
        self.newest: dict[tuple[str, str], int] = {}
        self.registered: set[tuple[str, str, int]] = set()

    @rule(
        address=ADDRESSES,
        name=NAMES,
        cluster=CLUSTERS,
        broker_id=st.integers(0, 2),
        connection=CONNECTIONS,
        topics=TOPICS,
        counter=st.integers(0, 1),
        state_version=st.integers(0, 1),
        acting=st.sampled_from([None, False, True]),
        absent=st.booleans(),
    )
    def registers(
        self,
        address: str,
        name: str,
        cluster: str,
        broker_id: int,
        connection: int,
        topics: list[str],
        counter: int,
        state_version: int,
        acting: bool | None,
        absent: bool,
    ) -> None:
        what = replace(
            registration(
                address,
                broker_id,
                broker_name=name,
                cluster=cluster,
                counter=counter,
                state_version=state_version,
                connection_id=connection,
                acting=acting,
            ),
            topics=tuple((topic, settings_of()) for topic in topics),
            topic_keys=topics,
            filter_servers=("f:1",) if counter else (),
        )
        known = self.table.groups.get(name)
        perms_before = {topic: perms(self.table, topic).get(name) for topic in topics}
        unchanged = (
            known is not None
            and known.addresses.get(broker_id) == address
            and self.table.data_version(cluster, address) == what.data_version
        )
        registered = register(self.table, what, self.now, delete_absent_topics=absent)
        conflict = any(isinstance(each, RegistrationConflict) for each in registered.occurrences)
        if registered.accepted and not conflict:
            self.newest[cluster, address] = connection
            self.registered.add((cluster, address, connection))
            if broker_id == 0:
                # acknowledged means readable
                assert all(name in perms(self.table, topic) for topic in topics)
        if unchanged:
            # a wiped permission comes back with another data version only
            for topic, before in perms_before.items():
                if before is not None:
                    assert perms(self.table, topic).get(name, before) == before

    @rule(address=ADDRESSES, name=NAMES, cluster=CLUSTERS, connection=CONNECTIONS)
    def unregisters(self, address: str, name: str, cluster: str, connection: int) -> None:
        before = self.table.live.get((cluster, address))
        late = (cluster, address, connection) in self.registered
        self.table.unregister(cluster, address, name, connection, notify=True)
        if late and before is not None and before.connection_id != connection:
            assert self.table.live.get((cluster, address)) is before

    @rule(connection=CONNECTIONS)
    def loses(self, connection: int) -> None:
        others = {
            key: entry
            for key, entry in self.table.live.items()
            if entry.connection_id != connection
        }
        self.table.connection_lost(connection, Reason.CLOSED, notify=True)
        self.registered = {each for each in self.registered if each[2] != connection}
        assert dict(self.table.live) == others

    @rule(seconds=st.sampled_from([1.0, 60.0, 121.0]))
    def passes(self, seconds: float) -> None:
        self.now += seconds
        self.table.expire(self.now, notify=True)

    @rule(name=NAMES, perm=st.sampled_from([4, 6]))
    def changes_perm(self, name: str, perm: int) -> None:
        self.table.change_perm(name, lambda _: perm)

    @rule(topic=st.sampled_from(["T1", "T2"]), cluster=st.sampled_from([None, "C", "D"]))
    def deletes(self, topic: str, cluster: str | None) -> None:
        self.table.delete_topic(topic, cluster)

    @invariant()
    def a_route_names_registered_brokers_only(self) -> None:
        for shape in self.table.topics.entries.values():
            assert shape.queues
            assert {queue.broker_name for queue in shape.queues} <= set(self.table.groups)

    @invariant()
    def an_address_in_a_group_is_alive(self) -> None:
        for name, group in self.table.groups.items():
            for address in group.addresses.values():
                assert any(
                    name in entry.names
                    for (_, live), entry in self.table.live.items()
                    if live == address
                )

    @invariant()
    def a_cluster_names_groups_only_and_is_not_empty(self) -> None:
        for names in self.table.clusters.values():
            assert names
            assert set(names) <= set(self.table.groups)

    @invariant()
    def filter_servers_belong_to_the_living(self) -> None:
        assert set(self.table.filter_servers) <= set(self.table.live)

    @invariant()
    def a_live_entry_belongs_to_its_newest_connection(self) -> None:
        for key, entry in self.table.live.items():
            assert entry.names
            assert self.newest[key] == entry.connection_id

    def teardown(self) -> None:
        for connection in range(1, 5):
            self.table.connection_lost(connection, Reason.CLOSED)
        for name in list(self.table.groups):
            self.table.unregister("C", "nobody:1", name, 9)
        assert dict(self.table.groups) == {}
        assert dict(self.table.clusters) == {}
        assert dict(self.table.topics.entries) == {}
        assert len(self.table.topics.shapes) == 0


TestEvents = Events.TestCase
TestEvents.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
