"""Acknowledgements of popped messages on their way: what is handled while one request travels goes together with the next.

Rules of this file: a broker gets one request at a time of each topic, so that nobody waits for company and a busy consumer
still sends few.  A message that is alone is acknowledged by itself, as Java's consumers do with every one; several travel as
Java's proxies send them (code 200151).  A broker that does not know that code is not asked again.

Java: ``AckMessageProcessor.processRequest``, ``MQClientAPIImpl.batchAckMessageAsync``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, RocketWireError
from rocketwire.policy.pop_handle import handle_of

if TYPE_CHECKING:
    from rocketwire.client.consumer.pop.pop import PopCalls
    from rocketwire.wire.message.stored import StoredMessage


class _Batch:
    """Messages of one topic and broker that go together.

    Attributes:
        messages: they.
        is_over: whether the broker was asked, and answered or failed to.
        is_refused: whether it does not want them together.
        failure: why they were not acknowledged.
    """

    __slots__ = ("failure", "is_over", "is_refused", "messages")

    def __init__(self) -> None:
        """Empty."""
        self.messages: list[StoredMessage] = []
        self.is_over = False
        self.is_refused = False
        self.failure: RocketWireError | None = None


class Acknowledgements:
    """Those of one group."""

    def __init__(self, calls: PopCalls) -> None:
        """Nothing is on its way.

        Args:
            calls: of the group.
        """
        self._calls = calls
        self._open: dict[tuple[str, str], _Batch] = {}
        self._turns: dict[tuple[str, str], trio.Lock] = {}
        self._knows_no_batches: set[str] = set()

    async def ack(self, message: StoredMessage) -> None:
        """Say that a message was handled, alone or with others of its topic and broker.

        Raises:
            DecodeError, BrokerError, BrokerNotFoundError, ChannelError: as of ``PopCalls.ack``.

        Cancellation: the message may have been acknowledged; others that were to travel with it
        still are.
        """
        name = handle_of(message).broker_name
        if name in self._knows_no_batches or not await self._together(name, message):
            await self._calls.ack(message)

    async def _together(self, name: str, message: StoredMessage) -> bool:
        """Acknowledges it with those that come meanwhile.

        Returns False where the broker does not want them together.
        """
        key = (name, message.topic)
        batch = self._open.setdefault(key, _Batch())
        batch.messages.append(message)
        async with self._turns.setdefault(key, trio.Lock()):  # first come, first served
            if not batch.is_over:
                if self._open.get(key) is batch:
                    del self._open[key]
                await self._send(name, batch)
        if batch.failure is not None:
            raise batch.failure
        return not batch.is_refused

    async def _send(self, name: str, batch: _Batch) -> None:
        """Asks the broker; if it is cancelled the next one of the batch asks again."""
        try:
            if len(batch.messages) == 1:
                await self._calls.ack(batch.messages[0])
            else:
                await self._calls.batch_ack(batch.messages)
        except RocketWireError as error:
            if len(batch.messages) > 1 and isinstance(error, BrokerError):
                batch.is_refused = True
                if error.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                    self._knows_no_batches.add(name)
            else:
                batch.failure = error
        batch.is_over = True
