"""Clients of RocketMQ under trio: connections, name servers, brokers, and being a broker.

The words: a *pool* has a channel to each address; a *client instance* is what brokers know under one client id, and what its
producers and consumers share; a *registration* is a broker's presence at the name servers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire.client.config import ClientConfig as ClientConfig
    from rocketwire.client.config import Credentials as Credentials
    from rocketwire.client.consumer.config import (
        ConsumeConcurrentlyContext as ConsumeConcurrentlyContext,
    )
    from rocketwire.client.consumer.config import (
        ConsumeConcurrentlyStatus as ConsumeConcurrentlyStatus,
    )
    from rocketwire.client.consumer.config import ConsumeOrderlyContext as ConsumeOrderlyContext
    from rocketwire.client.consumer.config import ConsumeOrderlyStatus as ConsumeOrderlyStatus
    from rocketwire.client.consumer.config import PushConsumerConfig as PushConsumerConfig
    from rocketwire.client.consumer.lite.lite_pull_consumer import (
        LitePullConsumer as LitePullConsumer,
    )
    from rocketwire.client.consumer.lite.lite_pull_consumer import (
        open_lite_pull_consumer as open_lite_pull_consumer,
    )
    from rocketwire.client.consumer.lite.lite_pull_state import (
        LitePullConsumerConfig as LitePullConsumerConfig,
    )
    from rocketwire.client.consumer.pop.pop_consumer import PopConsumer as PopConsumer
    from rocketwire.client.consumer.pop.pop_consumer import PopConsumerConfig as PopConsumerConfig
    from rocketwire.client.consumer.pop.pop_consumer import open_pop_consumer as open_pop_consumer
    from rocketwire.client.consumer.push.push_consumer import PushConsumer as PushConsumer
    from rocketwire.client.consumer.push.push_consumer import (
        open_push_consumer as open_push_consumer,
    )
    from rocketwire.client.instance.instance import ClientInstance as ClientInstance
    from rocketwire.client.instance.instance import open_client as open_client
    from rocketwire.client.message import Message as Message
    from rocketwire.client.net.nameservers import NameServers as NameServers
    from rocketwire.client.net.pool import ChannelPool as ChannelPool
    from rocketwire.client.net.pool import open_pool as open_pool
    from rocketwire.client.producer.lifecycle import open_producer as open_producer
    from rocketwire.client.producer.producer import Producer as Producer
    from rocketwire.client.producer.request_reply import create_reply as create_reply
    from rocketwire.client.producer.transactions import (
        LocalTransactionState as LocalTransactionState,
    )
    from rocketwire.client.producer.transactions import (
        TransactionSendResult as TransactionSendResult,
    )
    from rocketwire.client.publish.config import ProducerConfig as ProducerConfig
    from rocketwire.client.publish.send_result import SendResult as SendResult
    from rocketwire.client.registration.broker_topics import BrokerIdentity as BrokerIdentity
    from rocketwire.client.registration.broker_topics import (
        RegistrationSettings as RegistrationSettings,
    )
    from rocketwire.client.registration.registration import Registration as Registration
    from rocketwire.client.registration.registration import open_registration as open_registration
    from rocketwire.policy.retry import SendStatus as SendStatus

_HOMES = {
    "BrokerIdentity": "registration.broker_topics",
    "RegistrationSettings": "registration.broker_topics",
    "ClientConfig": "config",
    "Credentials": "config",
    "ConsumeConcurrentlyContext": "consumer.config",
    "ConsumeConcurrentlyStatus": "consumer.config",
    "ConsumeOrderlyContext": "consumer.config",
    "ConsumeOrderlyStatus": "consumer.config",
    "PushConsumerConfig": "consumer.config",
    "ClientInstance": "instance.instance",
    "open_client": "instance.instance",
    "LitePullConsumer": "consumer.lite.lite_pull_consumer",
    "open_lite_pull_consumer": "consumer.lite.lite_pull_consumer",
    "LitePullConsumerConfig": "consumer.lite.lite_pull_state",
    "Message": "message",
    "NameServers": "net.nameservers",
    "ChannelPool": "net.pool",
    "open_pool": "net.pool",
    "PopConsumer": "consumer.pop.pop_consumer",
    "PopConsumerConfig": "consumer.pop.pop_consumer",
    "open_pop_consumer": "consumer.pop.pop_consumer",
    "Producer": "producer.producer",
    "open_producer": "producer.lifecycle",
    "ProducerConfig": "publish.config",
    "PushConsumer": "consumer.push.push_consumer",
    "open_push_consumer": "consumer.push.push_consumer",
    "Registration": "registration.registration",
    "open_registration": "registration.registration",
    "create_reply": "producer.request_reply",
    "LocalTransactionState": "producer.transactions",
    "SendResult": "publish.send_result",
    "TransactionSendResult": "producer.transactions",
    "SendStatus": "rocketwire.policy.retry",
}
"""Where each name lives.  A program imports what it uses: a producer starts in half the time without the consumers."""

__all__ = [
    "BrokerIdentity",
    "ChannelPool",
    "ClientConfig",
    "ClientInstance",
    "ConsumeConcurrentlyContext",
    "ConsumeConcurrentlyStatus",
    "ConsumeOrderlyContext",
    "ConsumeOrderlyStatus",
    "Credentials",
    "LitePullConsumer",
    "LitePullConsumerConfig",
    "LocalTransactionState",
    "Message",
    "NameServers",
    "PopConsumer",
    "PopConsumerConfig",
    "Producer",
    "ProducerConfig",
    "PushConsumer",
    "PushConsumerConfig",
    "Registration",
    "RegistrationSettings",
    "SendResult",
    "SendStatus",
    "TransactionSendResult",
    "create_reply",
    "open_client",
    "open_lite_pull_consumer",
    "open_pool",
    "open_pop_consumer",
    "open_producer",
    "open_push_consumer",
    "open_registration",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    found = getattr(
        import_module(home if home.startswith("rocketwire.") else f"{__name__}.{home}"), name
    )
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__file__", "__name__", "__path__"]
