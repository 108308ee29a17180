"""Names of topics and groups: what is reserved, what belongs to a group, and the old form of namespaces.

A namespace of this form (Java calls it version 1) is part of the name: ``namespace%topic``.  The new form is two fields of each
request (``ns``, ``nsd``) and changes no name.

Java: ``NamespaceUtil``, ``TopicValidator``, ``MixAll``.
"""

from __future__ import annotations

from typing import Final

RETRY_PREFIX: Final = "%RETRY%"
DLQ_PREFIX: Final = "%DLQ%"
LMQ_PREFIX: Final = "%LMQ%"
TIMER_TOPIC: Final = "rmq_sys_wheel_timer"
NAMESPACE_SEPARATOR: Final = "%"
SYSTEM_TOPIC_PREFIX: Final = "rmq_sys_"
SYSTEM_GROUP_PREFIX: Final = "CID_RMQ_SYS_"
REPLY_TOPIC_POSTFIX: Final = "REPLY_TOPIC"

SEND_FORBIDDEN_TOPICS: Final = frozenset(
    {
        "SCHEDULE_TOPIC_XXXX",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC",
        "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC",
        "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC",
        "TRANS_CHECK_MAX_TIME_TOPIC",
        "SELF_TEST_TOPIC",
        "OFFSET_MOVED_EVENT",
    }
)
"""The broker's own; nobody may send there."""

SYSTEM_TOPICS: Final = SEND_FORBIDDEN_TOPICS | {
    "TBW102",
    "BenchmarkTest",
    "RMQ_SYS_TRACE_TOPIC",
    "CHECKPOINT_TOPIC",
}
"""Not to be created, nor put into a namespace."""

PREDEFINED_GROUPS: Final = frozenset(
    {
        "DEFAULT_CONSUMER",
        "DEFAULT_PRODUCER",
        "TOOLS_CONSUMER",
        "SCHEDULE_CONSUMER",
        "FILTERSRV_CONSUMER",
        "__MONITOR_CONSUMER",
        "CLIENT_INNER_PRODUCER",
        "SELF_TEST_P_GROUP",
        "SELF_TEST_C_GROUP",
        "CID_ONS-HTTP-PROXY",
        "CID_ONSAPI_PERMISSION",
        "CID_ONSAPI_OWNER",
        "CID_ONSAPI_PULL",
        "CID_RMQ_SYS_TRANS",
    }
)
"""Groups that every broker has (Java: ``MixAll.isPredefinedGroup``)."""


def is_system_topic(topic: str) -> bool:
    """Whether a topic is the broker's or the tools'."""
    return topic in SYSTEM_TOPICS or topic.startswith(SYSTEM_TOPIC_PREFIX)


def is_system_group(group: str) -> bool:
    """Whether a consumer group is the broker's own."""
    return group.startswith(SYSTEM_GROUP_PREFIX)


def is_retry_topic(name: str) -> bool:
    """Whether a topic holds what a group is to try again."""
    return name.startswith(RETRY_PREFIX)


def has_own_route(topic: str) -> bool:
    """Whether name servers know where a topic is: not of queues that brokers keep within another one's, nor of their timers."""
    return not topic.startswith(LMQ_PREFIX) and topic != TIMER_TOPIC


def is_dlq_topic(name: str) -> bool:
    """Whether a topic holds what a group has given up."""
    return name.startswith(DLQ_PREFIX)


def retry_topic(group: str) -> str:
    """Where a group's messages go that it could not handle."""
    return RETRY_PREFIX + group


def dlq_topic(group: str) -> str:
    """Where they go when there have been too many tries."""
    return DLQ_PREFIX + group


def pop_retry_topic(group: str, topic: str, *, version_2: bool = False) -> str:
    """Where messages go that a group popped and did not acknowledge (``enableRetryTopicV2``)."""
    return f"{RETRY_PREFIX}{group}{'+' if version_2 else '_'}{topic}"


def reply_topic(cluster: str) -> str:
    """Where replies go to requests that were made over a cluster (Java: ``MixAll.getReplyTopic``)."""
    return f"{cluster}_{REPLY_TOPIC_POSTFIX}"


def with_namespace(namespace: str | None, name: str) -> str:
    """A topic or group as the broker knows it.

    Those of the system, and those that are in this namespace already, stay as they are; before it stay ``%RETRY%`` and ``%DLQ%``.
    """
    if not namespace or not name or is_in_namespace(namespace, name) or _is_system(name):
        return name
    prefix, rest = _parted(name)
    return f"{prefix}{namespace}{NAMESPACE_SEPARATOR}{rest}"


def is_in_namespace(namespace: str | None, name: str) -> bool:
    """Whether a name is in this namespace."""
    if not namespace or not name or _is_system(name):
        return False
    return _parted(name)[1].startswith(namespace + NAMESPACE_SEPARATOR)


def without_namespace(name: str, namespace: str | None = None) -> str:
    """A topic or group as the application knows it.

    Args:
        name: as the broker knows it.
        namespace: to be taken off; names in others stay.  None takes off any, which is a guess: a ``%`` may be part of a name.
    """
    if not name or _is_system(name):
        return name
    prefix, rest = _parted(name)
    if namespace is not None and not (
        namespace and rest.startswith(namespace + NAMESPACE_SEPARATOR)
    ):
        return name
    at = rest.find(NAMESPACE_SEPARATOR)
    return prefix + rest[at + 1 :] if at > 0 else name


def namespace_of(name: str) -> str:
    """The namespace that a name seems to be in; an empty text for none."""
    if not name or _is_system(name):
        return ""
    rest = _parted(name)[1]
    return rest[: max(0, rest.find(NAMESPACE_SEPARATOR))]


def _is_system(name: str) -> bool:
    return is_system_topic(name) or is_system_group(name)


def _parted(name: str) -> tuple[str, str]:
    """What comes before the namespace, and the rest."""
    for prefix in (RETRY_PREFIX, DLQ_PREFIX):
        if name.startswith(prefix):
            return prefix, name[len(prefix) :]
    return "", name
