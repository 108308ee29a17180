"""Requests: the handler of each code, the permissions that it needs, fields, and names.

A module of handlers declares its functions with ``handles``. Names of topics and groups are refused
as Java's broker refuses them, and its exceptions of fields are answered with code 1.

Java: ``RemotingCommand.decodeCommandCustomHeader``, ``TopicValidator.validateTopic``,
``isTopicOrGroupIllegal``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from rocketwire.codes import ResponseCode
from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body, encode_body
from rocketwire.policy.resource_names import LMQ_PREFIX, is_dlq_topic, is_retry_topic
from rocketwire.policy.validation import MAX_GROUP_LENGTH, MAX_RETRY_TOPIC_LENGTH, MAX_TOPIC_LENGTH
from rocketwire_broker.access.needs import need_of_administrator, needs_of_topic
from rocketwire_broker.state.response import RefusedError, Response
from rocketwire_broker.tables.topics import new_topic

if TYPE_CHECKING:
    from collections.abc import Collection

    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.access.accounts import Permission
    from rocketwire_broker.access.needs import Need, Needs
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Peer


Handler: TypeAlias = "Callable[[Broker, RemotingCommand, Peer, int], Response | None]"
"""Answers a request; None if it answers later."""

H = TypeVar("H", bound=Handler)


class RequestType(NamedTuple):
    handle: Handler
    needs: Needs | None  # None: only administrators may send it


REQUESTS: Final[dict[int, RequestType]] = {}  # the requests that the broker answers, by code


def handles(*codes: int, needs: Needs | None = None) -> Callable[[H], H]:
    """Declare the handler of request codes, and what such a request needs."""

    def declare(handler: H) -> H:
        for code in codes:
            if code in REQUESTS:
                raise ValueError(f"request code {code} has two handlers")
            REQUESTS[int(code)] = RequestType(handler, needs)
        return handler

    return declare


def needs_of(request: RemotingCommand, cluster: str) -> Iterator[Need]:
    """Yield what a request needs; nothing if every account may send it."""
    known = REQUESTS.get(request.code)
    if known is None or known.needs is None:
        yield need_of_administrator(request, cluster)
    else:
        yield from known.needs(request)


FAQ: Final = "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
"""The last words of many of Java's remarks."""

_DIGITS: Final = 20  # digits that no number of 64 bits has

T = TypeVar("T")


def text(fields: Mapping[str, str], name: str) -> str:
    return require(fields.get(name), name)


def integer(fields: Mapping[str, str], name: str, default: int | None = None) -> int:
    """Return a number; a missing one is required if there is no default."""
    value = fields.get(name)
    if value is None:
        return require(default, name)
    digits = value if value.isdigit() else value[1:] if value[:1] in {"-", "+"} else ""
    if digits.isdigit() and digits.isascii() and len(digits) < _DIGITS:
        return int(value)
    raise DecodeError(f'For input string: "{value[:64]}"', path=name)


def require(value: T | None, name: str) -> T:
    if value is None:
        raise DecodeError(f"the custom field <{name}> is null", path=name)
    return value


def body_of(request: RemotingCommand, cls: type[T]) -> T:
    body: T | None = None if request.body is None else decode_body(cls, request.body)
    return require(body, "body")


def with_body(body: object, ext_fields: dict[str, str] | None = None) -> Response:
    return Response(ext_fields=ext_fields, body=(require(encode_body(body), "body"),))


def check_permission(
    broker: Broker, request: RemotingCommand, peer: Peer, topic: str, permission: Permission
) -> None:
    """Check that the sender may use a topic that only the stored message names."""
    if broker.access is not None:
        needs = needs_of_topic(topic, permission)
        refusal = broker.access.refusal(request, peer.host.ip, needs)
        if refusal is not None:
            raise RefusedError(ResponseCode.NO_PERMISSION, refusal)


MAX_DELETED: Final = 256
"""Names that one request deletes: each costs up to a third of a millisecond."""

_PATTERN: Final = "^[%|a-zA-Z0-9_-]+$"
_LEGAL: Final = re.compile("[%|a-zA-Z0-9_-]+")


def topic_problem(name: str) -> str | None:
    """Return why a topic's name is invalid, in Java's words; None if it is valid."""
    if not name.strip():
        return "The specified topic is blank."
    if not _LEGAL.fullmatch(name):
        return f"The specified topic: {name}, contains illegal characters, allowing only {_PATTERN}"
    special = is_retry_topic(name) or is_dlq_topic(name)
    limit = MAX_RETRY_TOPIC_LENGTH if special else MAX_TOPIC_LENGTH
    if len(name) > limit:
        return f"The specified topic: {name}, is longer than topic max length: {limit}"
    return None


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
