"""Checks a filter expression at a broker (Java: ``MQClientInstance.checkClientInBroker``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.codes import RequestCode
from rocketwire.messages.heartbeat import CheckClientRequestBody, SubscriptionData
from rocketwire.policy.subscription import TAG

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance


async def check_expression(
    instance: ClientInstance, group: str, subscription: SubscriptionData
) -> None:
    """Let a broker of the topic check a subscription (code 46); tags need no check.

    Raises:
        BrokerError: the expression is invalid, or the broker does not support its type.
        ClientError, ChannelError: the broker is not reachable.
    """
    if subscription.expression_type in (None, TAG):
        return
    body = CheckClientRequestBody(
        client_id=instance.client_id,
        group=group,
        namespace=instance.config.namespace or None,
        subscription_data=subscription,
    )
    address = await instance.any_broker(subscription.topic or "")
    await instance.brokers.call(address, RequestCode.CHECK_CLIENT_CONFIG, None, body)
