"""Readable queues of a topic, the brokers that have them, and locks for orderly consumers.

Java: ``MQClientInstance.findBrokerAddressInSubscribe``, ``getBrokerNameFromMessageQueue``,
``MQAdminImpl``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.outages import Outages
from rocketwire.errors import RocketWireError
from rocketwire.messages.allocation import LockBatchRequestBody, UnlockBatchRequestBody
from rocketwire.policy.routing import MASTER_ID, MOCK_BROKER_PREFIX, static_queues, subscribe_queues
from rocketwire.transport.nursery import run_each

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.instance.routes import BrokerAddress
    from rocketwire.messages.message_queue import MessageQueue


async def get_queues(instance: ClientInstance, topic: str) -> tuple[MessageQueue, ...]:
    return subscribe_queues(topic, await instance.route(topic))


async def resolve_broker_name(instance: ClientInstance, queue: MessageQueue) -> str:
    """Return the broker of a queue; a static topic has queues with a logical broker name."""
    name = queue.broker_name or ""
    if not name.startswith(MOCK_BROKER_PREFIX):
        return name
    topic = queue.topic or ""
    return static_queues(topic, await instance.route(topic)).get(queue, name)


async def find_replica(
    instance: ClientInstance, queue: MessageQueue, broker_id: int = MASTER_ID
) -> BrokerAddress:
    """Return the address for reads of a queue; a slave if requested or without a master."""
    name = await resolve_broker_name(instance, queue)
    return await instance.replica(name, broker_id, topic=queue.topic)


async def find_master(instance: ClientInstance, queue: MessageQueue) -> str:
    """Return the address for writes and locks of a queue; ``BrokerNotFoundError`` without one."""
    return await instance.master(await resolve_broker_name(instance, queue), queue.topic)


_LOG: Final = logging.getLogger("rocketwire.client")

LOCK_INTERVAL: Final = 20.0  # seconds between two renewals of all locks


def _lock_outage(queue: MessageQueue) -> str:
    return f"locks on broker {queue.broker_name}"


class QueueLocks:
    # A lock expires at the broker after 60 seconds; a consumer renews it every 20 and trusts it for
    # 30 (Java: ``RebalanceImpl.lock``, ``lockAll``, ``unlock``, ``unlockAll``).
    def __init__(self, instance: ClientInstance, group: str) -> None:
        self._instance = instance
        self._group = group
        self._member: dict[str, Any] = {"client_id": instance.client_id, "consumer_group": group}
        self._outages = Outages(f"group {group}")

    async def lock(self, queues: Iterable[MessageQueue]) -> set[MessageQueue]:
        """Lock queues, or renew their locks; returns those that this client has locked now."""
        locked: set[MessageQueue] = set()

        async def lock(broker_queues: list[MessageQueue]) -> None:
            body = LockBatchRequestBody(**self._member, mq_set=tuple(broker_queues))
            try:
                address = await find_master(self._instance, broker_queues[0])
                locked.update(await self._instance.brokers.lock_queues(address, body))
            except RocketWireError as error:
                self._outages.report(_lock_outage(broker_queues[0]), error)
            else:
                self._outages.end(_lock_outage(broker_queues[0]))

        await run_each(lock, (await self._group_by_broker(queues)).values())
        return locked

    async def unlock(self, queues: Iterable[MessageQueue]) -> None:
        for broker_queues in (await self._group_by_broker(queues)).values():
            body = UnlockBatchRequestBody(**self._member, mq_set=tuple(broker_queues))
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
