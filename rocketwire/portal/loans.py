"""Messages on loan from a push consumer of trio: what a facade handles, and how it settles it.

Concurrent messages come as parts of batches (``rocketwire.client.consumer.push.lending``). Orderly
and traced messages come one handler call at a time, for which trio waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
)
from rocketwire.client.consumer.push.lending import LentConsumption, failed_messages
from rocketwire.errors import ChannelClosedError, ClientForkedError
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


class Loan:
    def __init__(
        self,
        queue: MessageQueue,
        messages: Sequence[StoredMessage],
        *,
        part: LentMessages | None = None,
        callback: Callback | None = None,
        context: Any = None,
    ) -> None:
        self.queue: MessageQueue = queue
        self.messages: Sequence[StoredMessage] = messages
        self.part: LentMessages | None = part  # of a batch
        self.callback: Callback | None = callback  # the handler call that trio waits for
        self.context: Any = context  # of that call
        self.failures: list[Failure] = []  # rejected messages, and the context of their call

    def add_result(
        self,
        messages: Sequence[StoredMessage],
        status: ConsumeConcurrentlyStatus | None,
        context: ConsumeConcurrentlyContext,
    ) -> None:
        """Note which messages of a handler call failed."""
        failed = failed_messages(messages, status, context)
        if failed:
            self.failures.append((failed, context))

    def reject(self, messages: Sequence[StoredMessage], delay_level: int) -> None:
        """Let messages be redelivered later."""
        context = ConsumeConcurrentlyContext(message_queue=self.queue)
        context.delay_level_when_next_consume = delay_level
        self.failures.append((messages, context))


class Loans:
    """The loans of a push consumer; a ``Borrower``."""

    def __init__(self, receive: Callable[[Sequence[Loan]], None], *, handles: bool) -> None:
        """Start without loans; ``receive`` takes them in trio, and neither blocks nor raises."""
        self.handles = handles  # see ``Borrower``
        self._receive = receive
        self._is_planned = False
        self._trio_post: Post | None = None
        self._consumer: PushConsumer | None = None
        self._settled: deque[tuple[LentMessages, Sequence[Failure]]] = deque()

    def attach(self, post: Post, consumer: PushConsumer) -> None:
        """Begin with an open consumer."""
        self._trio_post = post
        self._consumer = consumer
        self._is_planned = False
        self.flush()

    # ------------------------------------------------------------------ in trio

    def receive(self, parts: Sequence[LentMessages]) -> None:
        """Take parts of batches; see ``Borrower``."""
        self._receive([Loan(part.queue, part.messages, part=part) for part in parts])

    def take_settled(self) -> Settled:
        """Return what was settled meanwhile; see ``Borrower``."""
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
        """Lend the messages of a handler call, and wait for its status."""
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
        """Give up a loan that no handler gets any more: its messages are redelivered."""

        def abandon() -> None:
            if loan.part is not None and (consumption := self._consumption) is not None:
                consumption.abandon(loan.part)

        self._post(abandon)

    def flush(self) -> None:
        """Let trio know what is settled."""
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
