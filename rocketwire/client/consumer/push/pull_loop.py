"""Pulling one queue for as long as the consumer has it.

Rules of this file: the loop ends by being cancelled, or by itself once the queue is dropped.  What
it brings goes into the queue's window first and to the handlers then.  An error is logged and tried
again; it never ends the loop, but for a missing package, which ends the consumer.

Java: ``DefaultMQPushConsumerImpl.pullMessage``, ``PullMessageService``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.pull import (
    BROKER_SUSPEND_MAX_TIME,
    PullCalls,
    PullStatus,
    pull_outage,
    pull_request,
)
from rocketwire.client.consumer.pulled_messages import ReadReport, build_limits
from rocketwire.client.outages import Outages
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, MissingPackageError, RocketWireError
from rocketwire.messages.enums import MessageModel
from rocketwire.policy.process_queue import ProcessQueue, Thresholds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from rocketwire.client.consumer.config import PushConsumerConfig
    from rocketwire.client.consumer.offset_store import OffsetStore
    from rocketwire.client.consumer.pull import NextPull, PullRequest, PullResult
    from rocketwire.client.consumer.push.concurrent import ConcurrentConsumption
    from rocketwire.client.consumer.push.orderly import OrderlyConsumption
    from rocketwire.client.consumer.stats import ConsumerStats
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")

PULL_DELAY_FLOW_CONTROL: Final = 0.05
"""Seconds until the window is looked at again when it is full."""

PULL_DELAY_BROKER_FLOW_CONTROL: Final = 0.02
"""Seconds until a pull is tried again that the broker refused because it is busy."""

PULL_DELAY_EXCEPTION: Final = 1.0
"""Seconds until a pull is tried again that failed, or for which a lock is missing."""

PULL_DELAY_SUSPENDED: Final = 1.0
"""Seconds between two looks whether a suspended consumer goes on."""


BUSY_PATIENCE: Final = 10.0
"""Seconds for which a broker may be too busy for pulls without a warning."""


class Held:
    """A queue that a consumer has.

    Attributes:
        process: its window.
        scope: cancels its pulls.
        dropped_at: when it was given up, while a handler still runs.
    """

    __slots__ = ("dropped_at", "process", "scope")

    def __init__(self, now: float) -> None:
        """With an empty window.

        Args:
            now: the time now.
        """
        self.process: ProcessQueue[StoredMessage] = ProcessQueue(now=now)
        self.scope = trio.CancelScope()
        self.dropped_at: float | None = None


class PullLoop:
    """The pulls of one consumer.

    Attributes:
        suspended: pull nothing while it is set.
        outages: warns about pulls that fail.
        report: logs and counts messages that cannot be read.
    """

    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        config: PushConsumerConfig,
        subscriptions: Mapping[str, SubscriptionData],
        offsets: OffsetStore,
        stats: ConsumerStats,
        consumption: ConcurrentConsumption | OrderlyConsumption,
        moved: Callable[[MessageQueue, int], Awaitable[None]],
    ) -> None:
        """Nothing is pulled yet.

        Args:
            instance: knows routes and carries the requests.
            group: with its namespace.
            config: the consumer's settings.
            subscriptions: by topic; looked at again at each pull.
            offsets: committed by the way.
            stats: counts.
            consumption: gets what comes.
            moved: called when a queue goes on at another offset; ends the loop of that queue.
        """
        self.suspended = False
        self.outages = Outages(f"group {group}")
        self.report = ReadReport(group)
        self._group = group
        self._config = config
        self._subscriptions = subscriptions
        self._offsets = offsets
        self._stats = stats
        self._consumption = consumption
        self._moved = moved
        self._calls = PullCalls(
            instance, build_limits(config.max_body_size, config.max_inflated_size)
        )
        self._thresholds: dict[str, Thresholds] = {}
        self._shares = config.message_model is not MessageModel.BROADCASTING
        self._now = trio.lowlevel.current_clock().current_time

    def forget(self, queue: MessageQueue) -> None:
        """The queue is somebody else's."""
        self._calls.forget(queue)

    def share_thresholds(self, queues: Collection[MessageQueue]) -> None:
        """The consumer has these queues now; limits of a topic are shared by its queues."""
        topics = [queue.topic or "" for queue in queues]
        thresholds = self._config.thresholds
        self._thresholds = {
            topic: thresholds.for_queues(topics.count(topic)) for topic in set(topics)
        }

    async def run(self, queue: MessageQueue, held: Held, offset: int) -> None:
        """Pull a queue from an offset on."""
        moved_to: int | None = None
        with held.scope:
            moved_to = await self._pull_until_moved(queue, held.process, offset)
        self.outages.forget(pull_outage(queue), queue)
        if moved_to is not None:
            _LOG.warning("%s: %s goes on at %d", self._group, queue, moved_to)
            await self._moved(queue, moved_to)

    async def _pull_until_moved(
        self, queue: MessageQueue, process: ProcessQueue[StoredMessage], offset: int
    ) -> int | None:
        """Pulls until the queue is dropped.

        Returns where it goes on if the broker says that it does so elsewhere.
        """
        place = _Place(self, queue, process, offset)
        while not process.dropped:
            delay = self.delay(queue, process, trio.current_time())
            if delay:
                await trio.sleep(delay)
                continue
            try:
                result = await self._calls.pull_repeatedly(place.request(), place.take)
            except RocketWireError as error:
                await trio.sleep(self._failed(queue, error))
            else:
                process.last_pull = trio.current_time()
                if self.outages:
                    self.outages.end(pull_outage(queue), queue)
                if result is not None:
                    self.report.report_pull(queue, result)
                    if result.status is PullStatus.OFFSET_ILLEGAL:
                        return result.next_begin_offset
                    place.offset = result.next_begin_offset
                    if not process.count and not process.dropped:
                        self._offsets.update(queue, place.offset, increase_only=True)
                if self._config.pull_interval:
                    await trio.sleep(self._config.pull_interval)
        return None

    def _failed(self, queue: MessageQueue, error: RocketWireError) -> float:
        """Report a pull that failed; return the seconds until the next one.

        Raises:
            MissingPackageError: ``error`` is one, and no later pull would succeed.
        """
        if isinstance(error, MissingPackageError):
            raise error
        busy = isinstance(error, BrokerError) and error.code == ResponseCode.FLOW_CONTROL
        self.outages.report(
            pull_outage(queue),
            error,
            part=queue,
            patience=BUSY_PATIENCE if busy else 0.0,
            topic=queue.topic,
        )
        return PULL_DELAY_BROKER_FLOW_CONTROL if busy else PULL_DELAY_EXCEPTION

    def delay(self, queue: MessageQueue, process: ProcessQueue[StoredMessage], now: float) -> float:
        """Seconds to wait before the next pull; 0 to pull now."""
        if self.suspended:
            return PULL_DELAY_SUSPENDED
        thresholds = self._thresholds.get(queue.topic or "", self._config.thresholds)
        needs_lock = self._consumption.is_orderly and self._shares
        if needs_lock and (not process.locked or process.is_lock_expired(now)):
            return PULL_DELAY_EXCEPTION
        process.last_pull = now
        if process.flow_control(thresholds) is not None:
            return PULL_DELAY_FLOW_CONTROL
        return 0.0 if queue.topic in self._subscriptions else PULL_DELAY_EXCEPTION

    def subscription(self, queue: MessageQueue) -> SubscriptionData:
        """What is wanted of a queue now."""
        return self._subscriptions[queue.topic or ""]

    def committed(self, queue: MessageQueue) -> int | None:
        """The offset that a pull commits by the way; None for none."""
        return (self._offsets.get(queue) or None) if self._shares else None

    def request(self, queue: MessageQueue, offset: int) -> PullRequest:
        """What to pull from an offset on."""
        config = self._config
        return pull_request(
            queue,
            offset,
            self._group,
            self.subscription(queue),
            config.pull_batch_size,
            config.pull_batch_size_in_bytes,
            self.committed(queue),
            BROKER_SUSPEND_MAX_TIME,
            config.post_subscription_when_pull,
            False,
        )

    def took(
        self, queue: MessageQueue, process: ProcessQueue[StoredMessage], result: PullResult
    ) -> bool:
        """Gives the handlers what a pull brought; returns whether to pull again at once."""
        now = self._now()
        messages = result.messages
        self._stats.add_pulled(queue.topic or "", len(messages), now - process.last_pull, now)
        process.last_pull = now
        if process.dropped:
            return False
        if result.unreadable or result.stopped_by is not None:
            self.report.report_pull(queue, result)
        idle = process.put(messages, max_offset=result.max_offset, body_size=result.body_size)
        if idle or not self._consumption.is_orderly:
            self._consumption.submit(queue, process, messages)
        return not self._config.pull_interval and not self.delay(queue, process, now)


class _Place:
    """Where the pulls of a queue have come to.

    Attributes:
        offset: the next that is wanted.
    """

    __slots__ = ("_loop", "_process", "_queue", "_subscription", "offset")

    def __init__(
        self,
        loop: PullLoop,
        queue: MessageQueue,
        process: ProcessQueue[StoredMessage],
        offset: int,
    ) -> None:
        self._loop = loop
        self._queue = queue
        self._process = process
        self._subscription: SubscriptionData | None = None
        self.offset = offset

    def request(self) -> PullRequest:
        """The next pull."""
        request = self._loop.request(self._queue, self.offset)
        self._subscription = request.subscription
        return request

    def take(self, result: PullResult) -> NextPull | None:
        """Takes messages.

        Returns how the next pull differs from the one of ``request``, None where it has to wait or
        is another one.
        """
        queue, loop = self._queue, self._loop
        self.offset = result.next_begin_offset
        if not loop.took(queue, self._process, result):
            return None
        if loop.subscription(queue) is not self._subscription:
            return None
        return self.offset, loop.committed(queue)
