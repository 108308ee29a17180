"""The route table does what the plain model does, whatever happens in whatever order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.protocol import session
from rocketwire_namesrv.registration import json_reader, packed_reader, reader
from rocketwire_namesrv.routes import topic_table
from tests.support.fakes.sansio_server import Server, replies, request
from tests.support.model import speech
from tests.support.model.routes import OurRoutes, Queue, Registering, Version

if TYPE_CHECKING:
    from rocketwire_namesrv.protocol.session import Effects, Session

pytestmark = pytest.mark.chaos

NAMES = ("b1", "b2", "b3")
ADDRESSES = ("a:1", "a:2", "a:3", "a:4", "a:5")
CLUSTERS = ("C", "D")
TOPICS = ("T0", "T1", "T2", "T3", "T4", "T5")
ZONES = (None, "near", "far")
ZONE = "Near"
TIMEOUTS = (None, 10_000, 60_000)

MOST_CONNECTIONS = 4

LONG = os.environ.get("ROCKETWIRE_CHAOS") == "long"
STEPS = 50
EXAMPLES = 300 if LONG else 12
ENOUGH = 10_000 if LONG else 300

queue_settings = st.builds(
    Queue, st.sampled_from((4, 8)), st.sampled_from((2, 4, 6, 7)), st.sampled_from((0, 1, 2))
)
tables = st.dictionaries(st.sampled_from(TOPICS), queue_settings, max_size=len(TOPICS))
brokers = st.tuples(
    st.sampled_from(CLUSTERS + ("C",) * 3), st.sampled_from(ADDRESSES), st.sampled_from(NAMES)
)
numbers = st.sampled_from((0, 0, 1, 2))
turns = st.integers(0, 3)


class Routes(RuleBasedStateMachine):
    """Some brokers, connections and administrators, and a name server without a driver."""

    steps: ClassVar[int] = 0

    @initialize(notify=st.booleans(), act=st.booleans(), authoritative=st.booleans())
    def start(self, notify: bool, act: bool, authoritative: bool) -> None:
        self.model = OurRoutes(notify=notify, act=act, authoritative=authoritative)
        self.server = Server(
            Config(
                notify_min_broker_id_changed=notify,
                support_acting_master=act,
                delete_topic_with_broker_registration=authoritative,
            )
        )
        self.connections: dict[int, Session] = {}
        self.latest: Registering | None = None
        self.connect()

    def _session(self, turn: int) -> tuple[int, Session]:
        number = list(self.connections)[turn % len(self.connections)]
        return number, self.connections[number]

    def _done(self, outcome: Effects) -> None:
        Routes.steps += 1
        assert outcome.close is None
        self._notices(outcome.notify)

    def _notices(self, notify: Any) -> None:
        commands = {id(command): command for _, command in notify}
        said = [
            speech.notice_of(frozenset(a for a, c in notify if c is command), command)
            for command in commands.values()
        ]
        assert self.model.notices == said
        self.model.notices = []

    def _ask(self, code: int, ext: dict[str, str], body: bytes = b"") -> dict[str, str]:
        outcome = self.server.receive(request(code, ext, body))
        (reply,) = replies(outcome.send)
        assert reply.code == 0
        self._done(outcome)
        return reply.ext or {}

    # ---- connections

    @precondition(lambda self: len(self.connections) < MOST_CONNECTIONS)
    @rule()
    def connect(self) -> None:
        number = self.server.connections + 1
        self.connections[number] = self.server.connect()

    @precondition(lambda self: len(self.connections) > 1)
    @rule(turn=turns)
    def disconnect(self, turn: int) -> None:
        self._lose(self._session(turn)[0])
        Routes.steps += 1

    def _lose(self, number: int) -> None:
        happened = self.connections.pop(number).lost(self.server.now, "closed")
        self.model.lost(number)
        self._notices(self.server.state.notifications(happened))

    # ---- brokers

    @rule(
        broker=brokers,
        number=numbers,
        turn=turns,
        table=tables,
        version=st.builds(Version, st.integers(1, 2), st.sampled_from((0, 0, 1))),
        acting=st.sampled_from((None, True, True, False)),
        zone=st.sampled_from(ZONES),
        timeout=st.sampled_from(TIMEOUTS),
        mapped=st.sampled_from((None, None, None, "T0", "T1")),
        filters=st.sampled_from((None, (), ("f:1",))),
        packed=st.booleans(),
    )
    def register(
        self,
        broker: tuple[str, str, str],
        number: int,
        turn: int,
        table: dict[str, Queue],
        version: Version,
        packed: bool,
        **more: Any,
    ) -> None:
        if packed:  # that form has no flags
            table = {topic: queue._replace(flag=0) for topic, queue in table.items()}
        cluster, address, name = broker
        connection, _ = self._session(turn)
        registering = Registering(
            cluster=cluster,
            address=address,
            name=name,
            number=number,
            connection=connection,
            version=version,
            topics=table,
            **more,
        )
        self._register(registering, packed=packed)

    @precondition(lambda self: self.latest is not None)
    @rule(turn=turns, bump=st.booleans(), change=tables, packed=st.booleans())
    def register_again(self, turn: int, bump: bool, change: dict[str, Queue], packed: bool) -> None:
        """The broker of the latest registration says much the same."""
        latest = self.latest
        assert latest is not None
        table = dict(latest.topics)
        if bump:
            table |= {topic: queue._replace(flag=0) for topic, queue in change.items()}
        if packed:
            table = {topic: queue._replace(flag=0) for topic, queue in table.items()}
        again = replace(
            latest,
            connection=self._session(turn)[0],
            version=latest.version._replace(counter=latest.version.counter + bump),
            topics=table,
        )
        self._register(again, packed=packed)

    def _register(self, r: Registering, *, packed: bool) -> None:
        accepted, master = self.model.register(r, self.server.now)
        data = request(103, speech.fields_of(r, packed=packed), speech.body_of(r, packed=packed))
        outcome = self.server.receive(data, self.connections[r.connection])
        (reply,) = replies(outcome.send)
        assert (accepted, master) == (reply.code == 0, (reply.ext or {}).get("masterAddr"))
        self._done(outcome)
        self.latest = r

    @rule(broker=brokers, number=numbers, turn=turns)
    def unregister(self, broker: tuple[str, str, str], number: int, turn: int) -> None:
        cluster, address, name = broker
        connection, peer = self._session(turn)
        self.model.unregister(cluster, address, name, number, connection)
        ext = {"brokerAddr": address, "brokerId": str(number)}
        data = request(104, {**ext, "brokerName": name, "clusterName": cluster})
        self._done(self.server.receive(data, peer))

    @precondition(lambda self: self.latest is not None)
    @rule(turn=turns)
    def unregister_latest(self, turn: int) -> None:
        latest = self.latest
        assert latest is not None
        self.unregister((latest.cluster, latest.address, latest.name), latest.number, turn)

    @rule(broker=brokers)
    def beat(self, broker: tuple[str, str, str]) -> None:
        cluster, address, name = broker
        self.model.refresh(cluster, address, self.server.now)
        self._ask(904, {"brokerAddr": address, "brokerName": name, "clusterName": cluster})

    @rule(broker=brokers, counter=st.integers(1, 2))
    def ask_version(self, broker: tuple[str, str, str], counter: int) -> None:
        cluster, address, name = broker
        known = self.model.refresh(cluster, address, self.server.now)
        ext = {"brokerAddr": address, "brokerName": name, "clusterName": cluster}
        body = b'{"counter":%d,"stateVersion":0,"timestamp":%d}' % (counter, speech.TIMESTAMP)
        changed = self._ask(322, {**ext, "brokerId": "0"}, body)["changed"]
        assert str(known != Version(counter)).lower() == changed

    @rule(seconds=st.sampled_from((1, 9, 30, 61, 121)))
    def let_time_pass(self, seconds: int) -> None:
        self.server.now += seconds
        happened, numbers = self.server.state.expire(self.server.now)
        assert self.model.expire(self.server.now) == set(numbers)
        self._notices(self.server.state.notifications(happened))
        for number in numbers:
            if number in self.connections:
                self._lose(number)
        if not self.connections:
            self.connect()
        Routes.steps += 1

    # ---- administrators

    @rule(name=st.sampled_from(NAMES))
    def wipe(self, name: str) -> None:
        count = self.model.wipe(name)
        assert str(count) == self._ask(205, {"brokerName": name})["wipeTopicCount"]

    @rule(name=st.sampled_from(NAMES))
    def add(self, name: str) -> None:
        count = self.model.add(name)
        assert str(count) == self._ask(327, {"brokerName": name})["addTopicCount"]

    @rule(topic=st.sampled_from(TOPICS), cluster=st.sampled_from((None, "", *CLUSTERS)))
    def delete_topic(self, topic: str, cluster: str | None) -> None:
        self.model.delete(topic, cluster)
        more = {} if cluster is None else {"clusterName": cluster}
        self._ask(216, {"topic": topic, **more})

    @rule(
        topic=st.sampled_from(TOPICS),
        queues=st.lists(st.tuples(st.sampled_from(NAMES), queue_settings), max_size=3),
    )
    def register_topic(self, topic: str, queues: list[tuple[str, Queue]]) -> None:
        self.model.register_topic(topic, queues)
        self._ask(217, {"topic": topic}, speech.route_body(queues))

    # ---- what everybody sees

    @invariant()
    def everything_is_as_in_the_model(self) -> None:
        if hasattr(self, "model"):
            said = speech.told(self.server.ask, TOPICS, ZONE)
            wanted = speech.expected(self.model, TOPICS, ZONE)
            differing = {
                key: {"expected": wanted.get(key), "said": said.get(key)}
                for key in wanted.keys() | said.keys()
                if wanted.get(key) != said.get(key)
            }
            assert {} == differing


@pytest.fixture(params=["as they are", "in small pieces"])
def pieces(request: pytest.FixtureRequest) -> Iterator[None]:
    """Large registrations take other ways than small ones; here small ones take them too."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "in small pieces":
            patch.setattr(reader, "MANY_BYTES", 120)
            patch.setattr(session, "MANY_BYTES", 120)
            patch.setattr(json_reader, "CHUNK_BYTES", 200)
            patch.setattr(packed_reader, "CHUNK_BYTES", 40)
            patch.setattr(topic_table, "TOPICS_PER_STEP", 2)
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("pieces")
def test_the_route_table_is_the_model() -> None:
    Routes.steps = 0

    run_state_machine_as_test(
        Routes,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            derandomize=not LONG,
            deadline=None,
            phases=[Phase.generate],  # shrinking takes minutes
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )

    assert Routes.steps >= ENOUGH
