"""Ordered topics: the number of queues of each broker, stored at the name servers.

Java: ``DefaultMQAdminExtImpl.createOrUpdateOrderConf``, ``UpdateOrderConfCommand``.
"""

from __future__ import annotations

from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.client.net.nameserver_api import ORDER_TOPIC_CONFIG
from rocketwire.policy.order_conf import merge_order_conf


class TopicOrders(ClusterCalls):
    """Requests for ordered topics, to every name server. For errors see ``NameServers.call``."""

    async def order_conf(self, topic: str) -> str | None:
        """``broker:queues;...`` of an ordered topic (code 101); None if it is not ordered."""
        return await self.client.name_servers.kv_value(ORDER_TOPIC_CONFIG, topic)

    async def put_order_conf(self, topic: str, text: str, *, whole: bool = True) -> str:
        """Set the queues of an ordered topic at every name server (code 100).

        Returns the new value. Java: ``createOrUpdateOrderConf``.

        Args:
            text: ``broker:queues``, separated by ``;``.
            whole: replace the whole value; if False, only the brokers in ``text``.

        Raises:
            LocalProtocolError: the text is invalid.
        """
        current = None if whole else await self.order_conf(topic)
        value = merge_order_conf(current, text)
        for server in self.client.name_servers.each():
            await server.put_kv(ORDER_TOPIC_CONFIG, topic, value)
        return value

    async def delete_order_conf(self, topic: str) -> None:
        """Delete the order of a topic (code 102)."""
        for server in self.client.name_servers.each():
            await server.delete_kv(ORDER_TOPIC_CONFIG, topic)
