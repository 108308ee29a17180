"""What a consumer records in the trace topic: that a handler was called with a message, and what came of it.

Rules of this file: records are written beside the call of a handler and never wait; what handlers raise is raised on.

Java: ``ConsumeMessageTraceHookImpl``, and ``ConsumeReturnType`` as each consumption service computes it.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.config import ConsumeConcurrentlyStatus, ConsumeOrderlyStatus
from rocketwire.client.periodic import now_millis
from rocketwire.client.producer import trace
from rocketwire.client.producer.config import ProducerConfig
from rocketwire.client.producer.producer import Producer
from rocketwire.client.producer.unique_keys import unique_keys
from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import without_namespace

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from rocketwire.client.consumer.config import (
        ConsumeConcurrentlyContext,
        ConsumeOrderlyContext,
        MessageListenerConcurrently,
        MessageListenerOrderly,
    )
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage

CLOSING: Final = 3.0
"""Seconds in which the records that wait are sent when the consumer closes."""

_SETTINGS: Final = ProducerConfig(send_msg_timeout=5.0)
"""Of the producer of the records (Java: ``getAndCreateTraceProducer``)."""

SUCCESS, TIME_OUT, EXCEPTION, _RETURN_NULL, FAILED = range(5)
"""What came of a call, as Java numbers it (``ConsumeReturnType``).

