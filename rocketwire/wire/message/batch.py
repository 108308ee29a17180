"""The body of a batch: a sequence of messages; the request has topic, queue and times.

It is sent with SEND_BATCH_MESSAGE, and is the body of a stored *inner batch*.  Each message has
only flag, body and properties; magic number and checksum are zero and ignored.  Java ignores the
size too; here it must match the message (Java: ``MessageDecoder.encodeMessages``,
``decodeMessages``).
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final

from rocketwire.errors import CodecError, DecodeError, EncodeError, LimitExceededError
from rocketwire.wire.layouts.fused import build_batch, parse_batch, parse_length
from rocketwire.wire.message.properties import decode_properties, encode_properties
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Maximum messages of a batch; fewer messages with keys fit into Java's 4 MiB
MAX_BATCH_MESSAGES: Final = 65_536
MAX_BATCH_PROPERTIES: Final = 262_144  # maximum properties of all messages of a batch


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchMessage:
    """A message of a batch (Java: ``Message``)."""

    body: bytes  #: the body, possibly empty
    flag: int = 0  #: flag of the application, int32
    #: the properties; those without a value are not written
    properties: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])


def encode_batch(messages: Iterable[BatchMessage]) -> bytes:
    """Encode the body of a batch.

    Raises:
        EncodeError: a flag exceeds int32, or properties exceed 32767 bytes.
    """
    return b"".join(_encode(index, message) for index, message in enumerate(messages))


def decode_batch(
    data: bytes,
    *,
    max_messages: int = MAX_BATCH_MESSAGES,
    max_properties: int = MAX_BATCH_PROPERTIES,
) -> tuple[BatchMessage, ...]:
    """Decode the messages of a batch.

    Args:
        data: the whole body.
        max_messages: maximum number of messages.
        max_properties: maximum number of properties of all messages.

    Raises:
        LimitExceededError: more messages or properties.
        DecodeError: truncated, or contradicting sizes.
    """
    messages: list[BatchMessage] = []
    position, properties_left = 0, max_properties
    while position < len(data):
        if len(messages) >= max_messages:
            raise limit_exceeded("messages", max_messages, position)
        (flag, body, text), end = _decode(data, position, len(messages))
        properties = decode_properties(text)
        properties_left -= len(properties)
        if properties_left < 0:
            raise limit_exceeded("properties", max_properties, position)
        messages.append(BatchMessage(body=body, flag=flag, properties=properties))
        position = end
    return tuple(messages)


def limit_exceeded(unit: str, limit: int, offset: int | None) -> LimitExceededError:
    message = f"more than {limit} {unit}"
    return LimitExceededError(message, declared=limit + 1, limit=limit, offset=offset)


def locate(error: CodecError, index: int, offset: int | None = None) -> None:
    inner = (error.path or "").removeprefix("[].")  # the layout's name of each message
    error.path = f"messages[{index}].{inner}" if inner else f"messages[{index}]"
    if error.offset is None:
        error.offset = offset


def _encode(index: int, message: BatchMessage) -> bytes:
    try:
        text = encode_properties(message.properties)
        return build_batch([(message.flag, message.body, text)])
    except EncodeError as error:
        locate(error, index)
        raise


def _decode(data: bytes, begin: int, index: int) -> tuple[tuple[int, bytes, str], int]:
    # The layout describes all messages to the end of the data. The data is cut at the message's
    # size, so that no more messages are decoded than the limit allows.
    try:
        end = begin + parse_length(data, begin)[0]
        is_complete = begin < end <= len(data)
        (fields, *_), _ = parse_batch(data, begin, end if is_complete else None)
    except DecodeError as error:
        locate(error, index, begin)
        raise
    return fields, end
