"""What a lite pull consumer has: its settings, the queues that it pulls, and what it hands out.

Java: ``DefaultLitePullConsumer``, ``AssignedMessageQueue.MessageQueueState``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.client.arguments import (
    FLAG,
    SOME_SECONDS,
    check_settings,
    optional,
    seconds,
    whole,
)
from rocketwire.client.consumer.config import FROM_WHERE, check_strategy, check_thresholds
from rocketwire.messages.callbacks import ConsumerRunningInfo
from rocketwire.messages.enums import ConsumeFromWhere, ConsumeType
from rocketwire.policy.allocation import (
    AllocateMessageQueueAveragely,
    AllocateMessageQueueStrategy,
)
from rocketwire.policy.process_queue import ProcessQueue, Thresholds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.client.arguments import Rule
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.message.stored import StoredMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class LitePullConsumerConfig:
    """Settings of a lite pull consumer; times in seconds.

    A value of the wrong type or out of bounds is refused at once.

    Attributes:
        pull_batch_size: most messages of one pull, and of one ``poll``.
        max_body_size: most bytes of one decompressed body; a larger message is skipped with a
            WARNING.
        max_inflated_size: most bytes of all decompressed bodies of one pull; the consumer pulls on
            from the first message that does not fit.
        pull_threshold_for_all: messages of all queues beyond which nothing is pulled.
        thresholds: of each queue.
        auto_commit: whether ``poll`` commits what was returned before.
        auto_commit_interval: how often, at most.
        consume_from_where: where to begin in a queue of which the group has no offset.
        consume_timestamp_millis: for ``CONSUME_FROM_TIMESTAMP``.
        begin_as_told: whether ``consume_from_where`` holds for young topics too, from whose start
            Java's brokers have groups without offsets begin (docs/guide/client.md, "Where a group
            begins"), and to the millisecond; those before 5.0 are asked for all their offsets then.
        allocate_message_queue_strategy: how the group's queues are shared; the same for all
            members.
        rebalance_interval: between two looks at who has which queue.

    Raises:
        IllegalTypeError, IllegalValueError: the text names the setting, what is expected and what
            was given.
    """

    pull_batch_size: int = 10
    max_body_size: int = 8 << 20
    max_inflated_size: int = 32 << 20
    pull_threshold_for_all: int = 10_000
    thresholds: Thresholds = field(default_factory=Thresholds)
    auto_commit: bool = True
    auto_commit_interval: float = 5.0
    consume_from_where: ConsumeFromWhere = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
    consume_timestamp_millis: int | None = None
    begin_as_told: bool = False
    allocate_message_queue_strategy: AllocateMessageQueueStrategy = field(
        default_factory=AllocateMessageQueueAveragely
    )
    rebalance_interval: float = 20.0

    def __post_init__(self) -> None:
        """Check types and bounds."""
        check_settings(self, _RULES)


_RULES: Final[Mapping[str, Rule]] = {
    "pull_batch_size": whole(least=1),
    "max_body_size": whole(least=1),
    "max_inflated_size": whole(least=1),
    "pull_threshold_for_all": whole(least=1),
    "thresholds": check_thresholds,
    "auto_commit": FLAG,
    "auto_commit_interval": seconds(zero=True),
    "consume_from_where": FROM_WHERE,
    "consume_timestamp_millis": optional(whole(least=0)),
    "begin_as_told": FLAG,
    "allocate_message_queue_strategy": check_strategy,
    "rebalance_interval": SOME_SECONDS,
}
"""What each setting may be."""


class Polled(NamedTuple):
    """What ``poll`` returned: messages of one queue, in its order."""

    message_queue: MessageQueue
    messages: list[StoredMessage]


class LiteQueue:
    """A queue that is pulled.

    Attributes:
        process: its window.
        scope: cancels its pulls.
        position: next offset to pull; None to ask where the group is.
        consumed: offset behind what ``poll`` has returned.
        passed: offset behind messages that ``poll`` never returns: of other tags, or unreadable;
            None if there are none.
        paused: pull nothing, and let ``poll`` return nothing of it.
    """

    __slots__ = ("consumed", "passed", "paused", "position", "process", "scope")

    def __init__(self, now: float) -> None:
        """With an empty window.

        Args:
            now: the time now.
        """
        self.process: ProcessQueue[StoredMessage] = ProcessQueue(now=now)
        self.scope = trio.CancelScope()
        self.position: int | None = None
        self.consumed: int | None = None
        self.passed: int | None = None
        self.paused = False


def described(
    subscriptions: Mapping[str, SubscriptionData],
    queues: Mapping[MessageQueue, LiteQueue],
    started_millis: int,
    unreadable: int,
) -> ConsumerRunningInfo:
    """What a consumer is doing (code 307), but for what the instance adds."""
    now, millis = trio.current_time(), time.time() * 1000
    table = {
        queue: held.process.info(
            held.consumed or 0, lambda moment: round(millis - (now - moment) * 1000)
        )
        for queue, held in queues.items()
    }
    return ConsumerRunningInfo(
        properties={
            "PROP_CONSUMEORDERLY": "false",
            "PROP_CONSUME_TYPE": ConsumeType.CONSUME_ACTIVELY.value,
            "PROP_CONSUMER_START_TIMESTAMP": str(started_millis),
            "PROP_UNREADABLE_MESSAGES": str(unreadable),
        },
        subscription_set=tuple(subscriptions.values()),
        mq_table=table,
    )
