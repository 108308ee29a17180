"""Several messages: in one request, in batches of a size, or each in its own request.

Java: ``MessageBatch``, ``DefaultMQProducer.batch``; there, the application splits the list.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.publish.request_builder import OutgoingMessage, encode_checked_properties
from rocketwire.codes import RequestCode
from rocketwire.errors import IllegalMessageError, RocketWireError, SendManyError
from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import is_retry_topic
from rocketwire.policy.validation import check_message
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.properties import encode_properties

if TYPE_CHECKING:
    from rocketwire.client.message import Message
    from rocketwire.client.publish.config import ProducerConfig
    from rocketwire.client.publish.unique_keys import UniqueKeys
    from rocketwire.client.send_result import SendResult

_BATCH: Final = int(RequestCode.SEND_BATCH_MESSAGE)


def check_batch(messages: Sequence[Message], config: ProducerConfig) -> None:
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
    # Brokers that store a batch as one message want a unique key for it. Those before 5.0 would
    # replace the key of each message with it (Java's clients of 4.9 send none).
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


IN_FLIGHT: Final = 64  # maximum messages of a call that wait for the broker


async def send_many(
    messages: Sequence[Message], send: Callable[[Message], Awaitable[SendResult]]
) -> list[SendResult]:
    results: list[SendResult | RocketWireError | None] = [None] * len(messages)
    numbers = iter(range(len(messages)))
    failed = False

    async def send_some() -> None:
        nonlocal failed
        for number in numbers:
            try:
                results[number] = await send(messages[number])
            except RocketWireError as error:
                results[number] = error
                failed = True

    async with trio.open_nursery() as nursery:
        for _ in range(min(IN_FLIGHT, len(messages))):
            nursery.start_soon(send_some)
    complete = [result for result in results if result is not None]
    sent = [result for result in complete if not isinstance(result, RocketWireError)]
    if failed:
        raise SendManyError(complete)
    return sent
