"""A day of retries, delays, times of delivery, pops and transactions, with clients that restart.

Nothing is lost, nothing comes twice, and everything comes at its millisecond, or as soon as its client is
back.  The day takes seconds: the broker has no clock.  Only ``make chaos`` lets all 24 hours pass.
"""

from __future__ import annotations

import heapq
import itertools
import os
import random
from abc import ABC, abstractmethod
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import pytest

from rocketwire.messages.enums import ConsumeFromWhere, ConsumeType, MessageModel
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData, ProducerData
from rocketwire.policy.pop_handle import handle_of
from rocketwire.policy.subscription import subscription_data
from tests.support.broker import BrokerAtHand, Client, bodies, messages
from tests.support.broker_pops import Popper, popped

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.message.stored import StoredMessage

pytestmark = [pytest.mark.chaos, pytest.mark.slow]

HOURS = 24 if os.environ.get("ROCKETWIRE_CHAOS") == "long" else 10
SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
DAY = HOURS * HOUR
LEVELS = [
    *(seconds * SECOND for seconds in (1, 5, 10, 30)),
    *(minutes * MINUTE for minutes in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 60, 120)),
]
"""Java's delay levels, from 1 on."""
MOST_RETRIES = 16
POLL_MS = 60 * SECOND
HEARTBEAT_MS = 30 * SECOND
DOWN_MS = 70 * SECOND
"""Time for which a client is away when it restarts."""
COMMIT, ROLLBACK, UNDECIDED = 8, 12, 0
MOST_CHECKS = 15


class Day:
    """A broker, its clients, and what happens at which time.

    Attributes:
        expected: times of storing of each body's deliveries, as they have to be.
        delivered: the same as clients saw them, each with the time when they did.
    """

    def __init__(self) -> None:
        self.home = BrokerAtHand()
        self.start = self.home.now
        self.expected: defaultdict[bytes, list[int]] = defaultdict(list)
        self.delivered: defaultdict[bytes, list[tuple[int, int]]] = defaultdict(list)
        self.clients: list[Restarting] = []
        self._plan: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    @property
    def now(self) -> int:
        return self.home.now

    def at(self, time: int, action: Callable[[], None]) -> None:
        heapq.heappush(self._plan, (time, next(self._numbers), action))

    def pass_until(self, end: int) -> None:
        """Let everything happen at its time, and clients react at once."""
        home = self.home
        self._react()
        while True:
            due = home.broker.schedule.next_due
            times = [time for time in (due, self._plan[0][0] if self._plan else None) if time]
            if not times or min(times) > end:
                break
            home.now = max(home.now, min(times))
            home.settle()
            while self._plan and self._plan[0][0] <= home.now:
                heapq.heappop(self._plan)[2]()
            self._react()

    def _react(self) -> None:
        while sum(client.react() for client in self.clients if client.is_up):
            pass

    def note(self, message: StoredMessage) -> int:
        """Note a delivery; return how many there were before."""
        body = message.body or b""
        self.delivered[body].append((message.store_timestamp, self.now))
        return len(self.delivered[body]) - 1


class Restarting(ABC):
    """A client that goes away from time to time, without a word, and comes back.

    Attributes:
        absences: when it was away.
    """

    name: ClassVar[str]

    def __init__(self, day: Day) -> None:
        self.day = day
        self.is_up = False
        self.absences: list[tuple[int, int]] = []
        day.clients.append(self)
        self.begin()
        self._beat()

    def begin(self) -> None:
        """Connect, and begin to work."""
        self.client: Client = self.day.home.connect()
        self.is_up = True
        self._heartbeat()
        self.work()

    def restart(self) -> None:
        """Go away, and come back later."""
        self.is_up = False
        self.client.close()
        self.absences.append((self.day.now, self.day.now + DOWN_MS))
        self.day.at(self.day.now + DOWN_MS, self.begin)

    def _beat(self) -> None:
        if self.is_up:
            self._heartbeat()
        self.day.at(self.day.now + HEARTBEAT_MS, self._beat)

    def _heartbeat(self) -> None:
        self.client.call(34, {}, self.heartbeat())

    @abstractmethod
    def heartbeat(self) -> HeartbeatData: ...

    @abstractmethod
    def work(self) -> None:
        """Send the first requests."""

    @abstractmethod
    def react(self) -> bool:
        """Handle what has come; return whether anything has."""


