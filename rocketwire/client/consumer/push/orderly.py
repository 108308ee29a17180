"""Orderly consumption: one handler for each queue, and one message after another.

One task of this client consumes a queue and, because the broker locks it, one client of the group.
Failed messages are retried, before all others, until they succeed or exceed the limit of attempts.

Java: ``ConsumeMessageOrderlyService``.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.config import (
    SUSPEND_MAX_MILLIS,
    SUSPEND_MIN_MILLIS,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
)
from rocketwire.client.consumer.push.consumption import TURN, Consumption
from rocketwire.client.consumer.retry import (
    report_failed_handler,
    send_to_retry_topic,
    with_real_topic,
)
from rocketwire.controls import log_text
from rocketwire.errors import IllegalHandlerError, RocketWireError
from rocketwire.messages.enums import MessageModel

if TYPE_CHECKING:
    from rocketwire.client.consumer.config import MessageListenerOrderly
    from rocketwire.client.consumer.push.consumption import PushParts
    from rocketwire.client.hooks import HookChain
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.policy.process_queue import ProcessQueue
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")

# Seconds between attempts to lock a queue that another client has locked
LOCK_RETRY_INTERVAL: Final = 3.0

_NO_LIMIT: Final = 2**31 - 1


class OrderlyConsumption(Consumption):
    is_orderly = True

    def __init__(
        self, parts: PushParts, listener: MessageListenerOrderly, hooks: HookChain | None = None
    ) -> None:
        super().__init__(parts)
        self.listener = listener
        self._hooked = listener
        if hooks is not None:
            from rocketwire.client.consumer.hooked_listeners import count_orderly, hook_listener

            self._hooked = hook_listener(
                listener, hooks, parts.instance, parts.group, count_orderly
            )
        self._running: dict[MessageQueue, trio.Event] = {}

    def start(self) -> None:
        pass  # ``submit`` starts the tasks

    def submit(
        self, queue: MessageQueue, process: ProcessQueue, messages: Sequence[StoredMessage]
    ) -> None:
        self._nursery.start_soon(self._consume, queue, process)

    async def settle(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            for finished in list(self._running.values()):
                await finished.wait()

    async def settle_queue(
        self, queue: MessageQueue, process: ProcessQueue, seconds: float
    ) -> bool:
        del process
        finished = self._running.get(queue)
        if finished is None:
            return True
        with trio.move_on_after(seconds):
            await finished.wait()
        return finished.is_set()

    async def send_back_expired(self, queue: MessageQueue, process: ProcessQueue) -> None:
        pass  # an orderly handler has no timeout

    # ------------------------------------------------------------------ one queue

    async def _consume(self, queue: MessageQueue, process: ProcessQueue) -> None:
        previous_task = self._running.get(queue)
        if previous_task is not None:
            await previous_task.wait()  # from an earlier assignment of the queue
        finished = self._running[queue] = trio.Event()
        size = self._config.consume_message_batch_max_size
        calls = 0
        now = trio.current_time()
        try:
            while not process.retiring and (
                self._has_valid_lock(process, now) or await self._wait_for_lock(queue, process)
            ):
                messages = process.take(size, now=now)
                if not messages:
                    return
                now = await self._handle(queue, process, messages, now)
                calls += 1
                if calls % TURN == 0:
                    await trio.lowlevel.checkpoint()
                    now = trio.current_time()
        finally:
            finished.set()
            if self._running.get(queue) is finished:
                del self._running[queue]

    def _has_valid_lock(self, process: ProcessQueue, now: float) -> bool:
        return process.locked and not process.dropped and not process.is_lock_expired(now)

    async def _wait_for_lock(self, queue: MessageQueue, process: ProcessQueue) -> bool:
        # wait until the queue is locked; returns False if it is dropped
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
                await trio.sleep(LOCK_RETRY_INTERVAL)
        return False

    async def _handle(
        self,
        queue: MessageQueue,
        process: ProcessQueue,
        messages: Sequence[StoredMessage],
        started: float,
    ) -> float:
        # returns the time when the status of the handler has been applied
        context = ConsumeOrderlyContext(message_queue=queue)
        try:
            status = await self._call_handler(queue, messages, context)
        except BaseException:  # cancelled, or an error that ends the consumer
            process.consume_again(messages)
            raise
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

    async def _call_handler(
        self, queue: MessageQueue, messages: Sequence[StoredMessage], context: ConsumeOrderlyContext
    ) -> ConsumeOrderlyStatus:
        if self._changes_topics(queue):
            messages = self._with_real_topics(messages)
        try:
            return await self._hooked(messages, context) or ConsumeOrderlyStatus.SUCCESS
        except IllegalHandlerError:  # it would fail for every message, so it ends the consumer
            raise
        except Exception:  # noqa: BLE001 - of the application; logged, and the messages are retried
            report_failed_handler(messages[0], self._group)
            return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT

    def _commit(self, queue: MessageQueue, process: ProcessQueue) -> None:
        offset = process.commit()
        if offset is not None and not process.dropped:
            self._offsets.update(queue, offset, increase_only=False)

    async def _suspend(
        self,
        queue: MessageQueue,
        process: ProcessQueue,
        messages: Sequence[StoredMessage],
        context: ConsumeOrderlyContext,
    ) -> None:
        # retry after a pause; messages that exceed the limit of attempts become dead letters
        limit = self._config.max_reconsume_times
        limit = _NO_LIMIT if limit == -1 else limit
        retried = [
            replace(message, reconsume_times=message.reconsume_times + 1)
            for message in messages
            if message.reconsume_times < limit or not await self._send_away(message, limit)
        ]
        if retried:
            process.consume_again(retried)
            await self._wait(context)
        elif context.auto_commit:
            self._commit(queue, process)

    async def _send_away(self, message: StoredMessage, limit: int) -> bool:
        # send a message to the retry topic; returns whether a broker accepted it
        message = with_real_topic(message, self._group)
        try:
            await send_to_retry_topic(self._instance, self._group, message, limit)
        except RocketWireError as error:
            _LOG.warning("message %s is retried here: %s", log_text(message.msg_id), error)
            return False
        return True

    async def _wait(self, context: ConsumeOrderlyContext) -> None:
        millis = context.suspend_current_queue_time_millis
        if millis is None:
            millis = self._config.suspend_current_queue_time_millis
        await trio.sleep(min(max(millis, SUSPEND_MIN_MILLIS), SUSPEND_MAX_MILLIS) / 1000)
