"""Locks of queues whose messages are consumed in order: the master of each broker gives a queue to one client at a time.

A lock lives 60 seconds at the broker; a consumer renews it every 20 and trusts it for 30.

Java: ``RebalanceImpl.lock``, ``lockAll``, ``unlock``, ``unlockAll``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.queues import broker_name_of, master_of
from rocketwire.client.outages import Outages
from rocketwire.errors import RocketWireError
from rocketwire.messages.allocation import LockBatchRequestBody, UnlockBatchRequestBody

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue

_LOG: Final = logging.getLogger("rocketwire.client")

LOCK_INTERVAL: Final = 20.0
"""Seconds between two renewals of all locks."""


def _locks(queue: MessageQueue) -> str:
    """The subject of warnings about the locks of a broker."""
    return f"locks on broker {queue.broker_name}"


class QueueLocks:
    """Locks of one consumer."""

    def __init__(self, instance: ClientInstance, group: str) -> None:
        """None is held yet.

        Args:
            instance: carries the requests; its client id holds the locks.
            group: with its namespace.
        """
        self._instance = instance
        self._group = group
        self._outages = Outages(f"group {group}")

    async def lock(self, queues: Iterable[MessageQueue]) -> set[MessageQueue]:
        """Lock queues, or renew their locks; returns those that are this client's now.

        A broker that does not answer is logged; its queues are not in the result.
        """
        held: set[MessageQueue] = set()

        async def lock(broker_queues: list[MessageQueue]) -> None:
            body = LockBatchRequestBody(
                client_id=self._instance.client_id,
                consumer_group=self._group,
                mq_set=tuple(broker_queues),
            )
            try:
                address = await master_of(self._instance, broker_queues[0])
                held.update(await self._instance.brokers.lock_queues(address, body))
            except RocketWireError as error:
                self._outages.report(_locks(broker_queues[0]), error)
            else:
                self._outages.end(_locks(broker_queues[0]))

        async with trio.open_nursery() as nursery:
            for broker_queues in (await self._by_broker(queues)).values():
                nursery.start_soon(lock, broker_queues)
        return held

    async def unlock(self, queues: Iterable[MessageQueue]) -> None:
        """Give queues back; a broker that does not answer gives them to others after a minute."""
        for broker_queues in (await self._by_broker(queues)).values():
            body = UnlockBatchRequestBody(
                client_id=self._instance.client_id,
                consumer_group=self._group,
                mq_set=tuple(broker_queues),
            )
            try:
                address = await master_of(self._instance, broker_queues[0])
                await self._instance.brokers.unlock_queues(address, body)
            except RocketWireError as error:
                _LOG.info("%s: %d queues stay locked: %s", self._group, len(broker_queues), error)

    async def _by_broker(self, queues: Iterable[MessageQueue]) -> dict[str, list[MessageQueue]]:
        grouped: dict[str, list[MessageQueue]] = {}
        for queue in queues:
            grouped.setdefault(await broker_name_of(self._instance, queue), []).append(queue)
        return grouped
