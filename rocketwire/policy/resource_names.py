"""Names of topics and groups: reserved names, a group's own topics, and namespaces of version 1.

A namespace of version 1 is part of the name: ``namespace%topic``.  Version 2 uses two fields of
each request (``ns``, ``nsd``) and does not change names.

Java: ``NamespaceUtil``, ``TopicValidator``, ``MixAll``.
"""

from __future__ import annotations

from typing import Final

RETRY_PREFIX: Final = "%RETRY%"
DLQ_PREFIX: Final = "%DLQ%"
LMQ_PREFIX: Final = "%LMQ%"
LITE_PREFIX: Final = "%LMQ%$"
TIMER_TOPIC: Final = "rmq_sys_wheel_timer"
NAMESPACE_SEPARATOR: Final = "%"
SYSTEM_TOPIC_PREFIX: Final = "rmq_sys_"
SYSTEM_GROUP_PREFIX: Final = "CID_RMQ_SYS_"
REPLY_TOPIC_POSTFIX: Final = "REPLY_TOPIC"

# Topic of messages with a delay level; the queue is the level less one
SCHEDULE_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"
# Topics of half messages of transactions
HALF_TOPICS: Final = ("RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC")
# Topics of the decisions on half messages
OP_TOPICS: Final = ("RMQ_SYS_TRANS_OP_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC")

# Internal topics of brokers, to which clients must not send
SEND_FORBIDDEN_TOPICS: Final = frozenset(
    {
        SCHEDULE_TOPIC,
        *HALF_TOPICS,
        *OP_TOPICS,
        "TRANS_CHECK_MAX_TIME_TOPIC",
        "SELF_TEST_TOPIC",
        "OFFSET_MOVED_EVENT",
    }
)

# Topics that cannot be created and are not in any namespace
SYSTEM_TOPICS: Final = SEND_FORBIDDEN_TOPICS | {
    "TBW102",
    "BenchmarkTest",
    "RMQ_SYS_TRACE_TOPIC",
    "CHECKPOINT_TOPIC",
}

# Groups that every broker has (Java: ``MixAll.isPredefinedGroup``)
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


def is_system_topic(topic: str) -> bool:
    """Return whether a topic belongs to brokers or tools."""
    return topic in SYSTEM_TOPICS or topic.startswith(SYSTEM_TOPIC_PREFIX)


def is_system_group(group: str) -> bool:
    return group.startswith(SYSTEM_GROUP_PREFIX)


def is_retry_topic(name: str) -> bool:
    return name.startswith(RETRY_PREFIX)


def has_own_route(topic: str) -> bool:
    """Return whether name servers have routes of a topic; not for LMQs and timers."""
    return not topic.startswith(LMQ_PREFIX) and topic != TIMER_TOPIC


def lite_queue(parent_topic: str, lite_topic: str) -> str:
    """Return the LMQ of a lite topic, which brokers name like a topic with one queue.

    Java: ``LiteUtil.toLmqName``, since 5.5.0.
    """
    return f"{LITE_PREFIX}{parent_topic}${lite_topic}"


def lite_names(queue: str) -> tuple[str, str] | None:
    """Return the parent topic and the lite topic of an LMQ; None if it has another name.

    Java: ``LiteUtil.getParentTopic`` and ``getLiteTopic``.
    """
    if not queue.startswith(LITE_PREFIX):
        return None
    parent_topic, _, lite_topic = queue.removeprefix(LITE_PREFIX).partition("$")
    if not parent_topic or not lite_topic or "$" in lite_topic:
        return None
    return parent_topic, lite_topic


def is_dlq_topic(name: str) -> bool:
    return name.startswith(DLQ_PREFIX)


def retry_topic(group: str) -> str:
    return RETRY_PREFIX + group


def dlq_topic(group: str) -> str:
    return DLQ_PREFIX + group


def pop_retry_topic(group: str, topic: str, *, version_2: bool = False) -> str:
    return f"{RETRY_PREFIX}{group}{'+' if version_2 else '_'}{topic}"


def reply_topic(cluster: str) -> str:
    """Return the topic of replies to requests of a cluster (Java: ``MixAll.getReplyTopic``)."""
    return f"{cluster}_{REPLY_TOPIC_POSTFIX}"


def with_namespace(namespace: str | None, name: str) -> str:
    """Return a topic or group with its namespace, as brokers name it.

    System names and names in this namespace are returned unchanged.  ``%RETRY%`` and ``%DLQ%`` stay
    before the namespace.
    """
    if not namespace or not name or is_in_namespace(namespace, name) or _is_system(name):
        return name
    prefix, base = _split_prefix(name)
    return f"{prefix}{namespace}{NAMESPACE_SEPARATOR}{base}"


def is_in_namespace(namespace: str | None, name: str) -> bool:
    if not namespace or not name or _is_system(name):
        return False
    return _split_prefix(name)[1].startswith(namespace + NAMESPACE_SEPARATOR)


def without_namespace(name: str, namespace: str | None = None) -> str:
    """Return a topic or group without its namespace, as applications name it.

    Args:
        name: the name that brokers use.
        namespace: the namespace to remove.  None removes any, which can be wrong: ``%`` is legal in
            names without a namespace.
    """
    if not name or _is_system(name):
        return name
    prefix, base = _split_prefix(name)
    if namespace is not None and not (
        namespace and base.startswith(namespace + NAMESPACE_SEPARATOR)
    ):
        return name
    position = base.find(NAMESPACE_SEPARATOR)
    return prefix + base[position + 1 :] if position > 0 else name


def _is_system(name: str) -> bool:
    return is_system_topic(name) or is_system_group(name)


def _split_prefix(name: str) -> tuple[str, str]:
    for prefix in (RETRY_PREFIX, DLQ_PREFIX):
        if name.startswith(prefix):
            return prefix, name[len(prefix) :]
    return "", name


def namespace_of(name: str) -> str:
    """Return the namespace that a name seems to have, or an empty text."""
    if not name or _is_system(name):
        return ""
    base = _split_prefix(name)[1]
    return base[: max(0, base.find(NAMESPACE_SEPARATOR))]
