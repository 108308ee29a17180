"""Records the sends of a producer in the trace topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rocketwire.client.hooks import ClientHook
from rocketwire.client.periodic import now_millis
from rocketwire.client.trace import (
    DEFAULT_REGION,
    DELAY,
    NORMAL,
    TRANS_COMMIT,
    TRANS_HALF,
    build_record,
)
from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import without_namespace

if TYPE_CHECKING:
    from rocketwire.client.hooks import SendMessageContext
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.message import Message
    from rocketwire.client.producer.transactions import LocalTransactionState
    from rocketwire.client.send_result import SendResult
    from rocketwire.client.trace import TraceDispatcher
    from rocketwire.wire.message.stored import StoredMessage


class ProducerTrace(ClientHook):
    def __init__(self, dispatcher: TraceDispatcher, instance: ClientInstance, group: str) -> None:
        self.dispatcher = dispatcher
        self._instance = instance
        self._group = group

    def send_message_before(self, context: SendMessageContext) -> int:
        return now_millis()

    def send_message_after(self, context: SendMessageContext, state: object) -> None:
        """Record a stored message; as in Java, one record without tags and keys for a batch."""
        result, message, started = context.send_result, context.messages[0], cast("int", state)
        if result is None or not result.trace_on or result.region is None:
            return
        if self._is_trace(message):
            return
        tags, keys = message.tags, message.joined_keys or None
        if len(context.messages) > 1:
            tags = keys = None
        message_type = NORMAL
        if const.TRANSACTION_PREPARED in message.system:
            message_type = TRANS_HALF
        elif message.is_delayed:
            message_type = DELAY
        length, topic = sum(len(each.body) for each in context.messages), message.topic
        record = build_record(
            "Pub", topic, result.region, result.msg_id, keys,
            started, result.region, self._group, topic, result.msg_id, tags, keys,
            self._broker_address(result), length, now_millis() - started, message_type,
            result.offset_msg_id, result.is_ok,
        )  # fmt: skip
        self.dispatcher.append(record)

    def record_end_transaction(
        self, message: Message, result: SendResult, state: LocalTransactionState
    ) -> None:
        if self._is_trace(message):
            return
        words = (message.topic, result.msg_id, message.tags, message.joined_keys or None)
        address, transaction_id = self._broker_address(result), result.transaction_id
        self._record_end(result.region, *words, address, transaction_id, state, from_check=False)

    def record_checked_transaction(
        self, address: str, message: StoredMessage, state: LocalTransactionState
    ) -> None:
        held = message.properties or {}
        topic = without_namespace(message.topic, self._instance.config.namespace)
        words = (topic, message.msg_id, held.get(const.TAGS), held.get(const.KEYS))
        region = held.get(const.MSG_REGION)
        self._record_end(region, *words, address, message.msg_id, state, from_check=True)

    def _record_end(
        self,
        region: str | None,
        topic: str,
        msg_id: str,
        tags: str | None,
        keys: str | None,
        address: str,
        transaction_id: str | None,
        state: LocalTransactionState,
        *,
        from_check: bool,
    ) -> None:
        region = region or DEFAULT_REGION
        record = build_record(
            "EndTransaction", topic, region, msg_id, keys,
            now_millis(), region, self._group, topic, msg_id, tags, keys, address,
            TRANS_COMMIT, transaction_id, state.name, from_check,
        )  # fmt: skip
        self.dispatcher.append(record)

    def record_recall(self, topic: str, msg_id: str) -> None:
        region = DEFAULT_REGION
        record = build_record(
            "Recall", topic, region, msg_id, None,
            now_millis(), region, self._group, topic, msg_id, True,
        )  # fmt: skip
        self.dispatcher.append(record)

    def _is_trace(self, message: Message) -> bool:
        return message.topic.startswith(self.dispatcher.topic)

    def _broker_address(self, result: SendResult) -> str:
        name = result.message_queue.broker_name or ""
        return self._instance.routes.master(name) or "null"
