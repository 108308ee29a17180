"""RocketMQ clients for ordinary threads: ``rocketwire.client`` without ``async``.

The names, parameters and errors are those of ``rocketwire.client``. Methods wait for their results.
A client may be used by any number of threads. Ctrl-C interrupts a waiting call and cancels it.

trio runs in one thread of the process, while anything is open (``rocketwire.portal``).
"""

# Written by tests.architecture.twins: edit the module of this name in aio.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.portal.names import import_lazily, list_lazily

if TYPE_CHECKING:
    from rocketwire.client import (
        AccessChannel,
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

__all__ = [
    "AccessChannel",
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

__getattr__: Final = import_lazily(__name__, __all__)
__dir__: Final = list_lazily(__all__)
