"""The thread in which trio runs for programs without trio: one per process.

``rocketwire.sync`` and ``rocketwire.aio`` stand on it. A facade opens a client of
``rocketwire.client`` here (``resources``) and calls its methods (``calls``). Calls and results
cross in batches: many calls wake trio once, and many results wake a loop of asyncio once.
"""

from typing import Final

# The names of both facades, by their modules.
FACADE_NAMES: Final = {
    ".client": "Client open_client",
    ".producer": "Producer open_producer",
    ".push_consumer": "PushConsumer open_push_consumer",
    ".pop_consumer": "PopConsumer open_pop_consumer",
    ".lite_pull_consumer": "LitePullConsumer open_lite_pull_consumer",
    ".admin": "Admin open_admin NameServers open_name_servers",
    ".opening": "wait_for_signal",
    "rocketwire.client": "AccessChannel ClientConfig ClientHook ConsumeConcurrentlyContext "
    "ConsumeConcurrentlyStatus ConsumeOrderlyContext ConsumeOrderlyStatus Credentials "
    "LitePullConsumerConfig LocalTransactionState Message OpenTelemetryHook PopConsumerConfig "
    "ProducerConfig PrometheusHook PushConsumerConfig SendResult SendStatus TransactionSendResult "
    "create_reply",
}
