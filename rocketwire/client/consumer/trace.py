"""Records the handler calls of a consumer in the trace topic.

Recording never blocks.

Java: ``ConsumeMessageTraceHookImpl``, and ``ConsumeReturnType`` as each consumption service
computes it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from rocketwire.client.consumer.config import ConsumeOrderlyStatus
from rocketwire.client.hooks import ClientHook, HookChain
from rocketwire.client.periodic import now_millis
from rocketwire.client.publish.unique_keys import unique_keys
from rocketwire.client.trace import build_record, open_trace
from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import without_namespace

if TYPE_CHECKING:
    from rocketwire.client.hooks import ConsumeMessageContext, ReceiveMessageContext
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.trace import TraceDispatcher
    from rocketwire.wire.message.stored import StoredMessage

# Timeout in seconds for sending the queued records when the consumer closes
CLOSE_TIMEOUT: Final = 3.0
# Results of a handler call with Java's numbers (``ConsumeReturnType``). Unlike in Java, a handler
# that returns None has succeeded.
SUCCESS, TIME_OUT, EXCEPTION, _RETURN_NULL, FAILED = range(5)


class _Call(NamedTuple):
    request_id: str
    started: int
    region: str | None  # of the messages; if none has one, the call is not recorded


class ConsumerTrace(ClientHook):
    def __init__(
        self, dispatcher: TraceDispatcher, instance: ClientInstance, group: str, call_timeout: float
    ) -> None:
        self._dispatcher = dispatcher
        self._namespace = instance.config.namespace
        self._group = without_namespace(group, self._namespace)
        self._keys = unique_keys(instance.own_ip)
        self._timeout_millis = call_timeout * 1000  # from which a call is recorded as TIME_OUT

    def consume_message_before(self, context: ConsumeMessageContext) -> object:
        return self._record_before(context.messages, context.seconds or 0.0)

    def consume_message_after(self, context: ConsumeMessageContext, state: object) -> None:
        error, failure = context.exception, FAILED
        if error is not None:
            if not isinstance(error, Exception):  # a cancelled call has no such record
                return
            failure = EXCEPTION
        elif context.status is ConsumeOrderlyStatus.ROLLBACK:
            failure = SUCCESS
        self._record_after(cast("_Call", state), context.messages, failure, context.successes)

    def receive_message_after(self, context: ReceiveMessageContext) -> None:
        if context.operation == "poll":  # counts as consumed at once, as in Java
            call = self._record_before(context.messages, 0.0)
            self._record_after(call, context.messages, FAILED, len(context.messages))

    # ------------------------------------------------------------------ records

    def _record_before(self, messages: Sequence[StoredMessage], seconds: float) -> _Call:
        now = now_millis() - round(1000 * seconds)
        call = _Call(self._keys.next_key(now), now, self._region(messages))
        if call.region is None:
            return call
        for message in filter(self._is_recorded, messages):
            keys = _joined_keys(message)
            record = build_record(
                "SubBefore", self._topic(message), call.region, message.msg_id, keys,
                now, call.region, self._group, call.request_id, message.msg_id,
                message.reconsume_times, keys,
            )  # fmt: skip
            self._dispatcher.append(record)
        return call

    def _record_after(
        self, call: _Call, messages: Sequence[StoredMessage], failure: int, successes: int
    ) -> None:
        # ``failure`` is the result of the messages after the first ``successes``
        if call.region is None:
            return
        now = now_millis()
        duration = now - call.started
        # as in Java, without time and group in the topics of managed clouds
        end = ("",) if self._dispatcher.is_cloud else (now, self._group)
        is_timeout = failure != EXCEPTION and duration >= self._timeout_millis
        for index, message in enumerate(messages):
            if not self._is_recorded(message):
                continue
            is_success = index < successes
            outcome = TIME_OUT if is_timeout else SUCCESS if is_success else failure
            keys = _joined_keys(message)
            record = build_record(
                "SubAfter", self._topic(message), call.region, message.msg_id, keys,
                call.request_id, message.msg_id, duration // len(messages), is_success,
                keys, outcome, *end,
            )  # fmt: skip
            self._dispatcher.append(record)

    def _region(self, messages: Sequence[StoredMessage]) -> str | None:
        # returns the region of the last recorded message, as in Java
        region = None
        for message in filter(self._is_recorded, messages):
            region = (message.properties or {}).get(const.MSG_REGION)
        return region

    def _is_recorded(self, message: StoredMessage) -> bool:
        # returns whether the broker wants traces; messages of the trace topic are not recorded
        is_enabled = (message.properties or {}).get(const.TRACE_ON) != "false"
        return is_enabled and self._topic(message) != self._dispatcher.topic

    def _topic(self, message: StoredMessage) -> str:
        return without_namespace(message.topic, self._namespace)


def _joined_keys(message: StoredMessage) -> str | None:
    return (message.properties or {}).get(const.KEYS)


@asynccontextmanager
async def open_consumer_trace(
    instance: ClientInstance, group: str, topic: str | None, call_timeout: float
) -> AsyncGenerator[HookChain]:
    """Yield the client's hooks and the recording one; the end of the block sends all records."""
    async with open_trace(instance, f"{group}-CONSUME", topic, CLOSE_TIMEOUT) as dispatcher:
        trace = ConsumerTrace(dispatcher, instance, group, call_timeout)
        yield (instance.hooks or HookChain(())).with_hook(trace)
