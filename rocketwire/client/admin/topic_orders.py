"""The order of topics: how many queues each broker has of an ordered one, as name servers keep it.

Java: ``DefaultMQAdminExtImpl.createOrUpdateOrderConf``, ``UpdateOrderConfCommand``.
"""

from __future__ import annotations

from rocketwire.client.admin.fanout import AdminCalls
from rocketwire.client.net.nameserver_api import ORDER_TOPIC_CONFIG
from rocketwire.policy.order_conf import merged_order_conf


class TopicOrders(AdminCalls):
    """Calls about ordered topics, to every name server.

    For errors see ``NameServers.call``.
    """

    async def order_conf(self, topic: str) -> str | None:
        """``broker:queues;...`` of an ordered topic (code 101); None if it is not ordered."""
        return await self.client.name_servers.kv_value(ORDER_TOPIC_CONFIG, topic)

    async def put_order_conf(self, topic: str, text: str, *, whole: bool = True) -> str:
        """Set the queues of an ordered topic at every name server (code 100).

        Returns what stands there now.

        Java: ``createOrUpdateOrderConf``.

        Args:
            topic: the topic.
            text: ``broker:queues``, several with ``;`` between.
            whole: replace the whole value; if False, only the brokers in ``text``.


        Raises:
            LocalProtocolError: the text has another form.
        """
        current = None if whole else await self.order_conf(topic)
        value = merged_order_conf(current, text)
        for server in self.client.name_servers.each():
            await server.put_kv(ORDER_TOPIC_CONFIG, topic, value)
        return value

    async def delete_order_conf(self, topic: str) -> None:
        """The topic is not ordered any more (code 102)."""
        for server in self.client.name_servers.each():
            await server.delete_kv(ORDER_TOPIC_CONFIG, topic)
