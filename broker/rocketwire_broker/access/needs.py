"""The needs of a request: permissions for topics and groups, or those of an administrator.

Java (5.5.0): ``DefaultAuthorizationContextBuilder``, ``RocketMQAction`` and ``RocketMQResource`` of
the header classes. Java's ``GET`` is not a permission of 4.x: an account that may send to a topic
or read it sees its figures. Java lets every account acknowledge batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from rocketwire.messages import decode_body
from rocketwire.policy.resource_names import RETRY_PREFIX
from rocketwire_broker.access.accounts import Permission

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand

T = TypeVar("T")

PUB_OR_SUB: Final = Permission.PUB | Permission.SUB
_TOPIC_FIELDS: Final = ("topic",)
_GROUP_FIELDS: Final = ("groupName", "consumerGroup", "group")


class Need(NamedTuple):
    kind: str  # ``Topic``, ``Group`` or ``Cluster``
    name: str
    permission: Permission | None  # one of these; None: that of an administrator


Needs = Callable[["RemotingCommand"], Iterator[Need]]
"""Yields what a request needs; it raises ``RocketWireError`` if the body cannot be read."""


def needs_of_topic(name: str | None, permission: Permission) -> Iterator[Need]:
    """Yield the need for a topic; a retry topic counts as its group."""
    if name and name.startswith(RETRY_PREFIX):
        yield Need("Group", name.removeprefix(RETRY_PREFIX), Permission.SUB)
    elif name:
        yield Need("Topic", name, permission)


def need_of_administrator(request: RemotingCommand, cluster: str) -> Need:
    """Return the need of a request that only administrators may send."""
    fields = request.ext_fields or {}
    for kind, names in (("Topic", _TOPIC_FIELDS), ("Group", _GROUP_FIELDS)):
        for name in names:
            if fields.get(name):
                return Need(kind, fields[name], None)
    return Need("Cluster", cluster, None)


def sends_to(field: str) -> Needs:
    """Return the needs of requests that send to the topic of a field."""

    def needs(request: RemotingCommand) -> Iterator[Need]:
        return needs_of_topic((request.ext_fields or {}).get(field), Permission.PUB)

    return needs


def reads(topic: str | None, group: str | None, permission: Permission = Permission.SUB) -> Needs:
    """Return the needs of requests whose fields name a topic, a group or both."""

    def needs(request: RemotingCommand) -> Iterator[Need]:
        fields = request.ext_fields or {}
        if topic is not None:
            yield from needs_of_topic(fields.get(topic), permission)
        if group is not None and fields.get(group):
            yield Need("Group", fields[group], Permission.SUB)

    return needs


def reads_names(
    body_class: type[T], names_of: Callable[[T], Iterable[tuple[str | None, Iterable[str | None]]]]
) -> Needs:
    """Return the needs of requests whose body has names of groups, and of their topics."""

    def needs(request: RemotingCommand) -> Iterator[Need]:
        body = decode_body(body_class, request.body)
        for group, topics in () if body is None else names_of(body):
            if group:
                yield Need("Group", group, Permission.SUB)
            for topic in topics:
                yield from needs_of_topic(topic, Permission.SUB)

    return needs


def without_retries(topics: Iterable[str | None]) -> list[str | None]:
    """Leave out retry topics, which the group that names them may read."""
    return [topic for topic in topics if not (topic or "").startswith(RETRY_PREFIX)]


CONSUMES: Final = reads("topic", "consumerGroup")
SEES_TOPIC: Final = reads("topic", None, PUB_OR_SUB)
SEES_GROUP: Final = reads("topic", "group", PUB_OR_SUB)
