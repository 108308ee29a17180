"""Pulls a queue while it is assigned to the consumer.

The loop of a queue ends when it is cancelled, or when the queue is dropped. Messages go into the
process queue first, then to the handlers. An error is logged and retried; only a missing package
ends the consumer.

Java: ``DefaultMQPushConsumerImpl.pullMessage``, ``PullMessageService``.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.pull import (
    PullCalls,
    PullRequest,
    PullStatus,
    pull_outage,
)
from rocketwire.client.consumer.pulled_messages import ReadReport, build_limits
from rocketwire.client.consumer.push.consumption import PushPart
from rocketwire.client.outages import Outages
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, MissingPackageError, RocketWireError
from rocketwire.messages.enums import MessageModel
from rocketwire.policy.process_queue import ProcessQueue, Thresholds

if TYPE_CHECKING:
    from rocketwire.client.consumer.pull import NextPull, PullResult
    from rocketwire.client.consumer.push.consumption import Consumption, PushParts
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue

_LOG: Final = logging.getLogger("rocketwire.client")

PULL_DELAY_FLOW_CONTROL: Final = 0.05  # delay in seconds if the process queue is full
# Delay in seconds if the broker rejects a pull because it is busy
PULL_DELAY_BROKER_FLOW_CONTROL: Final = 0.02
PULL_DELAY_EXCEPTION: Final = 1.0  # delay in seconds after a failed pull, or without the lock
PULL_DELAY_SUSPENDED: Final = 1.0  # delay in seconds while the consumer is suspended
# Seconds for which a broker may be too busy for pulls before a warning is logged
BUSY_PATIENCE: Final = 10.0


class AssignedQueue:
    __slots__ = ("dropped_at", "process", "scope")

    def __init__(self, now: float) -> None:
        # messages that were pulled and not handled
        self.process: ProcessQueue = ProcessQueue(now=now)
        self.scope: Final = trio.CancelScope()
        self.dropped_at: float | None = None  # when the consumer started to release it; None before


class PullLoop(PushPart):
    def __init__(
        self,
        parts: PushParts,
        consumption: Consumption,
        # called when the broker moves the offset of a queue, whose loop has ended then
        on_moved: Callable[[MessageQueue, int], Awaitable[None]],
    ) -> None:
        super().__init__(parts)
        config = parts.config
        self.suspended = False
        self._hooks = parts.instance.hooks
        self.outages: Outages = Outages(f"group {parts.group}")  # logs warnings about failing pulls
        self.report: Final = ReadReport(parts.group)  # logs and counts unreadable messages
        self._consumption = consumption
        self._on_moved = on_moved
        limits = build_limits(config.max_body_size, config.max_inflated_size)
        self._calls = PullCalls(parts.instance, limits)
        self._thresholds: dict[str, Thresholds] = {}
        self._is_clustering = config.message_model is not MessageModel.BROADCASTING
        self._now = trio.lowlevel.current_clock().current_time

    def forget(self, queue: MessageQueue) -> None:
        self._calls.forget(queue)

    def share_thresholds(self, queues: Collection[MessageQueue]) -> None:
        topics = [queue.topic or "" for queue in queues]
        thresholds = self._config.thresholds
        self._thresholds = {
            topic: thresholds.for_queues(topics.count(topic)) for topic in set(topics)
        }

    async def run(self, queue: MessageQueue, assigned: AssignedQueue, offset: int) -> None:
        moved_to: int | None = None
        with assigned.scope:
            moved_to = await self._pull_until_moved(queue, assigned.process, offset)
        self.outages.forget(pull_outage(queue), queue)
        if moved_to is not None:
            _LOG.warning("%s: %s continues at offset %d", self._group, queue, moved_to)
            await self._on_moved(queue, moved_to)

    async def _pull_until_moved(
        self, queue: MessageQueue, process: ProcessQueue, offset: int
    ) -> int | None:
        # pull until the queue is dropped; or return the new offset if the broker moves it
        subscription: SubscriptionData | None = None

        def accept(result: PullResult) -> NextPull | None:
            nonlocal offset
            offset = result.next_begin_offset
            if not self._accept(queue, process, result):
                return None
            if self._subscriptions[queue.topic or ""] is not subscription:
                return None
            return offset, self._commit_offset(queue)

        while not process.dropped:
            if delay := self.delay(queue, process, trio.current_time()):
                await trio.sleep(delay)
                continue
            try:
                request = self._build_request(queue, offset)
                subscription = request.subscription
                result = await self._calls.pull_repeatedly(request, accept)
            except RocketWireError as error:
                await trio.sleep(self._report_failure(queue, process, error))
                continue
            self._report_success(queue, process, result)
            if result is not None:
                offset = result.next_begin_offset
                if result.status is PullStatus.OFFSET_ILLEGAL:
                    return offset
            if self._config.pull_interval:
                await trio.sleep(self._config.pull_interval)
        return None

    def _report_success(
        self, queue: MessageQueue, process: ProcessQueue, result: PullResult | None
    ) -> None:
        process.last_pull = trio.current_time()
        if self.outages:
            self.outages.end(pull_outage(queue), queue)
        if result is not None:
            self.report.report_pull(queue, result)
            is_legal = result.status is not PullStatus.OFFSET_ILLEGAL
            if is_legal and not process.count and not process.dropped:
                self._offsets.update(queue, result.next_begin_offset, increase_only=True)

    def _report_failure(
        self, queue: MessageQueue, process: ProcessQueue, error: RocketWireError
    ) -> float:
        # returns the seconds until the next pull
        if isinstance(error, MissingPackageError):
            raise error
        if self._hooks is not None:
            seconds = trio.current_time() - process.last_pull
            self._hooks.receive(self._instance, self._group, "pull", queue, (), seconds, error)
        is_busy = isinstance(error, BrokerError) and error.code == ResponseCode.FLOW_CONTROL
        self.outages.report(
            pull_outage(queue),
            error,
            part=queue,
            patience=BUSY_PATIENCE if is_busy else 0.0,
            topic=queue.topic,
        )
        return PULL_DELAY_BROKER_FLOW_CONTROL if is_busy else PULL_DELAY_EXCEPTION

    def delay(self, queue: MessageQueue, process: ProcessQueue, now: float) -> float:
        """Return the seconds before the next pull; 0 to pull now."""
        if self.suspended:
            return PULL_DELAY_SUSPENDED
        thresholds = self._thresholds.get(queue.topic or "", self._config.thresholds)
        needs_lock = self._consumption.is_orderly and self._is_clustering
        if needs_lock and (not process.locked or process.is_lock_expired(now)):
            return PULL_DELAY_EXCEPTION
        process.last_pull = now
        if process.flow_control(thresholds) is not None:
            return PULL_DELAY_FLOW_CONTROL
        return 0.0 if queue.topic in self._subscriptions else PULL_DELAY_EXCEPTION

    def _commit_offset(self, queue: MessageQueue) -> int | None:
        return (self._offsets.get(queue) or None) if self._is_clustering else None

    def _build_request(self, queue: MessageQueue, offset: int) -> PullRequest:
        config = self._config
        return PullRequest(
            queue=queue,
            offset=offset,
            group=self._group,
            subscription=self._subscriptions[queue.topic or ""],
            max_msg_nums=config.pull_batch_size,
            max_msg_bytes=config.pull_batch_size_in_bytes,
            commit_offset=self._commit_offset(queue),
            send_subscription=config.post_subscription_when_pull,
        )

    def _accept(self, queue: MessageQueue, process: ProcessQueue, result: PullResult) -> bool:
        """Pass the messages of a pull to the handlers; returns whether to pull again at once."""
        now = self._now()
        messages = result.messages
        self._stats.add_pulled(queue.topic or "", len(messages), now - process.last_pull, now)
        if self._hooks is not None:
            seconds = now - process.last_pull
            self._hooks.receive(self._instance, self._group, "pull", queue, messages, seconds)
        process.last_pull = now
        if process.dropped:
            return False
        if result.unreadable or result.stopped_by is not None:
            self.report.report_pull(queue, result)
        is_idle = process.put(messages, max_offset=result.max_offset, body_size=result.body_size)
        if is_idle or not self._consumption.is_orderly:
            self._consumption.submit(queue, process, messages)
        return not self._config.pull_interval and not self.delay(queue, process, now)
