"""Acknowledges popped messages.

Those that are handled during a request are sent together in the next one.

A broker gets one request at a time for each topic: no message waits for others, and a busy consumer
still sends few requests. A single message is acknowledged by code 200051, as by Java's consumers;
several by code 200151, as by Java's proxies. If a broker does not support that code, it gets single
acknowledgements.

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
    __slots__ = ("failure", "is_over", "is_refused", "messages")

    def __init__(self) -> None:
        self.messages: list[StoredMessage] = []
        self.is_over = False
        self.is_refused = False
        self.failure: RocketWireError | None = None


class Acknowledgements:
    def __init__(self, calls: PopCalls) -> None:
        self._calls = calls
        self._open: dict[tuple[str, str], _Batch] = {}
        self._locks: dict[tuple[str, str], trio.Lock] = {}
        self._brokers_without_batches: set[str] = set()

    async def ack(self, message: StoredMessage) -> None:
        """Acknowledge a message, alone or with others of its topic and broker.

        Cancellation: the message may have been acknowledged; the others of its batch still are.
        """
        name = handle_of(message).broker_name
        if name in self._brokers_without_batches or not await self._ack_in_batch(name, message):
            await self._calls.ack(message)

    async def _ack_in_batch(self, name: str, message: StoredMessage) -> bool:
        # returns False if the broker rejected the batch
        key = (name, message.topic)
        batch = self._open.setdefault(key, _Batch())
        batch.messages.append(message)
        async with self._locks.setdefault(key, trio.Lock()):  # first come, first served
            if not batch.is_over:
                if self._open.get(key) is batch:
                    del self._open[key]
                await self._send(name, batch)
        if batch.failure is not None:
            raise batch.failure
        return not batch.is_refused

    async def _send(self, name: str, batch: _Batch) -> None:
        # send the request; if it is cancelled, the next task of the batch sends it again
        try:
            if len(batch.messages) == 1:
                await self._calls.ack(batch.messages[0])
            else:
                await self._calls.batch_ack(batch.messages)
        except RocketWireError as error:
            if len(batch.messages) > 1 and isinstance(error, BrokerError):
                batch.is_refused = True
                if error.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                    self._brokers_without_batches.add(name)
            else:
                batch.failure = error
        batch.is_over = True
