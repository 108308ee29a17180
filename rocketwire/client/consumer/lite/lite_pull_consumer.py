"""``LitePullConsumer``: asks for messages when it has time for them.

Opened by ``open_lite_pull_consumer``.

Queues come from a group that shares them (``subscribe``) or from the application (``assign``); in
either case they are pulled ahead, up to the thresholds, and ``poll`` takes what has come.

Rules of this file: what ``poll`` has returned counts as handled when it is called again, or at
``commit``.  It is committed by ``commit`` or, with ``auto_commit``, by a later ``poll`` and at the
end.

Java: ``DefaultLitePullConsumerImpl``, ``AssignedMessageQueue``.
"""

from __future__ import annotations

from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.arguments import check_config
from rocketwire.client.consumer.config import check_subscription
from rocketwire.client.consumer.lite.lite_pull_state import (
    LitePullConsumerConfig,
    LiteQueue,
    Polled,
    described,
)
from rocketwire.client.consumer.lite.lite_pulls import LitePulls
from rocketwire.client.consumer.offset_store import RemoteBrokerOffsetStore
from rocketwire.client.consumer.pull import PullRequest, PullStatus, pull_outage
from rocketwire.client.consumer.pulled_messages import ReadReport, build_limits
from rocketwire.client.consumer.queues import find_replica, get_queues
from rocketwire.client.consumer.rebalance import Rebalance, find_start_offset, queue_outage
from rocketwire.client.instance.opening import open_or_reuse_client
from rocketwire.client.periodic import now_millis
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.errors import LocalProtocolError, MissingPackageError, RocketWireError
from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult
from rocketwire.messages.enums import CMResult, ConsumeType, MessageModel
from rocketwire.messages.heartbeat import ConsumerData
from rocketwire.policy.resource_names import with_namespace
from rocketwire.policy.subscription import subscription_data
from rocketwire.policy.validation import check_consumer_group, check_topic
from rocketwire.transport.nursery import background

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.instance.opening import Client
    from rocketwire.messages.callbacks import ConsumerRunningInfo
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.wire.message.stored import StoredMessage

PULL_DELAY: Final = 0.05
"""Seconds until a full or paused queue is looked at again."""

PULL_DELAY_EXCEPTION: Final = 1.0
"""Seconds until a pull is tried again that failed."""

_STORING: Final = "storing of offsets"

BROKER_SUSPEND_MAX_TIME: Final = 20.0
"""Seconds that the broker may hold a pull until a message comes."""


