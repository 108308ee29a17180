"""Readable queues of a topic, and the brokers that have them.

Java: ``MQClientInstance.findBrokerAddressInSubscribe``, ``getBrokerNameFromMessageQueue``,
``MQAdminImpl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.policy.routing import MASTER_ID, MOCK_BROKER_PREFIX, static_queues, subscribe_queues

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.instance.routes import BrokerAddress
    from rocketwire.messages.message_queue import MessageQueue


async def get_queues(instance: ClientInstance, topic: str) -> tuple[MessageQueue, ...]:
    """Return the readable queues of a topic."""
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
