"""One pull: what is asked, what the answer means, and which replica is asked next.

Java: ``PullAPIWrapper``, ``MQClientAPIImpl.processPullResponse``, ``PullSysFlag``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

import trio

from rocketwire.client.consumer.pulled_messages import next_offset, read_messages
from rocketwire.client.consumer.queues import replica_of
from rocketwire.client.net.rpc import make_request
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError, ChannelError, DecodeError
from rocketwire.flags import PullSysFlag
from rocketwire.messages import decode_header, encode_header
from rocketwire.messages.pull import PullMessageRequestHeader, PullMessageResponseHeader
from rocketwire.policy.routing import MASTER_ID, MOCK_BROKER_PREFIX
from rocketwire.policy.subscription import TAG
from rocketwire.wire.message.lazy_reader import StoredMessageReader
from rocketwire.wire.message.stored import DEFAULT_LIMITS, StoredMessage
from rocketwire.wire.request_template import PreparedRequest, build_template
from rocketwire.wire.values.drafts import drafting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocketwire.client.config import ClientConfig
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.instance.routes import FoundBroker
    from rocketwire.errors import LimitExceededError
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.message.lazy_reader import UnreadableMessage
    from rocketwire.wire.message.stored import StoredLimits
    from rocketwire.wire.request_template import RequestTemplate

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


_FOUND: Final = int(ResponseCode.SUCCESS)
_STATUS: Final = {status.value.value: status for status in PullStatus}
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
        body_size: bytes of their bodies, whose offsets are each larger than the one before; None where that was not seen by the way.
        unreadable: messages that were skipped because they cannot be read.
        stopped_by: the limit that cut the answer short; ``next_begin_offset`` is then the offset of the first message left out.
    """

    status: PullStatus
    next_begin_offset: int
    min_offset: int
    max_offset: int
    messages: list[StoredMessage]
    body_size: int | None = None
    unreadable: tuple[UnreadableMessage, ...] = ()
    stopped_by: LimitExceededError | None = None


_pull_result: Final = drafting(PullResult)
Onward: TypeAlias = tuple[int, int | None]
"""What the next pull of a queue differs in from the one before: ``offset`` and ``commit_offset``."""

pull_request: Final = drafting(PullRequest)
"""A request of all its values, in the order of its attributes, for who pulls over and over."""

_CHANGING: Final = ("queueOffset", "sysFlag", "commitOffset")
_LAST: Final = "bname"
_NEXT: Final = "nextBeginOffset"
_MAX: Final = "maxOffset"
_SURE: Final = 18
"""So many digits are always a ``long``."""
SLAVE_AVOIDED: Final = 120.0
"""Seconds for which a slave is not asked that did not answer; so long a name server keeps one that does not say that it lives."""

_LONGER: Final = CONSUMER_TIMEOUT_WHEN_SUSPEND - BROKER_SUSPEND_MAX_TIME


def _code_of(request: PullRequest) -> RequestCode:
    return RequestCode.LITE_PULL_MESSAGE if request.lite else RequestCode.PULL_MESSAGE


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


