"""Names of topics and groups in requests, refused as Java's broker refuses them.

Java: ``TopicValidator.validateTopic``, ``isTopicOrGroupIllegal``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rocketwire.codes import ResponseCode
from rocketwire.policy.resource_names import LMQ_PREFIX, is_dlq_topic, is_retry_topic
from rocketwire.policy.validation import (
    MAX_GROUP_LENGTH,
    MAX_RETRY_TOPIC_LENGTH,
    MAX_TOPIC_LENGTH,
)
from rocketwire_broker.handlers.fields import FAQ
from rocketwire_broker.state.response import RefusedError
from rocketwire_broker.tables.topics import new_topic

if TYPE_CHECKING:
    from collections.abc import Collection

    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

MAX_DELETED: Final = 256
"""Names that one request deletes: each costs up to a third of a millisecond."""

_PATTERN: Final = "^[%|a-zA-Z0-9_-]+$"
_LEGAL: Final = re.compile("[%|a-zA-Z0-9_-]+")


def topic_problem(name: str) -> str | None:
    """Return why a topic's name is invalid, in Java's words; None if it is valid."""
    # what the cache keeps is bounded by the length of names
    return (_topic_problem if len(name) <= MAX_RETRY_TOPIC_LENGTH else _find_topic_problem)(name)


def _find_topic_problem(name: str) -> str | None:
    if not name.strip():
        return "The specified topic is blank."
    if not _LEGAL.fullmatch(name):
        return f"The specified topic: {name}, contains illegal characters, allowing only {_PATTERN}"
    special = is_retry_topic(name) or is_dlq_topic(name)
    limit = MAX_RETRY_TOPIC_LENGTH if special else MAX_TOPIC_LENGTH
    if len(name) > limit:
        return f"The specified topic: {name}, is longer than topic max length: {limit}"
    return None


_topic_problem: Final = lru_cache(maxsize=1024)(_find_topic_problem)


def group_problem(name: str) -> str | None:
    if not name.strip():
        return "The specified group is blank."
    if not _LEGAL.fullmatch(name):
        return f"The specified group: {name}, contains illegal characters, allowing only {_PATTERN}"
    if len(name) > (limit := MAX_GROUP_LENGTH):
        return f"The specified group: {name}, is longer than group max length: {limit}"
    return None


def check_list(names: Collection[str] | None, what: str) -> Collection[str]:
    """Return the names that a request wants to delete; ``what`` is Java's word for them."""
    if not names:
        remark = f"The specified {what} list is blank."
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
    if len(names) > MAX_DELETED:
        remark = f"{len(names)} names, this broker deletes {MAX_DELETED} at once"
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
    return names


def illegal_queue(topic: TopicConfig, queue_id: int, peer: Peer) -> str:
    return (
        f"queueId[{queue_id}] is illegal, topic:[{topic.topic_name}] "
        f"topicConfig.readQueueNums:[{topic.read_queue_nums}] consumer:[/{peer.address}]"
    )


def existing_topic(broker: Broker, name: str, *, blank: str = "") -> TopicConfig:
    """Return a topic; some of Java's remarks have a blank before the line break."""
    topic = broker.topics.get(name)
    if topic is None and name.startswith(LMQ_PREFIX) and broker.config.enable_lmq:
        return new_topic(name, 1)  # every LMQ exists (Java: ``LmqTopicConfigManager``)
    if topic is None:
        remark = f"topic[{name}] not exist, apply first please!{blank}\n{FAQ}"
        raise RefusedError(ResponseCode.TOPIC_NOT_EXIST, remark)
    return topic
