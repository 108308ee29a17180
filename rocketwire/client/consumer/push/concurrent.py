"""Consumption of messages whose order does not count: several handlers at once, each message acknowledged by itself.

Rules of this file:

* A message leaves its queue's window when it was handled, or when it is in good hands elsewhere (sent back).  Only then may
  the offset move on; a handler that is cancelled leaves its messages in the window, and they come back.
* Workers take from one heap of work.  A handler that never waits is run by one worker without a turn of the scheduler for
  each message, and what it has handled leaves the window in one go; one that waits lets the others go on.

Java: ``ConsumeMessageConcurrentlyService``.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.config import (
    MAX_RECONSUME_TIMES,
    ConsumeConcurrentlyStatus,
    concurrently_context,
)
from rocketwire.client.consumer.push.worker_batches import Hand, Run, telling
from rocketwire.client.consumer.retry import send_message_back
from rocketwire.client.log_text import log_text
from rocketwire.errors import IllegalHandlerError
from rocketwire.messages.enums import MessageModel
from rocketwire.messages.message_const import RETRY_TOPIC
from rocketwire.policy.resource_names import RETRY_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client.consumer.config import (
        ConsumeConcurrentlyContext,
        MessageListenerConcurrently,
        PushConsumerConfig,
    )
    from rocketwire.client.consumer.offset_store import OffsetStore
    from rocketwire.client.consumer.stats import ConsumerStats
    from rocketwire.client.consumer.trace import ConsumerTrace
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.policy.process_queue import ProcessQueue
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")

RETRY_LOCALLY: Final = 5.0
"""Seconds until a message that nobody took back is handled again."""

MAX_EXPIRED_AT_ONCE: Final = 16
"""Messages of a queue that are given up in one look for handlers that do not end."""

EXPIRED_DELAY_LEVEL: Final = 3
"""Delay level of a message whose handler does not end: 10 seconds."""

_LATER: Final = ConsumeConcurrentlyStatus.RECONSUME_LATER

TURN: Final = 64
"""Batches that are handled one after the other before others have a turn."""

SHORT: Final = 0.001
"""Seconds within which others need no turn: a turn of the loop costs as much as some ten calls of a handler that does little."""


def with_real_topic(message: StoredMessage, group: str) -> StoredMessage:
    """A message as the application expects it: one to be retried has the topic that it was sent to."""
    if not message.topic.startswith(RETRY_PREFIX):
        return message
    topic = (message.properties or {}).get(RETRY_TOPIC)
    if not topic or message.topic != RETRY_PREFIX + group:
        return message
    return replace(message, topic=topic)


class ConcurrentConsumption:
    """The workers of one consumer.

    Attributes:
        listener: handles messages.
    """

    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        config: PushConsumerConfig,
        listener: MessageListenerConcurrently,
        offsets: OffsetStore,
        stats: ConsumerStats,
        nursery: trio.Nursery,
        trace: ConsumerTrace | None = None,
    ) -> None:
        """No worker runs before ``start``.

        Args:
            instance: takes messages back.
            group: with its namespace.
            config: the consumer's settings.
            listener: handles messages.
            offsets: what was handled is noted there.
            stats: counts.
            nursery: where workers live.
            trace: records the calls of the handler; None for no records.
        """
        self._instance = instance
        self._group = group
        self._config = config
        self.listener = listener
        self._traced = listener if trace is None else trace.trace_concurrent(listener)
        self._offsets = offsets
        self._stats = stats
        self._nursery = nursery
        self._now = trio.lowlevel.current_clock().current_time
        self._work: deque[Run] = deque()
        self._idle: list[trio.lowlevel.Task] = []
        self._waking = False
        self._active: dict[int, ProcessQueue[StoredMessage]] = {}
        self._settling = trio.lowlevel.ParkingLot()

    @property
    def is_orderly(self) -> bool:
        """Whether order counts."""
        return False

    def start(self) -> None:
        """Start the workers."""
        for number in range(self._config.consume_thread_max):
            self._nursery.start_soon(self._worker, number)

    def submit(
        self,
        queue: MessageQueue,
        process: ProcessQueue[StoredMessage],
        messages: Sequence[StoredMessage],
    ) -> None:
        """Messages have come, and are in the window already."""
        self._work.append(Run(queue, process, messages))
        self._wake()

    async def settle(self, seconds: float) -> None:
        """Wait until no handler runs, or that long; work that has not begun is dropped."""
        for run in self._work:
            run.drop()
        self._work.clear()
        with trio.move_on_after(seconds):
            while self._active:
                await self._settling.park()

    async def settle_queue(
        self, queue: MessageQueue, process: ProcessQueue[StoredMessage], seconds: float
    ) -> bool:
        """Wait until no handler of one queue runs, or that long; returns whether none does."""
        del queue
        with trio.move_on_after(seconds):
            while self._is_active(process):
                await self._settling.park()
        return not self._is_active(process)

    def _is_active(self, process: ProcessQueue[StoredMessage]) -> bool:
        return any(one is process for one in self._active.values())

    # ------------------------------------------------------------------ workers

    def _wake(self) -> None:
        """Have one more worker look for work.

        It wakes the next one if it has to wait and there is still some.
        """
        if self._work and self._idle and not self._waking:
            self._waking = True
            trio.lowlevel.reschedule(self._idle.pop())

    async def _worker(self, number: int) -> None:
        turn, began = 0, 0.0
        while True:
            while not self._work:
                await self._rest()
                self._waking = False
                began = self._now()
            run = self._work[0]
            hand = Hand(run, self._now())
            self._active[number] = run.process
            try:
                turn += await telling(self._handle(hand, TURN - turn), partial(self._waits, hand))
            finally:
                self._settle(hand)
                del self._active[number]
                if self._settling:
                    self._settling.unpark_all()
            if turn >= TURN:
                turn = 0
                if hand.since - began >= SHORT:
                    await trio.lowlevel.checkpoint()
                    began = self._now()

    async def _rest(self) -> None:
        """Wait until there is work."""
        task = trio.lowlevel.current_task()

        def abort(_: object) -> trio.lowlevel.Abort:
            self._idle.remove(task)
            return trio.lowlevel.Abort.SUCCEEDED

        self._idle.append(task)
        await trio.lowlevel.wait_task_rescheduled(abort)

    async def _handle(self, hand: Hand, most: int) -> int:
        """Has the messages of a run handled that nobody else takes meanwhile, so many batches at most; returns how many."""
        run, size = hand.run, self._config.consume_message_batch_max_size
        queue, process, messages = run.queue, run.process, run.messages
        left, end, listener = most, len(messages), self._listener_of(queue)
        context = concurrently_context(queue, 0, None)
        while left and (at := run.at) < end and not (process.dropped or process.retiring):
            left -= 1
            if at != hand.end:  # others have taken some meanwhile
                self._settle(hand)
                hand.begin = hand.end = at
            run.at = after = at + size
            batch = [messages[at]] if size == 1 else messages[at:after]
            try:
                status = await listener(batch, context)
            except IllegalHandlerError:  # ends the consumer: it would fail on every message
                raise
            except Exception:  # noqa: BLE001 - the application's own; the messages come back and the log has it
                _LOG.exception(
                    "%s: a handler failed on message %s", self._group, log_text(batch[0].msg_id)
                )
                status = _LATER
            if status is not _LATER and context.ack_index is None:
                hand.end = after
                if not context.delay_level_when_next_consume:
                    continue
            else:
                hand.told = after
                await self._handled_in_part(hand, batch, status, context)
            context = concurrently_context(queue, 0, None)
        self._forget_ended()
        return most - left

    def _listener_of(self, queue: MessageQueue) -> MessageListenerConcurrently:
        """Who handles messages of a queue, as the application expects them."""
        listener, group = self._traced, self._group
        if not (queue.topic or "").startswith(RETRY_PREFIX):
            return listener

        async def with_real_topics(
            messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
        ) -> ConsumeConcurrentlyStatus | None:
            return await listener([with_real_topic(one, group) for one in messages], context)

        return with_real_topics

    def _forget_ended(self) -> None:
        work = self._work
        while work and not work[0].is_open:
            work.popleft()

    def _waits(self, hand: Hand) -> None:
        """The worker is about to let others run: they have to know what was done, and may take the rest."""
        self._settle(hand)
        if begun := hand.untold():
            hand.run.process.mark_started(begun, now=hand.since)
        self._forget_ended()
        self._wake()

    def _settle(self, hand: Hand) -> None:
        """What was handled leaves the window."""
        now = self._now()
        if hand.begin < hand.end:
            queue, done = hand.run.queue, hand.done()
            self._stats.add_consumed(queue.topic or "", len(done), now - hand.since, now)
            self._commit(queue, hand.run.process, done, now)
        hand.since = now

    def _commit(
        self,
        queue: MessageQueue,
        process: ProcessQueue[StoredMessage],
        done: Sequence[StoredMessage],
        now: float,
    ) -> None:
        offset = process.remove(done, now=now)
        if offset is not None and not process.dropped:
            self._offsets.update(queue, offset, increase_only=True)

    # ------------------------------------------------------------------ messages that were not
    # handled

    async def _handled_in_part(
        self,
        hand: Hand,
        batch: Sequence[StoredMessage],
        status: ConsumeConcurrentlyStatus | None,
        context: ConsumeConcurrentlyContext,
    ) -> None:
        """Some messages of a batch, or all, have to come back later."""
        run = hand.run
        last = context.ack_index
        good = 0 if status is _LATER else len(batch) if last is None else last + 1
        good = min(max(good, 0), len(batch))
        hand.end += good
        if good == len(batch):
            return
        self._settle(hand)
        self._stats.add_failed(run.queue.topic or "", len(batch) - good, hand.since)
        gone = await self._given_back(run.queue, run.process, batch[good:], context)
        hand.since = self._now()
        self._commit(run.queue, run.process, gone, hand.since)

    async def _given_back(
        self,
        queue: MessageQueue,
        process: ProcessQueue[StoredMessage],
        messages: Sequence[StoredMessage],
        context: ConsumeConcurrentlyContext,
    ) -> Sequence[StoredMessage]:
        """Sends back messages; returns what may leave the window."""
        if self._config.message_model is MessageModel.BROADCASTING:
            for message in messages:
                _LOG.warning(
                    "%s: message %s was not handled and is dropped",
                    self._group,
                    log_text(message.msg_id),
                )
            return messages
        left: list[StoredMessage] = []
        for message in messages:
            level = context.delay_level_when_next_consume
            if not await self.send_back(queue, message, level):
                left.append(message)
        if not left:
            return messages
        again = [replace(one, reconsume_times=one.reconsume_times + 1) for one in left]
        self._nursery.start_soon(self._later, queue, process, again)
        kept = {message.queue_offset for message in left}
        return [message for message in messages if message.queue_offset not in kept]

    async def send_back(
        self, queue: MessageQueue, message: StoredMessage, delay_level: int
    ) -> bool:
        """Gives one message back; returns whether it was taken."""
        tries = self._config.max_reconsume_times
        return await send_message_back(
            self._instance,
            self._group,
            with_real_topic(message, self._group),
            queue.broker_name or "",
            delay_level=delay_level,
            max_reconsume_times=MAX_RECONSUME_TIMES if tries == -1 else tries,
        )

    async def _later(
        self,
        queue: MessageQueue,
        process: ProcessQueue[StoredMessage],
        messages: Sequence[StoredMessage],
    ) -> None:
        await trio.sleep(RETRY_LOCALLY)
        if not process.dropped:
            self.submit(queue, process, messages)

    async def give_up_expired(
        self, queue: MessageQueue, process: ProcessQueue[StoredMessage]
    ) -> None:
        """Send back the oldest messages of a queue whose handlers do not end (Java: ``cleanExpiredMsg``)."""
        for _ in range(MAX_EXPIRED_AT_ONCE):
            message = process.oldest_expired(now=self._now(), timeout=self._config.consume_timeout)
            if message is None or not await self.send_back(queue, message, EXPIRED_DELAY_LEVEL):
                return
            self._commit(queue, process, [message], self._now())
