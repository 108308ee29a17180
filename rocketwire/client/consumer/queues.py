"""The queues of a topic as a consumer sees them, and the broker behind each.

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


async def queues_of(instance: ClientInstance, topic: str) -> tuple[MessageQueue, ...]:
    """The queues of a topic that can be read.

    Raises:
        TopicRouteNotFoundError: nobody has the topic.
        ClientError, ChannelError: as of ``NameServers.call``.
        DecodeError: the route makes no sense.
    """
    return subscribe_queues(topic, await instance.route(topic))


async def broker_name_of(instance: ClientInstance, queue: MessageQueue) -> str:
    """The broker where a queue really lives; another one than it names only for static topics."""
    name = queue.broker_name or ""
    if not name.startswith(MOCK_BROKER_PREFIX):
        return name
    topic = queue.topic or ""
    return static_queues(topic, await instance.route(topic)).get(queue, name)


async def replica_of(
    instance: ClientInstance, queue: MessageQueue, broker_id: int = MASTER_ID
) -> BrokerAddress:
    """Where to read a queue; a slave only if wanted, or if there is nobody else.

    Raises:
        BrokerNotFoundError: nobody knows an address.
    """
    name = await broker_name_of(instance, queue)
    return await instance.replica(name, broker_id, topic=queue.topic)


async def master_of(instance: ClientInstance, queue: MessageQueue) -> str:
    """Where a queue is written to, and locked.

    Raises:
        BrokerNotFoundError: nobody knows an address.
    """
    return await instance.master(await broker_name_of(instance, queue), queue.topic)
