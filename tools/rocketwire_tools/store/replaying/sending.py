"""Sends stored messages, each queue of the store in its order, several queues at once.

A lane is a queue of the store.  It sends a message only when the target has the one before it.  If
a response is missing, or a journal is continued, a lane does not know whether the target has its
next message.  It then searches the target's queue for it before it sends it.
"""

from __future__ import annotations

import math
import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.pull import PullCalls, PullRequest
from rocketwire.client.consumer.queues import find_master
from rocketwire.client.periodic import now_millis
from rocketwire.client.publish.config import ProducerConfig
from rocketwire.client.publish.request_builder import MessageFields, OutgoingMessage
from rocketwire.client.publish.sender import MessageSender
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import (
    BrokerError,
    BrokerNotFoundError,
    ChannelError,
    RocketWireError,
    TopicRouteNotFoundError,
)
from rocketwire.policy.retry import SendStatus
from rocketwire.policy.subscription import subscription_data
from rocketwire.policy.validation import check_topic
from rocketwire.transport.nursery import background
from rocketwire_tools.store.engine.topic_kinds import Kind, kind_of_topic
from rocketwire_tools.store.replaying.journal import JournalLane
from rocketwire_tools.store.replaying.outgoing import ReplayMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rocketwire.client import ClientInstance
    from rocketwire.client.consumer.pull import PullResult
    from rocketwire.client.publish.request_builder import Target
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire_tools.store.replaying.journal import Journal


TOOLS_GROUP: Final = "TOOLS_CONSUMER"
"""Consumer group of operators' pulls (Java: ``MixAll.TOOLS_CONSUMER_GROUP``)."""

DISPATCH_SECONDS: Final = 5.0
"""Time for a broker to put stored messages into their queues; it takes milliseconds."""

_POLL_SECONDS: Final = 0.05
_PULLED: Final = 32  # messages of a pull


SENT_UNASKED = frozenset({Kind.MESSAGE, Kind.INNER, Kind.COMMITTED})
"""Kinds that are sent if no topic is named: what consumers were meant to see, and each once."""

_SENDABLE = SENT_UNASKED | {Kind.RETRY, Kind.DLQ}


class TopicMap:
    def __init__(self, texts: Iterable[str]) -> None:
        """Read ``TOPIC`` and ``OLD=NEW``; raises ``ValueError`` for two new names or a bad one."""
        self._names: dict[str, str] = {}
        for text in texts:
            old, separator, new = text.partition("=")
            name = new if separator else old
            check_topic(name)
            if self._names.setdefault(old, name) != name:
                raise ValueError(f"topic {old} has two new names: {self._names[old]} and {name}")
            if kind_of_topic(name) not in _SENDABLE:
                raise ValueError(
                    f"{name} is a topic that brokers write; give its messages another topic:"
                    f" --topic {old}=NEW"
                )
        # topics of the store that are sent; empty for all of applications
        self.topics = frozenset(self._names)

    def selects(self, message: ReplayMessage) -> bool:
        return bool(self.topics) or kind_of_topic(message.topic) in SENT_UNASKED

    def target(self, topic: str) -> str:
        return self._names.get(topic, topic)


def choose_queue(queues: Sequence[MessageQueue], queue_id: int) -> MessageQueue:
    """The queue of the target with the same id; if several brokers have it, they take turns by id.

    Without one the id counts through all queues, again from the first one after the last.
    """
    same_id = [queue for queue in queues if queue.queue_id == queue_id]
    choice = same_id or queues
    return choice[queue_id % len(choice)]


class TargetQueues:
    def __init__(self, instance: ClientInstance, timeout: float) -> None:
        self._instance = instance
        self._timeout = timeout
        self._pulls = PullCalls(instance)

    async def end(self, queue: MessageQueue) -> int:
        address, brokers = await find_master(self._instance, queue), self._instance.brokers
        with trio.move_on_after(DISPATCH_SECONDS):
            while True:
                stored = await brokers.max_offset(address, queue, committed=False)
                readable = await brokers.max_offset(address, queue)
                if readable >= stored:
                    return readable
                await trio.sleep(_POLL_SECONDS)
        return await brokers.max_offset(address, queue)

    async def find(self, queue: MessageQueue, message: ReplayMessage, start: int) -> int | None:
        end = await self.end(queue)
        offset = start
        while offset < end:
            result = await self._pull(queue, offset)
            for stored in result.messages:
                if stored.queue_offset >= start and message.is_stored_as(stored):
                    return stored.queue_offset
            offset = max(result.next_begin_offset, offset + 1)
        return None

    async def _pull(self, queue: MessageQueue, offset: int) -> PullResult:
        request = PullRequest(
            queue=queue,
            offset=offset,
            group=TOOLS_GROUP,
            subscription=subscription_data(queue.topic or "", None, version=now_millis()),
            max_msg_nums=_PULLED,
            suspend_timeout=0,
            send_subscription=True,
        )
        return await self._pulls.pull(request, within=self._timeout)


