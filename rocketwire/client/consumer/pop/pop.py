"""Requests of pop consumers: pop, acknowledge, change the invisible time.

Their codes do not fit into a binary header, so they are always sent as JSON. The broker measures
its timeouts with its own clock and the time in the request.

Java: ``MQClientAPIImpl`` (``popMessageAsync``, ``ackMessageAsync``, ``batchAckMessageAsync``,
``changeInvisibleTimeAsync``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.pulled_messages import (
    has_inner_batches,
    read_messages,
    unwrap_inner_batches,
)
from rocketwire.client.periodic import now_millis
from rocketwire.client.trio_only import trio_only
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError, RocketWireError
from rocketwire.messages.message_const import FIRST_POP_TIME, POP_CK
from rocketwire.messages.pop import (
    AckMessageRequestHeader,
    BatchAckMessageRequestBody,
    ChangeInvisibleTimeRequestHeader,
    ChangeInvisibleTimeResponseHeader,
    PopMessageRequestHeader,
    PopMessageResponseHeader,
)
from rocketwire.policy.pop_handle import PopHandle, batch_acks, handle_of, with_handles
from rocketwire.policy.subscription import SUB_ALL, TAG, matches_tags, subscription_data
from rocketwire.wire.message.lazy_reader import UnreadableMessage, decode_stored_messages
from rocketwire.wire.message.stored import DEFAULT_LIMITS, StoredLimits, StoredMessage

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.errors import LimitExceededError
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.wire.message.stored import StoredMessage

ANY_QUEUE: Final = -1  # queue id of a pop from any queue of the broker
RESPONSE_MARGIN: Final = 10.0  # timeout of a pop in seconds, in addition to ``poll_time``


class PopStatus(Enum):
    """Status of a pop (Java: ``PopStatus``)."""

    FOUND = ResponseCode.SUCCESS
    NO_NEW_MSG = ResponseCode.PULL_NOT_FOUND
    POLLING_FULL = ResponseCode.POLLING_FULL
    POLLING_NOT_FOUND = ResponseCode.POLLING_TIMEOUT


_STATUS: Final = {status.value.value: status for status in PopStatus}


class InitMode(Enum):
    """Where a group starts that has never popped the topic (Java: ``ConsumeInitMode``)."""

    MIN = 0
    MAX = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PopResult:
    """The result of a pop."""

    status: PopStatus
    #: messages with their handles (property ``POP_CK``). Those of an inner batch have the same
    #: handle: the broker hides them together, and acknowledging one acknowledges all.
    messages: tuple[StoredMessage, ...] = ()
    pop_time: int = 0  #: when they were hidden, milliseconds since 1970 of the broker's clock
    invisible_time: int = 0  #: milliseconds for which they are hidden
    rest: int = 0  #: number of remaining messages, as far as the broker knows
    #: messages whose tags have the hash code of a subscribed tag but differ. They are hidden too,
    #: and are redelivered unless acknowledged. Messages of an inner batch are in no list if others
    #: of it are selected.
    filtered: tuple[StoredMessage, ...] = ()
    #: unreadable messages; ``stored`` has the handle if only the body is unreadable
    unreadable: tuple[UnreadableMessage, ...] = ()
    #: messages that were not decompressed because of the limit ``stopped_by``, with handle and
    #: stored body
    left_out: tuple[StoredMessage, ...] = ()
    stopped_by: LimitExceededError | None = None  #: the limit; None if all messages were read


@trio_only()
class PopCalls:
    def __init__(
        self, instance: ClientInstance, group: str, limits: StoredLimits = DEFAULT_LIMITS
    ) -> None:
        self._limits = limits
        self._instance = instance
        self._group = group

    async def pop(
        self,
        topic: str,
        broker_name: str,
        *,
        queue_id: int = ANY_QUEUE,
        max_msg_nums: int = 32,
        invisible_time: float = 60.0,
        poll_time: float = 15.0,
        subscription: SubscriptionData | None = None,
        init_mode: InitMode = InitMode.MAX,
        orderly: bool = False,
        attempt_id: str | None = None,
    ) -> PopResult:
        """Pop messages.

        The broker hides them from the group until they are acknowledged or time out.

        Args:
            topic: the topic; messages of its retry topic are included.
            broker_name: the broker.
            queue_id: queue of the broker; -1 for any.
            max_msg_nums: maximum number of messages, 1 to 32.
            invisible_time: seconds for which the messages are hidden.
            poll_time: seconds that the broker may wait for a message.
            subscription: filter; None for all messages.
            init_mode: where a group starts that has never popped here.
            orderly: whether a queue returns no more messages until the previous are acknowledged.
            attempt_id: the same for a retried pop, so that an orderly queue returns the same
                messages.

        Raises:
            BrokerNotFoundError: the broker has no known address.
            BrokerError: the response code is not in ``PopStatus``.
            ChannelError: there is no response.
            DecodeError: the response is invalid.

        Cancellation: messages that the broker has hidden are redelivered when their time is up.
        """
        subscription = subscription or subscription_data(topic, version=0)
        header = PopMessageRequestHeader(
            consumer_group=self._group,
            topic=topic,
            queue_id=queue_id,
            max_msg_nums=max_msg_nums,
            invisible_time=round(invisible_time * 1000),
            poll_time=round(poll_time * 1000),
            born_time=now_millis(),
            init_mode=init_mode.value,
            exp_type=subscription.expression_type or TAG,
            exp=subscription.sub_string or SUB_ALL,
            order=orderly,
            attempt_id=attempt_id,
            bname=broker_name,
        )
        address = await self._instance.master(broker_name, topic)
        response = await self._instance.brokers.call(
            address,
            RequestCode.POP_MESSAGE,
            header,
            within=poll_time + RESPONSE_MARGIN,
            accepted=_STATUS,
        )
        status = _STATUS[response.command.code]
        if status is not PopStatus.FOUND:
            return PopResult(status=status)
        response_header: PopMessageResponseHeader = response.header
        # an inner batch has one handle, like a message
        pulled = read_messages(response.command.body, None, limits=self._limits, unwrap=False)
        left_out = decode_stored_messages(pulled.unread, decompress=False, strict=False)
        unread = tuple(u.stored for u in pulled.unreadable if u.stored is not None)
        # handles refer to positions among all messages of the response
        stored = (*pulled.messages, *unread, *left_out)
        popped = iter(with_handles(stored, response_header, broker_name, orderly=orderly))
        messages = tuple(islice(popped, len(pulled.messages)))
        unreadable = tuple(
            u if u.stored is None else replace(u, stored=next(popped)) for u in pulled.unreadable
        )
        if has_inner_batches(messages):
            messages, invalid_batches = _unwrap_batches(messages)
            unreadable += invalid_batches
        selected = tuple(m for m in messages if matches_tags(subscription, m))
        handles = {handle_text(m) for m in selected}
        return PopResult(
            status=status,
            messages=selected,
            pop_time=response_header.pop_time,
            invisible_time=response_header.invisible_time,
            rest=response_header.rest_num,
            filtered=tuple(m for m in messages if handle_text(m) not in handles),
            unreadable=unreadable,
            left_out=tuple(popped),
            stopped_by=pulled.stopped_by,
        )

    async def ack(self, message: StoredMessage) -> None:
        """Acknowledge a message (code 200051).

        The broker also responds 0 if the message has timed out; it is then delivered again.

        Raises:
            DecodeError: the message was not popped.
            BrokerError: the broker rejects it.
            BrokerNotFoundError, ChannelError: the broker does not respond.
        """
        handle = handle_of(message)
        header = AckMessageRequestHeader(
            consumer_group=self._group,
            topic=handle.real_topic(message.topic, self._group),
            queue_id=handle.queue_id,
            extra_info=str(handle),
            offset=handle.queue_offset,
            bname=handle.broker_name,
        )
        request = self._instance.brokers.call(
            await self._address(handle, message.topic), RequestCode.ACK_MESSAGE, header
        )
        await self._instance.observe_settlement(
            self._group, "ack", handle.broker_name, [message], request
        )

    async def batch_ack(self, messages: Iterable[StoredMessage]) -> None:
        """Acknowledge messages, with one request for each broker and topic (code 200151).

        Raises:
            DecodeError: a message was not popped.
            BrokerError: a broker rejects the request.
            BrokerNotFoundError, ChannelError: a broker does not respond.
        """
        by_topic: dict[str, list[StoredMessage]] = {}
        for message in messages:
            by_topic.setdefault(message.topic, []).append(message)
        for topic, acknowledged in by_topic.items():
            handles = [handle_of(message) for message in acknowledged]
            for name, acks in batch_acks(handles, topic=topic, group=self._group).items():
                address = await self._instance.master(name, topic)
                body = BatchAckMessageRequestBody(broker_name=name, acks=acks)
                request = self._instance.brokers.call(
                    address, RequestCode.BATCH_ACK_MESSAGE, None, body
                )
                of_broker = [
                    message
                    for message, handle in zip(acknowledged, handles, strict=True)
                    if handle.broker_name == name
                ]
                await self._instance.observe_settlement(
                    self._group, "ack", name, of_broker, request
                )

    async def change_invisible_time(self, message: StoredMessage, seconds: float) -> str:
        """Hide a message for another time, from now on (code 200053); returns its new handle.

        The old handle is worth nothing any more, although the broker agrees to an acknowledgement
        with it.

        Raises:
            DecodeError: the message was not popped.
            BrokerError: the broker refuses it.
            BrokerNotFoundError, ChannelError: it does not answer.
        """
        handle = handle_of(message)
        header = ChangeInvisibleTimeRequestHeader(
            consumer_group=self._group,
            topic=handle.real_topic(message.topic, self._group),
            queue_id=handle.queue_id,
            extra_info=str(handle),
            offset=handle.queue_offset,
            invisible_time=round(seconds * 1000),
            bname=handle.broker_name,
        )
        request = self._instance.brokers.call(
            await self._address(handle, message.topic),
            RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
            header,
        )
        response = await self._instance.observe_settlement(
            self._group, "change_invisible_time", handle.broker_name, [message], request
        )
        header_fields: ChangeInvisibleTimeResponseHeader = response.header
        return str(
            handle.renew(
                header_fields.pop_time, header_fields.invisible_time, header_fields.revive_qid
            )
        )

    async def _address(self, handle: PopHandle, topic: str) -> str:
        return await self._instance.master(handle.broker_name, topic)


def handle_text(message: StoredMessage) -> str | None:
    return (message.properties or {}).get(POP_CK)


def _unwrap_batches(
    messages: Sequence[StoredMessage],
) -> tuple[tuple[StoredMessage, ...], tuple[UnreadableMessage, ...]]:
    # each message gets handle, times and attempts of its batch
    unwrapped: list[StoredMessage] = []
    invalid: tuple[UnreadableMessage, ...] = ()
    for message in messages:
        inner, unreadable = unwrap_inner_batches([message])
        invalid += unreadable
        if inner == (message,):
            unwrapped.append(message)
            continue
        batch_properties = message.properties or {}
        pop_properties = {name: batch_properties.get(name) for name in (POP_CK, FIRST_POP_TIME)}
        unwrapped += (
            replace(
                inner_message,
                properties={**(inner_message.properties or {}), **pop_properties},
                reconsume_times=message.reconsume_times,
            )
            for inner_message in inner
        )
    return tuple(unwrapped), invalid


def with_handle(message: StoredMessage, handle: str) -> StoredMessage:
    return replace(message, properties={**(message.properties or {}), POP_CK: handle})


@dataclass(slots=True, eq=False)
class _Batch:
    messages: list[StoredMessage] = field(default_factory=list["StoredMessage"])
    is_over: bool = False
    is_refused: bool = False
    failure: RocketWireError | None = None


class Acknowledgements:
    # Messages that are handled during a request are acknowledged together in the next one. A broker
    # gets one request at a time for each topic: no message waits for others, and a busy consumer
    # still sends few. A single message is acknowledged by code 200051, as by Java's consumers,
    # several by code 200151, as by Java's proxies (``AckMessageProcessor``).
    def __init__(self, calls: PopCalls) -> None:
        self._calls = calls
        self._open: dict[tuple[str, str], _Batch] = {}
        self._locks: dict[tuple[str, str], trio.Lock] = {}
        self._brokers_without_batches: set[str] = set()

    async def ack(self, message: StoredMessage) -> None:
        name = handle_of(message).broker_name
        if name in self._brokers_without_batches or not await self._ack_in_batch(name, message):
            await self._calls.ack(message)

    async def _ack_in_batch(self, name: str, message: StoredMessage) -> bool:
        # returns False if the broker rejected the batch
        key = (name, message.topic)
        batch = self._open.setdefault(key, _Batch())
        batch.messages.append(message)
        async with self._locks.setdefault(key, trio.Lock()):  # first come, first served
            if not batch.is_over:
                if self._open.get(key) is batch:
                    del self._open[key]
                await self._send(name, batch)
        if batch.failure is not None:
            raise batch.failure
        return not batch.is_refused

    async def _send(self, name: str, batch: _Batch) -> None:
        # send the request; if it is cancelled, the next task of the batch sends it again
        try:
            if len(batch.messages) == 1:
                await self._calls.ack(batch.messages[0])
            else:
                await self._calls.batch_ack(batch.messages)
        except RocketWireError as error:
            if len(batch.messages) > 1 and isinstance(error, BrokerError):
                batch.is_refused = True
                if error.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                    self._brokers_without_batches.add(name)
            else:
                batch.failure = error
        batch.is_over = True
