"""The queues that are assigned to a push consumer: rebalancing, pulls, release.

* Only ``keep_balanced`` changes the assignment, or ``close`` after it has ended.
* A released queue is dropped first: nothing more of it is handled. Running handlers get a short
  time to finish, so that their messages count as handled.

Java: ``RebalanceImpl``, ``RebalancePushImpl``, ``DefaultMQPushConsumerImpl.pullMessage``.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.pull import PullCalls, PullRequest, PullStatus, pull_outage
from rocketwire.client.consumer.pulled_messages import ReadReport, build_limits
from rocketwire.client.consumer.push.consumption import PushPart
from rocketwire.client.consumer.rebalance import Rebalance, find_start_offset, queue_outage
from rocketwire.client.outages import Outages
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, MissingPackageError, RocketWireError
from rocketwire.messages.enums import MessageModel
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.process_queue import ProcessQueue
from rocketwire.transport.nursery import run_each

if TYPE_CHECKING:
    from rocketwire.client.consumer.pull import NextPull, PullResult
    from rocketwire.client.consumer.push.consumption import Consumption, PushParts
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.policy.process_queue import Thresholds

# Shortest time between two rebalances in seconds, also after an incomplete one
REBALANCE_MIN_INTERVAL: Final = 1.0
RELEASE_TIMEOUT: Final = 0.5  # seconds that running handlers of a released queue get to finish
PERSIST_TIMEOUT: Final = 3.0  # timeout in seconds for storing the offset of a released queue
# Seconds after which an orderly queue is released although its handler runs
FORCED_RELEASE_TIMEOUT: Final = 20.0
# Seconds before a warning about another client's lock; that of a crashed client lives 60
LOCK_PATIENCE: Final = 90.0


def _offset_outage(queue: MessageQueue) -> str:
    return f"offsets of topic {queue.topic} on broker {queue.broker_name}"


def _lock_outage(topic: str | None) -> str:
    return f"locks of topic {topic}"


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


class Assignment(PushPart):
    def __init__(
        self,
        parts: PushParts,
        consumption: Consumption,
        on_changed: Callable[[], Awaitable[object]],  # when the assigned queues have changed
        rebalance: Rebalance | None = None,  # None to allocate as the settings say
    ) -> None:
        super().__init__(parts)
        config = parts.config
        self._consumption = consumption
        self._on_changed = on_changed
        self.pulls: PullLoop = PullLoop(parts, consumption, self.move)
        self._rebalance = rebalance or Rebalance(
            parts.instance,
            parts.group,
            config.message_model,
            config.allocate_message_queue_strategy,
        )
        self.outages: Outages = self._rebalance.outages  # logs warnings about failures
        self.pulls.outages = self.outages
        self._assigned: dict[MessageQueue, AssignedQueue] = {}
        self._rebalance_due = trio.Event()
        self._rebalance_lock = trio.Lock()
        self._renewal_lock = trio.Lock()
        self._closed = False
        is_clustering = config.message_model is not MessageModel.BROADCASTING
        self._needs_locks = consumption.is_orderly and is_clustering

    # ------------------------------------------------------------------ state

    @property
    def queues(self) -> tuple[MessageQueue, ...]:
        return tuple(q for q, assigned in self._assigned.items() if not assigned.process.dropped)

    def process_queues(self) -> dict[MessageQueue, ProcessQueue]:
        return {queue: assigned.process for queue, assigned in self._assigned.items()}

    # ------------------------------------------------------------------ rebalancing

    async def has_route(self, topic: str) -> bool:
        return await self._rebalance.has_route(topic)

    def rebalance_soon(self) -> None:
        self._rebalance_due.set()

    async def keep_balanced(self) -> None:
        while not self._closed:
            is_complete = False
            self._rebalance_due = trio.Event()
            try:
                async with self._rebalance_lock:
                    is_complete = self._closed or await self.rebalance()
            except RocketWireError as error:
                self.outages.report("rebalance of queues", error)
            else:
                self.outages.end("rebalance of queues")
            await trio.sleep(REBALANCE_MIN_INTERVAL)
            with trio.move_on_after(self._config.rebalance_interval if is_complete else 0):
                await self._rebalance_due.wait()

    async def rebalance(self) -> bool:
        is_complete = True
        previous_queues = set(self.queues)
        for queue in list(self._assigned):
            if queue.topic not in self._subscriptions:
                is_complete &= await self._release(queue)
        for topic in list(self._subscriptions):
            is_complete &= await self._rebalance_topic(topic)
        queues = set(self.queues)
        if queues != previous_queues:
            self.pulls.share_thresholds(queues)
            await self._on_changed()
        return is_complete

    async def _rebalance_topic(self, topic: str) -> bool:
        if not await self._rebalance.has_route(topic):
            return False
        try:
            allocated = await self._rebalance.allocate(topic)
        except RocketWireError as error:
            self.outages.report(queue_outage(topic), error, topic=topic)
            return False
        if allocated is None:
            return False
        allocated_set, is_complete, now = set(allocated), True, trio.current_time()
        for queue, assigned in list(self._assigned.items()):
            if queue.topic != topic:
                continue
            is_lost = queue not in allocated_set or assigned.process.dropped
            if is_lost or (not self.pulls.suspended and assigned.process.is_pull_expired(now)):
                is_complete &= await self._release(queue)
        new_queues = [queue for queue in allocated if queue not in self._assigned]
        return await self._acquire_all(new_queues) and is_complete

    async def _acquire_all(self, queues: list[MessageQueue]) -> bool:
        if not queues:
            return True
        locked = await self._lock(queues) if self._needs_locks else set(queues)
        queues_by_broker: dict[str | None, list[MessageQueue]] = {}
        for queue in queues:
            if queue in locked:
                queues_by_broker.setdefault(queue.broker_name, []).append(queue)
        results: list[bool] = []

        async def acquire(broker_queues: list[MessageQueue]) -> None:
            results.extend([await self._acquire(queue) for queue in broker_queues])

        # concurrently, so that a hanging broker does not delay the queues of others
        await run_each(acquire, queues_by_broker.values())
        return all(results) and len(results) == len(queues)

    async def _lock(self, queues: list[MessageQueue]) -> set[MessageQueue]:
        # lock queues; returns the locked ones. Logs a warning if locks stay with other clients
        locked = await self._locks.lock(queues)
        for queue in queues:
            if queue in locked:
                self.outages.end(_lock_outage(queue.topic), queue)
            else:
                self.outages.report(
                    _lock_outage(queue.topic),
                    f"{len(queues) - len(locked)} queues are locked by another client, or could not"
                    " be locked",
                    "check for members of the group that did not close",
                    part=queue,
                    patience=LOCK_PATIENCE,
                )
        return locked

    async def _acquire(self, queue: MessageQueue) -> bool:
        self._offsets.forget(queue)
        try:
            offset = await find_start_offset(
                self._instance, self._group, self._config, self._offsets, queue
            )
        except RocketWireError as error:
            self.outages.report(_offset_outage(queue), error, part=queue, topic=queue.topic)
            if self._needs_locks:
                await self._locks.unlock([queue])
            return False
        self.outages.end(_offset_outage(queue), queue)
        assigned = self._assigned[queue] = AssignedQueue(trio.current_time())
        assigned.process.locked = self._needs_locks
        self._nursery.start_soon(self.pulls.run, queue, assigned, offset)
        return True

    # ------------------------------------------------------------------ release

    async def _release(self, queue: MessageQueue) -> bool:
        # release a queue; returns False if a handler must finish first, to be tried again
        assigned, now = self._assigned[queue], trio.current_time()
        assigned.scope.cancel()
        assigned.process.retiring = True
        is_settled = await self._consumption.settle_queue(queue, assigned.process, RELEASE_TIMEOUT)
        if assigned.dropped_at is None:
            assigned.dropped_at = now
        if (
            not is_settled
            and self._needs_locks
            and now - assigned.dropped_at < FORCED_RELEASE_TIMEOUT
        ):
            return False
        await self._drop(queue)
        return True

    async def _drop(self, queue: MessageQueue) -> None:
        assigned = self._assigned.pop(queue, None)
        if assigned is None:
            return
        assigned.scope.cancel()
        assigned.process.dropped = True
        with trio.move_on_after(PERSIST_TIMEOUT):
            await self._offsets.persist([*self.queues, queue], leaving=(queue,))
        self._offsets.forget(queue)
        self.pulls.forget(queue)
        if self._needs_locks:
            await self._unlock([queue])

    async def reset(self, offsets: Mapping[MessageQueue, int]) -> None:
        """Release queues, and let them start at other offsets (Java: ``resetOffset``)."""
        queues = [queue for queue in self._assigned if queue in offsets]
        for queue in queues:
            assigned = self._assigned[queue]
            assigned.process.dropped = True
            assigned.scope.cancel()
            assigned.process.clear()
        for queue in queues:
            process = self._assigned[queue].process
            await self._consumption.settle_queue(queue, process, self._config.await_termination)
            self._offsets.freeze(queue, offsets[queue])
            await self._drop(queue)
        self.rebalance_soon()

    async def close(self, within: float) -> None:
        self._closed = True
        async with self._rebalance_lock:
            await self._close(within)

    async def _close(self, within: float) -> None:
        queues = self.queues
        for queue in queues:
            self._assigned[queue].scope.cancel()
            self._assigned[queue].process.retiring = True
        await self._consumption.settle(within)
        await self._offsets.persist(queues, leaving=queues)
        for assigned in self._assigned.values():
            assigned.process.dropped = True
        self._assigned.clear()
        if self._needs_locks and queues:
            await self._unlock(queues)

    async def _unlock(self, queues: Iterable[MessageQueue]) -> None:
        # after a renewal that is on its way: a broker that handles the renewal last would keep the
        # queues locked for a minute
        async with self._renewal_lock:
            await self._locks.unlock(queues)

    async def move(self, queue: MessageQueue, offset: int) -> None:
        # The broker requires it (Java: ``OFFSET_ILLEGAL``), perhaps because an operator has.
        assigned = self._assigned.get(queue)
        if assigned is None:
            return
        assigned.process.dropped = True
        self._offsets.freeze(queue, offset)
        await self._drop(queue)
        self.rebalance_soon()

    # ------------------------------------------------------------------ periodic tasks

    async def persist(self) -> None:
        await self._offsets.persist(self.queues)

    async def renew_locks(self) -> None:
        if not self._needs_locks:
            return
        async with self._renewal_lock:
            queues = self.queues
            locked = await self._locks.lock(queues) if queues else set[MessageQueue]()
        now = trio.current_time()
        for queue in queues:
            assigned = self._assigned.get(queue)
            if assigned is not None:
                assigned.process.locked = queue in locked
                if assigned.process.locked:
                    assigned.process.last_lock = now

    async def send_back_expired(self) -> None:
        for queue, process in self.process_queues().items():
            await self._consumption.send_back_expired(queue, process)
