"""Names of https://opentelemetry.io/docs/specs/semconv/messaging/, whose package is not stable."""

from __future__ import annotations

from typing import Final

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.44.0"

# Environment variable that selects the names: a list, separated by commas
STABILITY_OPT_IN: Final = "OTEL_SEMCONV_STABILITY_OPT_IN"
# Word in that list that adds the names which Java's instrumentation uses
MESSAGING_DUP: Final = "messaging/dup"

# ------------------------------------------------------------------------ attributes

MESSAGING_SYSTEM: Final = "messaging.system"
MESSAGING_OPERATION_NAME: Final = "messaging.operation.name"
MESSAGING_OPERATION_TYPE: Final = "messaging.operation.type"
MESSAGING_DESTINATION_NAME: Final = "messaging.destination.name"
MESSAGING_DESTINATION_PARTITION_ID: Final = "messaging.destination.partition.id"
MESSAGING_CONSUMER_GROUP_NAME: Final = "messaging.consumer.group.name"
MESSAGING_CLIENT_ID: Final = "messaging.client.id"
MESSAGING_MESSAGE_ID: Final = "messaging.message.id"
MESSAGING_BATCH_MESSAGE_COUNT: Final = "messaging.batch.message_count"
MESSAGING_ROCKETMQ_NAMESPACE: Final = "messaging.rocketmq.namespace"
MESSAGING_ROCKETMQ_MESSAGE_TAG: Final = "messaging.rocketmq.message.tag"
MESSAGING_ROCKETMQ_MESSAGE_KEYS: Final = "messaging.rocketmq.message.keys"
MESSAGING_ROCKETMQ_MESSAGE_TYPE: Final = "messaging.rocketmq.message.type"
MESSAGING_ROCKETMQ_MESSAGE_GROUP: Final = "messaging.rocketmq.message.group"
MESSAGING_ROCKETMQ_MESSAGE_DELAY_TIME_LEVEL: Final = "messaging.rocketmq.message.delay_time_level"
MESSAGING_ROCKETMQ_MESSAGE_DELIVERY_TIMESTAMP: Final = (
    "messaging.rocketmq.message.delivery_timestamp"
)
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"
ERROR_TYPE: Final = "error.type"

MESSAGING_OPERATION: Final = "messaging.operation"  # deprecated; Java's instrumentation has it
# Deprecated; Java's instrumentation has it
MESSAGING_ROCKETMQ_CLIENT_GROUP: Final = "messaging.rocketmq.client_group"
ROCKETMQ: Final = "rocketmq"  # value of ``MESSAGING_SYSTEM``

# ------------------------------------------------------------------------ metrics

MESSAGING_CLIENT_OPERATION_DURATION: Final = "messaging.client.operation.duration"
MESSAGING_CLIENT_SENT_MESSAGES: Final = "messaging.client.sent.messages"
MESSAGING_CLIENT_CONSUMED_MESSAGES: Final = "messaging.client.consumed.messages"
MESSAGING_PROCESS_DURATION: Final = "messaging.process.duration"

# Bounds in seconds of the buckets of durations
DURATION_BUCKETS: Final = (
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
)  # fmt: skip
