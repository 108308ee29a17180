"""What consumers have in common: settings, the results of a handler, and what a handler is told beside the messages.

Times are in seconds unless their name says otherwise; names are Java's.

Java: ``DefaultMQPushConsumer``, ``ConsumeConcurrentlyContext``, ``ConsumeOrderlyContext``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.policy.allocation import AllocateMessageQueueAveragely
from rocketwire.policy.window import Thresholds
from rocketwire.wire.drafts import drafting
from rocketwire.wire.stored import StoredMessage

if TYPE_CHECKING:
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
    """What a handler made of messages in order; ``COMMIT`` and ``ROLLBACK`` only without ``auto_commit``."""

    SUCCESS = "SUCCESS"
    ROLLBACK = "ROLLBACK"
    COMMIT = "COMMIT"
    SUSPEND_CURRENT_QUEUE_A_MOMENT = "SUSPEND_CURRENT_QUEUE_A_MOMENT"


@dataclass(slots=True, kw_only=True)
class ConsumeConcurrentlyContext:
    """What a handler is told, and may set.

    Attributes:
        message_queue: where the messages are from.
        delay_level_when_next_consume: of messages to be consumed later: -1 for the dead letters at once, 0 to have the broker
            choose by the number of tries, else a level.
        ack_index: the last of the messages that was handled, with ``CONSUME_SUCCESS``; None for all of them.
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
        suspend_current_queue_time_millis: how long to wait after a suspension; None for the consumer's setting.
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
"""Handles messages in order.  None is success; an exception is ``SUSPEND_CURRENT_QUEUE_A_MOMENT``."""


Wanted: TypeAlias = str | tuple[str, str]
"""What of a topic is wanted: tags as ``a || b``, or an expression and its type, as ``("a > 5", "SQL92")``."""


def expression_and_type(wanted: Wanted) -> tuple[str, str | None]:
    """The two parts of a subscription; None for tags."""
    return (wanted, None) if isinstance(wanted, str) else wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class PushConsumerConfig:
    """Settings of a push consumer.

    Attributes:
        message_model: whether the group's members share the messages, or each gets them all.
        consume_from_where: where to begin in a queue of which no offset is known.
        consume_timestamp_millis: for ``CONSUME_FROM_TIMESTAMP``; None for half an hour before the consumer starts.
        begin_as_told: whether ``consume_from_where`` holds for young topics too, from whose start Java's brokers have groups without
            offsets begin (clients.md 4.5), and to the millisecond; those before 5.0 are asked for all their offsets then.
        allocate_message_queue_strategy: how queues are shared; the same for all members of a group.
        consume_thread_max: most handlers at once (concurrent).
        consume_message_batch_max_size: most messages that a handler gets at once.
        thresholds: how much of a queue may be held.
        pull_batch_size: most messages to ask for at once.
        pull_batch_size_in_bytes: most bytes to ask for; Java's brokers ignore it.
        pull_interval: seconds between an answer and the next pull.
        max_reconsume_times: tries before the dead letters; -1 for 16, or without end in order.
        suspend_current_queue_time_millis: wait after a handler of messages in order failed.
        consume_timeout: seconds after which a message whose handler has not returned is sent back as well.
        unit_mode: whether the group is one of a unit.
        post_subscription_when_pull: whether each pull carries the subscription, instead of the heartbeat alone.
        await_termination: seconds that handlers are given to end when the consumer is closed.
        rebalance_interval: seconds between two looks at who has which queue.
        local_offset_store_dir: where offsets of broadcasting are kept; None for ``~/.rocketmq_offsets``.
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
    pull_interval: float = 0.0
    max_reconsume_times: int = -1
    suspend_current_queue_time_millis: int = 1000
    consume_timeout: float = 900.0
    unit_mode: bool = False
    post_subscription_when_pull: bool = False
    await_termination: float = 15.0
    rebalance_interval: float = 20.0
    local_offset_store_dir: str | None = None
