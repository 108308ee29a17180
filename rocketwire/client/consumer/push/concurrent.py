"""Concurrent consumption: several handlers at once, each message is acknowledged separately.

* A message leaves the process queue when it was handled, or sent back to the broker. Only then may
  the offset advance. A cancelled handler leaves its messages in the process queue, and they are
  redelivered.
* All workers take from one queue of batches. A handler that never blocks runs in one worker without
  a switch of tasks for each message, and its handled messages leave the process queue together. If
  it blocks, other workers continue.

Java: ``ConsumeMessageConcurrentlyService``.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import coroutine
from typing import TYPE_CHECKING, Any, Final, TypeVar

import trio

from rocketwire.client.consumer.config import (
    MAX_RECONSUME_TIMES,
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    MessageListenerConcurrently,
    concurrently_context,
    count_successes,
)
from rocketwire.client.consumer.push.consumption import TURN, Consumption
from rocketwire.client.consumer.retry import (
    report_failed_handler,
    send_message_back,
    with_real_topic,
)
from rocketwire.controls import log_text
from rocketwire.errors import IllegalHandlerError
from rocketwire.messages.enums import MessageModel

if TYPE_CHECKING:
    from rocketwire.client.consumer.push.consumption import PushParts
    from rocketwire.client.hooks import HookChain
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.policy.process_queue import ProcessQueue
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")

RETRY_LOCALLY: Final = 5.0  # seconds until a message that could not be sent back is handled again
MAX_EXPIRED_AT_ONCE: Final = 16  # maximum expired messages of a queue that are sent back at a time
EXPIRED_DELAY_LEVEL: Final = 3  # delay level of an expired message: 10 seconds

_RECONSUME_LATER: Final = ConsumeConcurrentlyStatus.RECONSUME_LATER

# A turn shorter than this (seconds) is not ended: a switch costs about ten fast calls
SHORT_TURN: Final = 0.001


T = TypeVar("T")


@dataclass(slots=True, eq=False, repr=False)
class PulledBatch:
    queue: MessageQueue
    process: ProcessQueue
    messages: Sequence[StoredMessage]
    next_index: int = 0  # index of the first unclaimed message

    @property
    def is_open(self) -> bool:
        process = self.process
        return self.next_index < len(self.messages) and not (process.dropped or process.retiring)

    def drop(self) -> None:
        self.next_index = len(self.messages)


class WorkerClaim:
    __slots__ = ("announced", "batch", "begin", "end", "since")

    def __init__(self, batch: PulledBatch, since: float) -> None:
        self.batch: PulledBatch = batch
        self.since: float = since  # start of the handler calls on trio's clock
        # index of the first handled message that is still in the process queue
        self.begin: int = batch.next_index
        # index after the last handled message; the running handler's messages start here
        self.end: int = self.begin
        # index after the last message that was returned by ``announce``
        self.announced: int = self.begin

    def announce(self) -> Sequence[StoredMessage]:
        """Return the messages of the running handler; empty if they were returned before."""
        if self.announced > self.end:
            return ()
        self.announced = self.batch.next_index
        return self.batch.messages[self.end : self.announced]

    def take_handled(self) -> Sequence[StoredMessage]:
        """Return the handled messages once; the list of the batch itself if it is all of them."""
        messages, begin, end = self.batch.messages, self.begin, self.end
        self.begin = end
        return messages[begin:end] if begin or end < len(messages) else messages


@coroutine
def notify_before_wait(
    work: Coroutine[Any, Any, T], notify: Callable[[], object]
) -> Generator[Any, Any, T]:
    # calls ``notify``, which must neither block nor raise, before ``work`` waits and other tasks
    # run
    resume: Callable[[Any], Any] = work.send
    value: Any = None
    while True:
        try:
            trap = resume(value)
        except StopIteration as end:
            result: T = end.value
            return result
        notify()
        try:
            value = yield trap
        except BaseException as error:  # noqa: BLE001 - passed to the coroutine
            resume, value = work.throw, error
        else:
            resume = work.send


class ConcurrentConsumption(Consumption):
    def __init__(
        self,
        parts: PushParts,
        listener: MessageListenerConcurrently,
        hooks: HookChain | None = None,
    ) -> None:
        super().__init__(parts)
        self.listener = listener
        self._hooked = listener
        if hooks is not None:
            from rocketwire.client.consumer.hooked_listeners import hook_listener

            self._hooked = hook_listener(
                listener, hooks, parts.instance, parts.group, count_successes
            )
        self._now = trio.lowlevel.current_clock().current_time
        self._batches: deque[PulledBatch] = deque()
        self._idle_workers: list[trio.lowlevel.Task] = []
        self._is_waking = False
        self._active: dict[int, ProcessQueue] = {}
        self._settled = trio.lowlevel.ParkingLot()

    def start(self) -> None:
        for index in range(self._config.consume_thread_max):
            self._nursery.start_soon(self._worker, index)

    def submit(
        self, queue: MessageQueue, process: ProcessQueue, messages: Sequence[StoredMessage]
    ) -> None:
        self._batches.append(PulledBatch(queue, process, messages))
        self._wake_worker()

    async def settle(self, seconds: float) -> None:
        for batch in self._batches:
            batch.drop()
        self._batches.clear()
        with trio.move_on_after(seconds):
            while self._active:
                await self._settled.park()

    async def settle_queue(
        self, queue: MessageQueue, process: ProcessQueue, seconds: float
    ) -> bool:
        del queue
        with trio.move_on_after(seconds):
            while self._is_active(process):
                await self._settled.park()
        return not self._is_active(process)

    def _is_active(self, process: ProcessQueue) -> bool:
        return any(active is process for active in self._active.values())

    # ------------------------------------------------------------------ workers

    def _wake_worker(self) -> None:
        # wake an idle worker if there is work; it wakes the next one when it has to wait
        if self._batches and self._idle_workers and not self._is_waking:
            self._is_waking = True
            trio.lowlevel.reschedule(self._idle_workers.pop())

    async def _worker(self, number: int) -> None:
        calls, turn_start = 0, 0.0
        while True:
            while not self._batches:
                await self._wait_for_work()
                self._is_waking = False
                turn_start = self._now()
            batch = self._batches[0]
            claim = WorkerClaim(batch, self._now())
            self._active[number] = batch.process
            try:
                calls += await notify_before_wait(
                    self._handle(claim, TURN - calls), partial(self._before_wait, claim)
                )
            finally:
                self._settle(claim)
                del self._active[number]
                if self._settled:
                    self._settled.unpark_all()
            if calls >= TURN:
                calls = 0
                if claim.since - turn_start >= SHORT_TURN:
                    await trio.lowlevel.checkpoint()
                    turn_start = self._now()

    async def _wait_for_work(self) -> None:
        task = trio.lowlevel.current_task()

        def abort(_: object) -> trio.lowlevel.Abort:
            self._idle_workers.remove(task)
            return trio.lowlevel.Abort.SUCCEEDED

        self._idle_workers.append(task)
        await trio.lowlevel.wait_task_rescheduled(abort)

    async def _handle(self, claim: WorkerClaim, max_calls: int) -> int:
        # call the handler for unclaimed messages of the batch; returns the number of calls
        batch, size = claim.batch, self._config.consume_message_batch_max_size
        queue, process, messages = batch.queue, batch.process, batch.messages
        calls_left, end, listener = max_calls, len(messages), self._listener_of(queue)
        context = concurrently_context(queue, 0, None)
        while (
            calls_left
            and (start := batch.next_index) < end
            and not (process.dropped or process.retiring)
        ):
            calls_left -= 1
            if start != claim.end:  # other workers have claimed messages meanwhile
                self._settle(claim)
                claim.begin = claim.end = start
            batch.next_index = stop = start + size
            call_messages = [messages[start]] if size == 1 else messages[start:stop]
            try:
                status = await listener(call_messages, context)
            except IllegalHandlerError:  # it would fail for every message, so it ends the consumer
                raise
            except Exception:  # noqa: BLE001 - of the application; logged and retried
                report_failed_handler(call_messages[0], self._group)
                status = _RECONSUME_LATER
            if status is not _RECONSUME_LATER and context.ack_index is None:
                claim.end = stop
                if not context.delay_level_when_next_consume:
                    continue
            else:
                claim.announced = stop
                await self._retry_failed(claim, call_messages, status, context)
            context = concurrently_context(queue, 0, None)
        self._remove_finished_batches()
        return max_calls - calls_left

    def _listener_of(self, queue: MessageQueue) -> MessageListenerConcurrently:
        listener = self._hooked
        if not self._changes_topics(queue):
            return listener

        async def with_real_topics(
            messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
        ) -> ConsumeConcurrentlyStatus | None:
            return await listener(self._with_real_topics(messages), context)

        return with_real_topics

    def _remove_finished_batches(self) -> None:
        batches = self._batches
        while batches and not batches[0].is_open:
            batches.popleft()

    def _before_wait(self, claim: WorkerClaim) -> None:
        # publish the state of a claim, and let other workers continue, before this one waits
        self._settle(claim)
        if in_progress := claim.announce():
            claim.batch.process.mark_started(in_progress, now=claim.since)
        self._remove_finished_batches()
        self._wake_worker()

    def _settle(self, claim: WorkerClaim) -> None:
        now = self._now()
        if claim.begin < claim.end:
            queue, handled = claim.batch.queue, claim.take_handled()
            self._stats.add_consumed(queue.topic or "", len(handled), now - claim.since, now)
            self._commit(queue, claim.batch.process, handled, now)
        claim.since = now

    def _commit(
        self,
        queue: MessageQueue,
        process: ProcessQueue,
        messages: Sequence[StoredMessage],
        now: float,
    ) -> None:
        offset = process.remove(messages, now=now)
        if offset is not None and not process.dropped:
            self._offsets.update(queue, offset, increase_only=True)

    # ------------------------------------------------------------------ failed messages

    async def _retry_failed(
        self,
        claim: WorkerClaim,
        messages: Sequence[StoredMessage],
        status: ConsumeConcurrentlyStatus | None,
        context: ConsumeConcurrentlyContext,
    ) -> None:
        batch = claim.batch
        successes = count_successes(len(messages), status, context)
        claim.end += successes
        if successes == len(messages):
            return
        self._settle(claim)
        failed = messages[successes:]
        self._stats.add_failed(batch.queue.topic or "", len(failed), claim.since)
        removable = await self._send_back_all(batch.queue, batch.process, failed, context)
        claim.since = self._now()
        self._commit(batch.queue, batch.process, removable, claim.since)

    async def _send_back_all(
        self,
        queue: MessageQueue,
        process: ProcessQueue,
        messages: Sequence[StoredMessage],
        context: ConsumeConcurrentlyContext,
    ) -> Sequence[StoredMessage]:
        # send messages back; returns those that may leave the process queue
        if self._config.message_model is MessageModel.BROADCASTING:
            for message in messages:
                _LOG.warning(
                    "%s: message %s was not handled and is dropped (broadcasting)",
                    self._group,
                    log_text(message.msg_id),
                )
            return messages
        remaining: list[StoredMessage] = []
        for message in messages:
            level = context.delay_level_when_next_consume
            if not await self.send_back(queue, message, level):
                remaining.append(message)
        if not remaining:
            return messages
        retried = [replace(m, reconsume_times=m.reconsume_times + 1) for m in remaining]
        self._nursery.start_soon(self._resubmit_later, queue, process, retried)
        remaining_offsets = {message.queue_offset for message in remaining}
        return [m for m in messages if m.queue_offset not in remaining_offsets]

    async def send_back(
        self, queue: MessageQueue, message: StoredMessage, delay_level: int
    ) -> bool:
        max_reconsume_times = self._config.max_reconsume_times
        return await send_message_back(
            self._instance,
            self._group,
            with_real_topic(message, self._group),
            queue.broker_name or "",
            delay_level=delay_level,
            max_reconsume_times=(
                MAX_RECONSUME_TIMES if max_reconsume_times == -1 else max_reconsume_times
            ),
        )

    async def _resubmit_later(
        self, queue: MessageQueue, process: ProcessQueue, messages: Sequence[StoredMessage]
    ) -> None:
        await trio.sleep(RETRY_LOCALLY)
        if not process.dropped:
            self.submit(queue, process, messages)

    async def send_back_expired(self, queue: MessageQueue, process: ProcessQueue) -> None:
        for _ in range(MAX_EXPIRED_AT_ONCE):
            message = process.oldest_expired(now=self._now(), timeout=self._config.consume_timeout)
            if message is None or not await self.send_back(queue, message, EXPIRED_DELAY_LEVEL):
                return
            self._commit(queue, process, [message], self._now())
