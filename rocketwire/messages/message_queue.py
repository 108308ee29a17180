"""The queue as a value: member of many bodies, and key of many maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.messages._fields import INT, LONG, STRING, enumeration, mapping, member, record
from rocketwire.messages.enums import MessageRequestMode
from rocketwire.wire.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueue:
    """One queue of a topic on one broker.

    Java: ``common.message.MessageQueue``.
    """

    broker_name: str | None = member(STRING)
    queue_id: int = member(INT)
    topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueueForC:
    """A queue with an offset, in the form that clients in C++ read.

    Java: ``common.message.MessageQueueForC``.
    """

    broker_name: str | None = member(STRING)
    offset: int = member(LONG)
    queue_id: int = member(INT)
    topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueueAssignment:
    """A queue that a consumer got, and how it is to ask for its messages.

    Java: ``common.message.MessageQueueAssignment``.
    """

    attachments: Mapping[str, str] | None = member(mapping(STRING, STRING))
    message_queue: MessageQueue | None = member(record(MessageQueue))
    mode: MessageRequestMode | str | None = member(
        enumeration(MessageRequestMode), default=MessageRequestMode.PULL
    )
