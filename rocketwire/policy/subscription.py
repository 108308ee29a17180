"""What a consumer wants of a topic: expressions, and the exact filter after the broker's rough one.

The broker filters tags by hash code, so other tags with the same code come along; the client drops them.  Of SQL92 the client
knows nothing: the broker filters alone.

Java: ``FilterAPI``, ``PullAPIWrapper.processPullResult``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from rocketwire.errors import LocalProtocolError
from rocketwire.messages.heartbeat import SubscriptionData
from rocketwire.policy.java_strings import split, string_hash, trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TAG: Final = "TAG"
SQL92: Final = "SQL92"
SUB_ALL: Final = "*"
"""Expression that takes everything."""

TAGS: Final = "TAGS"
"""Property that holds a message's tag."""


class Tagged(Protocol):
    """What can be filtered."""

    @property
    def properties(self) -> Mapping[str, str | None] | None:
        """The message's properties."""
        ...


M = TypeVar("M", bound=Tagged)


def subscription_data(
    topic: str, expression: str | None = None, *, expression_type: str | None = None, version: int
) -> SubscriptionData:
    """What is told the broker about a subscription.

    Args:
        topic: of which topic.
        expression: tags as ``a || b``; None, nothing or ``*`` for all; of other types whatever they are.
        expression_type: ``TAG`` or None, ``SQL92``, or another that the broker knows.
        version: grows with each change, milliseconds since 1970 in Java.

    Raises:
        LocalProtocolError: a tag expression of separators only, or no expression of another type.
    """
    if expression_type is not None and expression_type != TAG:
        if not expression:
            raise LocalProtocolError(f"an expression of type {expression_type} is missing")
        return SubscriptionData(
            topic=topic,
            sub_string=expression,
            expression_type=expression_type,
            sub_version=version,
        )
    if not expression or expression == SUB_ALL:
        return SubscriptionData(topic=topic, sub_string=SUB_ALL, sub_version=version)
    pieces = split(expression, "||")
    if not pieces:
        raise LocalProtocolError(f"no tag in {expression!r}")
    tags = tuple(dict.fromkeys(tag for tag in map(trim, pieces) if tag))
    codes = tuple(dict.fromkeys(map(string_hash, tags)))
    return SubscriptionData(
        topic=topic, sub_string=expression, tags_set=tags, code_set=codes, sub_version=version
    )


def with_version(subscription: SubscriptionData, version: int) -> SubscriptionData:
    """The same subscription, said anew: after a change of queues brokers only take newer ones."""
    return replace(subscription, sub_version=version)


def is_wanted(subscription: SubscriptionData, message: Tagged) -> bool:
    """Whether a message that the broker let through was meant."""
    if not subscription.tags_set or subscription.class_filter_mode:
        return True
    return (message.properties or {}).get(TAGS) in subscription.tags_set


def wanted(subscription: SubscriptionData, messages: Iterable[M]) -> list[M]:
    """The messages that were meant, in order.

    The offset goes on behind the others too; what is committed is not this function's business.
    """
    if not subscription.tags_set or subscription.class_filter_mode:
        return list(messages)
    tags = frozenset(subscription.tags_set)
    return [one for one in messages if (one.properties or {}).get(TAGS) in tags]