class _Known:
    """What is known of a queue from one pull to the next.

    Attributes:
        broker_name: whose it is; none for the queue of a static topic, which another has by now.
        suggested: which replica is to be asked.
    """

    __slots__ = (
        "_fields",
        "_flags",
        "_form",
        "_limits",
        "_name",
        "_rest",
        "_seen",
        "_subscription",
        "_told",
        "_told_in",
        "broker_name",
        "suggested",
    )

    def __init__(self, queue: MessageQueue, limits: StoredLimits) -> None:
        name = queue.broker_name or ""
        self._limits = limits
        self.broker_name = "" if name.startswith(MOCK_BROKER_PREFIX) else name
        self.suggested = MASTER_ID
        self._seen = StoredMessageReader(limits)
        self._subscription: SubscriptionData | None = None
        self._rest: tuple[object, ...] = ()
        self._fields: dict[str, str] = {}
        self._flags = 0
        self._form: RequestTemplate | None = None
        self._name: tuple[object, ...] = ()
        self._told = decode_header(PullMessageResponseHeader, None)
        self._told_in: dict[str, str] | None = None

    def request(
        self, request: PullRequest, config: ClientConfig, *, to_slave: bool
    ) -> RemotingCommand | PreparedRequest:
        """The command; from pull to pull only three of its fields differ."""
        rest = (
            request.group,
            request.max_msg_nums,
            request.max_msg_bytes,
            request.suspend_timeout,
            request.send_subscription,
            request.lite,
        )
        if self._subscription is not request.subscription or self._rest != rest:
            self._subscription, self._rest = request.subscription, rest
            self._prepare(request, config)
        prepared = self.onward((request.offset, request.commit_offset), to_slave=to_slave)
        if prepared is not None:
            return prepared
        numbers = (request.offset, _flags_of(request, to_slave=to_slave), request.commit_offset or 0)  # fmt: skip
        fields = {**self._fields, **dict(zip(_CHANGING, map(str, numbers), strict=True))}
        return make_request(config, _code_of(request), fields)

    def onward(self, onward: Onward, *, to_slave: bool) -> PreparedRequest | None:
        """The command of a pull that differs in nothing else from the one before; None where it has no form."""
        form = self._form
        if form is None:
            return None
        offset, commit_offset = onward
        flags = self._flags
        if commit_offset is not None and not to_slave:
            flags |= _COMMIT_OFFSET
        return PreparedRequest(form, (offset, flags, commit_offset or 0, *self._name), b"")

    def read(self, request: PullRequest, response: RemotingCommand, address: str) -> PullResult:
        """What an answer says; it may suggest another replica.

        Raises:
            BrokerError: it is none of ``PullStatus``.
            DecodeError: it cannot be read.
        """
        status = _STATUS.get(response.code)
        if status is None:
            raise BrokerError(response.code, response.remark, _code_of(request), address)
        next_begin_offset, max_offset = self._offsets(response.ext_fields)
        told = self._told
        if told.suggest_which_broker_id is not None:
            self.suggested = told.suggest_which_broker_id
        messages: list[StoredMessage] = []
        body_size, seen = None, self._seen
        unreadable: tuple[UnreadableMessage, ...] = ()
        stopped_by: LimitExceededError | None = None
        if status is PullStatus.FOUND:
            delta = told.offset_delta or 0
            pulled = read_messages(
                response.body, request.subscription, delta, seen, self._limits, next_begin_offset
            )
            messages, unreadable, stopped_by = pulled.messages, pulled.unreadable, pulled.stopped_by
            if stopped_by is not None or unreadable:
                next_begin_offset = next_offset(pulled, request.offset, next_begin_offset)
            elif seen.is_ordinary and seen.ascends and len(messages) == seen.count:
                body_size = seen.body_size
        return _pull_result(
            status,
            next_begin_offset,
            told.min_offset or 0,
            max_offset,
            messages,
            body_size,
            unreadable,
            stopped_by,
        )

    def _offsets(self, fields: Mapping[str, str] | None) -> tuple[int, int]:
        """The two numbers of an answer's header that differ from pull to pull; all others are in ``_told`` then.

        Raises:
            DecodeError: one of them cannot be read.
        """
        told_in = None if fields is None else {**fields, _NEXT: "", _MAX: ""}
        if fields and told_in == self._told_in:
            begin, end = fields.get(_NEXT, ""), fields.get(_MAX, "")
            if 0 < len(begin) <= _SURE >= len(end) > 0:
                digits = begin + end
                if digits.isdecimal() and digits.isascii():
                    return int(begin), int(end)
        told = decode_header(PullMessageResponseHeader, fields)
        self._told, self._told_in = told, told_in
        return told.next_begin_offset or 0, told.max_offset or 0

    def _prepare(self, request: PullRequest, config: ClientConfig) -> None:
        header = pull_header(request, to_slave=False)
        self._fields = encode_header(header, serialize_type=config.serialize_type)
        fields = {k: v for k, v in self._fields.items() if k not in {*_CHANGING, _LAST}}
        self._flags = _flags_of(request, to_slave=True)  # without what each pull has
        self._form, name = None, request.queue.broker_name
        if name is not None:
            command = make_request(config, _code_of(request), fields)
            form = build_template(command, _CHANGING, _LAST)
            written = None if form is None else form.values((), name)
            if written is not None:
                self._form, self._name = form, written


