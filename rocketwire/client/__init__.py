"""Trio clients for RocketMQ: connections, name servers, brokers, and registration as a broker.

A *pool* has a channel to each address. A *client instance* is a client with its client id, shared
by its producers and consumers. A *registration* registers a broker at the name servers.

Calls that need trio raise ``NotInTrioError`` where the caller is not a trio task.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire.client.config import AccessChannel, ClientConfig, Credentials
    from rocketwire.client.consumer.config import (
        ConsumeConcurrentlyContext,
        ConsumeConcurrentlyStatus,
        ConsumeOrderlyContext,
        ConsumeOrderlyStatus,
        PushConsumerConfig,
    )
    from rocketwire.client.consumer.lite.lite_pull_consumer import (
        LitePullConsumer,
        LitePullConsumerConfig,
        open_lite_pull_consumer,
    )
    from rocketwire.client.consumer.pop.pop_consumer import (
        PopConsumer,
        PopConsumerConfig,
        open_pop_consumer,
    )
    from rocketwire.client.consumer.push.push_consumer import PushConsumer, open_push_consumer
    from rocketwire.client.hooks import ClientHook
    from rocketwire.client.instance.instance import ClientInstance, open_client
    from rocketwire.client.message import Message
    from rocketwire.client.net.nameservers import NameServers
    from rocketwire.client.net.pool import ChannelPool, open_pool
    from rocketwire.client.producer.lifecycle import open_producer
    from rocketwire.client.producer.producer import Producer
    from rocketwire.client.producer.request_reply import create_reply
    from rocketwire.client.producer.transactions import LocalTransactionState, TransactionSendResult
    from rocketwire.client.publish.config import ProducerConfig
    from rocketwire.client.registration.broker_topics import BrokerIdentity, RegistrationSettings
    from rocketwire.client.registration.registration import Registration, open_registration
    from rocketwire.client.send_result import SendResult
    from rocketwire.client.signals import wait_for_signal
    from rocketwire.client.telemetry.otel import OpenTelemetryHook
    from rocketwire.client.telemetry.prometheus import PrometheusHook
    from rocketwire.policy.retry import SendStatus

# Names of each module. Only the modules that a program uses are imported: it starts faster.
_MODULES = {
    "registration.broker_topics": "BrokerIdentity RegistrationSettings",
    "config": "AccessChannel ClientConfig Credentials",
    "consumer.config": "ConsumeConcurrentlyContext ConsumeConcurrentlyStatus ConsumeOrderlyContext "
    "ConsumeOrderlyStatus PushConsumerConfig",
    "instance.instance": "ClientInstance open_client",
    "consumer.lite.lite_pull_consumer": "LitePullConsumer LitePullConsumerConfig "
    "open_lite_pull_consumer",
    "message": "Message",
    "net.nameservers": "NameServers",
    "net.pool": "ChannelPool open_pool",
    "consumer.pop.pop_consumer": "PopConsumer PopConsumerConfig open_pop_consumer",
    "producer.producer": "Producer",
    "producer.lifecycle": "open_producer",
    "publish.config": "ProducerConfig",
    "consumer.push.push_consumer": "PushConsumer open_push_consumer",
    "registration.registration": "Registration open_registration",
    "hooks": "ClientHook",
    "telemetry.otel": "OpenTelemetryHook",
    "telemetry.prometheus": "PrometheusHook",
    "producer.request_reply": "create_reply",
    "producer.transactions": "LocalTransactionState TransactionSendResult",
    "send_result": "SendResult",
    "rocketwire.policy.retry": "SendStatus",
    "signals": "wait_for_signal",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

# Extra of each class that needs one
_EXTRAS = {"OpenTelemetryHook": "otel", "PrometheusHook": "observe"}

__all__ = [
    "AccessChannel",
    "BrokerIdentity",
    "ChannelPool",
    "ClientConfig",
    "ClientHook",
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
    "OpenTelemetryHook",
    "PopConsumer",
    "PopConsumerConfig",
    "Producer",
    "ProducerConfig",
    "PrometheusHook",
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
    "wait_for_signal",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    try:
        module = import_module(home if home.startswith("rocketwire.") else f"{__name__}.{home}")
        value = getattr(module, name)
    except ModuleNotFoundError as error:
        if name not in _EXTRAS:
            raise
        value = _create_stub(name, error.name)
    globals()[name] = value
    return value


def _create_stub(name: str, package: str | None) -> type:
    text = f"{name} needs {package}: pip install 'rocketwire[{_EXTRAS[name]}]'"

    def refuse(*_: object, **__: object) -> None:
        raise ModuleNotFoundError(text, name=package)

    return type(name, (), {"__doc__": text, "__init__": refuse})


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__file__", "__name__", "__path__"]
