"""The names of both facades, by their modules."""

from typing import Final

FACADE_NAMES: Final = {
    ".client": "Client open_client",
    ".producer": "Producer open_producer",
    ".push_consumer": "PushConsumer open_push_consumer",
    ".pop_consumer": "PopConsumer open_pop_consumer",
    ".lite_pull_consumer": "LitePullConsumer open_lite_pull_consumer",
    ".admin": "Admin open_admin",
    ".name_servers": "NameServers open_name_servers",
    ".signals": "wait_for_signal",
    "rocketwire.client": "AccessChannel ClientConfig ClientHook ConsumeConcurrentlyContext "
    "ConsumeConcurrentlyStatus ConsumeOrderlyContext ConsumeOrderlyStatus Credentials "
    "LitePullConsumerConfig LocalTransactionState Message OpenTelemetryHook PopConsumerConfig "
    "ProducerConfig PrometheusHook PushConsumerConfig SendResult SendStatus TransactionSendResult "
    "create_reply",
}