GROUP: Final = "rocketwire-store-replay"  # producer group of the requests
MAX_WAITING: Final = 32 << 20  # bytes of bodies that are read ahead of the sends
SETTLE_SECONDS: Final = 3.0
"""After this time a broker has stored or dropped the requests of a killed replay."""

_OVERHEAD: Final = 1024  # bytes that a message takes in memory without its body, roughly
MAX_BACKOFF: Final = 16.0
_SEND: Final = int(RequestCode.SEND_MESSAGE_V2)
_TRANSIENT: Final = frozenset(
    {
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.SYSTEM_BUSY,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.GO_AWAY,
    }
)
"""Codes of brokers that may take the message later."""


class ReplayError(Exception):
    """A replay cannot go on; the text is one line for the user."""


@dataclass(slots=True)
class ReplayCounts:
    sent: int = 0  # messages that were sent now, and bytes of their bodies
    sent_bytes: int = 0
    found: int = 0  # messages that the target had although the journal did not have them
    refused: int = 0  # messages that a broker refused, with ``skips_refused``
    done_before: int = 0  # messages that the journal had
    # messages of ``sent`` that a broker stored, but did not flush or copy in time
    less_safe: int = 0
    retries: int = 0  # attempts after the first
    physical_offset: int = 0  # of the last message that was read


@dataclass(slots=True)
class _Lane:
    journal: JournalLane  # its progress
    target: Target  # topic of the target
    is_uncertain: bool  # whether the target may have messages that the journal does not have
    put: trio.MemorySendChannel[ReplayMessage]  # messages that were read and not sent
    take: trio.MemoryReceiveChannel[ReplayMessage]
    ended: trio.Event = field(default_factory=trio.Event)  # when the lane sends nothing more


@dataclass(slots=True, kw_only=True)
class ReplaySettings:
    in_flight: int = 32  # sends at once, at most one for each queue of the store
    rate: float | None = None  # messages a second; None for as fast as the target stores them
    retries: int = 6  # attempts after the first, with growing pauses
    timeout: float = 5.0  # seconds for a request
    skips_refused: bool = False  # go on after a message that a broker calls illegal


