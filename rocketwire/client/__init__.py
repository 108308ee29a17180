"""Clients of RocketMQ under trio: connections, name servers, brokers, and being a broker.

The words: a *pool* has a channel to each address; a *client instance* is what brokers know under one client id, and what its
producers and consumers share; a *registration* is a broker's presence at the name servers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire.client.broker_topics import BrokerIdentity as BrokerIdentity
    from rocketwire.client.broker_topics import RegistrationSettings as RegistrationSettings
    from rocketwire.client.config import ClientConfig as ClientConfig
    from rocketwire.client.config import Credentials as Credentials
    from rocketwire.client.consuming import ConsumeConcurrentlyContext as ConsumeConcurrentlyContext
    from rocketwire.client.consuming import ConsumeConcurrentlyStatus as ConsumeConcurrentlyStatus
    from rocketwire.client.consuming import ConsumeOrderlyContext as ConsumeOrderlyContext
    from rocketwire.client.consuming import ConsumeOrderlyStatus as ConsumeOrderlyStatus
    from rocketwire.client.consuming import PushConsumerConfig as PushConsumerConfig
    from rocketwire.client.instance import ClientInstance as ClientInstance
    from rocketwire.client.instance import open_client as open_client
    from rocketwire.client.lite_pull import LitePullConsumer as LitePullConsumer
    from rocketwire.client.lite_pull import open_lite_pull_consumer as open_lite_pull_consumer
    from rocketwire.client.lite_queue import LitePullConsumerConfig as LitePullConsumerConfig
    from rocketwire.client.message import Message as Message
    from rocketwire.client.nameserver import NameServers as NameServers
    from rocketwire.client.pool import ChannelPool as ChannelPool
    from rocketwire.client.pool import open_pool as open_pool
    from rocketwire.client.pop_consumer import PopConsumer as PopConsumer
    from rocketwire.client.pop_consumer import PopConsumerConfig as PopConsumerConfig
    from rocketwire.client.pop_consumer import open_pop_consumer as open_pop_consumer
    from rocketwire.client.producer import Producer as Producer
    from rocketwire.client.producer_config import ProducerConfig as ProducerConfig
    from rocketwire.client.producing import open_producer as open_producer
    from rocketwire.client.push_consumer import PushConsumer as PushConsumer
    from rocketwire.client.push_consumer import open_push_consumer as open_push_consumer
    from rocketwire.client.registration import Registration as Registration
    from rocketwire.client.registration import open_registration as open_registration
    from rocketwire.client.request_reply import create_reply as create_reply
    from rocketwire.client.send_result import SendResult as SendResult
    from rocketwire.client.transactions import LocalTransactionState as LocalTransactionState
    from rocketwire.client.transactions import TransactionSendResult as TransactionSendResult
    from rocketwire.policy.retry import SendStatus as SendStatus

_HOMES = {
    "BrokerIdentity": "broker_topics",
    "RegistrationSettings": "broker_topics",
    "ClientConfig": "config",
    "Credentials": "config",
    "ConsumeConcurrentlyContext": "consuming",
    "ConsumeConcurrentlyStatus": "consuming",
    "ConsumeOrderlyContext": "consuming",
    "ConsumeOrderlyStatus": "consuming",
    "PushConsumerConfig": "consuming",
    "ClientInstance": "instance",
    "open_client": "instance",
    "LitePullConsumer": "lite_pull",
    "open_lite_pull_consumer": "lite_pull",
    "LitePullConsumerConfig": "lite_queue",
    "Message": "message",
    "NameServers": "nameserver",
    "ChannelPool": "pool",
    "open_pool": "pool",
    "PopConsumer": "pop_consumer",
    "PopConsumerConfig": "pop_consumer",
    "open_pop_consumer": "pop_consumer",
    "Producer": "producer",
    "open_producer": "producing",
    "ProducerConfig": "producer_config",
    "PushConsumer": "push_consumer",
    "open_push_consumer": "push_consumer",
    "Registration": "registration",
    "open_registration": "registration",
    "create_reply": "request_reply",
    "LocalTransactionState": "transactions",
    "SendResult": "send_result",
    "TransactionSendResult": "transactions",
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
    found = getattr(import_module(home if "." in home else f"{__name__}.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__file__", "__name__", "__path__"]
