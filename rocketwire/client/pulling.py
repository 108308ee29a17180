"""One pull: what is asked, what the answer means, and which replica is asked next.

Java: ``PullAPIWrapper``, ``MQClientAPIImpl.processPullResponse``, ``PullSysFlag``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from rocketwire.client.queues import replica_of
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.flags import PullSysFlag
from rocketwire.messages import encode_header
from rocketwire.messages.pull import PullMessageRequestHeader, PullMessageResponseHeader
from rocketwire.policy.routing import MASTER_ID
from rocketwire.policy.subscription import TAG, wanted
from rocketwire.wire.stored import StoredMessage, decode_stored_messages, unwrap_inner_batch

if TYPE_CHECKING:
    from rocketwire.client.instance import ClientInstance
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue

BROKER_SUSPEND_MAX_TIME: Final = 15.0
"""Seconds that a push consumer lets the broker hold a pull; others ask for 20."""

CONSUMER_TIMEOUT_WHEN_SUSPEND: Final = 30.0
"""Seconds that a consumer waits for the answer to a pull that may be held."""


class PullStatus(Enum):
    """What became of a pull (Java: ``PullStatus``)."""

    FOUND = ResponseCode.SUCCESS
    NO_NEW_MSG = ResponseCode.PULL_NOT_FOUND
    NO_MATCHED_MSG = ResponseCode.PULL_RETRY_IMMEDIATELY
    OFFSET_ILLEGAL = ResponseCode.PULL_OFFSET_MOVED


_STATUS: Final = {status.value.value: status for status in PullStatus}
_INNER_BATCH: Final = 0xC0
_COMMIT_OFFSET: Final = int(PullSysFlag.COMMIT_OFFSET)
_SUSPEND: Final = int(PullSysFlag.SUSPEND)
_SUBSCRIPTION: Final = int(PullSysFlag.SUBSCRIPTION)
_CLASS_FILTER: Final = int(PullSysFlag.CLASS_FILTER)
_LITE: Final = int(PullSysFlag.LITE_PULL_MESSAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """What to pull.

    Attributes:
        queue: from where.
        offset: the first offset that is wanted.
        group: for which group.
        subscription: what of it.
        max_msg_nums: most messages.
        max_msg_bytes: most bytes; None for no word about it.
        commit_offset: the group's offset, stored by the way; None for none.
        suspend_timeout: seconds that the broker may hold the pull until a message comes; 0 for not at all.
        send_subscription: whether the request carries the expression; without it the heartbeat's counts.
        lite: whether it is a lite pull (code 361), which other limits of the broker hold for.
    """

    queue: MessageQueue
    offset: int
    group: str
    subscription: SubscriptionData
    max_msg_nums: int = 32
    max_msg_bytes: int | None = None
    commit_offset: int | None = None
    suspend_timeout: float = BROKER_SUSPEND_MAX_TIME
    send_subscription: bool = False
    lite: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PullResult:
    """The answer to a pull.

    Attributes:
        status: what became of it.
        next_begin_offset: where to go on, whatever was filtered.
        min_offset: of the queue's oldest message.
        max_offset: that the queue's next message will have.
        messages: those that were meant, with exact tags.
    """

    status: PullStatus
    next_begin_offset: int
    min_offset: int
    max_offset: int
    messages: list[StoredMessage]


def _flags_of(request: PullRequest, *, to_slave: bool) -> int:
    flags = 0
    if request.commit_offset is not None and not to_slave:
        flags |= _COMMIT_OFFSET
    if request.suspend_timeout:
        flags |= _SUSPEND
    if request.send_subscription:
        flags |= _SUBSCRIPTION
    if request.subscription.class_filter_mode:
        flags |= _CLASS_FILTER
    if request.lite:
        flags |= _LITE
    return flags


def pull_header(request: PullRequest, *, to_slave: bool) -> PullMessageRequestHeader:
    """The header of a pull; a slave is not told offsets."""
    subscription = request.subscription
    is_tag = subscription.expression_type in (None, TAG)
    version = subscription.sub_version or 0
    return PullMessageRequestHeader(
        consumer_group=request.group,
        topic=request.queue.topic,
        queue_id=request.queue.queue_id,
        queue_offset=request.offset,
        max_msg_nums=request.max_msg_nums,
        max_msg_bytes=request.max_msg_bytes,
        sys_flag=_flags_of(request, to_slave=to_slave),
        commit_offset=request.commit_offset or 0,
        suspend_timeout_millis=round(request.suspend_timeout * 1000),
        subscription=subscription.sub_string if request.send_subscription else None,
        sub_version=0 if request.lite and is_tag else version,
        expression_type=subscription.expression_type,
        bname=request.queue.broker_name,
    )


def read_messages(
    body: bytes | None, subscription: SubscriptionData, offset_delta: int = 0
) -> list[StoredMessage]:
    """The messages in the body of an answer that were meant.

    Args:
        body: as it came.
        subscription: tags are compared exactly; the broker compares their hash codes only.
        offset_delta: what a static topic's broker says is to be added to the offsets.

    Raises:
        DecodeError: a message cannot be read.
    """
    if not body:
        return []
    messages = decode_stored_messages(body)
    if any(message.sys_flag & _INNER_BATCH for message in messages):
        messages = tuple(inner for each in messages for inner in unwrap_inner_batch(each))
    if offset_delta:
        messages = tuple(replace(m, queue_offset=m.queue_offset + offset_delta) for m in messages)
    return wanted(subscription, messages)


class PullCalls:
    """Pulls of one consumer, each to the replica that the broker suggested last (Java: ``PullAPIWrapper``)."""

    def __init__(self, instance: ClientInstance) -> None:
        """Nothing is suggested yet.

        Args:
            instance: knows routes and carries the requests.
        """
        self._instance = instance
        self._suggested: dict[MessageQueue, int] = {}
        self._form = instance.config.serialize_type
        self._headers: dict[MessageQueue, tuple[object, object, dict[str, str]]] = {}

    def forget(self, queue: MessageQueue) -> None:
        """The queue is somebody else's."""
        self._suggested.pop(queue, None)
        self._headers.pop(queue, None)

    def _fields(self, request: PullRequest, *, to_slave: bool) -> dict[str, str]:
        """The header's ext fields; of one queue only three of them differ from pull to pull."""
        rest = (
            request.group,
            request.max_msg_nums,
            request.max_msg_bytes,
            request.suspend_timeout,
            request.send_subscription,
            request.lite,
        )
        subscription, others, fields = self._headers.get(request.queue, (None, None, {}))
        if subscription is not request.subscription or others != rest:
            header = pull_header(request, to_slave=to_slave)
            fields = encode_header(header, serialize_type=self._form)
            self._headers[request.queue] = (request.subscription, rest, fields)
            return dict(fields)
        fields = dict(fields)
        fields["queueOffset"] = str(request.offset)
        fields["sysFlag"] = str(_flags_of(request, to_slave=to_slave))
        fields["commitOffset"] = str(request.commit_offset or 0)
        return fields

    async def pull(self, request: PullRequest, *, within: float | None = None) -> PullResult:
        """Pull once.

        Args:
            request: what.
            within: seconds; None for a limit that suits ``suspend_timeout``.

        Raises:
            BrokerNotFoundError: no address of the queue's broker is known.
            BrokerError: an answer that is none of ``PullStatus``.
            ChannelError: no answer.
            DecodeError: it cannot be read.

        Cancellation: nothing is lost, the offset is the caller's.
        """
        queue = request.queue
        found = await replica_of(self._instance, queue, self._suggested.get(queue, MASTER_ID))
        header = self._fields(request, to_slave=found.is_slave)
        limit = within
        if limit is None:
            limit = request.suspend_timeout + (
                CONSUMER_TIMEOUT_WHEN_SUSPEND - BROKER_SUSPEND_MAX_TIME
            )
        code = RequestCode.LITE_PULL_MESSAGE if request.lite else RequestCode.PULL_MESSAGE
        answer = await self._instance.brokers.call(
            found.address, code, header, within=limit, accepted=_STATUS
        )
        told: PullMessageResponseHeader = answer.header
        if told.suggest_which_broker_id is not None:
            self._suggested[queue] = told.suggest_which_broker_id
        status = _STATUS[answer.command.code]
        messages: list[StoredMessage] = []
        if status is PullStatus.FOUND:
            messages = read_messages(
                answer.command.body, request.subscription, told.offset_delta or 0
            )
        return PullResult(
            status=status,
            next_begin_offset=told.next_begin_offset or 0,
            min_offset=told.min_offset or 0,
            max_offset=told.max_offset or 0,
            messages=messages,
        )
