"""Trio clients for RocketMQ: connections, name servers, brokers, and registration as a broker.

A *pool* has a channel to each address. A *client instance* is a client with its client id, shared
by its producers and consumers. A *registration* registers a broker at the name servers.

Calls that need trio raise ``NotInTrioError`` where the caller is not a trio task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.client.lazy_names import offer_names

if TYPE_CHECKING:
    from rocketwire.client.config import AccessChannel as AccessChannel
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
        LitePullConsumerConfig as LitePullConsumerConfig,
    )
    from rocketwire.client.consumer.lite.lite_pull_consumer import (
        open_lite_pull_consumer as open_lite_pull_consumer,
    )
    from rocketwire.client.consumer.pop.pop_consumer import PopConsumer as PopConsumer
    from rocketwire.client.consumer.pop.pop_consumer import PopConsumerConfig as PopConsumerConfig
    from rocketwire.client.consumer.pop.pop_consumer import open_pop_consumer as open_pop_consumer
    from rocketwire.client.consumer.push.push_consumer import PushConsumer as PushConsumer
    from rocketwire.client.consumer.push.push_consumer import (
        open_push_consumer as open_push_consumer,
    )
    from rocketwire.client.hooks import ClientHook as ClientHook
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
    from rocketwire.client.registration import BrokerIdentity as BrokerIdentity
    from rocketwire.client.registration import Registration as Registration
    from rocketwire.client.registration import RegistrationSettings as RegistrationSettings
    from rocketwire.client.registration import open_registration as open_registration
    from rocketwire.client.send_result import SendResult as SendResult
    from rocketwire.client.signals import wait_for_signal as wait_for_signal
    from rocketwire.client.telemetry.otel import OpenTelemetryHook as OpenTelemetryHook
    from rocketwire.client.telemetry.prometheus import PrometheusHook as PrometheusHook
    from rocketwire.policy.retry import SendStatus as SendStatus

offer_names(
    __name__,
    {
        ".config": "AccessChannel ClientConfig Credentials",
        ".consumer.config": "ConsumeConcurrentlyContext ConsumeConcurrentlyStatus "
        "ConsumeOrderlyContext ConsumeOrderlyStatus PushConsumerConfig",
        ".instance.instance": "ClientInstance open_client",
        ".consumer.lite.lite_pull_consumer": "LitePullConsumer LitePullConsumerConfig "
        "open_lite_pull_consumer",
        ".message": "Message",
        ".net.nameservers": "NameServers",
        ".net.pool": "ChannelPool open_pool",
        ".consumer.pop.pop_consumer": "PopConsumer PopConsumerConfig open_pop_consumer",
        ".producer.producer": "Producer",
        ".producer.lifecycle": "open_producer",
        ".publish.config": "ProducerConfig",
        ".consumer.push.push_consumer": "PushConsumer open_push_consumer",
        ".registration": "BrokerIdentity Registration RegistrationSettings open_registration",
        ".hooks": "ClientHook",
        ".telemetry.otel": "OpenTelemetryHook",
        ".telemetry.prometheus": "PrometheusHook",
        ".producer.request_reply": "create_reply",
        ".producer.transactions": "LocalTransactionState TransactionSendResult",
        ".send_result": "SendResult",
        "rocketwire.policy.retry": "SendStatus",
        ".signals": "wait_for_signal",
    },
    extras={"OpenTelemetryHook": "otel", "PrometheusHook": "observe"},
)
