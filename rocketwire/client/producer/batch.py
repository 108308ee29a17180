"""Several messages in one request, and many messages in as few requests as they fit.

Java: ``MessageBatch``, ``DefaultMQProducer.batch``; splitting is left to the application there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.producer.request_builder import Outgoing, checked_properties
from rocketwire.codes import RequestCode
from rocketwire.errors import IllegalMessageError
from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import is_retry_topic
from rocketwire.policy.validation import check_message
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.properties import encode_properties

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire.client.message import Message
    from rocketwire.client.producer.config import ProducerConfig
    from rocketwire.client.producer.unique_keys import UniqueKeys

_BATCH: Final = int(RequestCode.SEND_BATCH_MESSAGE)


def check_batch(messages: Sequence[Message], config: ProducerConfig) -> None:
    """Messages that can be one batch.

    Raises:
        IllegalMessageError: none at all, of different topics, delayed, transactional, not all to be
            waited for; or one of them cannot be sent.
        IllegalNameError: nobody may send there, or it is a retry topic.
    """
    if not messages:
        raise IllegalMessageError("a batch of nothing")
    first = messages[0]
    for message in messages:
        if message.topic != first.topic:
            raise IllegalMessageError("the messages of a batch are of one topic")
        if message.wait_store_msg_ok != first.wait_store_msg_ok:
            raise IllegalMessageError("of a batch all messages are waited for, or none")
        if message.is_delayed:
            raise IllegalMessageError("a delayed message cannot be in a batch")
        if const.TRANSACTION_PREPARED in message.system:
            raise IllegalMessageError("a transactional message cannot be in a batch")
        check_message(
            message.topic, message.body, message.properties, max_size=config.max_message_size
        )
    if is_retry_topic(first.topic):
        raise IllegalMessageError("messages to be retried cannot be in a batch")


def outgoing_batch(
    messages: Sequence[Message],
    keys: UniqueKeys,
    born: int,
    config: ProducerConfig,
    namespace: str = "",
    *,
    named: bool = True,
) -> Outgoing:
    """A batch, ready; its messages are checked by ``check_batch`` already.

    Args:
        messages: of one topic.
        keys: gives each its unique key.
        born: the time now, milliseconds since 1970.
        config: of the producer.
        namespace: of the first kind.
        named: whether the batch has a unique key too, by which it is found where it is stored as
            one message.  Brokers before 5.0 never do that, but give the key to each message, in the
            place of its own (Java's clients of 4.9 send none).

    Raises:
        IllegalMessageError: larger than ``max_message_size`` altogether, or properties that cannot
            be written.
    """
    ids: list[str] = []
    parts: list[BatchMessage] = []
    for message in messages:
        ids.append(keys.next_key())
        properties: dict[str, str | None] = {const.UNIQ_KEY: ids[-1], **message.wire_properties()}
        if namespace:
            properties[const.INSTANCE_ID] = namespace
        parts.append(BatchMessage(body=message.body, flag=message.flag, properties=properties))
    body = encode_batch(parts)
    if len(body) > config.max_message_size:
        raise IllegalMessageError(f"a batch of {len(body)} bytes exceeds {config.max_message_size}")
    wait = "true" if messages[0].wait_store_msg_ok else "false"
    shared = {const.WAIT: wait, const.UNIQ_KEY: keys.next_key()} if named else {const.WAIT: wait}
    own = {
        "f": "0",
        "g": str(born),
        "h": "0",
        "i": checked_properties(shared),
        "m": "true",
    }
    return Outgoing(_BATCH, ",".join(ids), body, own)


KEY_SIZE: Final = 128
"""Bytes of a message in a batch besides body and properties, its unique key and a namespace included."""


def split(messages: Sequence[Message], max_size: int) -> Iterator[Sequence[Message]]:
    """Runs of messages, each of which fits one batch.

    A message that is too large by itself is one alone.

    Args:
        messages: in the order in which they are to be stored.
        max_size: most bytes of a batch.
    """
    start, size = 0, 0
    for index, message in enumerate(messages):
        properties = encode_properties(message.wire_properties())
        more = KEY_SIZE + len(message.body) + len(properties.encode())
        if index > start and size + more > max_size:
            yield messages[start:index]
            start, size = index, 0
        size += more
    if start < len(messages):
        yield messages[start:]
