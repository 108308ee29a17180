"""Records the sends of a producer in the trace topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rocketwire.client.hooks import ClientHook
from rocketwire.client.periodic import now_millis
from rocketwire.client.trace import records
from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import without_namespace

if TYPE_CHECKING:
    from rocketwire.client.hooks import SendMessageContext
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.message import Message
    from rocketwire.client.producer.transactions import LocalTransactionState
    from rocketwire.client.send_result import SendResult
    from rocketwire.client.trace.dispatcher import TraceDispatcher
    from rocketwire.wire.message.stored import StoredMessage


class ProducerTrace(ClientHook):
    """Records the sends of a producer (Java: ``SendMessageTraceHookImpl``)."""

    def __init__(self, dispatcher: TraceDispatcher, instance: ClientInstance, group: str) -> None:
        """Create the trace of a producer.

        Args:
            instance: client instance with the broker addresses.
            group: producer group without namespace.
        """
        self.dispatcher = dispatcher
        self._instance = instance
        self._group = group

    def send_message_before(self, context: SendMessageContext) -> int:
        """Return the time of the start, in milliseconds since 1970."""
        return now_millis()

    def send_message_after(self, context: SendMessageContext, state: object) -> None:
        """Record a stored message; as in Java, one record without tags and keys for a batch.

        Nothing is recorded if the broker disables traces, or for the trace topic.
        """
        result, message, started = context.send_result, context.messages[0], cast("int", state)
        if result is None or not result.trace_on or result.region is None:
            return
        if self._is_trace(message):
            return
        is_batch = len(context.messages) > 1
        message_type = records.NORMAL
        if const.TRANSACTION_PREPARED in message.system:
            message_type = records.TRANS_HALF
        elif message.is_delayed:
            message_type = records.DELAY
        self.dispatcher.append(
            records.publish_record(
                timestamp=started,
                region=result.region,
                group=self._group,
                topic=message.topic,
                msg_id=result.msg_id,
                tags=None if is_batch else message.tags,
                keys=None if is_batch else message.joined_keys or None,
                store_host=self._broker_address(result),
                body_length=sum(len(each.body) for each in context.messages),
                cost_millis=now_millis() - started,
                message_type=message_type,
                offset_msg_id=result.offset_msg_id,
                is_success=result.is_ok,
            )
        )

    def record_end_transaction(
        self, message: Message, result: SendResult, state: LocalTransactionState
    ) -> None:
        """Record the end of a transaction."""
        if self._is_trace(message):
            return
        self.dispatcher.append(
            records.end_transaction_record(
                timestamp=now_millis(),
                region=result.region,
                group=self._group,
                topic=message.topic,
                msg_id=result.msg_id,
                tags=message.tags,
                keys=message.joined_keys or None,
                store_host=self._broker_address(result),
                transaction_id=result.transaction_id,
                state=state.name,
                from_check=False,
            )
        )

    def record_checked_transaction(
        self, address: str, message: StoredMessage, state: LocalTransactionState
    ) -> None:
        """Record the end of a transaction that the broker at ``address`` has checked."""
        properties = message.properties or {}
        self.dispatcher.append(
            records.end_transaction_record(
                timestamp=now_millis(),
                region=properties.get(const.MSG_REGION),
                group=self._group,
                topic=without_namespace(message.topic, self._instance.config.namespace),
                msg_id=message.msg_id,
                tags=properties.get(const.TAGS),
                keys=properties.get(const.KEYS),
                store_host=address,
                transaction_id=message.msg_id,
                state=state.name,
                from_check=True,
            )
        )

    def record_recall(self, topic: str, msg_id: str) -> None:
        """Record a recalled message."""
        self.dispatcher.append(
            records.recall_record(
                timestamp=now_millis(),
                region=records.DEFAULT_REGION,
                group=self._group,
                topic=topic,
                msg_id=msg_id,
                is_success=True,
            )
        )

    def _is_trace(self, message: Message) -> bool:
        return message.topic.startswith(self.dispatcher.topic)

    def _broker_address(self, result: SendResult) -> str:
        name = result.message_queue.broker_name or ""
        return self._instance.routes.master(name) or "null"
