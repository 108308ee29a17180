"""Queues, groups and offsets of the broker are those of the plain model, whatever clients do.

The model says exactly what each answer has.  Beside it, each run checks what users rely on: a message
that was acknowledged does not come again, a message that was not acknowledged does.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, ClassVar, NamedTuple

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

from rocketwire.messages.pop import BatchAckMessageRequestBody
from rocketwire.policy.pop_handle import PopHandle, batch_acks, handle_of
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import START, BrokerAtHand, Client, bodies
from tests.support.broker_pops import Popper, popped
from tests.support.model.messages import QUEUES, GroupQueue, Messages, Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.message.stored import StoredMessage

pytestmark = pytest.mark.chaos

TOPICS = ("orders", "bills")
READERS = ("readers", "auditors")
POPPERS = ("poppers", "others")
ORDERED = "in-order"
RETAIN_MS = 120_000
LONGEST_MS = 30_003
HIDDEN_MS = (1_003, 10_003, LONGEST_MS)
"""Times that no request and no removal of old messages, at multiples of 10 ms, coincides with."""

LONG = os.environ.get("ROCKETWIRE_CHAOS") == "long"
STEPS = 60
EXAMPLES = 300 if LONG else 8
ENOUGH = 10_000 if LONG else 200

topics = st.sampled_from(TOPICS)
readers = st.sampled_from(READERS)
poppers = st.sampled_from(POPPERS)
queues = st.integers(0, QUEUES - 1)
counts = st.integers(1, 5)
hidden_times = st.sampled_from(HIDDEN_MS)
turns = st.integers(0, 1_000)


class Taken(NamedTuple):
    """A popped message: its topic, its handle and its body."""

    group: str
    topic: str
    handle: PopHandle
    body: bytes

    @property
    def place(self) -> Place:
        real_topic = self.handle.real_topic(self.topic, self.group)
        return Place(self.group, real_topic, self.handle.queue_id, self.handle.queue_offset)


class Waiting(NamedTuple):
    """A pull that waits."""

    opaque: int
    key: GroupQueue
    offset: int
    deadline: int


class Clients(RuleBasedStateMachine):
    """Clients of a broker without sockets."""

    steps: ClassVar[int] = 0

    @initialize()
    def start(self) -> None:
        self.home = BrokerAtHand(retain_hours=RETAIN_MS / 3_600_000)
        self.client: Client = self.home.connect()
        self.popper = Popper(self.home, self.client)
        self.model = Messages(START, RETAIN_MS)
        self.existing: set[str] = set(TOPICS)
        for topic in TOPICS:
            self.home.broker.topics.put(new_topic(topic, QUEUES), self.home.now)
        for group in (*READERS, *POPPERS, ORDERED):
            self.client.call(352, {"group": group})
        self.sent = self.since_deletion = 0
        self.taken: list[Taken] = []
        self.in_order: list[Taken] = []
        self.waiting: list[Waiting] = []
        self.acknowledged: set[tuple[str, bytes]] = set()
        self.delivered: set[tuple[str, bytes]] = set()
        self.was_reset: set[tuple[str, str]] = set()

    # ------------------------------------------------------------------ producers

    @rule(topic=topics, queue=queues, count=st.integers(1, 8), is_batch=st.booleans())
    def send(self, topic: str, queue: int, count: int, is_batch: bool) -> None:
        texts = [b"%d" % number for number in range(self.sent, self.sent + count)]
        self.sent += count
        if is_batch:
            body = encode_batch(BatchMessage(body=text) for text in texts)
            answers = [self.client.send(topic, body, queue=queue, code=320, m=True, d=QUEUES)]
        else:
            answers = [self.client.send(topic, text, queue=queue, d=QUEUES) for text in texts]
        self.existing.add(topic)
        first = self.model.send(topic, queue, texts)
        for offset, answer in enumerate(answers, first):
            assert answer.code == 0
            assert (answer.ext_fields or {})["queueOffset"] == str(offset)

    # ------------------------------------------------------------------ consumers that pull

    @rule(
        group=readers,
        topic=topics,
        queue=queues,
        count=counts,
        turn=turns,
        commits=st.booleans(),
        waits=st.booleans(),
    )
    def pull(
        self,
        group: str,
        topic: str,
        queue: int,
        count: int,
        turn: int,
        commits: bool,
        waits: bool,
    ) -> None:
        if turn % 3 == 0:
            self._commit(group, topic, queue, turn)
        key = (group, topic, queue)
        end = self._end(topic, queue)
        offset = end if waits else turn % (end + 2)
        opaque = self.client.pull(
            offset,
            topic,
            queue=queue,
            count=count,
            hold=5_003 if waits else 0,
            consumerGroup=group,
            sysFlag=4 + 2 * waits + commits,
            commitOffset=offset,
        )
        answer = self.client.answer_to(opaque)
        if topic not in self.existing:
            assert answer is not None
            assert answer.code == 17
            return
        if commits:
            self.model.commit(key, offset)
        if self._is_told_of_reset(key, answer):
            return
        code, following, expected = self.model.pull(topic, queue, offset, count)
        if code == 19 and waits:
            assert answer is None
            self.waiting.append(Waiting(opaque, key, offset, self.home.now + 5_003))
            return
        _check_pulled(answer, code, following, expected)

    def _end(self, topic: str, queue: int) -> int:
        known = self.model.queues.get((topic, queue))
        return 0 if known is None else known.end

    def _is_told_of_reset(self, key: GroupQueue, answer: RemotingCommand | None) -> bool:
        target = self.model.resets.pop(key, None)
        if target is not None:
            _check_pulled(answer, 21, target, [])
        return target is not None

    def _commit(self, group: str, topic: str, queue: int, turn: int) -> None:
        key = (group, topic, queue)
        offset = turn % (self._end(topic, queue) + 1)
        fields = {"consumerGroup": group, "topic": topic, "queueId": queue, "commitOffset": offset}
        answer = self.client.call(15, fields)
        assert answer.code == (0 if topic in self.existing else 17)
        if topic in self.existing:
            self.model.commit(key, offset)

    # ------------------------------------------------------------------ consumers that pop

    @rule(
        group=poppers,
        topic=topics,
        queue=st.integers(-1, QUEUES - 1),
        count=counts,
        hidden=hidden_times,
    )
    def pop(self, group: str, topic: str, queue: int, count: int, hidden: int) -> None:
        answer = self.popper.answer(
            queue=queue, count=count, invisible=hidden, topic=topic, consumerGroup=group
        )
        if topic not in self.existing:
            assert answer.code == 17
            return
        most = min(count, self.model.open_pop(group, topic, queue))
        messages = popped(answer)
        assert len(messages) == most
        assert answer.code == (0 if most else 210)
        for message in messages:
            taken = self._note(group, topic, message)
            self.model.take(taken.place, taken.body, message.reconsume_times, hidden)
            self.taken.append(taken)

    def _note(self, group: str, topic: str, message: StoredMessage) -> Taken:
        assert message.topic == topic
        taken = Taken(group, topic, handle_of(message), message.body or b"")
        if (group, topic) not in self.was_reset:
            assert (group, taken.body) not in self.acknowledged
        self.delivered.add((group, taken.body))
        return taken

    @precondition(lambda self: self.taken)
    @rule(
        settlements=st.lists(
            st.tuples(turns, st.sampled_from(("ack", "batch ack", *HIDDEN_MS))),
            min_size=1,
            max_size=4,
        )
    )
    def settle(self, settlements: list[tuple[int, str | int]]) -> None:
        for turn, how in settlements[: len(self.taken)]:
            taken = self.taken.pop(turn % len(self.taken))
            if isinstance(how, int):
                self._change_invisible_time(taken, how)
            else:
                self._acknowledge(taken, is_batch=how == "batch ack")

    def _acknowledge(self, taken: Taken, *, is_batch: bool) -> None:
        if is_batch:
            acks = batch_acks([taken.handle], topic=taken.topic, group=taken.group)["broker-a"]
            body = BatchAckMessageRequestBody(acks=acks, broker_name="broker-a")
            answer = self.client.call(200151, {}, body)
            is_stored = True
        else:
            answer = self._call_with_handle(200051, taken)
            is_stored = taken.place.offset >= self.model.queues[taken.place[1:3]].start
        assert answer.code == (0 if is_stored else 208)
        if is_stored:
            if self._is_hidden(taken):
                self.acknowledged.add((taken.group, taken.body))
            self.model.acknowledge(taken.place, taken.handle.pop_time)

    def _is_hidden(self, taken: Taken) -> bool:
        return (taken.place, taken.handle.pop_time) in self.model.hidden

    def _change_invisible_time(self, taken: Taken, hidden: int) -> None:
        if not self._is_hidden(taken):
            self.was_reset.add((taken.group, taken.topic))  # it comes once more, as in Java
        answer = self._call_with_handle(200053, taken, invisibleTime=hidden)
        is_stored = self.model.change(taken.place, taken.handle.pop_time, hidden)
        assert answer.code == (0 if is_stored else 208)
        if is_stored:
            handle = taken.handle.renew(self.home.now, hidden, taken.handle.revive_queue_id)
            self.taken.append(taken._replace(handle=handle))

    def _call_with_handle(self, code: int, taken: Taken, **more: object) -> RemotingCommand:
        group, topic, queue, offset = taken.place
        fields: dict[str, object] = {
            "consumerGroup": group,
            "topic": topic,
            "queueId": queue,
            "extraInfo": str(taken.handle),
            "offset": offset,
        }
        return self.client.call(code, {**fields, **more})

    # ------------------------------------------------------------------ pops in order

    @rule(topic=topics, queue=queues, count=counts, hidden=hidden_times)
    def pop_in_order(self, topic: str, queue: int, count: int, hidden: int) -> None:
        answer = self.popper.answer(
            queue=queue,
            count=count,
            invisible=hidden,
            order=True,
            topic=topic,
            consumerGroup=ORDERED,
        )
        if topic not in self.existing:
            assert answer.code == 17
            return
        expected = self.model.pop_in_order((ORDERED, topic, queue), count, hidden)
        messages = popped(answer, order=True)
        assert [(message.queue_offset, message.body) for message in messages] == expected
        self.in_order += [self._note(ORDERED, topic, message) for message in messages]

    @precondition(lambda self: self.in_order)
    @rule(turn=turns)
    def acknowledge_in_order(self, turn: int) -> None:
        taken = self.in_order.pop(turn % len(self.in_order))
        group, topic, queue, offset = taken.place
        answer = self._call_with_handle(200051, taken)
        if offset >= self.model.queues[topic, queue].start:
            assert answer.code == 0
            self.model.acknowledge_in_order((group, topic, queue), offset, taken.handle.pop_time)
        else:
            assert answer.code == 208

    # ------------------------------------------------------------------ operators and time

    @rule(
        action=st.sampled_from(("reset", "reset", "reset", "delete topic", "delete group")),
        group=st.sampled_from((*READERS, *POPPERS, ORDERED)),
        topic=topics,
        queue=queues,
        turn=turns,
    )
    def operate(self, action: str, group: str, topic: str, queue: int, turn: int) -> None:
        if action == "reset":
            self._reset(group, topic, queue, turn)
        elif self.since_deletion < 15:
            return
        elif action == "delete topic":
            self._delete_topic(topic)
        else:
            self._delete_group(group)

    def _reset(self, group: str, topic: str, queue: int, turn: int) -> None:
        known = self.model.queues.get((topic, queue))
        start, end = (0, 0) if known is None else (known.start, known.end)
        target = start + turn % (end - start + 1)
        fields = {"group": group, "topic": topic, "queueId": queue, "offset": target}
        answer = self.client.call(222, {**fields, "timestamp": 0, "isForce": True})
        assert answer.code == (0 if topic in self.existing else 17)
        if topic not in self.existing:
            return
        self.model.reset((group, topic, queue), target)
        self.was_reset.add((group, topic))
        if group == ORDERED:
            self.in_order = [taken for taken in self.in_order if taken.topic != topic]

    def _delete_topic(self, topic: str) -> None:
        self.since_deletion = 0
        assert self.client.call(215, {"topic": topic}).code == 0
        self.model.delete_topic(topic)
        self.existing.discard(topic)
        for waiting in [waiting for waiting in self.waiting if waiting.key[1] == topic]:
            answer = self.client.answer_to(waiting.opaque)
            assert answer is not None
            assert answer.code == 17
            self.waiting.remove(waiting)
        self.taken = [taken for taken in self.taken if taken.topic != topic]
        self.in_order = [taken for taken in self.in_order if taken.topic != topic]

    def _delete_group(self, group: str) -> None:
        self.since_deletion = 0
        assert self.client.call(207, {"groupName": group, "cleanOffset": True}).code == 0
        self.client.call(352, {"group": group})
        self.model.delete_group(group)
        self.taken = [taken for taken in self.taken if taken.group != group]
        if group == ORDERED:
            self.in_order = []
        self.was_reset |= {(group, topic) for topic in TOPICS}

    @rule(seconds=st.integers(1, 25))
    def pass_time(self, seconds: int) -> None:
        self.home.pass_time(seconds * 1_000)
        self.model.pass_time(seconds * 1_000)

    # ------------------------------------------------------------------ checks

    @invariant()
    def waiting_pulls_are_answered_when_there_is_a_reason(self) -> None:
        Clients.steps += 1
        self.since_deletion += 1
        for waiting in list(self.waiting):
            _, topic, queue = waiting.key
            answer = self.client.answer_to(waiting.opaque)
            if not self._is_told_of_reset(waiting.key, answer):
                code, following, expected = self.model.pull(topic, queue, waiting.offset, 5)
                if code == 19 and self.home.now < waiting.deadline:
                    assert answer is None
                    continue
                count = len(bodies(answer)) if answer is not None else 0
                _check_pulled(answer, code, following - len(expected) + count, expected[:count])
                assert bool(count) == bool(expected)
            self.waiting.remove(waiting)

    @invariant()
    def queues_and_offsets_are_those_of_the_model(self) -> None:
        for topic in TOPICS:
            for queue in range(QUEUES):
                known = self.model.queues.get((topic, queue))
                bounds = (0, 0) if known is None else (known.start, known.end)
                fields = {"topic": topic, "queueId": queue}
                answers = [self.client.call(code, fields).ext_fields or {} for code in (31, 30)]
                assert tuple(int(fields["offset"]) for fields in answers) == bounds
                for group in (*READERS, *POPPERS, ORDERED):
                    answer = self.client.call(14, {"consumerGroup": group, **fields})
                    offset = self.model.committed((group, topic, queue))
                    assert (answer.ext_fields or {}).get("offset") == (
                        None if offset is None else str(offset)
                    )

    def teardown(self) -> None:
        """Nothing is lost: what is still stored has been delivered, or is delivered now."""
        self.pass_time(LONGEST_MS // 1_000 + 1)
        for group in POPPERS:
            for topic in self.existing:
                before = -1
                while len(self.taken) != before:
                    before = len(self.taken)
                    self.pop(group, topic, -1, 32, LONGEST_MS)
                for queue in range(QUEUES):
                    known = self.model.queues.get((topic, queue))
                    for copy in () if known is None else known.copies[known.start :]:
                        assert (group, copy.body) in self.delivered or (
                            group,
                            topic,
                        ) in self.was_reset


def _check_pulled(
    answer: RemotingCommand | None, code: int, following: int, expected: list[bytes]
) -> None:
    assert answer is not None
    assert (answer.code, (answer.ext_fields or {})["nextBeginOffset"]) == (code, str(following))
    assert bodies(answer) == expected


def walk(seed: int, steps: int) -> None:
    """A long life of a broker with much to do; Hypothesis prefers short and strange ones."""
    chance = random.Random(seed)
    clients = Clients()
    clients.start()
    groups = (*READERS, *POPPERS, ORDERED)

    def turn() -> int:
        return chance.randrange(1_000)

    def queue(lowest: int = 0) -> int:
        return chance.randrange(lowest, QUEUES)

    def hidden() -> int:
        return chance.choice(HIDDEN_MS)

    actions: dict[Callable[[str], None], int] = {
        lambda topic: clients.send(topic, queue(), chance.randint(1, 8), turn() % 2 == 0): 4,
        lambda topic: clients.pull(
            *(chance.choice(READERS), topic, queue(), chance.randint(1, 5), turn()),
            commits=turn() % 2 == 0,
            waits=turn() % 2 == 0,
        ): 3,
        lambda topic: clients.pop(
            *(chance.choice(POPPERS), topic, queue(-1), chance.randint(1, 5), hidden())
        ): 5,
        lambda topic: clients.settle(
            [(turn(), chance.choice(("ack", "batch ack", *HIDDEN_MS))) for _ in range(turn() % 5)]
        ): 5,
        lambda topic: clients.pop_in_order(topic, queue(), chance.randint(1, 5), hidden()): 3,
        lambda topic: clients.acknowledge_in_order(turn()) if clients.in_order else None: 4,
        lambda topic: clients.operate(
            chance.choice(("reset", "reset", "reset", "delete topic", "delete group")),
            *(chance.choice(groups), topic, queue(), turn()),
        ): 1,
        lambda topic: clients.pass_time(chance.choice((1, 1, 3, 9, 10, 25))): 2,
    }
    for action in chance.choices(list(actions), list(actions.values()), k=steps):
        action(chance.choice(TOPICS))
        clients.queues_and_offsets_are_those_of_the_model()
        clients.waiting_pulls_are_answered_when_there_is_a_reason()
    clients.teardown()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200 if LONG else 2))
def test_long_lives_are_those_of_the_model(seed: int) -> None:
    walk(seed, 300)


@pytest.mark.slow
def test_messages_groups_and_offsets_are_the_model() -> None:
    Clients.steps = 0

    run_state_machine_as_test(
        Clients,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            derandomize=not LONG,
            deadline=None,
            phases=[Phase.generate],  # shrinking takes minutes
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )

    assert Clients.steps >= ENOUGH
