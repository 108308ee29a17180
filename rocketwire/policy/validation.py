"""What a client refuses before anything is sent, as Java's does.

Java: ``Validators``, ``TopicValidator``, ``Message.putUserProperty``, ``MessageBatch.generateFromList``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rocketwire.errors import IllegalMessageError, IllegalNameError, IllegalTypeError
from rocketwire.messages import message_const
from rocketwire.policy.java_strings import trim
from rocketwire.policy.resource_names import (
    SEND_FORBIDDEN_TOPICS,
    is_dlq_topic,
    is_retry_topic,
    is_system_topic,
)
from rocketwire.wire.message.properties import NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TOPIC_LENGTH: Final = 127
MAX_GROUP_LENGTH: Final = 120
MAX_RETRY_TOPIC_LENGTH: Final = 255
"""Also of dead-letter topics; by the broker's measure, a client never sends to one that is longer than 127."""

DEFAULT_MAX_MESSAGE_SIZE: Final = 4 << 20
"""Bytes of a body before it is compressed (``maxMessageSize``)."""

RESERVED_PRODUCER_GROUP: Final = "DEFAULT_PRODUCER"
RESERVED_CONSUMER_GROUP: Final = "DEFAULT_CONSUMER"

_LEGAL: Final = re.compile("[%|a-zA-Z0-9_-]*")


@lru_cache(maxsize=1024)  # of good names; each message has one
def check_topic(topic: str) -> None:
    """A name that can be a topic's.

    Raises:
        IllegalTypeError: not a text.
        IllegalNameError: blank, longer than 127, or with other characters than letters, digits and ``%|_-``.
    """
    _check("topic", topic, MAX_TOPIC_LENGTH)


def check_group(group: str) -> None:
    """A name that can be a group's.

    Raises:
        IllegalTypeError: not a text.
        IllegalNameError: blank, longer than 120, or with other characters than letters, digits and ``%|_-``.
    """
    _check("group", group, MAX_GROUP_LENGTH)


def check_producer_group(group: str) -> None:
    """As ``check_group``, and not the name that stands for no choice."""
    check_group(group)
    if group == RESERVED_PRODUCER_GROUP:
        raise IllegalNameError(f"{group} cannot be a producer group of yours")


def check_consumer_group(group: str) -> None:
    """As ``check_group``, and not the name that stands for no choice."""
    check_group(group)
    if group == RESERVED_CONSUMER_GROUP:
        raise IllegalNameError(f"{group} cannot be a consumer group of yours")


def check_topic_for_broker(topic: str) -> None:
    """A name that a broker takes: as ``check_topic``, but retry and dead-letter topics may be longer."""
    special = is_retry_topic(topic) or is_dlq_topic(topic)
    _check("topic", topic, MAX_RETRY_TOPIC_LENGTH if special else MAX_TOPIC_LENGTH)


def check_not_system_topic(topic: str) -> None:
    """A name that may be created.

    Raises:
        IllegalNameError: it is the system's.
    """
    if is_system_topic(topic):
        raise IllegalNameError(f"topic {topic} is the system's")


def check_message(
    topic: str,
    body: bytes | None,
    properties: Mapping[str, str | None] | None = None,
    *,
    max_size: int = DEFAULT_MAX_MESSAGE_SIZE,
) -> None:
    """A message that can be sent.

    Args:
        topic: where to.
        body: its body, not compressed.
        properties: all of its properties.
        max_size: most bytes of the body.

    Raises:
        IllegalNameError: the topic is no name, or nobody may send there.
        IllegalMessageError: no body, a body too large, or a slash in the names of the queues to dispatch to.
    """
    check_topic(topic)
    if topic in SEND_FORBIDDEN_TOPICS:
        raise IllegalNameError(f"nobody may send to {topic}")
    if not body:
        raise IllegalMessageError("the body is empty")
    if len(body) > max_size:
        raise IllegalMessageError(f"a body of {len(body)} bytes is larger than {max_size}")
    if "/" in ((properties or {}).get(message_const.INNER_MULTI_DISPATCH) or ""):
        raise IllegalMessageError("no queue to dispatch to has a slash in its name")


def check_user_property(name: str, value: str | None) -> None:
    """A property that an application may set.

    Raises:
        IllegalMessageError: the name is reserved, either is empty, or either has a separator in it, which would make another
            property of its rest (Java lets that happen).
    """
    if name in message_const.RESERVED:
        raise IllegalMessageError(f"property {name} is set by the client or the broker alone")
    if not trim(name) or value is None or not trim(value):
        raise IllegalMessageError(f"property {name!r}: neither name nor value can be blank")
    if any(
        mark in text
        for mark in (NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR)
        for text in (name, value)
    ):
        raise IllegalMessageError(
            f"property {name!r}: neither name nor value can hold \\x01 or \\x02"
        )


def _check(kind: str, name: object, longest: int) -> None:
    if not isinstance(name, str):
        raise IllegalTypeError(f"{kind}: expected a text (str), got {name!r:.80}")
    if not name.strip():
        raise IllegalNameError(f"the {kind} is blank")
    if len(name) > longest:
        raise IllegalNameError(f"a {kind} of {len(name)} characters is longer than {longest}")
    if not _LEGAL.fullmatch(name):
        raise IllegalNameError(f"{kind} {name!r}: only letters, digits and %|_- are allowed")