class PullCalls:
    """Pulls of one consumer, each to the replica that the broker suggested last (Java: ``PullAPIWrapper``)."""

    def __init__(self, instance: ClientInstance, limits: StoredLimits = DEFAULT_LIMITS) -> None:
        """Nothing is suggested yet.

        Args:
            instance: knows routes and carries the requests.
            limits: how much one answer may hold.
        """
        self._instance = instance
        self._limits = limits
        self._known: dict[MessageQueue, _Known] = {}
        self._avoided: dict[str, float] = {}  # slaves that did not answer, and until when

    def forget(self, queue: MessageQueue) -> None:
        """The queue is somebody else's."""
        self._known.pop(queue, None)

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
        known, found = await self._whom(request.queue)
        instance = self._instance
        command = known.request(request, instance.config, to_slave=found.is_slave)
        limit = request.suspend_timeout + _LONGER if within is None else within
        now = trio.current_time()
        try:
            response = await instance.pool.request_by(
                found.address, command, started=now, deadline=now + limit
            )
        except ChannelError:
            self._avoid(found)
            raise
        return known.read(request, response, found.address)

    async def pull_on(
        self, request: PullRequest, take: Callable[[PullResult], Onward | None]
    ) -> PullResult | None:
        """Pull over and over, without a turn of the caller's for each.

        Args:
            request: what first.
            take: takes messages where they are read; returns how the next pull differs from the first, or None for none like it.  It
                neither waits nor raises.

        Returns:
            What is not for ``take``, as it found nothing; None where that wanted no more, or somebody else has to be asked.

        Errors, cancellation: as of ``pull``, of the last one; what the others brought was taken.
        """
        known, found = await self._whom(request.queue)
        talk = _PullTalk(self._instance, known, found, request, take)
        command = known.request(request, self._instance.config, to_slave=found.is_slave)
        now = trio.current_time()
        try:
            response = await self._instance.pool.request_by(
                found.address,
                command,
                started=now,
                deadline=now + request.suspend_timeout + _LONGER,
                follow=talk.follow,
            )
        except ChannelError:
            self._avoid(found)
            raise
        if talk.is_over:
            return None
        result = known.read(request, response, found.address)
        if not result.messages:
            return result
        take(result)  # whoever was asked does not do it
        return None

    async def _whom(self, queue: MessageQueue) -> tuple[_Known, FoundBroker]:
        """What is known of the queue, and the replica that is to be asked."""
        known = self._known.get(queue)
        if known is None:
            known = self._known[queue] = _Known(queue, self._limits)
        found = self._instance.routes.replica(known.broker_name, known.suggested)
        if found is None:
            found = await replica_of(self._instance, queue, known.suggested)
        if found.is_slave and self._avoided.get(found.address, -math.inf) > trio.current_time():
            found = self._instance.routes.replica(known.broker_name) or found
        return known, found

    def _avoid(self, found: FoundBroker) -> None:
        """Ask the master in the place of a slave that did not answer; Java's consumers ask the slave until its route is gone."""
        if found.is_slave:
            self._avoided[found.address] = trio.current_time() + SLAVE_AVOIDED


class _PullTalk:
    """Pulls of one queue over one channel, each made of the answer to the one before.

    Attributes:
        is_over: whether the last answer was taken, and nothing is to follow it.
    """

    __slots__ = (
        "_asked",
        "_changes",
        "_found",
        "_instance",
        "_known",
        "_request",
        "_take",
        "is_over",
    )

    def __init__(
        self,
        instance: ClientInstance,
        known: _Known,
        found: FoundBroker,
        request: PullRequest,
        take: Callable[[PullResult], Onward | None],
    ) -> None:
        self._instance = instance
        self._known = known
        self._found = found
        self._take = take
        self._request = request
        self._asked, self._changes = known.suggested, instance.routes.changes
        self.is_over = False

    def follow(self, response: RemotingCommand) -> RemotingCommand | PreparedRequest | None:
        """The next pull, if what was found is to be followed by one; errors are left to who reads the answer again."""
        if response.code != _FOUND:
            return None
        known, found = self._known, self._found
        try:
            result = known.read(self._request, response, found.address)
        except DecodeError:
            return None
        if not result.messages:
            return None
        onward = self._take(result)
        instance, to_slave = self._instance, found.is_slave
        moved = known.suggested != self._asked or instance.routes.changes != self._changes
        if onward is None or moved:  # then who is to be asked is looked up anew
            self.is_over = True
            return None
        prepared = known.onward(onward, to_slave=to_slave)
        if prepared is not None:
            return prepared
        request = replace(self._request, offset=onward[0], commit_offset=onward[1])
        return known.request(request, instance.config, to_slave=to_slave)


def pulls_subject(queue: MessageQueue) -> str:
    """The subject of warnings about pulls of a queue; the queues of a topic on one broker share it."""
    return f"pulls of topic {queue.topic} from broker {queue.broker_name}"