@trio_only()
class LitePullConsumer:
    """A consumer of one group.

    Attributes:
        group: with its namespace.
        config: its settings.
    """

    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        config: LitePullConsumerConfig,
        nursery: trio.Nursery,
    ) -> None:
        """Without queues; ``open_lite_pull_consumer`` also tells the instance of it."""
        self.group = group
        self.config = config
        self._instance = instance
        self._nursery = nursery
        self._subscriptions: dict[str, SubscriptionData] = {}
        self._assigned = False
        self._queues: dict[MessageQueue, LiteQueue] = {}
        self._ready: deque[tuple[MessageQueue, LiteQueue, list[StoredMessage]]] = deque()
        self._came = trio.Event()
        self._soon = trio.Event()
        self._unhandled: tuple[LiteQueue, int | None] | None = None
        self._passed: set[LiteQueue] = set()  # those with ``passed`` that are not at it yet
        self._pulls = LitePulls(
            instance, build_limits(config.max_body_size, config.max_inflated_size)
        )
        self._report = ReadReport(group)
        self._offsets = RemoteBrokerOffsetStore(instance, group, never_zero=config.begin_as_told)
        self._rebalance = Rebalance(
            instance, group, MessageModel.CLUSTERING, config.allocate_message_queue_strategy
        )
        self._outages = self._rebalance.outages
        self._committed_at = trio.current_time()
        self._started_millis = now_millis()

    # ------------------------------------------------------------------ which queues

    def subscribe(
        self, topic: str, expression: str | None = None, *, expression_type: str | None = None
    ) -> None:
        """Share the topic's queues with the other members of the group.

        Arguments as of ``PushConsumer.subscribe``.

        Raises:
            NotInTrioError: the caller does not run in trio.
            IllegalTypeError: an argument is not a text.
            LocalProtocolError: not a name of a topic, or queues were assigned already.
        """
        require_trio()
        check_subscription(topic, expression, expression_type)
        check_topic(topic)
        if self._assigned:
            raise LocalProtocolError("a consumer either subscribes to topics or is assigned queues")
        name = with_namespace(self._instance.config.namespace, topic)
        self._subscriptions[name] = subscription_data(
            name, expression, expression_type=expression_type, version=now_millis()
        )
        self._instance.heartbeat_soon()
        self.rebalance_soon()

    def assign(self, queues: Iterable[MessageQueue]) -> None:
        """Pull exactly these queues from now on, whoever else does.

        Raises:
            NotInTrioError: the caller does not run in trio.
            LocalProtocolError: topics were subscribed to already.
        """
        require_trio()
        if self._subscriptions:
            raise LocalProtocolError("a consumer either subscribes to topics or is assigned queues")
        self._assigned = True
        self._use(set(queues))

    @property
    def assignment(self) -> tuple[MessageQueue, ...]:
        """The queues that it has now."""
        return tuple(self._queues)

    @property
    def unreadable_messages(self) -> int:
        """How many messages were skipped so far because they cannot be read."""
        return self._report.unreadable

    async def fetch_message_queues(self, topic: str) -> tuple[MessageQueue, ...]:
        """All queues of a topic that can be read, for ``assign``.

        Raises:
            ClientError, ChannelError: the name servers do not tell.
        """
        return await get_queues(
            self._instance, with_namespace(self._instance.config.namespace, topic)
        )

    def pause(self, queues: Iterable[MessageQueue]) -> None:
        """Pull nothing of these until ``resume``; ``poll`` returns nothing of them."""
        require_trio()
        for queue in queues:
            if queue in self._queues:
                self._queues[queue].paused = True

    def resume(self, queues: Iterable[MessageQueue]) -> None:
        """Pull them again."""
        require_trio()
        for queue in queues:
            if queue in self._queues:
                self._queues[queue].paused = False
        self._came.set()

    # ------------------------------------------------------------------ messages

    async def poll(self, within: float = 5.0) -> Polled | None:
        """The next messages of some queue; None if there are none in time.

        Those that it returned before count as handled.

        Args:
            within: seconds.

        Raises: NotInTrioError: the caller does not run in trio.  Cancellation: nothing is lost.
        """
        self._count_handled()
        if self.config.auto_commit:
            await self._maybe_commit()
        with trio.move_on_after(within):
            while True:
                polled = self._next()
                if polled is not None:
                    return polled
                self._came = trio.Event()
                await self._came.wait()
        return None

    def _next(self) -> Polled | None:
        for _ in range(len(self._ready)):
            name, queue, messages = self._ready.popleft()
            if queue.process.dropped:
                continue
            messages = [one for one in messages if one.queue_offset in queue.process]
            if not messages:
                continue
            if queue.paused:
                self._ready.append((name, queue, messages))
                continue
            offset = queue.process.remove(messages, now=trio.current_time())
            self._unhandled = (queue, offset)
            return Polled(name, messages)
        return None

    def _count_handled(self) -> None:
        """What ``poll`` has returned last was handled."""
        if self._unhandled is not None:
            queue, offset = self._unhandled
            queue.consumed = offset
            self._unhandled = None
        for queue in [one for one in self._passed if not one.process.count]:
            self._passed.remove(queue)
            queue.consumed = queue.passed

    async def seek(self, queue: MessageQueue, offset: int) -> None:
        """Go on elsewhere in a queue; what was pulled ahead of it is dropped.

        Raises:
            LocalProtocolError: the queue is not this consumer's, or has no such offset.
            ClientError, ChannelError: the broker does not tell which it has.
        """
        held = self._queues.get(queue)
        if held is None:
            raise _not_assigned(queue)
        lowest, highest = await self.offset_range(queue)
        if not lowest <= offset <= highest:
            raise LocalProtocolError(f"offset {offset} is not between {lowest} and {highest}")
        self._restart(queue, held, offset)

    def go_back(self, queue: MessageQueue, offset: int) -> None:
        """Count what ``poll`` has returned last as handled up to an offset only: what is from there on comes again.

        Unlike ``seek`` it asks nobody, which not every user may.

        Args:
            queue: of those messages.
            offset: of the first that was not handled.

        Raises:
            NotInTrioError: the caller does not run in trio.
            LocalProtocolError: the queue is not this consumer's any more.
        """
        require_trio()
        held = self._queues.get(queue)
        if held is None:
            raise _not_assigned(queue)
        self._restart(queue, held, offset)

    async def seek_to_begin(self, queue: MessageQueue) -> None:
        """Go on at the oldest message; errors as of ``seek``."""
        await self.seek(queue, (await self.offset_range(queue))[0])

    async def seek_to_end(self, queue: MessageQueue) -> None:
        """Go on behind the newest message; errors as of ``seek``."""
        await self.seek(queue, (await self.offset_range(queue))[1])

    async def offset_range(self, queue: MessageQueue) -> tuple[int, int]:
        """Offsets of the oldest message and behind the newest.

        Raises:
            ClientError, ChannelError: the broker does not tell.
        """
        address = (await find_replica(self._instance, queue)).address
        calls = self._instance.brokers
        return await calls.min_offset(address, queue), await calls.max_offset(address, queue)

    async def offset_for_timestamp(self, queue: MessageQueue, timestamp_millis: int) -> int:
        """Offset of the first message stored at or after a time; the end if there is none.

        Raises:
            ClientError, ChannelError: the broker does not tell.
        """
        address = (await find_replica(self._instance, queue)).address
        return await self._instance.brokers.search_offset(address, queue, timestamp_millis)

    # ------------------------------------------------------------------ offsets

    async def commit(self) -> None:
        """Store how far ``poll`` has come, with the brokers, now.

        All that it has returned counts as handled.

        Raises:
            ClientError, ChannelError: a broker does not take it.
        """
        self._count_handled()
        await self._commit()

    async def _commit(self) -> None:
        self._outages = self._rebalance.outages
        self._committed_at = trio.current_time()
        for queue, held in list(self._queues.items()):
            if held.consumed is not None and held.consumed != self._offsets.get(queue):
                await self._offsets.commit(queue, held.consumed)
                self._offsets.update(queue, held.consumed, increase_only=False)

    async def committed(self, queue: MessageQueue) -> int | None:
        """How far the group has come, as the broker knows; None where it does not.

        Raises:
            ClientError, ChannelError: it does not answer.
        """
        return await self._offsets.fetch(queue)

    async def _maybe_commit(self) -> None:
        if trio.current_time() - self._committed_at < self.config.auto_commit_interval:
            return
        try:
            await self._commit()
        except RocketWireError as error:
            self._outages.report(_STORING, error)
        else:
            self._outages.end(_STORING)

    # ------------------------------------------------------------------ a member of the instance

    def topics(self) -> tuple[str, ...]:
        """As ``ConsumerMember``."""
        return (*self._subscriptions, *{queue.topic or "" for queue in self._queues})

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        """As ``ConsumerMember``."""
        del topic, route
        self.rebalance_soon()

    def heartbeat(self) -> ConsumerData:
        """As ``ConsumerMember``; one that was assigned its queues subscribes to nothing."""
        return ConsumerData(
            group_name=self.group,
            consume_type=ConsumeType.CONSUME_ACTIVELY,
            message_model=MessageModel.CLUSTERING,
            consume_from_where=self.config.consume_from_where,
            subscription_data_set=tuple(self._subscriptions.values()),
        )

    def rebalance_soon(self) -> None:
        """As ``ConsumerMember``."""
        self._soon.set()

    async def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None:
        """As ``ConsumerMember``."""
        for queue, offset in offsets.items():
            held = self._queues.get(queue)
            if held is not None and queue.topic == topic:
                self._restart(queue, held, offset)
                await self._offsets.commit(queue, offset)

    def offsets(self, topic: str) -> Mapping[MessageQueue, int]:
        """As ``ConsumerMember``."""
        return self._offsets.snapshot(topic)

    def running_info(self) -> ConsumerRunningInfo:
        """As ``ConsumerMember``."""
        return described(
            self._subscriptions, self._queues, self._started_millis, self.unreadable_messages
        )

    async def consume_directly(
        self, message: StoredMessage, broker_name: str
    ) -> ConsumeMessageDirectlyResult:
        """As ``ConsumerMember``: it has no handler that could be told to."""
        del message, broker_name
        return ConsumeMessageDirectlyResult(
            consume_result=CMResult.CR_RETURN_NULL, remark="a pull consumer has no handler"
        )

    # ------------------------------------------------------------------ background

    async def keep_balanced(self) -> None:
        """Share queues out again and again, if topics are subscribed to."""
        while True:
            self._soon = trio.Event()
            balanced = True
            wanted: set[MessageQueue] = set()
            for topic in list(self._subscriptions):
                queues = await self._share(topic)
                balanced = balanced and queues is not None
                kept = [queue for queue in self._queues if queue.topic == topic]
                wanted.update(kept if queues is None else queues)
            if not self._assigned:
                lost = self._queues.keys() - wanted
                if lost and self.config.auto_commit:
                    await self._maybe_commit()
                self._use(wanted)
            await trio.sleep(1)
            with trio.move_on_after(self.config.rebalance_interval if balanced else 0):
                await self._soon.wait()

    async def _share(self, topic: str) -> list[MessageQueue] | None:
        if not await self._rebalance.has_route(topic):
            return None
        try:
            return await self._rebalance.allocate(topic)
        except RocketWireError as error:
            self._outages.report(queue_outage(topic), error)
            return None

    def _use(self, queues: set[MessageQueue]) -> None:
        for queue in [queue for queue in self._queues if queue not in queues]:
            held = self._queues.pop(queue)
            held.process.dropped = True
            held.scope.cancel()
            self._passed.discard(held)
            self._pulls.forget(queue)
            self._offsets.forget(queue)
        for queue in queues - self._queues.keys():
            held = self._queues[queue] = LiteQueue(trio.current_time())
            self._nursery.start_soon(self._pull_on, queue, held)

    def _restart(self, queue: MessageQueue, held: LiteQueue, offset: int) -> None:
        """Pulls a queue from another offset on; a pull on its way is forgotten."""
        held.scope.cancel()
        held.process.dropped = True
        self._passed.discard(held)
        new = self._queues[queue] = LiteQueue(trio.current_time())
        new.paused = held.paused
        new.position = offset
        new.consumed = offset
        self._nursery.start_soon(self._pull_on, queue, new)

    def _is_full(self, held: LiteQueue) -> bool:
        cached = sum(one.process.count for one in self._queues.values())
        return (
            held.paused
            or cached > self.config.pull_threshold_for_all
            or held.process.flow_control(self.config.thresholds) is not None
        )

    async def _pull_on(self, queue: MessageQueue, held: LiteQueue) -> None:
        subject = pull_outage(queue)
        with held.scope:
            while not held.process.dropped:
                if self._is_full(held):
                    await trio.sleep(PULL_DELAY)
                    continue
                try:
                    await self._pull(queue, held)
                except RocketWireError as error:
                    if isinstance(error, MissingPackageError):
                        raise
                    self._outages.report(subject, error, part=queue)
                    await trio.sleep(PULL_DELAY_EXCEPTION)
                else:
                    if self._outages:
                        self._outages.end(subject, queue)
        self._outages.forget(subject, queue)

    async def _pull(self, queue: MessageQueue, held: LiteQueue) -> None:
        if held.position is None:
            held.position = await find_start_offset(
                self._instance, self.group, self.config, self._offsets, queue
            )
        topic = queue.topic or ""
        subscription = self._subscriptions.get(topic) or subscription_data(topic, version=0)
        result = await self._pulls.pull(
            PullRequest(
                queue=queue,
                offset=held.position,
                group=self.group,
                subscription=subscription,
                max_msg_nums=self.config.pull_batch_size,
                suspend_timeout=BROKER_SUSPEND_MAX_TIME,
                send_subscription=True,
            )
        )
        if held.process.dropped:
            return
        held.position = result.next_begin_offset
        self._report.report_pull(queue, result)
        if result.status is PullStatus.FOUND and result.messages:
            held.process.put(result.messages, max_offset=result.max_offset)
            self._ready.append((queue, held, result.messages))
            self._came.set()
        if result.status in (PullStatus.FOUND, PullStatus.NO_MATCHED_MSG):
            newest = result.messages[-1].queue_offset if result.messages else -1
            if newest + 1 < result.next_begin_offset:
                held.passed = result.next_begin_offset
                self._passed.add(held)
            else:
                self._passed.discard(held)

    async def close(self) -> None:
        """Commit what was polled if the consumer does so, and say goodbye.

        ``open_lite_pull_consumer`` does.
        """
        with trio.move_on_after(5, shield=True):
            if self.config.auto_commit:
                try:
                    await self._commit()
                except RocketWireError as error:
                    self._outages.report(_STORING, error)
            await self._instance.remove_consumer(self)


