"""Settings, queues and pulls of a lite pull consumer.

Java: ``DefaultLitePullConsumer``, ``AssignedMessageQueue.MessageQueueState``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.client.arguments import (
    Rule,
    Settings,
    check_settings,
    integer_in,
    optional,
    seconds,
)
from rocketwire.client.consumer.config import FROM_WHERE, check_strategy, check_thresholds
from rocketwire.client.consumer.pull import PullCalls, PullRequest, PullResult
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.policy.allocation import AllocateMessageQueueAveragely, AllocateMessageQueueStrategy
from rocketwire.policy.process_queue import ProcessQueue, Thresholds
from rocketwire.wire.message.stored import DEFAULT_LIMITS, StoredLimits, StoredMessage
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class LitePullConsumerConfig(Settings):
    """Settings of a lite pull consumer; times in seconds.

    A value with a wrong type or out of range is rejected when the config is created.

    Attributes:
        pull_batch_size: most messages of a pull, and of a ``poll``.
        max_body_size: largest decompressed body in bytes; a larger message is skipped with a
            WARNING.
        max_inflated_size: most bytes of all decompressed bodies of a pull; the consumer continues
            with the first message that does not fit.
        pull_threshold_for_all: messages of all queues above which pulling pauses.
        thresholds: limits of each queue.
        auto_commit: let ``poll`` commit the messages that it returned before.
        auto_commit_interval: shortest time between two such commits.
        consume_from_where: where to start in a queue without a stored offset.
        consume_timestamp_millis: time for ``CONSUME_FROM_TIMESTAMP``.
        exact_start: apply ``consume_from_where`` also to young topics, where Java's brokers start
            groups without offsets at the first message (docs/guide/client.md, "Where a group
            begins"), and to the exact millisecond; brokers before 5.0 are then queried for all
            their offsets.
        allocate_message_queue_strategy: how the members share queues; the same for all members.
        rebalance_interval: time between two rebalances.
        enable_trace: record polled messages in the trace topic.
        trace_topic: the trace topic; None for ``RMQ_SYS_TRACE_TOPIC``.

    Raises:
        IllegalTypeError, IllegalValueError: the text has the setting, the expected and the actual
            value.
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
    exact_start: bool = False
    allocate_message_queue_strategy: AllocateMessageQueueStrategy = field(
        default_factory=AllocateMessageQueueAveragely
    )
    rebalance_interval: float = 20.0
    enable_trace: bool = False
    trace_topic: str | None = None

    def __post_init__(self) -> None:
        check_settings(self, _RULES)


# The checks of settings that are not those of their type
_RULES: Final[Mapping[str, Rule]] = {
    "thresholds": check_thresholds,
    "auto_commit_interval": seconds(zero=True),
    "consume_from_where": FROM_WHERE,
    "consume_timestamp_millis": optional(integer_in(minimum=0)),
    "allocate_message_queue_strategy": check_strategy,
}


class Polled(NamedTuple):
    """The result of ``poll``: messages of a queue, in order."""

    message_queue: MessageQueue
    messages: list[StoredMessage]


class LiteQueue:
    """A queue that the consumer pulls."""

    __slots__ = ("consumed", "passed", "paused", "position", "process", "scope")

    def __init__(self, now: float) -> None:
        # messages that were pulled and not polled
        self.process: ProcessQueue[StoredMessage] = ProcessQueue(now=now)
        self.scope: Final = trio.CancelScope()
        # offset of the next pull; None to query the group's offset
        self.position: int | None = None
        self.consumed: int | None = None  # next offset after the messages that count as handled
        # next offset after messages that ``poll`` never returns, because of their tags or because
        # they are unreadable; None if there are none
        self.passed: int | None = None
        self.paused: bool = False  # whether pulls and polls of the queue are paused


class LitePulls:
    """Lite pulls (code 361), or pulls (code 11) from brokers without them, such as 4.9.4.

    Java's consumer receives no messages from such brokers.
    """

    def __init__(self, instance: ClientInstance, limits: StoredLimits = DEFAULT_LIMITS) -> None:
        self._pulls = PullCalls(instance, limits)
        self._brokers_without_lite: set[str | None] = set()

    async def pull(self, request: PullRequest) -> PullResult:
        """Pull once; for errors and cancellation see ``PullCalls.pull``."""
        broker = request.queue.broker_name
        if broker not in self._brokers_without_lite:
            try:
                return await self._pulls.pull(replace(request, lite=True))
            except BrokerError as error:
                if error.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                    raise
            self._brokers_without_lite.add(broker)
        return await self._pulls.pull(request)

    def forget(self, queue: MessageQueue) -> None:
        self._pulls.forget(queue)
