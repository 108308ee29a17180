"""The body of a batch: messages back to back; topic, queue and times are said by the request.

Sent with SEND_BATCH_MESSAGE, and kept inside one stored message as an *inner batch*.  Of each
message only flag, body and properties mean anything; magic number and checksum are written as zero
and not looked at.  Java does not look at the size either; here it has to be that of the message
(Java: ``MessageDecoder.encodeMessages``, ``decodeMessages``).
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final

from rocketwire.errors import CodecError, DecodeError, EncodeError, LimitExceededError
from rocketwire.wire.layouts.functions import build_batch, parse_batch, parse_length
from rocketwire.wire.message.properties import decode_properties, encode_properties
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocketwire.wire.layouts.functions import BatchFields

MAX_BATCH_MESSAGES: Final = 65_536
"""Most messages of one batch; the 4 MiB that Java sends at most hold fewer with their keys."""

MAX_BATCH_PROPERTIES: Final = 262_144
"""Most properties of all messages of one batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchMessage:
    """One message of a batch (Java: ``Message``).

    Attributes:
        body: may be empty.
        flag: the application's, int32.
        properties: those without a value are not written.
    """

    body: bytes
    flag: int = 0
    properties: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])


def encode_batch(messages: Iterable[BatchMessage]) -> bytes:
    """The body of a batch.

    Raises:
        EncodeError: a flag beyond int32, or properties of more than 32767 bytes.
    """
    return b"".join(_encode(index, message) for index, message in enumerate(messages))


def decode_batch(
    data: bytes,
    *,
    max_messages: int = MAX_BATCH_MESSAGES,
    max_properties: int = MAX_BATCH_PROPERTIES,
) -> tuple[BatchMessage, ...]:
    """The messages of a batch.

    Args:
        data: the body, from its first message to the end of its last.
        max_messages: most messages to read.
        max_properties: most properties of all of them.

    Raises:
        LimitExceededError: more messages or properties than that.
        DecodeError: cut short, or sizes that contradict each other.
    """
    messages: list[BatchMessage] = []
    at, properties_left = 0, max_properties
    while at < len(data):
        require(len(messages) < max_messages, "messages", max_messages, at)
        (flag, body, text), end = _one(data, at, len(messages))
        properties = decode_properties(text)
        properties_left -= len(properties)
        require(properties_left >= 0, "properties", max_properties, at)
        messages.append(BatchMessage(body=body, flag=flag, properties=properties))
        at = end
    return tuple(messages)


def require(within: bool, what: str, limit: int, offset: int | None) -> None:
    """Raises ``LimitExceededError`` unless ``within``: more than ``limit`` of ``what``."""
    if not within:
        message = f"more than {limit} {what}"
        raise LimitExceededError(message, declared=limit + 1, limit=limit, offset=offset)


def locate(error: CodecError, index: int, offset: int | None = None) -> None:
    """Lets the error tell which of several messages it is about, and where in the data that is."""
    inner = (error.path or "").removeprefix("[].")  # so the layout calls each of several
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


def _one(data: bytes, at: int, index: int) -> tuple[BatchFields, int]:
    """The message that starts at ``at``, and where it ends.

    The layout is that of all messages to the end; cut at its own size it is that of one, so that no
    more of them are made than the limit allows.
    """
    try:
        end = at + parse_length(data, at)[0]
        whole = at < end <= len(data)
        (fields, *_), _ = parse_batch(data, at, end if whole else None)
    except DecodeError as error:
        locate(error, index, at)
        raise
    return fields, end
