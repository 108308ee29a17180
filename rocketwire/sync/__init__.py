"""RocketMQ clients for ordinary threads: ``rocketwire.client`` without ``async``.

The names, parameters and errors are those of ``rocketwire.client``. Methods wait for their results.
A client may be used by any number of threads. Ctrl-C interrupts a waiting call and cancels it.

trio runs in one thread of the process, while anything is open (``rocketwire.portal``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire.client import (
        ClientConfig,
        ClientHook,
        ConsumeConcurrentlyContext,
        ConsumeConcurrentlyStatus,
        ConsumeOrderlyContext,
        ConsumeOrderlyStatus,
        Credentials,
        LitePullConsumerConfig,
        LocalTransactionState,
        Message,
        OpenTelemetryHook,
        PopConsumerConfig,
        ProducerConfig,
        PrometheusHook,
        PushConsumerConfig,
        SendResult,
        SendStatus,
        TransactionSendResult,
        create_reply,
    )
    from rocketwire.sync.admin import Admin, open_admin
    from rocketwire.sync.client import Client, open_client
    from rocketwire.sync.lite_pull_consumer import LitePullConsumer, open_lite_pull_consumer
    from rocketwire.sync.name_servers import NameServers, open_name_servers
    from rocketwire.sync.pop_consumer import PopConsumer, open_pop_consumer
    from rocketwire.sync.producer import Producer, open_producer
    from rocketwire.sync.push_consumer import PushConsumer, open_push_consumer
    from rocketwire.sync.signals import wait_for_signal

_HOMES = {
    "Client": "client",
    "open_client": "client",
    "Producer": "producer",
    "open_producer": "producer",
    "PushConsumer": "push_consumer",
    "open_push_consumer": "push_consumer",
    "PopConsumer": "pop_consumer",
    "open_pop_consumer": "pop_consumer",
    "LitePullConsumer": "lite_pull_consumer",
    "open_lite_pull_consumer": "lite_pull_consumer",
    "Admin": "admin",
    "open_admin": "admin",
    "NameServers": "name_servers",
    "open_name_servers": "name_servers",
    "wait_for_signal": "signals",
}
"""Module of each name of this package. Only the modules that a program uses are imported."""

__all__ = [
    "Admin",
    "Client",
    "ClientConfig",
    "ClientHook",
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
    "SendResult",
    "SendStatus",
    "TransactionSendResult",
    "create_reply",
    "open_admin",
    "open_client",
    "open_lite_pull_consumer",
    "open_name_servers",
    "open_pop_consumer",
    "open_producer",
    "open_push_consumer",
    "wait_for_signal",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = f"{__name__}.{_HOMES[name]}" if name in _HOMES else "rocketwire.client"
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__file__", "__name__", "__path__"]
