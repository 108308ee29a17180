"""Consumption in order: one handler for each queue, and the next messages only when those before are done with.

Rules of this file:

* A queue is consumed by one task here and, because the broker locks it, by one client anywhere.
* What a handler could not do is tried again, first in line, until it is done or too often tried.

Java: ``ConsumeMessageOrderlyService``.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.config import (
    SUSPEND_MAX_MILLIS,
    SUSPEND_MIN_MILLIS,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
)
from rocketwire.client.consumer.push.concurrent import TURN, with_real_topic
from rocketwire.client.consumer.retry import send_to_retry_topic
from rocketwire.client.log_text import log_text
from rocketwire.errors import IllegalHandlerError, RocketWireError
from rocketwire.messages.enums import MessageModel
from rocketwire.policy.resource_names import RETRY_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client.consumer.config import MessageListenerOrderly, PushConsumerConfig
    from rocketwire.client.consumer.offset_store import OffsetStore
    from rocketwire.client.consumer.queue_locks import QueueLocks
    from rocketwire.client.consumer.stats import ConsumerStats
    from rocketwire.client.consumer.trace import ConsumerTrace
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.policy.process_queue import ProcessQueue
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")

LOCK_AGAIN: Final = 3.0
"""Seconds until a lock that another client holds is asked for again."""

_NO_END: Final = 2**31 - 1


class OrderlyConsumption:
    """The handlers of one consumer, one task for each queue.

    Attributes:
        listener: handles messages.
    """

    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        config: PushConsumerConfig,
        listener: MessageListenerOrderly,
        offsets: OffsetStore,
        locks: QueueLocks,
        stats: ConsumerStats,
        nursery: trio.Nursery,
        trace: ConsumerTrace | None = None,
    ) -> None:
        """No queue is consumed before the first messages of it come.

        Args:
            instance: carries what was tried too often.
            group: with its namespace.
            config: the consumer's settings.
            listener: handles messages.
            offsets: what was handled is noted there.
            locks: of the queues.
            stats: counts.
            nursery: where tasks live.
            trace: records the calls of the handler; None for no records.
        """
        self._instance = instance
        self._group = group
        self._config = config
        self.listener = listener
        self._traced = listener if trace is None else trace.trace_orderly(listener)
        self._offsets = offsets
        self._locks = locks
        self._stats = stats
        self._nursery = nursery
        self._running: dict[MessageQueue, trio.Event] = {}

    @property
    def is_orderly(self) -> bool:
        """Whether order counts."""
        return True

    def start(self) -> None:
        """Nothing to start: tasks come with messages."""

    def submit(
        self,
        queue: MessageQueue,
        process: ProcessQueue[StoredMessage],
        messages: Sequence[StoredMessage],
    ) -> None:
        """Messages have come, are in the window already, and nobody works on the queue."""
        self._nursery.start_soon(self._consume, queue, process)

    async def give_up_expired(
        self, queue: MessageQueue, process: ProcessQueue[StoredMessage]
    ) -> None:
        """Nothing to do: a handler of messages in order may take as long as it likes."""

    async def settle(self, seconds: float) -> None:
        """Wait until no handler runs, or that long; the queues have to be retiring or dropped."""
        with trio.move_on_after(seconds):
            for done in list(self._running.values()):
                await done.wait()

    async def settle_queue(
        self, queue: MessageQueue, process: ProcessQueue[StoredMessage], seconds: float
    ) -> bool:
        """Wait until no handler of one queue runs, or that long; returns whether none does."""
        del process
        done = self._running.get(queue)
        if done is None:
            return True
        with trio.move_on_after(seconds):
            await done.wait()
        return done.is_set()

    # ------------------------------------------------------------------ one queue

    async def _consume(self, queue: MessageQueue, process: ProcessQueue[StoredMessage]) -> None:
        """Handle the queue's messages until there are none."""
        before = self._running.get(queue)
        if before is not None:
            await before.wait()  # of the same queue, when it was ours the last time
        done = self._running[queue] = trio.Event()
        size = self._config.consume_message_batch_max_size
        turn = 0
        now = trio.current_time()
        try:
            while not process.retiring and (
                self._is_trusted(process, now) or await self._is_locked(queue, process)
            ):
                messages = process.take(size, now=now)
                if not messages:
                    return
                now = await self._handle(queue, process, messages, now)
                turn += 1
                if turn % TURN == 0:
                    await trio.lowlevel.checkpoint()
                    now = trio.current_time()
        finally:
            done.set()
            if self._running.get(queue) is done:
                del self._running[queue]

    def _is_trusted(self, process: ProcessQueue[StoredMessage], now: float) -> bool:
        """Whether the queue is known to be locked."""
        return process.locked and not process.dropped and not process.is_lock_expired(now)

    async def _is_locked(self, queue: MessageQueue, process: ProcessQueue[StoredMessage]) -> bool:
        """Returns once the queue is locked; False once it is dropped."""
        if self._config.message_model is MessageModel.BROADCASTING:
            return True
        while not process.dropped and not process.retiring:
            if process.locked and not process.is_lock_expired(trio.current_time()):
                return True
            if queue in await self._locks.lock([queue]):
                process.locked = True
                process.last_lock = trio.current_time()
            else:
                process.locked = False
                await trio.sleep(LOCK_AGAIN)
        return False

    async def _handle(
        self,
        queue: MessageQueue,
        process: ProcessQueue[StoredMessage],
        messages: Sequence[StoredMessage],
        started: float,
    ) -> float:
        """One call of the handler from now on, ``started``, and what follows from it.

        Returns when that was done.
        """
        context = ConsumeOrderlyContext(message_queue=queue)
        whole = False
        try:
            status = await self._handled(queue, messages, context)
            whole = True
        finally:
            if not whole:  # cancelled
                process.consume_again(messages)
        now = trio.current_time()
        topic = queue.topic or ""
        if status is ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT or (
            status is ConsumeOrderlyStatus.ROLLBACK and context.auto_commit
        ):
            self._stats.add_failed(topic, len(messages), now)
            await self._suspend(queue, process, messages, context)
            return trio.current_time()
        if status is ConsumeOrderlyStatus.ROLLBACK:
            process.rollback()
            await self._wait(context)
            return trio.current_time()
        self._stats.add_consumed(topic, len(messages), now - started, now)
        if context.auto_commit or status is ConsumeOrderlyStatus.COMMIT:
            self._commit(queue, process)
        return now

    async def _handled(
        self,
        queue: MessageQueue,
        messages: Sequence[StoredMessage],
        context: ConsumeOrderlyContext,
    ) -> ConsumeOrderlyStatus:
        shown = messages
        if (queue.topic or "").startswith(RETRY_PREFIX):
            shown = [with_real_topic(message, self._group) for message in messages]
        try:
            return await self._traced(shown, context) or ConsumeOrderlyStatus.SUCCESS
        except IllegalHandlerError:  # ends the consumer: it would fail on every message
            raise
        except Exception:  # noqa: BLE001 - the application's own; the messages come back and the log has it
            _LOG.exception(
                "%s: a handler failed on message %s", self._group, log_text(shown[0].msg_id)
            )
            return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT

    def _commit(self, queue: MessageQueue, process: ProcessQueue[StoredMessage]) -> None:
        offset = process.commit()
        if offset is not None and not process.dropped:
            self._offsets.update(queue, offset, increase_only=False)

    async def _suspend(
        self,
        queue: MessageQueue,
        process: ProcessQueue[StoredMessage],
        messages: Sequence[StoredMessage],
        context: ConsumeOrderlyContext,
    ) -> None:
        """Try again after a moment; messages that were tried too often go to the dead letters."""
        most = self._config.max_reconsume_times
        most = _NO_END if most == -1 else most
        again = [
            replace(message, reconsume_times=message.reconsume_times + 1)
            for message in messages
            if message.reconsume_times < most or not await self._sent_away(message, most)
        ]
        if again:
            process.consume_again(again)
            await self._wait(context)
        elif context.auto_commit:
            self._commit(queue, process)

    async def _sent_away(self, message: StoredMessage, most: int) -> bool:
        real = with_real_topic(message, self._group)
        try:
            await send_to_retry_topic(self._instance, self._group, real, most)
        except RocketWireError as error:
            _LOG.warning("message %s stays: %s", log_text(message.msg_id), error)
            return False
        return True

    async def _wait(self, context: ConsumeOrderlyContext) -> None:
        millis = context.suspend_current_queue_time_millis
        if millis is None:
            millis = self._config.suspend_current_queue_time_millis
        await trio.sleep(min(max(millis, SUSPEND_MIN_MILLIS), SUSPEND_MAX_MILLIS) / 1000)
