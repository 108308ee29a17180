"""The message queue, a member of many bodies and key of many maps."""

from __future__ import annotations

from rocketwire.messages._codec.fields import INT, LONG, STRING, member
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueue:
    """A queue of a topic on a broker. Java: ``common.message.MessageQueue``."""

    broker_name: str | None = member(STRING)
    queue_id: int = member(INT)
    topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueueForC:
    """A queue with an offset, in the form that C++ clients read.
    Java: ``common.message.MessageQueueForC``."""

    broker_name: str | None = member(STRING)
    offset: int = member(LONG)
    queue_id: int = member(INT)
    topic: str | None = member(STRING)
