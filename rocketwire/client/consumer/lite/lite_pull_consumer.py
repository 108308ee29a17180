"""``LitePullConsumer``: the application polls for messages; ``open_lite_pull_consumer`` opens it.

Queues come from the rebalance of a group (``subscribe``) or from the application (``assign``). They
are pulled in advance, up to the thresholds, and ``poll`` returns the pulled messages. Messages of a
``poll`` count as handled at the next ``poll`` or ``commit``. Offsets are committed by ``commit``
or, with ``auto_commit``, by a later ``poll`` and at the end.

Java: ``DefaultLitePullConsumerImpl``, ``DefaultLitePullConsumer``, ``AssignedMessageQueue``.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.client.arguments import (
    Rule,
    Settings,
    check_config,
    check_settings,
    integer_in,
    optional,
    seconds,
)
from rocketwire.client.consumer.config import FROM_WHERE, check_strategy, check_thresholds
from rocketwire.client.consumer.member import GroupMember, Membership, check_expression, join_group
from rocketwire.client.consumer.offset_store import RemoteBrokerOffsetStore
from rocketwire.client.consumer.pull import (
    PullCalls,
    PullRequest,
    PullResult,
    PullStatus,
    pull_outage,
)
from rocketwire.client.consumer.pulled_messages import ReadReport, build_limits
from rocketwire.client.consumer.queues import find_replica, get_queues
from rocketwire.client.consumer.rebalance import Rebalance, find_start_offset, queue_outage
from rocketwire.client.consumer.retry import with_real_topic
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    BrokerError,
    ChannelClosedError,
    LocalProtocolError,
    MissingPackageError,
    RocketWireError,
)
from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult, ConsumerRunningInfo
from rocketwire.messages.enums import CMResult, ConsumeFromWhere, ConsumeType, MessageModel
from rocketwire.messages.heartbeat import ConsumerData
from rocketwire.policy.allocation import AllocateMessageQueueAveragely, AllocateMessageQueueStrategy
from rocketwire.policy.process_queue import ProcessQueue, Thresholds
from rocketwire.policy.resource_names import with_namespace
from rocketwire.policy.subscription import subscription_data
from rocketwire.policy.validation import check_consumer_group
from rocketwire.wire.message.stored import DEFAULT_LIMITS, StoredLimits, StoredMessage
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from rocketwire.client.consumer.member import CachedMessages
    from rocketwire.client.instance.instance import Client, ClientInstance
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.message.stored import StoredMessage

PULL_DELAY: Final = 0.05  # delay in seconds if a queue is full or paused
PULL_DELAY_EXCEPTION: Final = 1.0  # delay in seconds after a failed pull

_COMMIT_OUTAGE: Final = "storing of offsets"

# Seconds that the broker may hold a pull until a message arrives
BROKER_SUSPEND_MAX_TIME: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LitePullConsumerConfig(Settings):
    """Settings of a lite pull consumer; times in seconds.

    A value with a wrong type or out of range is rejected when the config is created.

    Attributes:
        pull_batch_size: most messages of a pull, and of a ``poll``.
        max_body_size: largest decompressed body in bytes; a larger message is skipped with a
            WARNING.
        max_inflated_size: most bytes of all decompressed bodies of a pull; the consumer continues
            with the first message that does not fit.
        pull_threshold_for_all: messages of all queues above which pulling pauses.
        thresholds: limits of each queue.
        auto_commit: let ``poll`` commit the messages that it returned before.
        auto_commit_interval: shortest time between two such commits.
        consume_from_where: where to start in a queue without a stored offset.
        consume_timestamp_millis: time for ``CONSUME_FROM_TIMESTAMP``.
        exact_start: apply ``consume_from_where`` also to young topics, where Java's brokers start
            groups without offsets at the first message (docs/guide/client.md, "Where a group
            begins"), and to the exact millisecond; brokers before 5.0 are then queried for all
            their offsets.
        allocate_message_queue_strategy: how the members share queues; the same for all members.
        rebalance_interval: time between two rebalances.
        enable_trace: record polled messages in the trace topic.
        trace_topic: the trace topic; None for ``RMQ_SYS_TRACE_TOPIC``.

    Raises:
        IllegalTypeError, IllegalValueError: the text has the setting, the expected and the actual
            value.
    """

    pull_batch_size: int = 10
    max_body_size: int = 8 << 20
    max_inflated_size: int = 32 << 20
    pull_threshold_for_all: int = 10_000
    thresholds: Thresholds = field(default_factory=Thresholds)
    auto_commit: bool = True
    auto_commit_interval: float = 5.0
    consume_from_where: ConsumeFromWhere = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
    consume_timestamp_millis: int | None = None
    exact_start: bool = False
    allocate_message_queue_strategy: AllocateMessageQueueStrategy = field(
        default_factory=AllocateMessageQueueAveragely
    )
    rebalance_interval: float = 20.0
    enable_trace: bool = False
    trace_topic: str | None = None

    def __post_init__(self) -> None:
        check_settings(self, _RULES)


# The checks of settings that are not those of their type
_RULES: Final[Mapping[str, Rule]] = {
    "thresholds": check_thresholds,
    "auto_commit_interval": seconds(zero=True),
    "consume_from_where": FROM_WHERE,
    "consume_timestamp_millis": optional(integer_in(minimum=0)),
    "allocate_message_queue_strategy": check_strategy,
}


class Polled(NamedTuple):
    """The result of ``poll``: messages of a queue, in order."""

    message_queue: MessageQueue
    messages: list[StoredMessage]


class LiteQueue:
    __slots__ = ("consumed", "passed", "paused", "position", "process", "scope")

    def __init__(self, now: float) -> None:
        # messages that were pulled and not polled
        self.process: ProcessQueue = ProcessQueue(now=now)
        self.scope: Final = trio.CancelScope()
        # offset of the next pull; None to query the group's offset
        self.position: int | None = None
        self.consumed: int | None = None  # next offset after the messages that count as handled
        # next offset after messages that ``poll`` never returns, because of their tags or because
        # they are unreadable; None if there are none
        self.passed: int | None = None
        self.paused: bool = False  # whether pulls and polls of the queue are paused


class LitePulls:
    # Lite pulls (code 361), or pulls (code 11) from brokers without them, such as 4.9.4: Java's
    # consumer receives no messages from these.
    def __init__(self, instance: ClientInstance, limits: StoredLimits = DEFAULT_LIMITS) -> None:
        self._pulls = PullCalls(instance, limits)
        self._brokers_without_lite: set[str | None] = set()

    async def pull(self, request: PullRequest) -> PullResult:
        broker = request.queue.broker_name
        if broker not in self._brokers_without_lite:
            try:
                return await self._pulls.pull(replace(request, lite=True))
            except BrokerError as error:
                if error.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                    raise
            self._brokers_without_lite.add(broker)
        return await self._pulls.pull(request)

    def forget(self, queue: MessageQueue) -> None:
        self._pulls.forget(queue)


@trio_only()
class LitePullConsumer(GroupMember):
    """A lite pull consumer of a group.

    Methods that ask a server raise ``ClientError`` or ``ChannelError`` if it does not respond or
    rejects the request.
    """

    def __init__(self, membership: Membership, config: LitePullConsumerConfig) -> None:
        super().__init__(membership)
        instance, group, _, self._hooks = membership
        self.config = config
        self._has_assignment = False
        self._queues: dict[MessageQueue, LiteQueue] = {}
        self._ready: deque[tuple[MessageQueue, LiteQueue, list[StoredMessage]]] = deque()
        self._messages_ready = trio.Event()
        self._is_closed = False
        self._rebalance_due = trio.Event()
        self._unhandled: tuple[LiteQueue, int | None] | None = None
        self._passed: set[LiteQueue] = set()  # queues whose ``passed`` is not yet in ``consumed``
        self._pulls = LitePulls(
            instance, build_limits(config.max_body_size, config.max_inflated_size)
        )
        self._report = ReadReport(group)
        self._offsets = self._broker_offsets = RemoteBrokerOffsetStore(
            instance, group, never_zero=config.exact_start
        )
        self._rebalance = Rebalance(
            instance, group, MessageModel.CLUSTERING, config.allocate_message_queue_strategy
        )
        self._outages = self._rebalance.outages
        self._committed_at = trio.current_time()
        self._checked: dict[str, SubscriptionData] = {}
        self._rejection: BrokerError | None = None

    # ------------------------------------------------------------------ queues

    def subscribe(
        self, topic: str, expression: str | None = None, *, expression_type: str | None = None
    ) -> None:
        """Subscribe to a topic; its queues are shared with the other members of the group.

        For the arguments and other errors see ``GroupMember.subscribe``.

        Raises:
            LocalProtocolError: queues were assigned before.
        """
        if self._has_assignment:
            raise LocalProtocolError("use either subscribe or assign: queues were assigned before")
        super().subscribe(topic, expression, expression_type=expression_type)
        self._rejection = None

    def assign(self, queues: Iterable[MessageQueue]) -> None:
        """Pull exactly these queues, independent of other members.

        Raises:
            LocalProtocolError: topics were subscribed before.
        """
        require_trio()
        if self._subscriptions:
            raise LocalProtocolError(
                "use either subscribe or assign: topics were subscribed before"
            )
        self._has_assignment = True
        self._set_queues(set(queues))

    @property
    def assignment(self) -> tuple[MessageQueue, ...]:
        """The current queues."""
        return tuple(self._queues)

    @property
    def unreadable_messages(self) -> int:
        """Number of messages that were skipped because they are unreadable."""
        return self._report.unreadable

    async def fetch_message_queues(self, topic: str) -> tuple[MessageQueue, ...]:
        """Return all readable queues of a topic, for ``assign``."""
        return await get_queues(
            self._instance, with_namespace(self._instance.config.namespace, topic)
        )

    def pause(self, queues: Iterable[MessageQueue]) -> None:
        """Pause pulls and polls of queues until ``resume``."""
        require_trio()
        for queue in queues:
            if queue in self._queues:
                self._queues[queue].paused = True

    def resume(self, queues: Iterable[MessageQueue]) -> None:
        """Resume queues."""
        require_trio()
        for queue in queues:
            if queue in self._queues:
                self._queues[queue].paused = False
        self._messages_ready.set()

    # ------------------------------------------------------------------ messages

    async def poll(self, within: float = 5.0) -> Polled | None:
        """Return the next messages of a queue; None if there are none in time.

        The messages of the previous call count as handled.

        Args:
            within: timeout in seconds.

        Raises:
            ChannelClosedError: the consumer was closed.
            BrokerError: a broker rejects the expression of a subscription.

        Cancellation: safe.
        """
        self._count_handled()
        if self.config.auto_commit:
            await self._maybe_commit()
        hooks = self._hooks
        started = 0.0 if hooks is None else trio.current_time()
        with trio.move_on_after(within):
            while True:
                if self._is_closed:
                    raise ChannelClosedError("the consumer was closed")
                if self._rejection is not None:
                    raise self._rejection
                polled = self._take_ready()
                if polled is not None:
                    if hooks is not None:
                        seconds = trio.current_time() - started
                        hooks.receive(self._instance, self.group, "poll", *polled, seconds)
                    return polled
                if self._messages_ready.is_set():
                    self._messages_ready = trio.Event()
                await self._messages_ready.wait()
        return None

    def _take_ready(self) -> Polled | None:
        for _ in range(len(self._ready)):
            name, queue, messages = self._ready.popleft()
            if queue.process.dropped:
                continue
            messages = [m for m in messages if m.queue_offset in queue.process]
            if not messages:
                continue
            if queue.paused:
                self._ready.append((name, queue, messages))
                continue
            offset = queue.process.remove(messages, now=trio.current_time())
            self._unhandled = (queue, offset)
            namespace = self._instance.config.namespace
            return Polled(name, [with_real_topic(m, self.group, namespace) for m in messages])
        return None

    def _count_handled(self) -> None:
        if self._unhandled is not None:
            queue, offset = self._unhandled
            queue.consumed = offset
            self._unhandled = None
        for queue in [q for q in self._passed if not q.process.count]:
            self._passed.remove(queue)
            queue.consumed = queue.passed

    async def seek(self, queue: MessageQueue, offset: int) -> None:
        """Continue a queue at another offset; messages that were pulled in advance are dropped.

        Raises:
            LocalProtocolError: the queue is not assigned, or the offset is out of range.
        """
        state = self._queues.get(queue)
        if state is None:
            raise _not_assigned(queue)
        lowest, highest = await self.offset_range(queue)
        if not lowest <= offset <= highest:
            raise LocalProtocolError(f"offset {offset} is not between {lowest} and {highest}")
        self._restart(queue, state, offset)

    def go_back(self, queue: MessageQueue, offset: int) -> None:
        """Count the messages of the last ``poll`` as handled only up to an offset.

        Unlike ``seek`` it sends no request, for which a user may need a permission.

        Args:
            queue: queue of those messages.
            offset: offset of the first message that was not handled; it is returned again.

        Raises:
            LocalProtocolError: the queue is no longer assigned.
        """
        require_trio()
        state = self._queues.get(queue)
        if state is None:
            raise _not_assigned(queue)
        self._restart(queue, state, offset)

    async def seek_to_begin(self, queue: MessageQueue) -> None:
        """Continue at the oldest message; for errors see ``seek``."""
        await self.seek(queue, (await self.offset_range(queue))[0])

    async def seek_to_end(self, queue: MessageQueue) -> None:
        """Continue after the newest message; for errors see ``seek``."""
        await self.seek(queue, (await self.offset_range(queue))[1])

    async def offset_range(self, queue: MessageQueue) -> tuple[int, int]:
        """Return the offset of the oldest message, and the next offset after the newest."""
        address = (await find_replica(self._instance, queue)).address
        calls = self._instance.brokers
        return await calls.min_offset(address, queue), await calls.max_offset(address, queue)

    async def offset_for_timestamp(self, queue: MessageQueue, timestamp_millis: int) -> int:
        """Return the offset of the first message stored at or after a time; the end without one."""
        address = (await find_replica(self._instance, queue)).address
        return await self._instance.brokers.search_offset(address, queue, timestamp_millis)

    # ------------------------------------------------------------------ offsets

    async def commit(self) -> None:
        """Commit the offsets now; all messages that ``poll`` returned count as handled."""
        self._count_handled()
        await self._commit()

    async def _commit(self) -> None:
        self._outages = self._rebalance.outages
        self._committed_at = trio.current_time()
        for queue, state in list(self._queues.items()):
            if state.consumed is not None and state.consumed != self._offsets.get(queue):
                await self._broker_offsets.commit(queue, state.consumed)
                self._offsets.update(queue, state.consumed, increase_only=False)

    async def committed(self, queue: MessageQueue) -> int | None:
        """Return the committed offset of the group; None if there is none."""
        return await self._offsets.fetch(queue)

    async def _maybe_commit(self) -> None:
        if trio.current_time() - self._committed_at < self.config.auto_commit_interval:
            return
        try:
            await self._commit()
        except RocketWireError as error:
            self._outages.report(_COMMIT_OUTAGE, error)
        else:
            self._outages.end(_COMMIT_OUTAGE)

    # ------------------------------------------------------------------ interface for the instance

    def topics(self) -> tuple[str, ...]:
        return (*self._subscriptions, *{queue.topic or "" for queue in self._queues})

    def heartbeat(self) -> ConsumerData:
        """Return the heartbeat; after ``assign`` there are no subscriptions."""
        return ConsumerData(
            group_name=self.group,
            consume_type=ConsumeType.CONSUME_ACTIVELY,
            message_model=MessageModel.CLUSTERING,
            consume_from_where=ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,  # whatever it is, as Java
            subscription_data_set=tuple(self._subscriptions.values()),
            unit_mode=self._instance.config.unit_mode,
        )

    def rebalance_soon(self) -> None:
        self._rebalance_due.set()

    async def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None:
        for queue, offset in offsets.items():
            state = self._queues.get(queue)
            if state is not None and queue.topic == topic:
                self._restart(queue, state, offset)
                await self._broker_offsets.commit(queue, offset, in_background=True)

    def cached_messages(self) -> Mapping[str, CachedMessages]:
        return self._sum_cached((queue, q.process) for queue, q in self._queues.items())

    def running_info(self) -> ConsumerRunningInfo:
        return self._running_info(
            self.config,
            ConsumeType.CONSUME_ACTIVELY,
            self.unreadable_messages,
            [(queue, state.process, state.consumed) for queue, state in self._queues.items()],
        )

    async def consume_directly(
        self, message: StoredMessage, broker_name: str
    ) -> ConsumeMessageDirectlyResult:
        """Return ``CR_RETURN_NULL``: a pull consumer has no handler."""
        del message, broker_name
        return ConsumeMessageDirectlyResult(
            consume_result=CMResult.CR_RETURN_NULL, remark="a pull consumer has no handler"
        )

    # ------------------------------------------------------------------ background tasks

    async def keep_balanced(self) -> None:
        """Rebalance the queues of subscribed topics periodically, until cancelled."""
        while True:
            self._rebalance_due = trio.Event()
            is_complete = True
            queues: set[MessageQueue] = set()
            for topic in list(self._subscriptions):
                allocated = await self._allocate(topic)
                is_complete = is_complete and allocated is not None
                current = [queue for queue in self._queues if queue.topic == topic]
                queues.update(current if allocated is None else allocated)
            if not self._has_assignment:
                lost = self._queues.keys() - queues
                if lost and self.config.auto_commit:
                    await self._maybe_commit()
                self._set_queues(queues)
            await trio.sleep(1)
            with trio.move_on_after(self.config.rebalance_interval if is_complete else 0):
                await self._rebalance_due.wait()

    async def _allocate(self, topic: str) -> list[MessageQueue] | None:
        if not await self._rebalance.has_route(topic):
            return None
        subscription = self._subscriptions[topic]
        try:
            if self._checked.get(topic) is not subscription:
                try:
                    await check_expression(self._instance, self.group, subscription)
                except BrokerError as error:
                    self._rejection = error
                    self._messages_ready.set()
                    return None
                self._checked[topic] = subscription
            return await self._rebalance.allocate(topic)
        except RocketWireError as error:
            self._outages.report(queue_outage(topic), error)
            return None

    def _set_queues(self, queues: set[MessageQueue]) -> None:
        for queue in [queue for queue in self._queues if queue not in queues]:
            state = self._queues.pop(queue)
            state.process.dropped = True
            state.scope.cancel()
            self._passed.discard(state)
            self._pulls.forget(queue)
            self._offsets.forget(queue)
        for queue in queues - self._queues.keys():
            state = self._queues[queue] = LiteQueue(trio.current_time())
            self._nursery.start_soon(self._keep_pulling, queue, state)

    def _restart(self, queue: MessageQueue, state: LiteQueue, offset: int) -> None:
        # pull a queue from another offset; a pending pull is cancelled
        state.scope.cancel()
        state.process.dropped = True
        self._passed.discard(state)
        new_state = self._queues[queue] = LiteQueue(trio.current_time())
        new_state.paused = state.paused
        new_state.position = offset
        new_state.consumed = offset
        self._nursery.start_soon(self._keep_pulling, queue, new_state)

    def _is_full(self, state: LiteQueue) -> bool:
        cached = sum(q.process.count for q in self._queues.values())
        return (
            state.paused
            or cached > self.config.pull_threshold_for_all
            or state.process.flow_control(self.config.thresholds) is not None
        )

    async def _keep_pulling(self, queue: MessageQueue, state: LiteQueue) -> None:
        subject = pull_outage(queue)
        with state.scope:
            while not state.process.dropped:
                if self._is_full(state):
                    await trio.sleep(PULL_DELAY)
                    continue
                try:
                    await self._pull(queue, state)
                except RocketWireError as error:
                    if isinstance(error, MissingPackageError):
                        raise
                    self._outages.report(subject, error, part=queue)
                    await trio.sleep(PULL_DELAY_EXCEPTION)
                else:
                    if self._outages:
                        self._outages.end(subject, queue)
        self._outages.forget(subject, queue)

    async def _pull(self, queue: MessageQueue, state: LiteQueue) -> None:
        if state.position is None:
            state.position = await find_start_offset(
                self._instance, self.group, self.config, self._offsets, queue
            )
        topic = queue.topic or ""
        subscription = self._subscriptions.get(topic) or subscription_data(topic, version=0)
        result = await self._pulls.pull(
            PullRequest(
                queue=queue,
                offset=state.position,
                group=self.group,
                subscription=subscription,
                max_msg_nums=self.config.pull_batch_size,
                suspend_timeout=BROKER_SUSPEND_MAX_TIME,
                send_subscription=True,
            )
        )
        if state.process.dropped:
            return
        state.position = result.next_begin_offset
        self._report.report_pull(queue, result)
        if result.status is PullStatus.FOUND and result.messages:
            state.process.put(result.messages, max_offset=result.max_offset)
            self._ready.append((queue, state, result.messages))
            self._messages_ready.set()
        if result.status in (PullStatus.FOUND, PullStatus.NO_MATCHED_MSG):
            newest = result.messages[-1].queue_offset if result.messages else -1
            if newest + 1 < result.next_begin_offset:
                state.passed = result.next_begin_offset
                self._passed.add(state)
            else:
                self._passed.discard(state)

    async def close(self) -> None:
        """Commit with ``auto_commit``, and unregister; waiting polls get ``ChannelClosedError``."""
        self._is_closed = True
        self._messages_ready.set()
        with trio.move_on_after(5, shield=True):
            if self.config.auto_commit:
                try:
                    await self._commit()
                except RocketWireError as error:
                    self._outages.report(_COMMIT_OUTAGE, error)
            await self._instance.remove_consumer(self)


def _not_assigned(queue: MessageQueue) -> LocalProtocolError:
    return LocalProtocolError(f"{queue} is not assigned to this consumer")


@asynccontextmanager
async def open_lite_pull_consumer(
    client: Client, group: str, *, config: LitePullConsumerConfig | None = None
) -> AsyncGenerator[LitePullConsumer]:
    """Open a lite pull consumer until the end of the block.

    It has no queues before ``subscribe`` or ``assign``.

    Args:
        client: see ``open_push_consumer``.

    Raises:
        IllegalTypeError, NotInTrioError: see ``open_push_consumer``.
        LocalProtocolError: the group name is invalid, or the client already has a consumer of the
            group.

    Closing, and cancellation: with ``auto_commit`` the offsets of handled messages are stored. The
    messages of the last ``poll`` do not count as handled, unless ``commit`` was called: they are
    redelivered.
    """
    require_trio()
    check_consumer_group(group)
    check_config(config, LitePullConsumerConfig)
    settings = config or LitePullConsumerConfig()
    async with join_group(client, group, settings, math.inf, is_stream=True) as membership:
        consumer = LitePullConsumer(membership, settings)
        membership.instance.add_consumer(consumer)
        try:
            membership.nursery.start_soon(consumer.keep_balanced)
            yield consumer
        finally:
            await consumer.close()
