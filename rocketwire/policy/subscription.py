"""Subscriptions: filter expressions, and the client's exact filter of tags.

The broker filters tags by hash code, so it also sends tags with the same code; the client drops
them.  The broker alone evaluates SQL92.

Java: ``FilterAPI``, ``PullAPIWrapper.processPullResult``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, Protocol, TypeVar

from rocketwire.errors import LocalProtocolError
from rocketwire.messages.heartbeat import SubscriptionData
from rocketwire.policy.java_strings import split, string_hash, trim

TAG: Final = "TAG"
SQL92: Final = "SQL92"
# An operator of SQL92 between spaces, or before a number or a text: no tag has one
_SQL: Final = re.compile(
    r"\s(?:<>|[<>]=?|=|IS|IN|LIKE|BETWEEN|CONTAINS)\s|^\s*NOT\s|\w(?:<>|[<>]=?|=)\s*(?:\d|')", re.I
)
SUB_ALL: Final = "*"  # expression that matches every message
TAGS: Final = "TAGS"  # property with a message's tag


class Tagged(Protocol):
    @property
    def properties(self) -> Mapping[str, str | None] | None:
        """The message's properties."""
        ...


M = TypeVar("M", bound=Tagged)


def subscription_data(
    topic: str, expression: str | None = None, *, expression_type: str | None = None, version: int
) -> SubscriptionData:
    """Return the broker's form of a subscription.

    Args:
        expression: tags as ``a || b``; None, an empty text or ``*`` for all. Other types: any text.
        expression_type: ``TAG`` or None, ``SQL92``, or another type that the broker supports.
        version: grows with each change; milliseconds since 1970 in Java.

    Raises:
        LocalProtocolError: a tag expression without a tag, or another type without an expression.
    """
    if expression_type is not None and expression_type != TAG:
        if not expression:
            raise LocalProtocolError(f"an expression of type {expression_type} is missing")
        return SubscriptionData(
            topic=topic, sub_string=expression, expression_type=expression_type, sub_version=version
        )
    if not expression or expression == SUB_ALL:
        return SubscriptionData(topic=topic, sub_string=SUB_ALL, sub_version=version)
    parts = split(expression, "||")
    if not parts:
        raise LocalProtocolError(f"no tag in {expression!r}")
    tags = tuple(dict.fromkeys(tag for tag in map(trim, parts) if tag))
    codes = tuple(dict.fromkeys(map(string_hash, tags)))
    return SubscriptionData(
        topic=topic, sub_string=expression, tags_set=tags, code_set=codes, sub_version=version
    )


def looks_like_sql(expression: str) -> bool:
    """Return whether a text for tags is SQL92: no message has such a tag."""
    return _SQL.search(expression) is not None


def with_version(subscription: SubscriptionData, version: int) -> SubscriptionData:
    """Return the subscription with a new version, which brokers require after a rebalance."""
    return replace(subscription, sub_version=version)


def matches_tags(subscription: SubscriptionData, message: Tagged) -> bool:
    """Return whether a message has a tag of the subscription."""
    if not subscription.tags_set or subscription.class_filter_mode:
        return True
    return (message.properties or {}).get(TAGS) in subscription.tags_set


def filter_tags(subscription: SubscriptionData, messages: Iterable[M]) -> list[M]:
    """Return the messages that have a tag of the subscription, in order."""
    if not subscription.tags_set or subscription.class_filter_mode:
        return list(messages)
    tags = frozenset(subscription.tags_set)
    return [message for message in messages if (message.properties or {}).get(TAGS) in tags]
