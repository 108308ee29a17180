"""What consumers have in common: settings, the results of a handler, and what a handler is told beside the messages.

Times are in seconds unless their name says otherwise; names are Java's.

Java: ``DefaultMQPushConsumer``, ``ConsumeConcurrentlyContext``, ``ConsumeOrderlyContext``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rocketwire.client.arguments import (
    FLAG,
    MAYBE_TEXT,
    SOME_SECONDS,
    check_settings,
    check_text,
    instance_of,
    optional,
    seconds,
    whole,
    wrong_type,
)
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.policy.allocation import AllocateMessageQueueAveragely
from rocketwire.policy.process_queue import Thresholds
from rocketwire.wire.message.stored import StoredMessage
from rocketwire.wire.values.drafts import drafting

if TYPE_CHECKING:
    from rocketwire.client.arguments import Rule
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.policy.allocation import AllocateMessageQueueStrategy

MAX_RECONSUME_TIMES: Final = 16
"""Tries of a message that nobody could handle before it goes to the dead letters, unless set."""

SUSPEND_MIN_MILLIS: Final = 10
SUSPEND_MAX_MILLIS: Final = 30_000
"""Bounds of ``suspend_current_queue_time_millis``."""


class ConsumeConcurrentlyStatus(Enum):
    """What a handler made of messages whose order does not count."""

    CONSUME_SUCCESS = "CONSUME_SUCCESS"
    RECONSUME_LATER = "RECONSUME_LATER"


class ConsumeOrderlyStatus(Enum):
    """What a handler made of messages in order.

    ``COMMIT`` and ``ROLLBACK`` only without ``auto_commit``.
    """

    SUCCESS = "SUCCESS"
    ROLLBACK = "ROLLBACK"
    COMMIT = "COMMIT"
    SUSPEND_CURRENT_QUEUE_A_MOMENT = "SUSPEND_CURRENT_QUEUE_A_MOMENT"


@dataclass(slots=True, kw_only=True)
class ConsumeConcurrentlyContext:
    """What a handler is told, and may set.

    Attributes:
        message_queue: where the messages are from.
        delay_level_when_next_consume: of messages to be consumed later: -1 for the dead letters at
            once, 0 to have the broker choose by the number of tries, else a level.
        ack_index: the last of the messages that was handled, with ``CONSUME_SUCCESS``; None for all
            of them.
    """

    message_queue: MessageQueue
    delay_level_when_next_consume: int = 0
    ack_index: int | None = None


@dataclass(slots=True, kw_only=True)
class ConsumeOrderlyContext:
    """What a handler of messages in order is told, and may set.

    Attributes:
        message_queue: where the messages are from.
        auto_commit: whether ``SUCCESS`` commits; without it, ``COMMIT`` does.
        suspend_current_queue_time_millis: how long to wait after a suspension; None for the
            consumer's setting.
    """

    message_queue: MessageQueue
    auto_commit: bool = True
    suspend_current_queue_time_millis: int | None = None


concurrently_context: Final[Callable[..., ConsumeConcurrentlyContext]] = drafting(
    ConsumeConcurrentlyContext
)
"""A context of all its values, in the order of its attributes: batches have one of their own unless it is as new."""

MessageListenerConcurrently: TypeAlias = Callable[
    [Sequence[StoredMessage], ConsumeConcurrentlyContext],
    Awaitable[ConsumeConcurrentlyStatus | None],
]
"""Handles messages.  None is success; an exception is ``RECONSUME_LATER``."""

MessageListenerOrderly: TypeAlias = Callable[
    [Sequence[StoredMessage], ConsumeOrderlyContext], Awaitable[ConsumeOrderlyStatus | None]
]
"""Handles messages in order.  None is success.

