"""Messages one by one, for ``async for``: a handler that waits until the loop asks for the next message.

Rules of this file: a message is handled when the next one is asked for, or when the loop says so; one whose loop ends early,
by ``break`` or by an error, is not, and comes back.

Java has no counterpart; the consumer behind it is a push consumer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyStatus,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client.consumer.config import ConsumeOrderlyContext
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.message.stored import StoredMessage


class Delivery:
    """A message on its way through the application.

    Attributes:
        message: the message.
        message_queue: where it is from.
    """

    __slots__ = ("_done", "_retry", "message", "message_queue")

    def __init__(self, message: StoredMessage, message_queue: MessageQueue) -> None:
        """Not handled yet."""
        self.message = message
        self.message_queue = message_queue
        self._done = trio.Event()
        self._retry: int | None = None

    @property
    def retry_level(self) -> int | None:
        """The delay level that ``reconsume_later`` has set; None where the message was handled."""
        return self._retry

    def ack(self) -> None:
        """The message was handled; asking for the next one says the same."""
        self._done.set()

    def reconsume_later(self, delay_level: int = 0) -> None:
        """The message could not be handled: have it again later; -1 for the dead letters.

        In order, the queue waits until it is handled; the level does not count.
        """
        if not self._done.is_set():
            self._retry = delay_level
            self._done.set()

    async def wait(self) -> None:
        """Wait for either."""
        await self._done.wait()


class Deliveries:
    """The rendezvous of handlers and loop."""

    def __init__(self) -> None:
        """Nothing is on its way."""
        self._send, self._receive = trio.open_memory_channel[Delivery](0)
        self._last: Delivery | None = None

    async def concurrently(
        self, messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus:
        """A listener that offers messages to the loop."""
        for index, message in enumerate(messages):
            delivery = await self._offer(message, context.message_queue)
            if delivery.retry_level is not None:
                context.delay_level_when_next_consume = delivery.retry_level
                context.ack_index = index - 1
                break
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS

    async def orderly(
        self, messages: Sequence[StoredMessage], context: ConsumeOrderlyContext
    ) -> ConsumeOrderlyStatus:
        """A listener that offers messages in order to the loop."""
        for message in messages:
            delivery = await self._offer(message, context.message_queue)
            if delivery.retry_level is not None:
                return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT
        return ConsumeOrderlyStatus.SUCCESS

    async def _offer(self, message: StoredMessage, queue: MessageQueue) -> Delivery:
        delivery = Delivery(message, queue)
        await self._send.send(delivery)
        await delivery.wait()
        return delivery

    async def next(self) -> Delivery:
        """The next message; the one before counts as handled.

        Cancellation: nothing is lost.
        """
        if self._last is not None:
            self._last.ack()
            self._last = None
        self._last = await self._receive.receive()
        return self._last
