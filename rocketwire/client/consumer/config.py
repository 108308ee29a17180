"""Settings of consumers, results of handlers, and the context of a handler call.

Times are in seconds unless the name has another unit; the names are Java's.

Java: ``DefaultMQPushConsumer``, ``ConsumeConcurrentlyContext``, ``ConsumeOrderlyContext``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from rocketwire.client.arguments import (
    Rule,
    Settings,
    check_settings,
    check_text,
    instance_of,
    integer_in,
    optional,
    seconds,
    type_error,
)
from rocketwire.errors import IllegalValueError
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.policy.allocation import AllocateMessageQueueAveragely, AllocateMessageQueueStrategy
from rocketwire.policy.process_queue import Thresholds
from rocketwire.policy.subscription import looks_like_sql
from rocketwire.wire.message.stored import StoredMessage
from rocketwire.wire.values import frozen
from rocketwire.wire.values.drafts import build_constructor

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue

# Default attempts of a failing message before it becomes a dead letter
MAX_RECONSUME_TIMES: Final = 16

SUSPEND_MIN_MILLIS: Final = 10
SUSPEND_MAX_MILLIS: Final = 30_000  # limits of ``suspend_current_queue_time_millis``


class ConsumeConcurrentlyStatus(Enum):
    """Result of a concurrent handler."""

    CONSUME_SUCCESS = "CONSUME_SUCCESS"
    RECONSUME_LATER = "RECONSUME_LATER"


class ConsumeOrderlyStatus(Enum):
    """Result of an orderly handler. ``COMMIT`` and ``ROLLBACK`` require ``auto_commit = False``."""

    SUCCESS = "SUCCESS"
    ROLLBACK = "ROLLBACK"
    COMMIT = "COMMIT"
    SUSPEND_CURRENT_QUEUE_A_MOMENT = "SUSPEND_CURRENT_QUEUE_A_MOMENT"


@dataclass(slots=True, kw_only=True)
class ConsumeConcurrentlyContext:
    """Context of a concurrent handler call; the handler may change it."""

    message_queue: MessageQueue  #: queue of the messages
    #: delay of messages that failed: -1 for a dead letter at once, 0 to let the broker choose by
    #: the number of attempts, else a delay level
    delay_level_when_next_consume: int = 0
    #: index of the last message that succeeded, with ``CONSUME_SUCCESS``; None for all
    ack_index: int | None = None


@dataclass(slots=True, kw_only=True)
class ConsumeOrderlyContext:
    """Context of an orderly handler call; the handler may change it."""

    message_queue: MessageQueue  #: queue of the messages
    auto_commit: bool = True  #: whether ``SUCCESS`` commits; if False, ``COMMIT`` does
    #: pause after a suspension in milliseconds; None for the consumer's setting
    suspend_current_queue_time_millis: int | None = None


# Create a context from all its values, in the order of its attributes; fast
concurrently_context: Final[Callable[..., ConsumeConcurrentlyContext]] = build_constructor(
    ConsumeConcurrentlyContext
)

MessageListenerConcurrently: TypeAlias = Callable[
    [Sequence[StoredMessage], ConsumeConcurrentlyContext],
    Awaitable[ConsumeConcurrentlyStatus | None],
]
"""Handles messages. None means success; an exception means ``RECONSUME_LATER``."""


def count_successes(
    messages: int, status: ConsumeConcurrentlyStatus | None, context: ConsumeConcurrentlyContext
) -> int:
    """Return how many of the messages of a handler call, from the first on, were handled."""
    if status is ConsumeConcurrentlyStatus.RECONSUME_LATER:
        return 0
    if context.ack_index is None:
        return messages
    return min(max(context.ack_index + 1, 0), messages)


MessageListenerOrderly: TypeAlias = Callable[
    [Sequence[StoredMessage], ConsumeOrderlyContext], Awaitable[ConsumeOrderlyStatus | None]
]
"""Handles messages in order. None means success.

An exception means ``SUSPEND_CURRENT_QUEUE_A_MOMENT``.
"""


Filter: TypeAlias = str | tuple[str, str] | None
"""Filter of a topic: tags (``a || b``), or expression and type (``("a > 5", "SQL92")``).

