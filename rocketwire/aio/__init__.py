"""RocketMQ clients for asyncio and uvloop, with the names of ``rocketwire.client``.

The names, parameters and errors are those of ``rocketwire.client``. ``async with`` or ``await``
opens a client. If a task is cancelled, the same holds as for a cancelled trio task; it goes on when
the call has ended.

trio runs in one thread of the process, while anything is open (``rocketwire.portal``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.portal.names import import_lazily, list_lazily

if TYPE_CHECKING:
    from rocketwire.aio.admin import Admin, open_admin
    from rocketwire.aio.client import Client, open_client
    from rocketwire.aio.lite_pull_consumer import LitePullConsumer, open_lite_pull_consumer
    from rocketwire.aio.name_servers import NameServers, open_name_servers
    from rocketwire.aio.pop_consumer import PopConsumer, open_pop_consumer
    from rocketwire.aio.producer import Producer, open_producer
    from rocketwire.aio.push_consumer import PushConsumer, open_push_consumer
    from rocketwire.aio.signals import wait_for_signal
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
