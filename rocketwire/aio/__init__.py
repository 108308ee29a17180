"""RocketMQ clients for asyncio and uvloop, with the names of ``rocketwire.client``.

The names, parameters and errors are those of ``rocketwire.client``. ``async with`` or ``await``
opens a client. If a task is cancelled, the same holds as for a cancelled trio task; it goes on when
the call has ended.

trio runs in one thread of the process, while anything is open (``rocketwire.portal``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire.aio.client import Client, open_client
    from rocketwire.aio.producer import Producer, open_producer
    from rocketwire.client import (
        ClientConfig,
        ConsumeConcurrentlyContext,
        ConsumeConcurrentlyStatus,
        ConsumeOrderlyContext,
        ConsumeOrderlyStatus,
        Credentials,
        LitePullConsumerConfig,
        LocalTransactionState,
        Message,
        PopConsumerConfig,
        ProducerConfig,
        PushConsumerConfig,
        SendResult,
        SendStatus,
        TransactionSendResult,
        create_reply,
    )

_HOMES = {
    "Client": "client",
    "open_client": "client",
    "Producer": "producer",
    "open_producer": "producer",
}
"""Module of each name of this package. Only the modules that a program uses are imported."""

__all__ = [
    "Client",
    "ClientConfig",
    "ConsumeConcurrentlyContext",
    "ConsumeConcurrentlyStatus",
    "ConsumeOrderlyContext",
    "ConsumeOrderlyStatus",
    "Credentials",
    "LitePullConsumerConfig",
    "LocalTransactionState",
    "Message",
    "PopConsumerConfig",
    "Producer",
    "ProducerConfig",
    "PushConsumerConfig",
    "SendResult",
    "SendStatus",
    "TransactionSendResult",
    "create_reply",
    "open_client",
    "open_producer",
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
