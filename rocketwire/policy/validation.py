"""Checks of names and messages before a client sends them, as in Java's client.

Java: ``Validators``, ``TopicValidator``, ``Message.putUserProperty``,
``MessageBatch.generateFromList``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from rocketwire.errors import IllegalMessageError, IllegalNameError, IllegalTypeError
from rocketwire.messages import message_const
from rocketwire.policy.java_strings import trim
from rocketwire.policy.resource_names import (
    SEND_FORBIDDEN_TOPICS,
    is_dlq_topic,
    is_retry_topic,
)
from rocketwire.wire.message.properties import NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR

MAX_TOPIC_LENGTH: Final = 127
MAX_GROUP_LENGTH: Final = 120
# Broker's limit for retry and dead-letter topics; clients only send to topics up to 127
MAX_RETRY_TOPIC_LENGTH: Final = 255
# Maximum bytes of a body before compression (``maxMessageSize``)
DEFAULT_MAX_MESSAGE_SIZE: Final = 4 << 20

RESERVED_PRODUCER_GROUP: Final = "DEFAULT_PRODUCER"
RESERVED_CONSUMER_GROUP: Final = "DEFAULT_CONSUMER"

_LEGAL: Final = re.compile("[%|a-zA-Z0-9_-]*")


@lru_cache(maxsize=1024)  # valid names only; each message has one
def check_topic(topic: str) -> None:
    """Check the name of a topic.

    Raises:
        IllegalTypeError: not a text.
        IllegalNameError: blank, longer than 127, or characters other than letters, digits,
            ``%|_-``.
    """
    _check("topic", topic, MAX_TOPIC_LENGTH)


def check_group(group: str) -> None:
    """Check the name of a group.

    Raises:
        IllegalTypeError: not a text.
        IllegalNameError: blank, longer than 120, or characters other than letters, digits,
            ``%|_-``.
    """
    _check("group", group, MAX_GROUP_LENGTH)


def check_producer_group(group: str) -> None:
    check_group(group)
    if group == RESERVED_PRODUCER_GROUP:
        raise IllegalNameError(f"{group} is reserved: choose another producer group")


def check_consumer_group(group: str) -> None:
    check_group(group)
    if group == RESERVED_CONSUMER_GROUP:
        raise IllegalNameError(f"{group} is reserved: choose another consumer group")


def check_topic_for_broker(topic: str) -> None:
    """Check a topic as brokers do: as ``check_topic``, with longer retry and dead-letter topics."""
    special = is_retry_topic(topic) or is_dlq_topic(topic)
    _check("topic", topic, MAX_RETRY_TOPIC_LENGTH if special else MAX_TOPIC_LENGTH)


def check_message(
    topic: str,
    body: bytes | None,
    properties: Mapping[str, str | None] | None = None,
    *,
    max_size: int = DEFAULT_MAX_MESSAGE_SIZE,
) -> None:
    """Check a message before it is sent.

    Args:
        topic: its topic.
        body: its uncompressed body.
        properties: all of its properties.
        max_size: most bytes of the body.

    Raises:
        IllegalNameError: the topic is invalid, or clients must not send to it.
        IllegalMessageError: no body, too large a body, or a slash in a queue to dispatch to.
    """
    check_topic(topic)
    if topic in SEND_FORBIDDEN_TOPICS:
        raise IllegalNameError(f"clients must not send to {topic}")
    if not body:
        raise IllegalMessageError("the body is empty")
    if len(body) > max_size:
        raise IllegalMessageError(f"a body of {len(body)} bytes is larger than {max_size}")
    if "/" in ((properties or {}).get(message_const.INNER_MULTI_DISPATCH) or ""):
        raise IllegalMessageError("a queue to dispatch to has a slash in its name")


def check_user_property(name: str, value: str | None) -> None:
    """Check a property that an application sets.

    Raises:
        IllegalMessageError: the name is reserved, or the name or the value is blank or contains a
            separator.  Java does not check separators; the text after one would be a new property.
    """
    if name in message_const.RESERVED:
        raise IllegalMessageError(f"property {name} is reserved: the client or the broker sets it")
    if not trim(name) or value is None or not trim(value):
        raise IllegalMessageError(f"property {name!r}: name and value must not be blank")
    if any(
        mark in text
        for mark in (NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR)
        for text in (name, value)
    ):
        raise IllegalMessageError(
            f"property {name!r}: name and value must not contain \\x01 or \\x02"
        )


def _check(label: str, name: object, limit: int) -> None:
    if not isinstance(name, str):
        raise IllegalTypeError(f"{label}: expected a text (str), got {name!r:.80}")
    if not name.strip():
        raise IllegalNameError(f"the {label} is blank")
    if len(name) > limit:
        raise IllegalNameError(f"a {label} of {len(name)} characters is longer than {limit}")
    if not _LEGAL.fullmatch(name):
        raise IllegalNameError(f"{label} {name!r}: only letters, digits and %|_- are allowed")
