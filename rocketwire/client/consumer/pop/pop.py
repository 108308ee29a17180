"""Calls about messages that the broker hides instead of counting offsets: pop, acknowledge, hide for longer.

Rules of this file: these codes do not fit the binary header, so they always travel as JSON; the broker's own time limits count
from its clock and what the request says of ours.

Java: ``MQClientAPIImpl`` (``popMessageAsync``, ``ackMessageAsync``, ``batchAckMessageAsync``, ``changeInvisibleTimeAsync``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Final

from rocketwire.client.consumer.pulled_messages import (
    has_inner_batches,
    read_messages,
    unwrap_inner_batches,
)
from rocketwire.client.periodic import now_millis
from rocketwire.client.trio_only import trio_only
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages.message_const import FIRST_POP_TIME, POP_CK
from rocketwire.messages.pop import (
    AckMessageRequestHeader,
    BatchAckMessageRequestBody,
    ChangeInvisibleTimeRequestHeader,
    ChangeInvisibleTimeResponseHeader,
    PopMessageRequestHeader,
    PopMessageResponseHeader,
)
from rocketwire.policy.pop_handle import batch_acks, handle_of, with_handles
from rocketwire.policy.subscription import SUB_ALL, TAG, matches_tags, subscription_data
from rocketwire.wire.message.stored import DEFAULT_LIMITS, decode_stored_messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.errors import LimitExceededError
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.policy.pop_handle import PopHandle
    from rocketwire.wire.message.lenient_reader import UnreadableMessage
    from rocketwire.wire.message.stored import StoredLimits, StoredMessage

ANY_QUEUE: Final = -1
"""Queue id of a pop that takes from any queue of the broker."""

ANSWER_TIME: Final = 10.0
"""Seconds beside ``poll_time`` that a consumer waits for the answer to a pop."""


class PopStatus(Enum):
    """What became of a pop (Java: ``PopStatus``)."""

    FOUND = ResponseCode.SUCCESS
    NO_NEW_MSG = ResponseCode.PULL_NOT_FOUND
    POLLING_FULL = ResponseCode.POLLING_FULL
    POLLING_NOT_FOUND = ResponseCode.POLLING_TIMEOUT


_STATUS: Final = {status.value.value: status for status in PopStatus}


class InitMode(Enum):
    """Where a group begins that has never popped the topic (Java: ``ConsumeInitMode``)."""

    MIN = 0
    MAX = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PopResult:
    """The answer to a pop.

    Attributes:
        status: what became of it.
        messages: each with its handle (property ``POP_CK``).  Those of one inner batch have the
            same one: the broker hides them together, and an acknowledgement of one is for all of
            them.
        pop_time: when they were hidden, milliseconds since 1970 by the broker's clock.
        invisible_time: for how long, milliseconds.
        rest: how many messages the broker has left, as far as it knows.
        filtered: messages whose tags only share a hash code with those of the subscription; they
            are hidden as well, and come back unless they are acknowledged.  Those of an inner batch
            of which others are wanted are in no list.
        unreadable: messages that cannot be read; ``stored`` has the handle of each of which all but
            the body can be read.
        left_out: messages that were not decompressed because of the limit ``stopped_by``, with
            their handles and with their bodies as stored.
        stopped_by: that limit; None if all messages were read.
    """

    status: PopStatus
    messages: tuple[StoredMessage, ...] = ()
    pop_time: int = 0
    invisible_time: int = 0
    rest: int = 0
    filtered: tuple[StoredMessage, ...] = ()
    unreadable: tuple[UnreadableMessage, ...] = ()
    left_out: tuple[StoredMessage, ...] = ()
    stopped_by: LimitExceededError | None = None


@trio_only()
class PopCalls:
    """Pops of one group."""

    def __init__(
        self, instance: ClientInstance, group: str, limits: StoredLimits = DEFAULT_LIMITS
    ) -> None:
        """Nothing is popped yet.

        Args:
            instance: knows routes and carries the requests.
            group: with its namespace.
            limits: how much one answer may hold.
        """
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
        """Take messages, which are hidden from the group until they are acknowledged or time is up.

        Args:
            topic: from which topic; messages of its retry topic come along.
            broker_name: from which broker.
            queue_id: from which of its queues; -1 for any.
            max_msg_nums: 1 to 32.
            invisible_time: seconds for which they are hidden.
            poll_time: seconds that the broker may wait for a message.
            subscription: what of the topic; None for all.
            init_mode: where a group begins that has never popped here.
            orderly: whether a queue gives nothing more until what it gave is acknowledged.
            attempt_id: the same for a pop that is tried again, so that an orderly queue gives the
                same messages.

        Raises:
            BrokerNotFoundError: no address of the broker is known.
            BrokerError: an answer that is none of ``PopStatus``.
            ChannelError: no answer.
            DecodeError: it cannot be read.

        Cancellation: messages that the broker has hidden meanwhile come back when their time is up.
        """
        wanted = subscription or subscription_data(topic, version=0)
        header = PopMessageRequestHeader(
            consumer_group=self._group,
            topic=topic,
            queue_id=queue_id,
            max_msg_nums=max_msg_nums,
            invisible_time=round(invisible_time * 1000),
            poll_time=round(poll_time * 1000),
            born_time=now_millis(),
            init_mode=init_mode.value,
            exp_type=wanted.expression_type or TAG,
            exp=wanted.sub_string or SUB_ALL,
            order=orderly,
            attempt_id=attempt_id,
            bname=broker_name,
        )
        address = await self._instance.master(broker_name, topic)
        answer = await self._instance.brokers.call(
            address,
            RequestCode.POP_MESSAGE,
            header,
            within=poll_time + ANSWER_TIME,
            accepted=_STATUS,
        )
        status = _STATUS[answer.command.code]
        if status is not PopStatus.FOUND:
            return PopResult(status=status)
        told: PopMessageResponseHeader = answer.header
        # the broker knows a batch as one message, and so do its handles
        pulled = read_messages(answer.command.body, None, limits=self._limits, unwrap=False)
        left_out = decode_stored_messages(pulled.unread, decompress=False, strict=False)
        unread = tuple(one.stored for one in pulled.unreadable if one.stored is not None)
        # places count all messages of the answer, whatever becomes of each
        every = (*pulled.messages, *unread, *left_out)
        popped = iter(with_handles(every, told, broker_name, orderly=orderly))
        messages = tuple(islice(popped, len(pulled.messages)))
        unreadable = tuple(
            one if one.stored is None else replace(one, stored=next(popped))
            for one in pulled.unreadable
        )
        if has_inner_batches(messages):
            messages, broken = _taken_apart(messages)
            unreadable += broken
        meant = tuple(one for one in messages if matches_tags(wanted, one))
        handles = {handle_text(one) for one in meant}
        return PopResult(
            status=status,
            messages=meant,
            pop_time=told.pop_time,
            invisible_time=told.invisible_time,
            rest=told.rest_num,
            filtered=tuple(one for one in messages if handle_text(one) not in handles),
            unreadable=unreadable,
            left_out=tuple(popped),
            stopped_by=pulled.stopped_by,
        )

    async def ack(self, message: StoredMessage) -> None:
        """Say that a message was handled (code 200051).

        The broker agrees also when the message's time is up; it is given out again then.

        Raises:
            DecodeError: the message was not popped.
            BrokerError: the broker refuses it.
            BrokerNotFoundError, ChannelError: it does not answer.
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
        await self._instance.brokers.call(
            await self._address(handle, message.topic), RequestCode.ACK_MESSAGE, header
        )

    async def batch_ack(self, messages: Iterable[StoredMessage]) -> None:
        """Say that messages of one topic were handled, with one request to each broker (code 200151).

        Raises:
            DecodeError: one was not popped.
            BrokerError: a broker refuses it.
            BrokerNotFoundError, ChannelError: one does not answer.
        """
        by_topic: dict[str, list[PopHandle]] = {}
        for message in messages:
            by_topic.setdefault(message.topic, []).append(handle_of(message))
        for topic, handles in by_topic.items():
            for name, acks in batch_acks(handles, topic=topic, group=self._group).items():
                address = await self._instance.master(name, topic)
                body = BatchAckMessageRequestBody(broker_name=name, acks=acks)
                await self._instance.brokers.call(
                    address, RequestCode.BATCH_ACK_MESSAGE, None, body
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
        answer = await self._instance.brokers.call(
            await self._address(handle, message.topic),
            RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
            header,
        )
        told: ChangeInvisibleTimeResponseHeader = answer.header
        return str(handle.renew(told.pop_time, told.invisible_time, told.revive_qid))

    async def _address(self, handle: PopHandle, topic: str) -> str:
        return await self._instance.master(handle.broker_name, topic)


def handle_text(message: StoredMessage) -> str | None:
    """The handle of a message as it travels; None if it was not popped."""
    return (message.properties or {}).get(POP_CK)


def _taken_apart(
    messages: Sequence[StoredMessage],
) -> tuple[tuple[StoredMessage, ...], tuple[UnreadableMessage, ...]]:
    """Messages with inner batches taken apart, each with handle, times and tries of its batch.

    And the batches that cannot be.
    """
    whole: list[StoredMessage] = []
    broken: tuple[UnreadableMessage, ...] = ()
    for message in messages:
        inner, unreadable = unwrap_inner_batches([message])
        broken += unreadable
        if inner == (message,):
            whole.append(message)
            continue
        outer = message.properties or {}
        said = {name: outer.get(name) for name in (POP_CK, FIRST_POP_TIME)}
        whole += (
            replace(
                one,
                properties={**(one.properties or {}), **said},
                reconsume_times=message.reconsume_times,
            )
            for one in inner
        )
    return tuple(whole), broken


def with_handle(message: StoredMessage, handle: str) -> StoredMessage:
    """The message with another handle, as ``change_invisible_time`` returned it."""
    return replace(message, properties={**(message.properties or {}), POP_CK: handle})
