"""Pull requests and responses, and the choice of the replica.

Java: ``PullAPIWrapper``, ``MQClientAPIImpl.processPullResponse``, ``PullSysFlag``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

import trio

from rocketwire.client.consumer.pulled_messages import next_offset, read_messages
from rocketwire.client.consumer.queues import find_replica
from rocketwire.client.net.rpc import make_request
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError, ChannelError, DecodeError, LimitExceededError
from rocketwire.flags import PullSysFlag
from rocketwire.messages import decode_header, encode_header
from rocketwire.messages.pull import PullMessageRequestHeader, PullMessageResponseHeader
from rocketwire.policy.routing import MASTER_ID, MOCK_BROKER_PREFIX
from rocketwire.policy.subscription import TAG
from rocketwire.wire.message.lazy_reader import StoredMessageReader, UnreadableMessage
from rocketwire.wire.message.stored import DEFAULT_LIMITS, StoredLimits, StoredMessage
from rocketwire.wire.request_template import PreparedRequest, RequestTemplate, build_template

if TYPE_CHECKING:
    from rocketwire.client.config import ClientConfig
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.instance.routes import BrokerAddress
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.command import RemotingCommand

# Seconds that a broker may hold a pull of a push consumer; other pulls allow 20
BROKER_SUSPEND_MAX_TIME: Final = 15.0
CONSUMER_TIMEOUT_WHEN_SUSPEND: Final = 30.0  # timeout in seconds of a pull that the broker may hold
# Maximum bytes of a pull whose size only ``max_msg_nums`` limits (Java: ``Integer.MAX_VALUE``)
UNLIMITED_BYTES: Final = 2**31 - 1


class PullStatus(Enum):
    """Status of a pull (Java: ``PullStatus``)."""

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
    queue: MessageQueue
    offset: int  # first offset
    group: str
    subscription: SubscriptionData  # filter of the messages
    max_msg_nums: int = 32  # most messages
    max_msg_bytes: int | None = UNLIMITED_BYTES  # most bytes; None to omit the field
    commit_offset: int | None = None  # offset of the group to commit with the pull; None for none
    # seconds that the broker may hold the pull until a message arrives; 0 for none
    suspend_timeout: float = BROKER_SUSPEND_MAX_TIME
    # send the expression; if False, the subscription of the heartbeat applies
    send_subscription: bool = False
    lite: bool = False  # send a lite pull (code 361), for which brokers have other limits


@dataclass(frozen=True, slots=True, kw_only=True)
class PullResult:
    status: PullStatus
    next_begin_offset: int  # offset of the next pull, whatever was filtered
    min_offset: int  # offset of the queue's oldest message
    max_offset: int  # offset of the queue's next message
    messages: list[StoredMessage]  # messages that the subscription selects, with exact tags
    # bytes of their bodies, if their offsets ascend; None if the reader has not computed it
    body_size: int | None = None
    # messages that were skipped because they are unreadable
    unreadable: tuple[UnreadableMessage, ...] = ()
    # limit that cut the response short; ``next_begin_offset`` is then the offset of the first
    # message that was left out
    stopped_by: LimitExceededError | None = None


NextPull: TypeAlias = tuple[int, int | None]
"""``offset`` and ``commit_offset`` of the next pull of a queue; the rest stays the same."""

_VARIABLE_FIELDS: Final = ("queueOffset", "sysFlag", "commitOffset")
_BROKER_NAME: Final = "bname"
_NEXT_OFFSET: Final = "nextBeginOffset"
_MAX_OFFSET: Final = "maxOffset"
_LONG_DIGITS: Final = 18  # a number of at most this many digits always fits into a ``long``
# Seconds for which pulls avoid a slave that did not respond. A name server removes a silent broker
# after the same time.
SLAVE_AVOIDED: Final = 120.0

_RESPONSE_MARGIN: Final = CONSUMER_TIMEOUT_WHEN_SUSPEND - BROKER_SUSPEND_MAX_TIME


def _request_code(request: PullRequest) -> RequestCode:
    return RequestCode.LITE_PULL_MESSAGE if request.lite else RequestCode.PULL_MESSAGE


def _build_flags(request: PullRequest, *, to_slave: bool) -> int:
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


def build_pull_header(request: PullRequest, *, to_slave: bool) -> PullMessageRequestHeader:
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
        sys_flag=_build_flags(request, to_slave=to_slave),
        commit_offset=request.commit_offset or 0,
        suspend_timeout_millis=round(request.suspend_timeout * 1000),
        subscription=subscription.sub_string if request.send_subscription else None,
        sub_version=0 if request.lite and is_tag else version,
        expression_type=subscription.expression_type,
        bname=request.queue.broker_name,
    )


class _QueueState:
    def __init__(self, queue: MessageQueue, limits: StoredLimits) -> None:
        name = queue.broker_name or ""
        self._limits = limits
        # the queues of a static topic can move
        self.broker_name = "" if name.startswith(MOCK_BROKER_PREFIX) else name
        self.suggested_broker_id = MASTER_ID
        self._reader = StoredMessageReader(limits)
        self._subscription: SubscriptionData | None = None
        self._request_settings: tuple[object, ...] = ()
        self._fields: dict[str, str] = {}
        self._flags = 0
        self._form: RequestTemplate | None = None
        self._form_values: tuple[object, ...] = ()
        self._response_header = decode_header(PullMessageResponseHeader, None)
        self._response_fields: dict[str, str] | None = None

    def build_request(
        self, request: PullRequest, config: ClientConfig, *, to_slave: bool
    ) -> RemotingCommand | PreparedRequest:
        # build the command; only three of its fields differ between pulls
        settings = (
            request.group,
            request.max_msg_nums,
            request.max_msg_bytes,
            request.suspend_timeout,
            request.send_subscription,
            request.lite,
        )
        if self._subscription is not request.subscription or self._request_settings != settings:
            self._subscription, self._request_settings = request.subscription, settings
            self._build_form(request, config)
        prepared = self.build_next((request.offset, request.commit_offset), to_slave=to_slave)
        if prepared is not None:
            return prepared
        numbers = (
            request.offset,
            _build_flags(request, to_slave=to_slave),
            request.commit_offset or 0,
        )
        fields = {**self._fields, **dict(zip(_VARIABLE_FIELDS, map(str, numbers), strict=True))}
        return make_request(config, _request_code(request), fields)

    def build_next(self, next_pull: NextPull, *, to_slave: bool) -> PreparedRequest | None:
        form = self._form
        if form is None:
            return None
        offset, commit_offset = next_pull
        flags = self._flags
        if commit_offset is not None and not to_slave:
            flags |= _COMMIT_OFFSET
        return PreparedRequest(form, (offset, flags, commit_offset or 0, *self._form_values), b"")

    def decode(self, request: PullRequest, response: RemotingCommand, address: str) -> PullResult:
        status = _STATUS.get(response.code)
        if status is None:
            raise BrokerError(response.code, response.remark, _request_code(request), address)
        next_begin_offset, max_offset = self._decode_offsets(response.ext_fields)
        header = self._response_header
        if header.suggest_which_broker_id is not None:
            self.suggested_broker_id = header.suggest_which_broker_id
        messages: list[StoredMessage] = []
        body_size, reader = None, self._reader
        unreadable: tuple[UnreadableMessage, ...] = ()
        stopped_by: LimitExceededError | None = None
        if status is PullStatus.FOUND:
            delta = header.offset_delta or 0
            pulled = read_messages(
                response.body, request.subscription, delta, reader, self._limits, next_begin_offset
            )
            messages, unreadable, stopped_by = pulled.messages, pulled.unreadable, pulled.stopped_by
            if stopped_by is not None or unreadable:
                next_begin_offset = next_offset(pulled, request.offset, next_begin_offset)
            elif reader.is_ordinary and reader.ascends and len(messages) == reader.count:
                body_size = reader.body_size
        return PullResult(
            status=status,
            next_begin_offset=next_begin_offset,
            min_offset=header.min_offset or 0,
            max_offset=max_offset,
            messages=messages,
            body_size=body_size,
            unreadable=unreadable,
            stopped_by=stopped_by,
        )

    def _decode_offsets(self, fields: Mapping[str, str] | None) -> tuple[int, int]:
        # only these two fields differ between responses; the others are in _response_header
        other_fields = None if fields is None else {**fields, _NEXT_OFFSET: "", _MAX_OFFSET: ""}
        if fields and other_fields == self._response_fields:
            begin, end = fields.get(_NEXT_OFFSET, ""), fields.get(_MAX_OFFSET, "")
            if 0 < len(begin) <= _LONG_DIGITS >= len(end) > 0:
                digits = begin + end
                if digits.isdecimal() and digits.isascii():
                    return int(begin), int(end)
        header = decode_header(PullMessageResponseHeader, fields)
        self._response_header, self._response_fields = header, other_fields
        return header.next_begin_offset or 0, header.max_offset or 0

    def _build_form(self, request: PullRequest, config: ClientConfig) -> None:
        header = build_pull_header(request, to_slave=False)
        self._fields = encode_header(header, serialize_type=config.serialize_type)
        form_fields = {*_VARIABLE_FIELDS, _BROKER_NAME}
        fields = {k: v for k, v in self._fields.items() if k not in form_fields}
        self._flags = _build_flags(request, to_slave=True)  # without the flag of a commit
        self._form, name = None, request.queue.broker_name
        if name is not None:
            command = make_request(config, _request_code(request), fields)
            form = build_template(command, _VARIABLE_FIELDS, _BROKER_NAME)
            values = None if form is None else form.values((), name)
            if values is not None:
                self._form, self._form_values = form, values


class PullCalls:
    # Each pull asks the replica that the broker suggested last (Java: ``PullAPIWrapper``).
    def __init__(self, instance: ClientInstance, limits: StoredLimits = DEFAULT_LIMITS) -> None:
        self._instance = instance
        self._limits = limits
        self._states: dict[MessageQueue, _QueueState] = {}
        self._avoided_until: dict[str, float] = {}  # by address of a slave

    def forget(self, queue: MessageQueue) -> None:
        self._states.pop(queue, None)

    async def pull(self, request: PullRequest, *, within: float | None = None) -> PullResult:
        """Pull once, by default within 15 seconds more than ``suspend_timeout``.

        Raises:
            BrokerNotFoundError, ChannelError: the broker has no known address, or does not respond.
            BrokerError: the response code is not in ``PullStatus``.
        """
        state, broker = await self._select_replica(request.queue)
        instance = self._instance
        command = state.build_request(request, instance.config, to_slave=broker.is_slave)
        limit = request.suspend_timeout + _RESPONSE_MARGIN if within is None else within
        now = trio.current_time()
        try:
            response = await instance.pool.request_by(
                broker.address, command, started=now, deadline=now + limit
            )
        except ChannelError:
            self._avoid(broker)
            raise
        return state.decode(request, response, broker.address)

    async def pull_repeatedly(
        self, request: PullRequest, accept: Callable[[PullResult], NextPull | None]
    ) -> PullResult | None:
        """Pull repeatedly over one channel, without waking the caller for each response.

        ``accept`` receives each result with messages, and returns the offsets of the next pull, or
        None to stop; it must neither block nor raise. Returns the first result without messages;
        None if ``accept`` has stopped or another replica must be used.
        """
        state, broker = await self._select_replica(request.queue)
        instance = self._instance
        broker_id, changes = state.suggested_broker_id, instance.routes.changes
        is_over = False  # the last response was accepted, and no pull follows

        def follow(response: RemotingCommand) -> RemotingCommand | PreparedRequest | None:
            nonlocal is_over
            if response.code != _FOUND:
                return None
            try:
                result = state.decode(request, response, broker.address)
            except DecodeError:  # decoded again below, for the caller
                return None
            if not result.messages:
                return None
            next_pull = accept(result)
            if (
                next_pull is None
                or state.suggested_broker_id != broker_id
                or instance.routes.changes != changes
            ):
                is_over = True
                return None
            prepared = state.build_next(next_pull, to_slave=broker.is_slave)
            if prepared is not None:
                return prepared
            offset, commit_offset = next_pull
            next_request = replace(request, offset=offset, commit_offset=commit_offset)
            return state.build_request(next_request, instance.config, to_slave=broker.is_slave)

        command = state.build_request(request, instance.config, to_slave=broker.is_slave)
        now = trio.current_time()
        deadline = now + request.suspend_timeout + _RESPONSE_MARGIN
        try:
            response = await instance.pool.request_by(
                broker.address, command, started=now, deadline=deadline, follow=follow
            )
        except ChannelError:
            self._avoid(broker)
            raise
        if is_over:
            return None
        result = state.decode(request, response, broker.address)
        if not result.messages:
            return result
        accept(result)  # the next pull must use another replica
        return None

    async def _select_replica(self, queue: MessageQueue) -> tuple[_QueueState, BrokerAddress]:
        state = self._states.get(queue)
        if state is None:
            state = self._states[queue] = _QueueState(queue, self._limits)
        routes, broker_id = self._instance.routes, state.suggested_broker_id
        broker = routes.replica(state.broker_name, broker_id)
        if broker is None:
            broker = await find_replica(self._instance, queue, broker_id)
        avoided_until = self._avoided_until.get(broker.address, -math.inf)
        if broker.is_slave and avoided_until > trio.current_time():
            broker = routes.replica(state.broker_name) or broker
        return state, broker

    def _avoid(self, broker: BrokerAddress) -> None:
        # Java's consumers use the slave until its route is removed
        if broker.is_slave:
            self._avoided_until[broker.address] = trio.current_time() + SLAVE_AVOIDED


def pull_outage(queue: MessageQueue) -> str:
    # queues of a topic on a broker share the outage
    return f"pulls of topic {queue.topic} from broker {queue.broker_name}"
