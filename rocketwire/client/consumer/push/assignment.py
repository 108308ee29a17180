"""The queues that a push consumer has: taking them, pulling them, giving them up.

Rules of this file:

* Everything that changes who has which queue happens in ``keep_balanced``, or after it has ended.
* A queue that is given up is dropped first: from then on nothing more of it is handled, and its
  handlers get a moment to end so that what they did counts.

Java: ``RebalanceImpl``, ``RebalancePushImpl``, ``DefaultMQPushConsumerImpl.pullMessage``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.push.pull_loop import Held, PullLoop
from rocketwire.client.consumer.rebalance import Rebalance, find_start_offset, queue_outage
from rocketwire.errors import RocketWireError
from rocketwire.messages.enums import MessageModel
from rocketwire.messages.message_queue import MessageQueue

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from rocketwire.client.consumer.config import PushConsumerConfig
    from rocketwire.client.consumer.offset_store import OffsetStore
    from rocketwire.client.consumer.push.concurrent import ConcurrentConsumption
    from rocketwire.client.consumer.push.orderly import OrderlyConsumption
    from rocketwire.client.consumer.queue_locks import QueueLocks
    from rocketwire.client.consumer.stats import ConsumerStats
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.policy.process_queue import ProcessQueue
    from rocketwire.wire.message.stored import StoredMessage

REBALANCE_MIN_INTERVAL: Final = 1.0
"""Seconds between two sharings at least, and until the next one when something was left over."""

HAND_OVER: Final = 0.5
"""Seconds that handlers of a queue get to end before it is given up."""

STORED: Final = 3.0
"""Seconds that its broker then gets to say that it has the offset."""

FORCED_HAND_OVER: Final = 20.0
"""Seconds after which a queue in order is given up although its handler runs."""


LOCK_PATIENCE: Final = 90.0
"""Seconds for which another client may hold the lock of a queue without a warning: a lock of a client that crashed lives 60."""


def _beginning(queue: MessageQueue) -> str:
    return f"offsets of topic {queue.topic} on broker {queue.broker_name}"


def _locking(topic: str | None) -> str:
    return f"locks of topic {topic}"


class Assignment:
    """The queues of one consumer.

    Attributes:
        pulls: its pulls.
        outages: warns about what does not work.
    """

    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        config: PushConsumerConfig,
        subscriptions: Mapping[str, SubscriptionData],
        offsets: OffsetStore,
        locks: QueueLocks,
        stats: ConsumerStats,
        consumption: ConcurrentConsumption | OrderlyConsumption,
        nursery: trio.Nursery,
        changed: Callable[[], Awaitable[None]],
    ) -> None:
        """No queues yet.

        Args:
            instance: knows routes and carries the requests.
            group: with its namespace.
            config: the consumer's settings.
            subscriptions: by topic; looked at again at each sharing and each pull.
            offsets: where to begin, and how far it has come.
            locks: of queues in order.
            stats: counts.
            consumption: gets what comes.
            nursery: where pulls live.
            changed: awaited when the consumer has other queues than before.
        """
        self._instance = instance
        self._group = group
        self._config = config
        self._subscriptions = subscriptions
        self._offsets = offsets
        self._locks = locks
        self._consumption = consumption
        self._nursery = nursery
        self._changed = changed
        self.pulls = PullLoop(
            instance, group, config, subscriptions, offsets, stats, consumption, self.moved
        )
        self._rebalance = Rebalance(
            instance, group, config.message_model, config.allocate_message_queue_strategy
        )
        self.outages = self.pulls.outages = self._rebalance.outages
        self._held: dict[MessageQueue, Held] = {}
        self._soon = trio.Event()
        self._sharing = trio.Lock()
        self._closed = False
        self._shares = config.message_model is not MessageModel.BROADCASTING
        self._locks_queues = consumption.is_orderly and self._shares

    # ------------------------------------------------------------------ what there is

    @property
    def queues(self) -> tuple[MessageQueue, ...]:
        """The queues that are the consumer's now."""
        return tuple(queue for queue, held in self._held.items() if not held.process.dropped)

    def windows(self) -> dict[MessageQueue, ProcessQueue[StoredMessage]]:
        """All windows, those that are being given up included."""
        return {queue: held.process for queue, held in self._held.items()}

    # ------------------------------------------------------------------ sharing

    async def has_route(self, topic: str) -> bool:
        """As ``Rebalance.has_route``."""
        return await self._rebalance.has_route(topic)

    def rebalance_soon(self) -> None:
        """Share out anew as soon as may be."""
        self._soon.set()

    async def keep_balanced(self) -> None:
        """Share queues out again and again."""
        while not self._closed:
            balanced = False
            self._soon = trio.Event()
            try:
                async with self._sharing:
                    balanced = self._closed or await self.rebalance()
            except RocketWireError as error:
                self.outages.report("sharing of queues", error)
            else:
                self.outages.end("sharing of queues")
            await trio.sleep(REBALANCE_MIN_INTERVAL)
            with trio.move_on_after(self._config.rebalance_interval if balanced else 0):
                await self._soon.wait()

    async def rebalance(self) -> bool:
        """Share out once; returns whether nothing was left over."""
        balanced = True
        before = set(self.queues)
        for queue in list(self._held):
            if queue.topic not in self._subscriptions:
                balanced &= await self._give_up(queue)
        for topic in list(self._subscriptions):
            balanced &= await self._share(topic)
        after = set(self.queues)
        if after != before:
            self.pulls.share_thresholds(after)
            await self._changed()
        return balanced

    async def _share(self, topic: str) -> bool:
        if not await self._rebalance.has_route(topic):
            return False
        try:
            assigned = await self._rebalance.allocate(topic)
        except RocketWireError as error:
            self.outages.report(queue_outage(topic), error, topic=topic)
            return False
        if assigned is None:
            return False
        wanted, balanced, now = set(assigned), True, trio.current_time()
        for queue, held in list(self._held.items()):
            if queue.topic != topic:
                continue
            lost = queue not in wanted or held.process.dropped
            if lost or (not self.pulls.suspended and held.process.is_pull_expired(now)):
                balanced &= await self._give_up(queue)
        new = [queue for queue in assigned if queue not in self._held]
        return await self._take_all(new) and balanced

    async def _take_all(self, queues: list[MessageQueue]) -> bool:
        if not queues:
            return True
        locked = await self._locked(queues) if self._locks_queues else set(queues)
        by_broker: dict[str | None, list[MessageQueue]] = {}
        for queue in queues:
            if queue in locked:
                by_broker.setdefault(queue.broker_name, []).append(queue)
        taken: list[bool] = []

        async def take(of_broker: list[MessageQueue]) -> None:
            taken.extend([await self._take(queue) for queue in of_broker])

        # one that hangs keeps nobody from the others' queues
        async with trio.open_nursery() as nursery:
            for of_broker in by_broker.values():
                nursery.start_soon(take, of_broker)
        return all(taken) and len(taken) == len(queues)

    async def _locked(self, queues: list[MessageQueue]) -> set[MessageQueue]:
        """Locks queues.

        Returns those that are locked now, and warns if another client keeps the others for long.
        """
        locked = await self._locks.lock(queues)
        for queue in queues:
            if queue in locked:
                self.outages.end(_locking(queue.topic), queue)
            else:
                self.outages.report(
                    _locking(queue.topic),
                    f"{len(queues) - len(locked)} queues are locked by another client, or could not be locked",
                    "look for members of the group that were not closed",
                    part=queue,
                    patience=LOCK_PATIENCE,
                )
        return locked

    async def _take(self, queue: MessageQueue) -> bool:
        """Begin with a queue; returns whether it could be done."""
        self._offsets.forget(queue)
        try:
            offset = await find_start_offset(
                self._instance, self._group, self._config, self._offsets, queue
            )
        except RocketWireError as error:
            self.outages.report(_beginning(queue), error, part=queue, topic=queue.topic)
            if self._locks_queues:
                await self._locks.unlock([queue])
            return False
        self.outages.end(_beginning(queue), queue)
        held = self._held[queue] = Held(trio.current_time())
        held.process.locked = self._locks_queues
        self._nursery.start_soon(self.pulls.run, queue, held, offset)
        return True

    # ------------------------------------------------------------------ giving up

    async def _give_up(self, queue: MessageQueue) -> bool:
        """Give a queue up; returns False if a handler has to end first, which is tried again."""
        held, now = self._held[queue], trio.current_time()
        held.scope.cancel()
        held.process.retiring = True
        ended = await self._consumption.settle_queue(queue, held.process, HAND_OVER)
        if held.dropped_at is None:
            held.dropped_at = now
        if not ended and self._locks_queues and now - held.dropped_at < FORCED_HAND_OVER:
            return False
        await self._let_go(queue)
        return True

    async def _let_go(self, queue: MessageQueue) -> None:
        """Store how far it was handled, and leave the queue to others."""
        held = self._held.pop(queue, None)
        if held is None:
            return
        held.scope.cancel()
        held.process.dropped = True
        with trio.move_on_after(STORED):
            await self._offsets.persist([*self.queues, queue], leaving=(queue,))
        self._offsets.forget(queue)
        self.pulls.forget(queue)
        if self._locks_queues:
            await self._locks.unlock([queue])

    async def reset(self, offsets: Mapping[MessageQueue, int]) -> None:
        """Give queues up, and have their offsets begin elsewhere (Java: ``resetOffset``)."""
        touched = [queue for queue in self._held if queue in offsets]
        for queue in touched:
            held = self._held[queue]
            held.process.dropped = True
            held.scope.cancel()
            held.process.clear()
        for queue in touched:
            process = self._held[queue].process
            await self._consumption.settle_queue(queue, process, self._config.await_termination)
            self._offsets.freeze(queue, offsets[queue])
            await self._let_go(queue)
        self.rebalance_soon()

    async def close(self, within: float) -> None:
        """Give everything up in good order; handlers get so many seconds to end."""
        self._closed = True
        async with self._sharing:
            await self._close(within)

    async def _close(self, within: float) -> None:
        queues = self.queues
        for queue in queues:
            self._held[queue].scope.cancel()
            self._held[queue].process.retiring = True
        await self._consumption.settle(within)
        await self._offsets.persist(queues, leaving=queues)
        for held in self._held.values():
            held.process.dropped = True
        self._held.clear()
        if self._locks_queues and queues:
            await self._locks.unlock(queues)

    async def moved(self, queue: MessageQueue, offset: int) -> None:
        """The broker says that the queue goes on elsewhere (Java: ``OFFSET_ILLEGAL``).

        An operator may have set it so.
        """
        held = self._held.get(queue)
        if held is None:
            return
        held.process.dropped = True
        self._offsets.freeze(queue, offset)
        await self._let_go(queue)
        self.rebalance_soon()

    # ------------------------------------------------------------------ upkeep

    async def persist(self) -> None:
        """Store how far it has come in each queue."""
        await self._offsets.persist(self.queues)

    async def renew_locks(self) -> None:
        """Say that the queues in order are still the consumer's."""
        if not self._locks_queues:
            return
        queues = self.queues
        locked = await self._locks.lock(queues) if queues else set[MessageQueue]()
        now = trio.current_time()
        for queue in queues:
            held = self._held.get(queue)
            if held is not None:
                held.process.locked = queue in locked
                if held.process.locked:
                    held.process.last_lock = now

    async def give_up_expired(self) -> None:
        """Send back what handlers do not end with."""
        for queue, process in self.windows().items():
            await self._consumption.give_up_expired(queue, process)
