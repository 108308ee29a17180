"""``LentConsumption``: messages are handled outside of trio, by threads or a loop of asyncio.

A *borrower* gets parts of pulled batches, and settles each part as a whole. So a part costs two
crossings, not each message. Parts are as large as handlers are fast: slow handlers get single
calls, which spread over all threads or tasks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import trio

from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    count_successes,
)
from rocketwire.client.consumer.push.concurrent import ConcurrentConsumption

if TYPE_CHECKING:
    from rocketwire.client.consumer.config import MessageListenerConcurrently
    from rocketwire.client.consumer.push.consumption import PushParts
    from rocketwire.client.hooks import HookChain
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.policy.process_queue import ProcessQueue
    from rocketwire.wire.message.stored import StoredMessage

LOG: Final = logging.getLogger("rocketwire.client")

FAST: Final = 0.05  # seconds within which a part is settled if its handlers are fast
SLOW: Final = 1.0  # seconds after which an application that takes parts is slow
# Parts that even a slow application gets: with one, it waits for each crossing
MIN_PARTS: Final = 4
MAX_PART: Final = 32  # maximum handler calls of a part


@dataclass(slots=True, eq=False, repr=False)
class LentMessages:
    queue: MessageQueue
    messages: Sequence[StoredMessage]
    # the messages as they are in the process queue; ``messages`` have their real topics
    pulled: Sequence[StoredMessage]
    process: ProcessQueue
    lent_at: float  # time of trio's clock
    is_awaited: bool = False  # whether nothing more is lent until a part is settled
    # when an application has taken the first message (``time.perf_counter``), or 0
    taken_at: float = 0.0
    settled_at: float = 0.0  # when it has handled the last one, or 0


# Messages that a handler rejected, and the context of its call
Failure = tuple[Sequence["StoredMessage"], ConsumeConcurrentlyContext]

Settled: TypeAlias = Sequence[tuple[LentMessages, Sequence[Failure]]]
"""Settled parts, each with its rejected messages."""


class Borrower(Protocol):
    #: whether it handles every message that it gets. If not, an application takes them when it
    #: wants: parts are large, and the end of the consumer does not wait for them.
    handles: bool

    def receive(self, parts: Sequence[LentMessages]) -> None:
        """Take parts; called in trio, must neither block nor raise."""

    def take_settled(self) -> Settled:
        """Return the settled parts of which the consumption does not know yet; called in trio."""
        ...


class LentConsumption(ConcurrentConsumption):
    def __init__(
        self,
        parts: PushParts,
        listener: MessageListenerConcurrently,  # of messages that an operator sends directly
        borrower: Borrower,  # of all other messages
        hooks: HookChain | None = None,
    ) -> None:
        super().__init__(parts, listener)
        config = parts.config
        self._borrower = borrower
        self._hooks = hooks
        self._size = config.consume_message_batch_max_size
        self._calls = 1 if borrower.handles else MAX_PART
        self._limit = config.consume_thread_max
        self._is_lending = True
        self._has_ended = False
        self._parts: dict[int, LentMessages] = {}

    def start(self) -> None:
        pass  # there are no workers

    async def settle(self, seconds: float) -> None:
        # What is settled afterwards has no effect: its messages are redelivered.
        self._is_lending = False
        self.settle_parts(self._borrower.take_settled())
        try:
            await super().settle(seconds)
        finally:
            self._has_ended = True
            self._active.clear()
            self._parts.clear()

    async def send_back_expired(self, queue: MessageQueue, process: ProcessQueue) -> None:
        oldest = self._now() - self._config.consume_timeout
        for part in self._parts.values():
            if part.process is process and part.lent_at < oldest:
                process.mark_started(part.pulled, now=part.lent_at)
        await super().send_back_expired(queue, process)

    def settle_later(self, seconds: float, take: Callable[[], Settled]) -> None:
        if not self._has_ended:
            self._nursery.start_soon(self._settle_after, seconds, take)

    async def _settle_after(self, seconds: float, take: Callable[[], Settled]) -> None:
        await trio.sleep(seconds)
        self.settle_parts(take())

    def settle_parts(self, settled: Iterable[tuple[LentMessages, Sequence[Failure]]]) -> None:
        """Remove handled messages from their process queues, and lend more; in trio."""
        now = self._now()
        for part, failures in settled:
            if self._active.pop(id(part), None) is None:
                continue
            del self._parts[id(part)]
            if self._hooks is not None:
                self._report(self._hooks, part, failures)
            if failures:
                self._settle_failures(part, failures, now)
            else:
                self._commit(part.queue, part.process, part.pulled, now)
            count, seconds = len(part.messages), now - part.lent_at
            self._stats.add_consumed(part.queue.topic or "", count, seconds, now)
            self._adapt(part, seconds)
        if self._settled:
            self._settled.unpark_all()
        self._lend()

    def abandon(self, part: LentMessages) -> None:
        self._active.pop(id(part), None)
        self._parts.pop(id(part), None)
        self._settled.unpark_all()

    def _report(self, hooks: HookChain, part: LentMessages, failures: Sequence[Failure]) -> None:
        from rocketwire.client.hooks import ConsumeMessageContext

        messages = part.messages
        seconds = max(0.0, part.settled_at - part.taken_at)
        call = ConsumeMessageContext(self._instance, self._group, part.queue, messages, seconds)
        with hooks.watch(call):
            call.status = ConsumeConcurrentlyStatus.CONSUME_SUCCESS
            call.successes = len(messages)
            if failures:
                call.status = ConsumeConcurrentlyStatus.RECONSUME_LATER
                call.successes -= len({m.queue_offset for failed, _ in failures for m in failed})

    def _wake_worker(self) -> None:
        settled = self._borrower.take_settled()  # saves a wake of trio for them
        if settled:
            self.settle_parts(settled)
        else:
            self._lend()

    def _adapt(self, part: LentMessages, seconds: float) -> None:
        # lend larger parts while handlers are fast; to an application, more parts
        if not self._borrower.handles:
            maximum = self._config.consume_thread_max
            minimum = min(MIN_PARTS, maximum)
            self._limit = max(minimum, self._limit // 2) if seconds > SLOW else maximum
            return
        if seconds > FAST:
            self._calls = max(1, self._calls // 2)
        elif len(part.messages) >= self._calls * self._size:
            self._calls = min(MAX_PART, self._calls * 2)

    def _lend(self) -> None:
        batches, limit = self._batches, self._limit
        parts: list[LentMessages] = []
        now = self._now()
        while batches and self._is_lending and len(self._active) < limit:
            batch = batches[0]
            if not batch.is_open:
                batches.popleft()
                continue
            start = batch.next_index
            batch.next_index = stop = start + self._calls * self._size
            messages = batch.messages
            pulled = messages if start == 0 and stop >= len(messages) else messages[start:stop]
            real = self._with_real_topics(pulled) if self._changes_topics(batch.queue) else pulled
            part = LentMessages(batch.queue, real, pulled, batch.process, now)
            self._active[id(part)] = batch.process
            self._parts[id(part)] = part
            parts.append(part)
        if parts:
            parts[-1].is_awaited = len(self._active) >= limit
            self._borrower.receive(parts)

    def _settle_failures(self, part: LentMessages, failures: Sequence[Failure], now: float) -> None:
        offsets = {message.queue_offset for messages, _ in failures for message in messages}
        handled = [message for message in part.pulled if message.queue_offset not in offsets]
        if handled:
            self._commit(part.queue, part.process, handled, now)
        self._stats.add_failed(part.queue.topic or "", len(offsets), now)
        self._nursery.start_soon(self._send_back, part, failures)

    async def _send_back(self, part: LentMessages, failures: Sequence[Failure]) -> None:
        pulled = {message.queue_offset: message for message in part.pulled}
        for messages, context in failures:
            failed = [pulled[message.queue_offset] for message in messages]
            removable = await self._send_back_all(part.queue, part.process, failed, context)
            self._commit(part.queue, part.process, removable, self._now())


def failed_messages(
    messages: Sequence[StoredMessage],
    status: ConsumeConcurrentlyStatus | None,
    context: ConsumeConcurrentlyContext,
) -> Sequence[StoredMessage]:
    return messages[count_successes(len(messages), status, context) :]