An exception is ``SUSPEND_CURRENT_QUEUE_A_MOMENT``.
"""


Wanted: TypeAlias = str | tuple[str, str] | None
"""What of a topic is wanted: tags as ``a || b``, or an expression and its type, as ``("a > 5", "SQL92")``; None or ``*`` for all."""


def checked_subscriptions(
    subscriptions: Mapping[str, Wanted],
) -> list[tuple[str, str | None, str | None]]:
    """Topics with expression and type; the type is None for tags.

    Raises:
        IllegalTypeError: not a mapping of topics to tags or to expression and type.
    """
    if not isinstance(subscriptions, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        example = subscriptions if isinstance(subscriptions, str) else "orders"
        expected = f'a mapping of topic to tags, as {{"{example}": "*"}}'
        raise wrong_type("subscriptions", expected, subscriptions)
    return [(topic, *_expression_and_type(topic, each)) for topic, each in subscriptions.items()]


def _expression_and_type(topic: object, given: Any) -> tuple[str | None, str | None]:
    check_text("subscriptions: topic", topic)
    if given is None or isinstance(given, str):
        return given, None
    parts: list[Any] = list(given) if type(given) is tuple else []  # pyright: ignore[reportUnknownArgumentType]
    if [type(part) for part in parts] == [str, str]:
        return parts[0], parts[1]
    expected = 'tags as "a || b", or expression and type as ("a > 5", "SQL92")'
    raise wrong_type(f"subscriptions[{topic!r}]", expected, given)  # pyright: ignore[reportUnknownArgumentType]


def check_subscription(topic: object, expression: object, expression_type: object) -> None:
    """Check the types of the arguments of ``subscribe``.

    Raises:
        IllegalTypeError: one of them is not a text.
    """
    check_text("topic", topic)
    for name, value in (("expression", expression), ("expression_type", expression_type)):
        if value is not None:
            check_text(name, value)


def check_strategy(name: str, value: object) -> None:
    """Raises ``IllegalTypeError`` unless the value can share out queues."""
    if isinstance(value, type) or not callable(getattr(value, "allocate", None)):
        expected = "an AllocateMessageQueueStrategy, as AllocateMessageQueueAveragely()"
        raise wrong_type(name, expected, value)


def check_thresholds(name: str, value: object) -> None:
    """Check the type of thresholds, and that each is a number of at least 1."""
    instance_of(Thresholds, expected="Thresholds(...)")(name, value)
    check_settings(value, _THRESHOLDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PushConsumerConfig:
    """Settings of a push consumer.

    A value of the wrong type or out of bounds is refused when the config is created.

    Attributes:
        message_model: whether the group's members share the messages, or each gets them all.
        consume_from_where: where to begin in a queue of which no offset is known.
        consume_timestamp_millis: for ``CONSUME_FROM_TIMESTAMP``; None for half an hour before the
            consumer starts.
        begin_as_told: whether ``consume_from_where`` holds for young topics too, from whose start
            Java's brokers have groups without offsets begin (docs/guide/client.md, "Where a group
            begins"), and to the millisecond; those before 5.0 are asked for all their offsets then.
        allocate_message_queue_strategy: how queues are shared; the same for all members of a group.
        consume_thread_max: most handlers at once (concurrent).
        consume_message_batch_max_size: most messages that a handler gets at once.
        thresholds: how much of a queue may be held.
        pull_batch_size: most messages to ask for at once.
        pull_batch_size_in_bytes: most bytes to ask for; Java's brokers ignore it.
        max_body_size: most bytes of one decompressed body; a larger message is skipped with a
            WARNING.
        max_inflated_size: most bytes of all decompressed bodies of one pull; the consumer pulls on
            from the first message that does not fit.
        pull_interval: seconds between an answer and the next pull.
        max_reconsume_times: tries before the dead letters; -1 for 16, or without end in order.
        suspend_current_queue_time_millis: wait after a handler of messages in order failed.
        consume_timeout: seconds after which a message whose handler has not returned is sent back
            as well.
        unit_mode: whether the group is one of a unit.
        post_subscription_when_pull: whether each pull carries the subscription, instead of the
            heartbeat alone.
        await_termination: seconds that handlers are given to end when the consumer is closed.
        rebalance_interval: seconds between two looks at who has which queue.
        local_offset_store_dir: where offsets of broadcasting are kept; None for
            ``~/.rocketmq_offsets``.
        enable_trace: whether calls of handlers are recorded in the trace topic.
        trace_topic: None for ``RMQ_SYS_TRACE_TOPIC``.

    Raises:
        IllegalTypeError, IllegalValueError: the text names the setting, what is expected and what
            was given.
    """

    message_model: MessageModel = MessageModel.CLUSTERING
    consume_from_where: ConsumeFromWhere = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
    consume_timestamp_millis: int | None = None
    begin_as_told: bool = False
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
        """Check types and bounds."""
        check_settings(self, _RULES)


_THRESHOLDS: Final[Mapping[str, Rule]] = {
    "count": whole(least=1),
    "mebibytes": whole(least=1),
    "span": optional(whole(least=1)),
    "count_of_topic": optional(whole(least=1)),
    "mebibytes_of_topic": optional(whole(least=1)),
}

FROM_WHERE: Final = instance_of(
    ConsumeFromWhere, expected="a ConsumeFromWhere, as ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET"
)

_RULES: Final[Mapping[str, Rule]] = {
    "message_model": instance_of(
        MessageModel, expected="a MessageModel, as MessageModel.CLUSTERING"
    ),
    "consume_from_where": FROM_WHERE,
    "consume_timestamp_millis": optional(whole(least=0)),
    "begin_as_told": FLAG,
    "allocate_message_queue_strategy": check_strategy,
    "consume_thread_max": whole(least=1),
    "consume_message_batch_max_size": whole(least=1),
    "thresholds": check_thresholds,
    "pull_batch_size": whole(least=1),
    "pull_batch_size_in_bytes": whole(least=1),
    "max_body_size": whole(least=1),
    "max_inflated_size": whole(least=1),
    "pull_interval": seconds(zero=True),
    "max_reconsume_times": whole(least=-1),
    "suspend_current_queue_time_millis": whole(least=0),
    "consume_timeout": SOME_SECONDS,
    "unit_mode": FLAG,
    "post_subscription_when_pull": FLAG,
    "await_termination": seconds(zero=True),
    "rebalance_interval": SOME_SECONDS,
    "local_offset_store_dir": optional(instance_of(str, PathLike, expected="a path")),
    "enable_trace": FLAG,
    "trace_topic": MAYBE_TEXT,
}
"""What each setting may be."""
