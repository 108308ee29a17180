"""RocketMQ clients for ordinary threads: ``rocketwire.client`` without ``async``.

The names, parameters and errors are those of ``rocketwire.client``. Methods wait for their results.
A client may be used by any number of threads. Ctrl-C interrupts a waiting call and cancels it.

trio runs in one thread of the process, while anything is open (``rocketwire.portal``).
"""

# Written by tests.architecture.twins: edit the module of this name in aio.

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.client.lazy_names import offer_names
from rocketwire.portal import FACADE_NAMES

if TYPE_CHECKING:
    from rocketwire.client import AccessChannel as AccessChannel
    from rocketwire.client import ClientConfig as ClientConfig
    from rocketwire.client import ClientHook as ClientHook
    from rocketwire.client import ConsumeConcurrentlyContext as ConsumeConcurrentlyContext
    from rocketwire.client import ConsumeConcurrentlyStatus as ConsumeConcurrentlyStatus
    from rocketwire.client import ConsumeOrderlyContext as ConsumeOrderlyContext
    from rocketwire.client import ConsumeOrderlyStatus as ConsumeOrderlyStatus
    from rocketwire.client import Credentials as Credentials
    from rocketwire.client import LitePullConsumerConfig as LitePullConsumerConfig
    from rocketwire.client import LocalTransactionState as LocalTransactionState
    from rocketwire.client import Message as Message
    from rocketwire.client import OpenTelemetryHook as OpenTelemetryHook
    from rocketwire.client import PopConsumerConfig as PopConsumerConfig
    from rocketwire.client import ProducerConfig as ProducerConfig
    from rocketwire.client import PrometheusHook as PrometheusHook
    from rocketwire.client import PushConsumerConfig as PushConsumerConfig
    from rocketwire.client import SendResult as SendResult
    from rocketwire.client import SendStatus as SendStatus
    from rocketwire.client import TransactionSendResult as TransactionSendResult
    from rocketwire.client import create_reply as create_reply
    from rocketwire.sync.admin import Admin as Admin
    from rocketwire.sync.admin import NameServers as NameServers
    from rocketwire.sync.admin import open_admin as open_admin
    from rocketwire.sync.admin import open_name_servers as open_name_servers
    from rocketwire.sync.client import Client as Client
    from rocketwire.sync.client import open_client as open_client
    from rocketwire.sync.lite_pull_consumer import LitePullConsumer as LitePullConsumer
    from rocketwire.sync.lite_pull_consumer import (
        open_lite_pull_consumer as open_lite_pull_consumer,
    )
    from rocketwire.sync.opening import wait_for_signal as wait_for_signal
    from rocketwire.sync.pop_consumer import PopConsumer as PopConsumer
    from rocketwire.sync.pop_consumer import open_pop_consumer as open_pop_consumer
    from rocketwire.sync.producer import Producer as Producer
    from rocketwire.sync.producer import open_producer as open_producer
    from rocketwire.sync.push_consumer import PushConsumer as PushConsumer
    from rocketwire.sync.push_consumer import open_push_consumer as open_push_consumer

offer_names(__name__, FACADE_NAMES)
