"""Attributes of spans for messages and brokers; names of ``semantic_conventions``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from rocketwire.client.addresses import split_address
from rocketwire.client.telemetry import semantic_conventions as names
from rocketwire.messages import message_const as const
from rocketwire.wire.message.properties import split_keys

if TYPE_CHECKING:
    from rocketwire.client.message import Message
    from rocketwire.wire.message.stored import StoredMessage

Attributes: TypeAlias = dict[str, str | int | Sequence[str]]

MAX_SERVERS: Final = 256  # brokers whose attributes are kept


@lru_cache(MAX_SERVERS)
def server_attributes(address: str | None) -> Attributes:
    if address is None:
        return {}
    host, port = split_address(address)
    return {names.SERVER_ADDRESS: host, names.SERVER_PORT: port}


def message_attributes(messages: Sequence[Message]) -> Attributes:
    if len(messages) > 1:
        return {names.MESSAGING_BATCH_MESSAGE_COUNT: len(messages)}
    message = messages[0]
    attributes: Attributes = {}
    message_type = "normal"
    if message.tags:
        attributes[names.MESSAGING_ROCKETMQ_MESSAGE_TAG] = message.tags
    if message.keys:
        attributes[names.MESSAGING_ROCKETMQ_MESSAGE_KEYS] = split_keys(message.joined_keys)
    if message.sharding_key:
        message_type = "fifo"
        attributes[names.MESSAGING_ROCKETMQ_MESSAGE_GROUP] = message.sharding_key
    if message.is_delayed:
        message_type = "delay"
        if message.delay_level:
            attributes[names.MESSAGING_ROCKETMQ_MESSAGE_DELAY_TIME_LEVEL] = message.delay_level
        if message.deliver_millis is not None:
            attributes[names.MESSAGING_ROCKETMQ_MESSAGE_DELIVERY_TIMESTAMP] = message.deliver_millis
    if const.TRANSACTION_PREPARED in message.system:
        message_type = "transaction"
    attributes[names.MESSAGING_ROCKETMQ_MESSAGE_TYPE] = message_type
    return attributes


def stored_attributes(messages: Sequence[StoredMessage]) -> Attributes:
    if len(messages) != 1:
        return {names.MESSAGING_BATCH_MESSAGE_COUNT: len(messages)}
    message = messages[0]
    properties = message.properties or {}
    attributes: Attributes = {
        names.MESSAGING_MESSAGE_ID: message.msg_id,
        names.MESSAGING_DESTINATION_PARTITION_ID: str(message.queue_id),
    }
    if tags := properties.get(const.TAGS):
        attributes[names.MESSAGING_ROCKETMQ_MESSAGE_TAG] = tags
    if keys := properties.get(const.KEYS):
        attributes[names.MESSAGING_ROCKETMQ_MESSAGE_KEYS] = split_keys(keys)
    return attributes