A handler here that returns None has succeeded.
"""

_DONE: Final = (ConsumeOrderlyStatus.SUCCESS, ConsumeOrderlyStatus.COMMIT)


class _Call:
    """One call of a handler.

    Attributes:
        request_id: joins the records of before and after.
        started: when it was called, milliseconds since 1970.
        region: of the messages; None if none of them says one: such messages are not recorded.
    """

    __slots__ = ("region", "request_id", "started")

    def __init__(self, request_id: str, started: int, region: str | None) -> None:
        self.request_id = request_id
        self.started = started
        self.region = region


class ConsumerTrace:
    """The records of one consumer."""

    def __init__(
        self,
        dispatcher: trace.TraceDispatcher,
        instance: ClientInstance,
        group: str,
        late_after: float,
    ) -> None:
        """Nothing is recorded yet.

        Args:
            dispatcher: sends the records.
            instance: knows the address of this host.
            group: with its namespace.
            late_after: seconds from which on a call counts as one that took too long.
        """
        self._dispatcher = dispatcher
        self._namespace = instance.config.namespace
        self._group = without_namespace(group, self._namespace)
        self._keys = unique_keys(instance.own_ip)
        self._late_millis = late_after * 1000

    # ------------------------------------------------------------------ handlers that are recorded

    def of_concurrent(self, listener: MessageListenerConcurrently) -> MessageListenerConcurrently:
        """The handler, with records of its calls."""

        async def traced(
            messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
        ) -> ConsumeConcurrentlyStatus | None:
            call = self._before(messages)
            try:
                status = await listener(messages, context)
            except Exception:
                self._after(call, messages, EXCEPTION, 0)
                raise
            last = context.ack_index
            good = len(messages) if last is None else last + 1
            if status is ConsumeConcurrentlyStatus.RECONSUME_LATER:
                good = 0
            self._after(call, messages, FAILED, good)
            return status

        return traced

    def of_orderly(self, listener: MessageListenerOrderly) -> MessageListenerOrderly:
        """The handler of messages in order, with records of its calls."""

        async def traced(
            messages: Sequence[StoredMessage], context: ConsumeOrderlyContext
        ) -> ConsumeOrderlyStatus | None:
            call = self._before(messages)
            try:
                status = await listener(messages, context)
            except Exception:
                self._after(call, messages, EXCEPTION, 0)
                raise
            failure = SUCCESS if status is ConsumeOrderlyStatus.ROLLBACK else FAILED
            is_done = status is None or status in _DONE
            self._after(call, messages, failure, len(messages) if is_done else 0)
            return status

        return traced

    def of_pop(
        self, listener: Callable[[StoredMessage], Awaitable[bool | None]]
    ) -> Callable[[StoredMessage], Awaitable[bool | None]]:
        """The handler of a popped message, with records of its calls."""

        async def traced(message: StoredMessage) -> bool | None:
            call = self._before([message])
            try:
                handled = await listener(message)
            except Exception:
                self._after(call, [message], EXCEPTION, 0)
                raise
            self._after(call, [message], FAILED, 0 if handled is False else 1)
            return handled

        return traced

    # ------------------------------------------------------------------ records

    def _before(self, messages: Sequence[StoredMessage]) -> _Call:
        """A handler is about to be called."""
        now = now_millis()
        call = _Call(self._keys.next_key(now), now, self._region(messages))
        if call.region is None:
            return call
        for message in filter(self._is_recorded, messages):
            record = trace.consume_before_record(
                timestamp=now,
                region=call.region,
                group=self._group,
                topic=self._topic(message),
                request_id=call.request_id,
                msg_id=message.msg_id,
                retry_times=message.reconsume_times,
                keys=_keys(message),
            )
            self._dispatcher.append(record)
        return call

    def _after(
        self, call: _Call, messages: Sequence[StoredMessage], failure: int, good: int
    ) -> None:
        """A handler has returned or raised.

        Args:
            call: of ``_before``.
            messages: all messages of the call.
            failure: what came of the messages that were not handled.
            good: how many of the first were handled.
        """
        if call.region is None:
            return
        now = now_millis()
        spent = now - call.started
        is_late = failure != EXCEPTION and spent >= self._late_millis
        for place, message in enumerate(messages):
            if not self._is_recorded(message):
                continue
            is_success = place < good
            record = trace.consume_after_record(
                timestamp=now,
                group=self._group,
                topic=self._topic(message),
                request_id=call.request_id,
                msg_id=message.msg_id,
                cost_millis=spent // len(messages),
                is_success=is_success,
                keys=_keys(message),
                outcome=TIME_OUT if is_late else SUCCESS if is_success else failure,
            )
            self._dispatcher.append(record)

    def _region(self, messages: Sequence[StoredMessage]) -> str | None:
        """The region of the last of the messages that are recorded, as in Java."""
        region = None
        for message in filter(self._is_recorded, messages):
            region = (message.properties or {}).get(const.MSG_REGION)
        return region

    def _is_recorded(self, message: StoredMessage) -> bool:
        """Whether its broker wants traces; records are not recorded themselves."""
        wanted = (message.properties or {}).get(const.TRACE_ON) != "false"
        return wanted and self._topic(message) != self._dispatcher.topic

    def _topic(self, message: StoredMessage) -> str:
        return without_namespace(message.topic, self._namespace)


def _keys(message: StoredMessage) -> str | None:
    return (message.properties or {}).get(const.KEYS)


@asynccontextmanager
async def open_consumer_trace(
    instance: ClientInstance,
    group: str,
    topic: str | None,
    late_after: float,
    nursery: trio.Nursery,
) -> AsyncGenerator[ConsumerTrace]:
    """Records of a consumer for the length of the block; those that wait are sent at its end.

    Args:
        instance: carries them.
        group: with its namespace.
        topic: where to; None for ``RMQ_SYS_TRACE_TOPIC``.
        late_after: as of ``ConsumerTrace``.
        nursery: where the task that sends them lives.
    """
    name = without_namespace(group, instance.config.namespace)
    producer = Producer(instance, f"_INNER_TRACE_PRODUCER-{name}-CONSUME", _SETTINGS)
    dispatcher = trace.TraceDispatcher(producer.send, topic)
    nursery.start_soon(dispatcher.run)
    try:
        yield ConsumerTrace(dispatcher, instance, group, late_after)
    finally:
        with trio.move_on_after(CLOSING, shield=True):
            await dispatcher.flush()
