"""Batches: several messages in one request, and lists of messages split into batches.

Java: ``MessageBatch``, ``DefaultMQProducer.batch``; there, the application splits the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rocketwire.client.publish.request_builder import OutgoingMessage, encode_checked_properties
from rocketwire.codes import RequestCode
from rocketwire.errors import IllegalMessageError
from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import is_retry_topic
from rocketwire.policy.validation import check_message
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.properties import encode_properties

if TYPE_CHECKING:
    from rocketwire.client.message import Message
    from rocketwire.client.publish.config import ProducerConfig
    from rocketwire.client.publish.unique_keys import UniqueKeys

_BATCH: Final = int(RequestCode.SEND_BATCH_MESSAGE)


def check_batch(messages: Sequence[Message], config: ProducerConfig) -> None:
    """Check that messages can form a batch.

    Raises:
        IllegalMessageError: there is no message; the messages differ in topic or
            ``wait_store_msg_ok``; or one is delayed, transactional or invalid.
        IllegalNameError: the topic is invalid, forbidden, or a retry topic.
    """
    if not messages:
        raise IllegalMessageError("a batch must contain at least one message")
    first = messages[0]
    for message in messages:
        if message.topic != first.topic:
            raise IllegalMessageError("all messages of a batch must have the same topic")
        if message.wait_store_msg_ok != first.wait_store_msg_ok:
            raise IllegalMessageError(
                "all messages of a batch must have the same wait_store_msg_ok"
            )
        if message.is_delayed:
            raise IllegalMessageError("a batch cannot contain a delayed message")
        if const.TRANSACTION_PREPARED in message.system:
            raise IllegalMessageError("a batch cannot contain a transactional message")
        check_message(
            message.topic, message.body, message.properties, max_size=config.max_message_size
        )
    if is_retry_topic(first.topic):
        raise IllegalMessageError("a batch cannot be sent to a retry topic")


def build_outgoing_batch(
    messages: Sequence[Message],
    keys: UniqueKeys,
    born: int,
    config: ProducerConfig,
    namespace: str = "",
    *,
    has_unique_key: bool = True,
) -> OutgoingMessage:
    """Build the request parts of a batch that ``check_batch`` has accepted.

    Brokers that store a batch as one message want a unique key for it (``has_unique_key``). Those
    before 5.0 would replace the key of each message with it (Java's clients of 4.9 send none).

    Raises:
        IllegalMessageError: the batch exceeds ``max_message_size``, or its properties cannot be
            encoded.
    """
    unique_keys: list[str] = []
    parts: list[BatchMessage] = []
    for message in messages:
        unique_keys.append(keys.next_key())
        properties: dict[str, str | None] = {
            const.UNIQ_KEY: unique_keys[-1],
            **message.wire_properties(),
        }
        parts.append(BatchMessage(body=message.body, flag=message.flag, properties=properties))
    body = encode_batch(parts)
    if len(body) > config.max_message_size:
        raise IllegalMessageError(f"a batch of {len(body)} bytes exceeds {config.max_message_size}")
    wait = "true" if messages[0].wait_store_msg_ok else "false"
    batch_properties = {const.WAIT: wait}
    if namespace:
        batch_properties[const.INSTANCE_ID] = namespace
    if has_unique_key:
        batch_properties[const.UNIQ_KEY] = keys.next_key()
    fields = {
        "f": "0",
        "g": str(born),
        "h": "0",
        "i": encode_checked_properties(batch_properties),
        "m": "true",
    }
    return OutgoingMessage(_BATCH, ",".join(unique_keys), body, fields)


# Bytes of a message in a batch, without body and properties but with unique key
MESSAGE_OVERHEAD: Final = 128


def split_into_batches(messages: Sequence[Message], max_size: int) -> Iterator[Sequence[Message]]:
    """Yield parts of a list that fit into a batch; a larger message is a part of its own."""
    start, size = 0, 0
    for index, message in enumerate(messages):
        properties = encode_properties(message.wire_properties())
        message_size = MESSAGE_OVERHEAD + len(message.body) + len(properties.encode())
        if index > start and size + message_size > max_size:
            yield messages[start:index]
            start, size = index, 0
        size += message_size
    if start < len(messages):
        yield messages[start:]