class Replayer:
    def __init__(
        self,
        instance: ClientInstance,
        journal: Journal,
        topics: TopicMap,
        settings: ReplaySettings,
        *,
        refused: Callable[[ReplayMessage, BrokerError], None] = lambda _message, _error: None,
    ) -> None:
        """Send nothing yet; ``refused`` is called for each message that a broker refused."""
        self.counts = ReplayCounts()  # what was done so far
        self._instance = instance
        self._journal = journal
        self._topics = topics
        self._settings = settings
        self._refused = refused
        config = ProducerConfig(send_msg_timeout=settings.timeout)
        chance = random.Random()  # noqa: S311 - no queue is selected with it
        self._sender = MessageSender(instance, GROUP, config, chance)
        self._queues = TargetQueues(instance, settings.timeout)
        self._lanes: dict[tuple[str, int], _Lane] = {}
        self._limiter = trio.CapacityLimiter(settings.in_flight)
        self._waiting = 0
        self._freed = trio.Event()
        self._next_send = -math.inf
        self._error: Exception | None = None
        self._is_stopping = False

    def stop(self) -> None:
        self._is_stopping = True
        self._freed.set()

    async def check_target(self) -> None:
        if self._journal.age is not None:
            await trio.sleep(max(0.0, SETTLE_SECONDS - self._journal.age))
        for lane in self._journal.lanes.values():
            queue = lane.queue
            name = f"queue {queue.queue_id} of topic {queue.topic} at broker {queue.broker_name}"
            target = await self.find_target(queue.topic or "")
            if queue not in target.info.queues or lane.cluster != self._cluster(queue):
                raise ReplayError(
                    f"the journal belongs to another target: cluster {lane.cluster} has no {name}"
                )
            end = await self._queues.end(queue)
            if end < lane.next_offset:
                raise ReplayError(
                    f"the journal belongs to another target: {name} ends at offset {end},"
                    f" before {lane.next_offset}"
                )

    async def find_target(self, topic: str) -> Target:
        target = self._sender.targets.get(topic)
        if target is not None:
            return target
        try:
            route = await self._instance.route(topic)
        except TopicRouteNotFoundError:
            raise ReplayError(
                f"the target has no topic {topic}: create it, or name another one with --topic"
                f" {topic}=NEW"
            ) from None
        self._sender.set_route(topic, route)
        target = self._sender.targets.get(topic)
        if target is None:
            raise ReplayError(f"no broker of topic {topic} may be written to")
        return target

    def _cluster(self, queue: MessageQueue) -> str:
        route = self._instance.routes.get(queue.topic or "")
        brokers = (route.broker_datas or ()) if route is not None else ()
        names = {broker.broker_name: broker.cluster for broker in brokers}
        return names.get(queue.broker_name) or ""

    async def run(self, messages: Iterable[ReplayMessage]) -> None:
        async with background() as nursery:
            await self._read(messages, nursery)
            for lane in self._lanes.values():
                lane.put.close()
            for lane in self._lanes.values():
                await lane.ended.wait()
        if self._error is not None:
            raise self._error

    async def _read(self, messages: Iterable[ReplayMessage], nursery: trio.Nursery) -> None:
        try:
            for message in messages:
                self.counts.physical_offset = message.physical_offset
                lane = self._lanes.get((message.topic, message.queue_id))
                if lane is None:
                    lane = await self._open_lane(message)
                    nursery.start_soon(self._run_lane, lane)
                if lane.journal.has_done(message.position):
                    self.counts.done_before += 1
                    await trio.lowlevel.checkpoint()
                    continue
                self._waiting += len(message.body) + _OVERHEAD
                lane.put.send_nowait(message)
                while self._waiting > MAX_WAITING and not self._is_stopping:
                    self._freed = trio.Event()
                    await self._freed.wait()
                if self._is_stopping:
                    return
        except Exception as error:  # noqa: BLE001 - ``run`` raises it when the lanes have ended
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._error = self._error or error
        self.stop()

    async def _open_lane(self, message: ReplayMessage) -> _Lane:
        topic, queue_id = message.topic, message.queue_id
        target = await self.find_target(self._topics.target(topic))
        journal = self._journal.lanes.get((topic, queue_id))
        is_continued = journal is not None
        if journal is None:
            queue = choose_queue(target.info.queues, queue_id)
            begin = await self._queues.end(queue)
            target_queue = queue.topic or "", queue.broker_name or "", queue.queue_id
            journal = JournalLane(topic, queue_id, target_queue, self._cluster(queue), begin)
            self._journal.add_lane(journal)
        channel = trio.open_memory_channel[ReplayMessage](math.inf)
        lane = _Lane(journal, target, is_continued, *channel)
        self._lanes[topic, queue_id] = lane
        return lane

    async def _run_lane(self, lane: _Lane) -> None:
        try:
            async for message in lane.take:
                async with self._limiter:
                    await self._wait_for_turn()
                    if self._is_stopping:
                        return
                    await self._deliver(lane, message)
                self._waiting -= len(message.body) + _OVERHEAD
                if self._waiting <= MAX_WAITING:
                    self._freed.set()
        except (ReplayError, RocketWireError, OSError) as error:
            self._fail(error)
        finally:
            lane.ended.set()

    async def _wait_for_turn(self) -> None:
        if self._settings.rate is not None:
            self._next_send = max(self._next_send, trio.current_time())
            turn, self._next_send = self._next_send, self._next_send + 1 / self._settings.rate
            await trio.sleep_until(turn)

    async def _deliver(self, lane: _Lane, message: ReplayMessage) -> None:
        queue = lane.journal.queue
        for attempt in range(self._settings.retries + 1):
            try:
                if lane.is_uncertain:
                    offset = await self._queues.find(queue, message, lane.journal.next_offset)
                    if offset is not None:
                        self.counts.found += 1
                        self._journal.note(lane.journal, message.position, offset)
                        return
                    lane.is_uncertain = False
                await self._send(lane, message)
                return
            except (ChannelError, BrokerNotFoundError, BrokerError) as error:
                is_final = False
                if isinstance(error, BrokerError):
                    is_final = error.code not in _TRANSIENT
                    if self._settings.skips_refused and error.code == ResponseCode.MESSAGE_ILLEGAL:
                        self.counts.refused += 1
                        self._refused(message, error)
                        self._journal.note(lane.journal, message.position, None)
                        return
                if is_final or attempt == self._settings.retries or self._is_stopping:
                    raise ReplayError(f"message {message.name} was not sent: {error}") from error
            lane.is_uncertain = True
            self.counts.retries += 1
            await trio.sleep(min(0.5 * 2**attempt, MAX_BACKOFF))
            with suppress(RocketWireError):  # the next attempt reports what is missing
                await self._instance.refresh_route(queue.topic or "")

    async def _send(self, lane: _Lane, message: ReplayMessage) -> None:
        fields = MessageFields(message.born, message.flag, message.sys_flag, message.properties)
        result = await self._sender.send_once(
            lane.journal.queue.topic or "",
            lane.target,
            lane.journal.queue,
            OutgoingMessage(_SEND, message.unique_key, message.body, fields),
            trio.current_time() + self._settings.timeout,
        )
        self.counts.sent += 1
        self.counts.sent_bytes += len(message.body)
        self.counts.less_safe += result.status is not SendStatus.SEND_OK
        self._journal.note(lane.journal, message.position, result.queue_offset)
