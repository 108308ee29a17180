"""Between the steps of large registrations nobody sees half of anything, and who leaves in the midst leaves completely."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from rocketwire_namesrv.protocol import session
from rocketwire_namesrv.registration import json_reader, packed_reader, reader
from rocketwire_namesrv.routes import topic_table
from tests.support.fakes.sansio_server import Server, replies, request
from tests.support.model import speech
from tests.support.model.routes import Queue, Registering, Version

if TYPE_CHECKING:
    from rocketwire_namesrv.protocol.session import Effects, Session

pytestmark = pytest.mark.chaos

NAMES = ("b1", "b2", "b3")
TOPICS = tuple(f"T{number}" for number in range(10))
MOST_CONNECTIONS = 5
LONG = os.environ.get("ROCKETWIRE_CHAOS") == "long"
STEPS = 50
EXAMPLES = 150 if LONG else 12


@dataclass
class UnderWay:
    """A registration that has not been answered.

    Attributes:
        what: it says.
        deleted: topics that were deleted meanwhile.
        disturbed: whether the broker was made to leave meanwhile.
    """

    what: Registering
    deleted: set[str] = field(default_factory=set[str])
    disturbed: bool = False


class Steps(RuleBasedStateMachine):
    """Three masters with many topics, which register over any of several connections."""

    steps: ClassVar[int] = 0
    longest: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.server = Server()
        self.connections: dict[int, Session] = {}
        self.under_way: dict[int, UnderWay] = {}
        self.required: dict[str, dict[str, Queue]] = {}
        self.settled: dict[str, dict[str, Queue]] = {}
        self.counter = 0
        self.connect()

    def _free(self) -> list[int]:
        return [number for number in self.connections if number not in self.under_way]

    @precondition(lambda self: len(self.connections) < MOST_CONNECTIONS)
    @rule()
    def connect(self) -> None:
        number = self.server.connections + 1
        self.connections[number] = self.server.connect()

    @precondition(lambda self: self._free())
    @rule(
        name=st.sampled_from(NAMES),
        turn=st.integers(0, 4),
        packed=st.booleans(),
        again=st.booleans(),
        table=st.dictionaries(
            st.sampled_from(TOPICS),
            st.builds(Queue, st.integers(1, 16), st.sampled_from((4, 6)), st.just(0)),
            min_size=2,
        ),
    )
    def begin(
        self, name: str, turn: int, packed: bool, again: bool, table: dict[str, Queue]
    ) -> None:
        free = self._free()
        number = free[turn % len(free)]
        self.counter += 1
        what = Registering(
            cluster="C",
            address=f"{name}:1",
            name=name,
            number=0,
            connection=number,
            version=Version(self.counter),
            topics={**self.settled.get(name, {}), **table} if again else table,
        )
        self.under_way[number] = UnderWay(what)
        fields = speech.fields_of(what, packed=packed)
        data = request(103, fields, speech.body_of(what, packed=packed))
        self._went_on(number, self.connections[number].receive(data, self.server.now))

    @precondition(lambda self: self.under_way)
    @rule(turn=st.integers(0, 4), times=st.integers(1, 6))
    def go_on(self, turn: int, times: int) -> None:
        number = list(self.under_way)[turn % len(self.under_way)]
        for _ in range(times):
            if number in self.under_way:
                self._went_on(number, self.connections[number].proceed(self.server.now))

    def _went_on(self, number: int, outcome: Effects) -> None:
        Steps.steps += 1
        assert outcome.close is None
        if self.connections[number].busy:
            assert outcome.send == b""
            return
        (reply,) = replies(outcome.send)
        assert reply.code == 0
        done = self.under_way.pop(number)
        name = done.what.name
        self.settled.setdefault(name, {}).update(done.what.topics)
        if not done.disturbed:
            table = done.what.topics
            new = {topic: table[topic] for topic in table if topic not in done.deleted}
            self.required.setdefault(name, {}).update(new)
            seen = self._seen(name)
            assert new == {topic: seen.get(topic) for topic in new}

    @precondition(lambda self: len(self.connections) > 1)
    @rule(turn=st.integers(0, 4))
    def close(self, turn: int) -> None:
        number = list(self.connections)[turn % len(self.connections)]
        self.connections.pop(number).lost(self.server.now, "closed")
        self.under_way.pop(number, None)
        self._note_leavers()

    @rule(name=st.sampled_from(NAMES), turn=st.integers(0, 4))
    def unregister(self, name: str, turn: int) -> None:
        free = self._free()
        if not free:
            return
        fields = {"brokerAddr": f"{name}:1", "brokerName": name, "clusterName": "C"}
        data = request(104, {**fields, "brokerId": "0"})
        outcome = self.connections[free[turn % len(free)]].receive(data, self.server.now)
        assert [reply.code for reply in replies(outcome.send)] == [0]
        self._note_leavers()

    def _note_leavers(self) -> None:
        groups = self.server.state.table.groups
        for name in NAMES:
            if name not in groups:
                self.required.pop(name, None)
                self.settled.pop(name, None)
                for other in self.under_way.values():
                    other.disturbed |= other.what.name == name

    @rule(topic=st.sampled_from(TOPICS))
    def delete(self, topic: str) -> None:
        assert self.server.ask(216, {"topic": topic}).code == 0
        for table in self.required.values():
            table.pop(topic, None)
        for other in self.under_way.values():
            other.deleted.add(topic)

    def _seen(self, name: str) -> dict[str, Queue]:
        """The queues that readers find at a broker."""
        found: dict[str, Queue] = {}
        for topic in TOPICS:
            reply = self.server.ask(105, {"topic": topic})
            if reply.code == 0 and name in (route := speech.route_in(reply.body)).queues:
                assert {0: f"{name}:1"} == route.members[name].addresses
                found[topic] = route.queues[name]
        return found

    @invariant()
    def readers_see_what_was_or_what_will_be(self) -> None:
        groups = speech.parsed(self.server.ask(106).body)["brokerAddrTable"]
        for name in NAMES:
            seen = self._seen(name)
            if name not in groups:
                assert {} == seen
                continue
            for topic in self.required.get(name, {}):
                assert topic in seen
            tables = [
                other.what.topics for other in self.under_way.values() if other.what.name == name
            ]
            allowed = [self.settled.get(name, {}), *tables]
            for topic, queue in seen.items():
                assert queue in [table.get(topic) for table in allowed]

    @invariant()
    def one_at_a_time(self) -> None:
        stepping = [one for one in self.connections.values() if one.stepping]
        assert self.server.state.stepping <= bool(stepping)
        Steps.longest = max(Steps.longest, len(stepping))


@pytest.fixture
def small_pieces() -> Iterator[None]:
    """Every registration takes many steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "MANY_BYTES", 1)
        patch.setattr(session, "MANY_BYTES", 1)
        patch.setattr(json_reader, "CHUNK_BYTES", 150)
        patch.setattr(packed_reader, "CHUNK_BYTES", 40)
        patch.setattr(topic_table, "TOPICS_PER_STEP", 2)
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("small_pieces")
def test_readers_and_leavers_come_between_the_steps_of_registrations() -> None:
    Steps.steps = Steps.longest = 0

    run_state_machine_as_test(
        Steps,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            derandomize=not LONG,
            deadline=None,
            phases=[Phase.generate],  # shrinking takes minutes
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )

    assert Steps.steps > EXAMPLES * 10
    assert Steps.longest > 1
