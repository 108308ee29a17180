"""Whether a broker understands what a consumer wants (Java: ``MQClientInstance.checkClientInBroker``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.codes import RequestCode
from rocketwire.messages.heartbeat import CheckClientRequestBody
from rocketwire.policy.subscription import TAG

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.heartbeat import SubscriptionData


async def check_expression(
    instance: ClientInstance, group: str, subscription: SubscriptionData
) -> None:
    """Ask a broker of the topic (code 46); tags need not be asked for.

    Args:
        instance: carries the request.
        group: of the consumer, with its namespace.
        subscription: what it wants.

    Raises:
        BrokerError: the broker does not understand the expression, or has no filters of its type.
        ClientError, ChannelError: it cannot be asked.
    """
    if subscription.expression_type in (None, TAG):
        return
    body = CheckClientRequestBody(
        client_id=instance.client_id,
        group=group,
        namespace=instance.config.namespace,
        subscription_data=subscription,
    )
    address = await instance.any_broker(subscription.topic or "")
    await instance.brokers.call(address, RequestCode.CHECK_CLIENT_CONFIG, None, body)