class PushConsumer(Restarting):
    """Pulls, and sends messages back as often as their bodies say."""

    GROUP = "workers"
    QUEUES = (*(("orders", number) for number in range(4)), (f"%RETRY%{GROUP}", 0))

    def heartbeat(self) -> HeartbeatData:
        consumer = ConsumerData(
            group_name=self.GROUP,
            message_model=MessageModel.CLUSTERING,
            consume_type=ConsumeType.CONSUME_PASSIVELY,
            consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
            subscription_data_set=(subscription_data("orders", version=1),),
        )
        return HeartbeatData(client_id="worker", consumer_data_set=(consumer,))

    def work(self) -> None:
        self._pulls: dict[int, tuple[str, int]] = {}
        for topic, queue in self.QUEUES:
            fields = {"consumerGroup": self.GROUP, "topic": topic, "queueId": queue}
            answer = self.client.call(14, fields)
            self._pull(topic, queue, int((answer.ext_fields or {}).get("offset", "0")))

    def _pull(self, topic: str, queue: int, offset: int) -> None:
        opaque = self.client.pull(
            offset, topic, queue=queue, hold=POLL_MS, consumerGroup=self.GROUP
        )
        self._pulls[opaque] = (topic, queue)

    def react(self) -> bool:
        answers = [(opaque, self.client.answer_to(opaque)) for opaque in list(self._pulls)]
        for opaque, answer in answers:
            if answer is None:
                continue
            topic, queue = self._pulls.pop(opaque)
            for message in messages(answer) if answer.code == 0 else ():
                self._consume(message)
            offset = int((answer.ext_fields or {})["nextBeginOffset"])
            fields = {"consumerGroup": self.GROUP, "topic": topic, "queueId": queue}
            assert self.client.call(15, {**fields, "commitOffset": offset}).code == 0
            self._pull(topic, queue, offset)
        return any(answer is not None for _, answer in answers)

    def _consume(self, message: StoredMessage) -> None:
        times = self.day.note(message)
        assert message.reconsume_times == times
        if times < int((message.body or b"").split(b" ")[-1]):
            fields: dict[str, object] = {
                "offset": message.commit_log_offset,
                "group": self.GROUP,
                "delayLevel": 0,
                "originTopic": "orders",
                "unitMode": False,
            }
            assert self.client.call(36, fields).code == 0
            if times < MOST_RETRIES:
                due = self.day.now + LEVELS[times + 2]
                self.day.expected[message.body or b""].append(due)


class PopConsumer(Restarting):
    """Pops, and lets messages come again as often as their bodies say."""

    GROUP = "poppers"

    def heartbeat(self) -> HeartbeatData:
        return HeartbeatData(client_id="popper")

    def work(self) -> None:
        self._popper = Popper(self.day.home, self.client)
        self._pop()

    def _pop(self) -> None:
        self._hidden_ms = self.day.now % 50 * SECOND + 10_003
        self._opaque = self._popper.ask(
            queue=-1,
            count=32,
            invisible=self._hidden_ms,
            poll=POLL_MS,
            topic="tasks",
            consumerGroup=self.GROUP,
        )

    def react(self) -> bool:
        answer = self.client.answer_to(self._opaque)
        if answer is None:
            return False
        for message in popped(answer):
            self._consume(message)
        self._pop()
        return True

    def _consume(self, message: StoredMessage) -> None:
        times = self.day.note(message)
        handle = handle_of(message)
        fields: dict[str, object] = {
            "consumerGroup": self.GROUP,
            "topic": handle.real_topic("tasks", self.GROUP),
            "queueId": handle.queue_id,
            "extraInfo": str(handle),
            "offset": handle.queue_offset,
        }
        body = message.body or b""
        if times >= int(body.split(b" ")[-1]):
            assert self.client.call(200051, fields).code == 0
        elif times % 2:
            self.day.expected[body].append(self.day.now + 10 * MINUTE)
            assert self.client.call(200053, {**fields, "invisibleTime": 10 * MINUTE}).code == 0
        else:
            self.day.expected[body].append(self.day.now + self._hidden_ms)


class TransactionProducer(Restarting):
    """Sends half messages, and decides at the check that their bodies say."""

    GROUP = "sellers"

    def heartbeat(self) -> HeartbeatData:
        data = ProducerData(group_name=self.GROUP)
        return HeartbeatData(client_id="seller", producer_data_set=(data,))

    def __init__(self, day: Day) -> None:
        self.checks: defaultdict[bytes, int] = defaultdict(int)
        super().__init__(day)

    def work(self) -> None:
        """Wait for checks."""

    def send(self, body: bytes) -> None:
        if self.is_up:
            properties: dict[str, str | None] = {"TRAN_MSG": "true", "PGROUP": self.GROUP}
            answer = self.client.send(
                body=body, queue=1, properties=properties, f=4, g=self.day.now
            )
            assert answer.code == 0
            self.checks[body] = 0

    def react(self) -> bool:
        requests = [request for request in self.client.requests() if request.code == 39]
        for request in requests:
            self._check(request)
        return bool(requests)

    def _check(self, request: RemotingCommand) -> None:
        [body] = bodies(request)
        self.checks[body] += 1
        _, decision, check, _ = body.split(b" ")
        if int(decision) == UNDECIDED or self.checks[body] < int(check):
            return
        fields = request.ext_fields or {}
        end = {
            "producerGroup": self.GROUP,
            "tranStateTableOffset": fields["tranStateTableOffset"],
            "commitLogOffset": fields["commitLogOffset"],
            "commitOrRollback": int(decision),
            "fromTransactionCheck": True,
            "msgId": fields["msgId"],
            "transactionId": fields["transactionId"],
        }
        assert self.client.call(37, end).code == 0
        if int(decision) == COMMIT:
            self.day.expected[body].append(self.day.now)


