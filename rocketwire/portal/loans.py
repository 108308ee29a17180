"""Messages on loan from a push consumer of trio: what a facade handles, and how it settles it.

Concurrent messages come as parts of batches (``rocketwire.client.consumer.push.lending``). Orderly
and traced messages come one handler call at a time, for which trio waits.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
)
from rocketwire.client.consumer.push.lending import LentConsumption, failed_messages
from rocketwire.errors import ChannelClosedError, ClientForkedError, IllegalValueError
from rocketwire.portal.calls import Callback

if TYPE_CHECKING:
    from rocketwire.client.consumer.push.lending import Failure, LentMessages, Settled
    from rocketwire.client.consumer.push.push_consumer import PushConsumer
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.portal.calls import Post
    from rocketwire.wire.message.stored import StoredMessage

# Maximum settled loans that wait until trio lends more, or ``DELAY`` is over
MAX_UNPOSTED: Final = 16
DELAY: Final = 0.05  # seconds for which they wait at most


@dataclass(eq=False)
class Loan:
    queue: MessageQueue
    messages: Sequence[StoredMessage]
    part: LentMessages | None = None  # of a batch
    callback: Callback | None = None  # the handler call that trio waits for
    context: Any = None  # of that call
    # rejected messages, and the context of their call
    failures: list[Failure] = field(default_factory=list["Failure"])

    def add_result(
        self,
        messages: Sequence[StoredMessage],
        status: ConsumeConcurrentlyStatus | None,
        context: ConsumeConcurrentlyContext,
    ) -> None:
        failed = failed_messages(messages, status, context)
        if failed:
            self.failures.append((failed, context))

    def reject(self, messages: Sequence[StoredMessage], delay_level: int) -> None:
        context = ConsumeConcurrentlyContext(message_queue=self.queue)
        context.delay_level_when_next_consume = delay_level
        self.failures.append((messages, context))


class Loans:
    def __init__(self, receive: Callable[[Sequence[Loan]], None], *, handles: bool) -> None:
        self.handles = handles  # see ``Borrower``
        self._receive = receive
        self._is_planned = False
        self._trio_post: Post | None = None
        self._consumer: PushConsumer | None = None
        self._settled: deque[tuple[LentMessages, Sequence[Failure]]] = deque()

    def attach(self, post: Post, consumer: PushConsumer) -> None:
        self._trio_post = post
        self._consumer = consumer
        self._is_planned = False
        self.flush()

    # ------------------------------------------------------------------ in trio

    def receive(self, parts: Sequence[LentMessages]) -> None:
        self._receive([Loan(part.queue, part.messages, part=part) for part in parts])

    def take_settled(self) -> Settled:
        if not self._settled:
            return ()
        settled: list[tuple[LentMessages, Sequence[Failure]]] = []
        with suppress(IndexError):  # other threads may append meanwhile
            while True:
                settled.append(self._settled.popleft())
        return settled

    async def lend(
        self,
        post: Post,
        messages: Sequence[StoredMessage],
        context: ConsumeConcurrentlyContext | ConsumeOrderlyContext,
    ) -> Any:
        # waits for the status of the handler call
        callback = Callback(post, _nothing)
        self._receive([Loan(context.message_queue, messages, callback=callback, context=context)])
        return await callback.wait(_nothing)

    # ------------------------------------------------------------------ from any thread

    def settle(self, loan: Loan, *, soon: bool = False) -> None:
        """Settle a loan whose messages are handled or rejected; ``soon`` saves wakes of trio."""
        callback = loan.callback
        if callback is not None:
            callback.finish(_status(loan), None)
            return
        if loan.part is None:
            return
        self._settled.append((loan.part, loan.failures))
        if not soon or loan.part.is_awaited or len(self._settled) >= MAX_UNPOSTED:
            self.flush()
        elif not self._is_planned:
            self._is_planned = True
            try:
                self._post(self._settle_later)
            except BaseException:  # an interrupt: the next loan plans it
                self._is_planned = False
                raise

    def abandon(self, loan: Loan) -> None:
        # no handler gets it any more: its messages are redelivered
        def abandon() -> None:
            if loan.part is not None and (consumption := self._consumption) is not None:
                consumption.abandon(loan.part)

        self._post(abandon)

    def flush(self) -> None:
        if self._settled:
            self._post(self._settle_parts)

    def _post(self, function: Callable[[], None]) -> None:
        if self._trio_post is not None:
            with suppress(ChannelClosedError, ClientForkedError):  # the messages are redelivered
                self._trio_post(function)

    # ------------------------------------------------------------------ in trio, for that

    def _settle_parts(self) -> None:
        if (consumption := self._consumption) is not None:
            consumption.settle_parts(self.take_settled())

    def _settle_later(self) -> None:
        if (consumption := self._consumption) is not None:
            consumption.settle_later(DELAY, self._take_planned)

    def _take_planned(self) -> Settled:
        self._is_planned = False  # the next loan to be settled plans again
        return self.take_settled()

    @property
    def _consumption(self) -> LentConsumption | None:
        consumption = None if self._consumer is None else self._consumer.consumption
        return consumption if isinstance(consumption, LentConsumption) else None


def _nothing() -> None:
    """A thread that handles messages cannot be cancelled."""


def _status(loan: Loan) -> ConsumeConcurrentlyStatus | ConsumeOrderlyStatus:
    context = loan.context
    if isinstance(context, ConsumeOrderlyContext):
        if loan.failures:
            return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT
        return ConsumeOrderlyStatus.SUCCESS
    if loan.failures:
        rejected = {message.queue_offset for messages, _ in loan.failures for message in messages}
        first = next(n for n, m in enumerate(loan.messages) if m.queue_offset in rejected)
        context.ack_index = first - 1
        context.delay_level_when_next_consume = loan.failures[0][1].delay_level_when_next_consume
    return ConsumeConcurrentlyStatus.CONSUME_SUCCESS


# Seconds after which an application that lags looks again, before it waits to be woken. A wake
# costs as much as the whole handling of a batch. Meanwhile several batches arrive.
PAUSE: Final = 0.002
# Messages that wait at the broker, in the queue of the last batch, if the application lags
LAG: Final = 32


def check_limit(limit: int) -> None:
    if not isinstance(limit, int) or limit < 1:  # pyright: ignore[reportUnnecessaryIsInstance] - of callers without types
        raise IllegalValueError(f"max: expected a positive number of messages, got {limit!r}")


class Batch:
    """Messages of a queue that the application handles; iterate over it.

    A batch is handled when ``ack`` is called, or when the next one is taken from the same iterator.
    """

    __slots__ = ("_inbox", "_is_settled", "_loan", "message_queue", "messages")

    def __init__(self, inbox: Inbox, loan: Loan, messages: Sequence[StoredMessage]) -> None:
        self.messages: Sequence[StoredMessage] = messages  #: the messages, in order
        self.message_queue: MessageQueue = loan.queue  #: queue of the messages
        self._inbox = inbox
        self._loan = loan
        self._is_settled = False

    def __iter__(self) -> Iterator[StoredMessage]:
        return iter(self.messages)

    def __len__(self) -> int:
        return len(self.messages)

    def ack(self) -> None:
        """Acknowledge the messages that were not rejected."""
        if not self._is_settled:
            self._is_settled = True
            self._inbox.settle(self._loan, len(self.messages))

    def reject(self, message: StoredMessage, delay_level: int = 0) -> None:
        """Let the broker redeliver one message later; ``ack`` acknowledges the others.

        Args:
            message: a message of the batch.
            delay_level: see ``reconsume_later``.
        """
        if not self._is_settled:
            self._loan.reject([message], delay_level)

    def reconsume_later(self, delay_level: int = 0) -> None:
        """Let the broker redeliver all messages later; -1 makes them dead letters.

        An orderly queue waits until its messages are handled, and ignores the level.
        """
        if not self._is_settled:
            self._loan.reject(self.messages, delay_level)
            self.ack()


class Delivery(Batch):
    """A message that the application handles."""

    __slots__ = ()

    @property
    def message(self) -> StoredMessage:
        return self.messages[0]


class Inbox:
    def __init__(self, notify: Callable[[], None]) -> None:
        self.loans: Loans | None = None
        # many messages of the last queue wait at the broker, and come without a wake of trio
        self.lags: bool = False
        self._notify = notify
        self._lock = Lock()
        self._queue: deque[Loan] = deque()
        self._position = 0  # of the next message in the first loan
        self._open: dict[int, int] = {}  # id of a loan -> its messages that are not settled
        _inboxes.add(self)

    def clear(self) -> None:
        # in a fork, which must not handle messages of its parent
        self._lock = Lock()
        self._queue.clear()
        self._open.clear()
        self._position = 0
        self.lags = False

    def drop(self) -> None:
        # at the end of the consumer what was not taken is redelivered
        with self._lock:
            self._queue.clear()
            self._position = 0

    def put(self, loans: Sequence[Loan]) -> None:
        # called in trio
        self._queue.extend(loans)
        self._notify()

    def take(self, limit: int) -> Batch | None:
        taken = self._take(limit)
        return None if taken is None else Batch(self, *taken)

    def take_one(self) -> Delivery | None:
        taken = self._take(1)
        return None if taken is None else Delivery(self, *taken)

    def _take(self, limit: int) -> tuple[Loan, Sequence[StoredMessage]] | None:
        with self._lock:
            if not self._queue:
                return None
            loan, start = self._queue[0], self._position
            messages, part = loan.messages, loan.part
            end = start + limit
            if start == 0 and part is not None:
                part.taken_at = perf_counter()
            if end >= len(messages):
                self._queue.popleft()
                self._position = 0
                self.lags = part is not None and part.process.backlog > LAG and not part.is_awaited
                return loan, messages if start == 0 else messages[start:]
            if start == 0:
                self._open[id(loan)] = len(messages)
            self._position = end
            return loan, messages[start:end]

    def settle(self, loan: Loan, count: int) -> None:
        if count < len(loan.messages):
            with self._lock:
                left = self._open.pop(id(loan), 0) - count
                if left > 0:
                    self._open[id(loan)] = left
                if left != 0:  # a loan of the parent, in a fork, is unknown
                    return
        if loan.part is not None:
            loan.part.settled_at = perf_counter()
        if self.loans is not None:
            self.loans.settle(loan, soon=True)


_inboxes: WeakSet[Inbox] = WeakSet()


def _clear_inboxes() -> None:
    for inbox in list(_inboxes):
        inbox.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_clear_inboxes)
