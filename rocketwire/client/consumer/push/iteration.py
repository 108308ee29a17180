"""Messages for ``async for``: a handler that waits until the loop requests the next message.

A message is handled when the loop requests the next one, or acknowledges it. If the loop ends
early, by ``break`` or an error, its message is redelivered.

Java has no counterpart; the consumer is a push consumer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import trio

from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyStatus,
)

if TYPE_CHECKING:
    from rocketwire.client.consumer.config import ConsumeOrderlyContext
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.message.stored import StoredMessage


class Delivery:
    """A message that the application handles."""

    __slots__ = ("_retry_level", "_settled", "message", "message_queue")

    def __init__(self, message: StoredMessage, message_queue: MessageQueue) -> None:
        self.message: StoredMessage = message  #: the message
        self.message_queue: MessageQueue = message_queue  #: queue of the message
        self._settled = trio.Event()
        self._retry_level: int | None = None

    @property
    def retry_level(self) -> int | None:
        """Delay level of ``reconsume_later``; None if the message was handled."""
        return self._retry_level

    def ack(self) -> None:
        """Acknowledge the message; requesting the next one does the same."""
        self._settled.set()

    def reconsume_later(self, delay_level: int = 0) -> None:
        """Let the broker redeliver the message later; -1 makes it a dead letter.

        An orderly queue waits until the message is handled, and ignores the level.
        """
        if not self._settled.is_set():
            self._retry_level = delay_level
            self._settled.set()

    async def wait(self) -> None:
        """Wait until the application acknowledges or rejects the message."""
        await self._settled.wait()


class DeliveryChannel:
    def __init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel[Delivery](0)
        self._last: Delivery | None = None

    async def concurrently(
        self, messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus:
        for index, message in enumerate(messages):
            delivery = await self._deliver(message, context.message_queue)
            if delivery.retry_level is not None:
                context.delay_level_when_next_consume = delivery.retry_level
                context.ack_index = index - 1
                break
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS

    async def orderly(
        self, messages: Sequence[StoredMessage], context: ConsumeOrderlyContext
    ) -> ConsumeOrderlyStatus:
        for message in messages:
            delivery = await self._deliver(message, context.message_queue)
            if delivery.retry_level is not None:
                return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT
        return ConsumeOrderlyStatus.SUCCESS

    async def _deliver(self, message: StoredMessage, queue: MessageQueue) -> Delivery:
        delivery = Delivery(message, queue)
        await self._send.send(delivery)
        await delivery.wait()
        return delivery

    async def next(self) -> Delivery:
        if self._last is not None:
            self._last.ack()
            self._last = None
        self._last = await self._receive.receive()
        return self._last
