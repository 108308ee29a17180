"""Locks of the queues of an orderly consumer, at the master of each broker.

A lock expires at the broker after 60 seconds; a consumer renews it every 20 seconds and trusts it
for 30.

Java: ``RebalanceImpl.lock``, ``lockAll``, ``unlock``, ``unlockAll``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.queues import find_master, resolve_broker_name
from rocketwire.client.outages import Outages
from rocketwire.errors import RocketWireError
from rocketwire.messages.allocation import LockBatchRequestBody, UnlockBatchRequestBody

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue

_LOG: Final = logging.getLogger("rocketwire.client")

LOCK_INTERVAL: Final = 20.0  # seconds between two renewals of all locks


def _lock_outage(queue: MessageQueue) -> str:
    return f"locks on broker {queue.broker_name}"


class QueueLocks:
    """The queue locks of a consumer."""

    def __init__(self, instance: ClientInstance, group: str) -> None:
        self._instance = instance
        self._group = group
        self._outages = Outages(f"group {group}")

    async def lock(self, queues: Iterable[MessageQueue]) -> set[MessageQueue]:
        """Lock queues, or renew their locks; returns the queues that this client has locked now.

        If a broker does not respond, that is logged, and its queues are not in the result.
        """
        locked: set[MessageQueue] = set()

        async def lock(broker_queues: list[MessageQueue]) -> None:
            body = LockBatchRequestBody(
                client_id=self._instance.client_id,
                consumer_group=self._group,
                mq_set=tuple(broker_queues),
            )
            try:
                address = await find_master(self._instance, broker_queues[0])
                locked.update(await self._instance.brokers.lock_queues(address, body))
            except RocketWireError as error:
                self._outages.report(_lock_outage(broker_queues[0]), error)
            else:
                self._outages.end(_lock_outage(broker_queues[0]))

        async with trio.open_nursery() as nursery:
            for broker_queues in (await self._group_by_broker(queues)).values():
                nursery.start_soon(lock, broker_queues)
        return locked

    async def unlock(self, queues: Iterable[MessageQueue]) -> None:
        """Unlock queues; if a broker does not respond, its locks expire after a minute."""
        for broker_queues in (await self._group_by_broker(queues)).values():
            body = UnlockBatchRequestBody(
                client_id=self._instance.client_id,
                consumer_group=self._group,
                mq_set=tuple(broker_queues),
            )
            try:
                address = await find_master(self._instance, broker_queues[0])
                await self._instance.brokers.unlock_queues(address, body)
            except RocketWireError as error:
                _LOG.info("%s: %d queues stay locked: %s", self._group, len(broker_queues), error)

    async def _group_by_broker(
        self, queues: Iterable[MessageQueue]
    ) -> dict[str, list[MessageQueue]]:
        grouped: dict[str, list[MessageQueue]] = {}
        for queue in queues:
            grouped.setdefault(await resolve_broker_name(self._instance, queue), []).append(queue)
        return grouped