class Sender:
    """Sends messages that come at once, after a delay, or at a time; recalls some of these."""

    def __init__(self, day: Day) -> None:
        self.day = day
        self.client = day.home.connect()

    def send(self, topic: str, body: bytes, due: int, properties: dict[str, str | None]) -> None:
        key = body.decode().replace(" ", "-")
        answer = self.client.send(
            topic, body, queue=due % 4, properties={"UNIQ_KEY": key, **properties}
        )
        assert answer.code == 0
        self.handle = (answer.ext_fields or {}).get("recallHandle")
        self.day.expected[body].append(due)

    def send_now(self, topic: str, body: bytes) -> None:
        self.send(topic, body, self.day.now, {})

    def send_delayed(self, body: bytes, level: int) -> None:
        self.send("orders", body, self.day.now + LEVELS[level - 1], {"DELAY": str(level)})

    def send_timed(self, body: bytes, due: int) -> None:
        self.send("orders", body, due, {"TIMER_DELIVER_MS": str(due)})

    def send_and_recall(self, body: bytes, due: int) -> None:
        self.send_timed(body, due)
        handle = self.handle
        recall = self.day.now + (due - self.day.now) // 2

        def take_back() -> None:
            fields: dict[str, object] = {"topic": "orders", "recallHandle": handle}
            assert self.client.call(370, fields).code == 0
            self.day.expected[body].clear()

        self.day.at(recall, take_back)


def plan(day: Day, sender: Sender, seller: TransactionProducer) -> None:
    """Send for all but eight hours: times of three, and then retries of five, fit into the day."""
    chance = random.Random(23)
    for number in range(600):
        time = day.start + chance.randrange(DAY - 8 * HOUR)
        retries = chance.choice((0, 0, 0, 1, 2, 5, MOST_RETRIES, MOST_RETRIES + 1))
        kind = number % 6
        if kind == 0:
            action = partial(sender.send_now, "orders", b"plain %d %d" % (number, retries))
        elif kind == 1:
            body = b"delayed %d %d" % (number, retries)
            action = partial(sender.send_delayed, body, chance.randrange(1, 19))
        elif kind in {2, 3}:
            body = b"timed %d %d" % (number, retries)
            due = time + chance.randrange(5 * SECOND, 3 * HOUR)
            action = partial(sender.send_timed if kind == 2 else sender.send_and_recall, body, due)
        elif kind == 4:
            action = partial(sender.send_now, "tasks", b"popped %d %d" % (number, min(retries, 6)))
        else:
            decision = chance.choice((COMMIT, COMMIT, ROLLBACK, UNDECIDED))
            body = b"half%d %d %d 0" % (number, decision, chance.randrange(1, 6))
            action = partial(seller.send, body)
        day.at(time, action)


def test_a_day_loses_nothing_and_delivers_everything_at_its_time() -> None:
    day = Day()
    sender = Sender(day)
    for topic in ("orders", "tasks"):
        sender.send_now(topic, b"first of %s 0" % topic.encode())
    consumer, popper, seller = PushConsumer(day), PopConsumer(day), TransactionProducer(day)
    plan(day, sender, seller)
    for hour in range(HOURS):
        for number, client in enumerate((consumer, popper, seller)):
            day.at(day.start + hour * HOUR + number * 13 * MINUTE + 7, client.restart)

    day.pass_until(day.start + DAY)

    broker = day.home.broker
    stored = {body: [time for time, _ in seen] for body, seen in day.delivered.items()}
    assert stored == {body: times for body, times in day.expected.items() if times}
    for body, seen in day.delivered.items():
        client = popper if body.startswith((b"popped", b"first of tasks")) else consumer
        for time, delivered in seen:
            was_away = any(start <= delivered <= end for start, end in client.absences)
            assert delivered == time or was_away
    undecided = {
        body for body, _ in seller.checks.items() if body.split(b" ")[1] == b"%d" % UNDECIDED
    }
    given_up = sender.client.pulled(topic="TRANS_CHECK_MAX_TIME_TOPIC", count=32)
    assert undecided == set(bodies(given_up))
    dead = {body for body in day.expected if body.endswith(b" %d" % (MOST_RETRIES + 1))}
    letters = sender.client.pulled(topic=f"%DLQ%{PushConsumer.GROUP}", count=32)
    assert bodies(letters)
    assert set(bodies(letters)) <= dead
    assert len(broker.pops) == 0
    assert len(day.delivered) > 400