None or ``*`` for all.
"""


def parse_subscriptions(
    subscriptions: Mapping[str, Filter],
) -> list[tuple[str, str | None, str | None]]:
    """Return topics with expression and type, which is None for tags."""
    if not isinstance(subscriptions, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - of callers without types
        example = subscriptions if isinstance(subscriptions, str) else "orders"
        expected = f'a mapping of topic to tags, for example {{"{example}": "*"}}'
        raise type_error("subscriptions", expected, subscriptions)
    return [(topic, *_parse_filter(topic, value)) for topic, value in subscriptions.items()]


def _parse_filter(topic: object, value: Any) -> tuple[str | None, str | None]:
    check_text("subscriptions: topic", topic)
    if value is None or isinstance(value, str):
        return value, None
    parts: tuple[Any, ...] = value if value.__class__ is tuple else ()
    if [type(part) for part in parts] == [str, str]:
        return parts
    expected = 'tags as "a || b", or expression and type as ("a > 5", "SQL92")'
    raise type_error(f"subscriptions[{topic!r}]", expected, cast("object", value))


def check_subscription(topic: object, expression: object, expression_type: object) -> None:
    check_text("topic", topic)
    for name, value in (("expression", expression), ("expression_type", expression_type)):
        if value is not None:
            check_text(name, value)
    if isinstance(expression, str) and expression_type is None and looks_like_sql(expression):
        raise IllegalValueError(
            f"the filter of {topic} looks like SQL, not like tags: {expression!r};"
            f" give its type too: ({expression!r}, 'SQL92')"
        )


def check_strategy(name: str, value: object) -> None:
    if isinstance(value, type) or not callable(getattr(value, "allocate", None)):
        expected = "an AllocateMessageQueueStrategy, for example AllocateMessageQueueAveragely()"
        raise type_error(name, expected, value)


def check_thresholds(name: str, value: object) -> None:
    instance_of(Thresholds, expected="Thresholds(...)")(name, value)
    check_settings(value)


@frozen.dataclass(frozen=True, slots=True, kw_only=True)
class PushConsumerConfig(Settings):
    """Settings of a push consumer.

    A value with a wrong type or out of range is rejected when the config is created.

    Attributes:
        message_model: whether the members of the group share the messages, or each gets all.
        consume_from_where: where to start in a queue without a stored offset.
        consume_timestamp_millis: time for ``CONSUME_FROM_TIMESTAMP``; None for half an hour before
            the consumer starts.
        exact_start: apply ``consume_from_where`` also to young topics, where Java's brokers start
            groups without offsets at the first message (docs/guide/client.md, "Where a group
            begins"), and to the exact millisecond; brokers before 5.0 are then queried for all
            their offsets.
        allocate_message_queue_strategy: how the members share queues; the same for all members.
        consume_thread_max: maximum number of concurrent handler calls.
        consume_message_batch_max_size: maximum number of messages of a handler call.
        thresholds: limits of the messages that a queue may hold in memory.
        pull_batch_size: maximum number of messages of a pull.
        pull_batch_size_in_bytes: maximum number of bytes of a pull; Java's brokers ignore it.
        max_body_size: largest decompressed body in bytes; a larger message is skipped with a
            WARNING.
        max_inflated_size: maximum bytes of decompressed bodies of a pull; the consumer goes on with
            the first message that does not fit.
        pull_interval: seconds between a response and the next pull.
        max_reconsume_times: attempts before a message becomes a dead letter; -1 for 16, or no limit
            for orderly consumers.
        suspend_current_queue_time_millis: pause after an orderly handler failed, in milliseconds.
        consume_timeout: seconds after which a message is sent back although its handler still runs.
        unit_mode: whether the group belongs to a unit.
        post_subscription_when_pull: send the subscription with each pull, not only in heartbeats.
        await_termination: seconds that running handlers get when the consumer closes.
        rebalance_interval: seconds between two rebalances.
        local_offset_store_dir: directory for the offsets of broadcasting consumers; None for
            ``~/.rocketmq_offsets``.
        enable_trace: record handler calls in the trace topic.
        trace_topic: the trace topic; None for ``RMQ_SYS_TRACE_TOPIC``.

    Raises:
        IllegalTypeError, IllegalValueError: the text has the setting, the expected and the actual
            value.
    """

    message_model: MessageModel = MessageModel.CLUSTERING
    consume_from_where: ConsumeFromWhere = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
    consume_timestamp_millis: int | None = None
    exact_start: bool = False
    allocate_message_queue_strategy: AllocateMessageQueueStrategy = field(
        default_factory=AllocateMessageQueueAveragely
    )
    consume_thread_max: int = 20
    consume_message_batch_max_size: int = 1
    thresholds: Thresholds = field(default_factory=Thresholds)
    pull_batch_size: int = 32
    pull_batch_size_in_bytes: int = 262_144
    max_body_size: int = 8 << 20
    max_inflated_size: int = 32 << 20
    pull_interval: float = 0.0
    max_reconsume_times: int = -1
    suspend_current_queue_time_millis: int = 1000
    consume_timeout: float = 900.0
    unit_mode: bool = False
    post_subscription_when_pull: bool = False
    await_termination: float = 15.0
    rebalance_interval: float = 20.0
    local_offset_store_dir: str | None = None
    enable_trace: bool = False
    trace_topic: str | None = None

    def __post_init__(self) -> None:
        check_settings(self, _RULES)


FROM_WHERE: Final = instance_of(
    ConsumeFromWhere,
    expected="a ConsumeFromWhere, for example ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET",
)

# The checks of settings that are not those of their type
_RULES: Final[Mapping[str, Rule]] = {
    "message_model": instance_of(
        MessageModel, expected="a MessageModel, for example MessageModel.CLUSTERING"
    ),
    "consume_from_where": FROM_WHERE,
    "consume_timestamp_millis": optional(integer_in(minimum=0)),
    "allocate_message_queue_strategy": check_strategy,
    "thresholds": check_thresholds,
    "pull_interval": seconds(zero=True),
    "max_reconsume_times": integer_in(minimum=-1),
    "suspend_current_queue_time_millis": integer_in(minimum=0),
    "await_termination": seconds(zero=True),
    "local_offset_store_dir": optional(instance_of(str, PathLike, expected="a path")),
}
