"""The route table: any sequence of events, and what must hold after each of them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rocketwire_namesrv.events import Reason, RegistrationConflict
from rocketwire_namesrv.routes.route_table import RouteTable
from tests.support.builders.route_table_builders import perms, register, registration, settings_of

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
        conflict = any(isinstance(each, RegistrationConflict) for each in registered.events)
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
        for layout in self.table.topics.entries.values():
            assert layout.queues
            assert {queue.broker_name for queue in layout.queues} <= set(self.table.groups)

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
        assert len(self.table.topics.layouts) == 0


TestEvents = Events.TestCase
TestEvents.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