def _not_assigned(queue: MessageQueue) -> LocalProtocolError:
    return LocalProtocolError(f"{queue} is not assigned to this consumer")


@asynccontextmanager
async def open_lite_pull_consumer(
    client: Client, group: str, *, config: LitePullConsumerConfig | None = None
) -> AsyncGenerator[LitePullConsumer]:
    """A lite pull consumer for the length of the block.

    It has no queues before ``subscribe`` or ``assign``.

    Args:
        client: as of ``open_push_consumer``.
        group: its name.
        config: settings.

    Raises:
        IllegalTypeError, NotInTrioError: as of ``open_push_consumer``.
        LocalProtocolError: not a name of a group, or a second consumer of it.

    Closing, and cancellation: with ``auto_commit`` the offsets of what was handled are stored.
    Nobody knows whether the messages of the last ``poll`` were: they come back, unless ``commit``
    was called.
    """
    require_trio()
    check_consumer_group(group)
    check_config(config, LitePullConsumerConfig)
    async with open_or_reuse_client(client) as instance, background() as nursery:
        name = with_namespace(instance.config.namespace, group)
        consumer = LitePullConsumer(instance, name, config or LitePullConsumerConfig(), nursery)
        instance.add_consumer(consumer)
        try:
            nursery.start_soon(consumer.keep_balanced)
            yield consumer
        finally:
            await consumer.close()
