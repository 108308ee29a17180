"""The order of topics: how many queues each broker has of an ordered one, as name servers keep it.

Java: ``DefaultMQAdminExtImpl.createOrUpdateOrderConf``, ``UpdateOrderConfCommand``.
"""

from __future__ import annotations

from rocketwire.client.admin.fanout import Asking
from rocketwire.client.net.nameserver_api import ORDER_TOPIC_CONFIG
from rocketwire.policy.order_conf import merge_order_conf


class TopicOrders(Asking):
    """Calls about ordered topics, to every name server.

    All of them raise what ``NameServers.call`` raises.
    """

    async def order_conf(self, topic: str) -> str | None:
        """``broker:queues;...`` of an ordered topic (code 101); None where it is not ordered."""
        return await self.client.name_servers.kv_value(ORDER_TOPIC_CONFIG, topic)

    async def put_order_conf(self, topic: str, text: str, *, whole: bool = True) -> str:
        """Set the queues of an ordered topic at every name server (code 100).

        Returns what stands there now.

        Java: ``createOrUpdateOrderConf``.

        Args:
            topic: whose.
            text: ``broker:queues``, several with ``;`` between.
            whole: it replaces what was there; if not, only what was said of the brokers that it
                names.

        Raises:
            LocalProtocolError: the text has another form.
        """
        known = None if whole else await self.order_conf(topic)
        value = merge_order_conf(known, text)
        for server in self.client.name_servers.each():
            await server.put_kv(ORDER_TOPIC_CONFIG, topic, value)
        return value

    async def delete_order_conf(self, topic: str) -> None:
        """The topic is not ordered any more (code 102)."""
        for server in self.client.name_servers.each():
            await server.delete_kv(ORDER_TOPIC_CONFIG, topic)
