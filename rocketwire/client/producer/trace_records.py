"""What a producer tells of itself in the trace topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.client.periodic import now_millis
from rocketwire.client.producer import trace
from rocketwire.messages import message_const as const

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.message import Message
    from rocketwire.client.producer.send_result import SendResult
    from rocketwire.client.producer.transactions import LocalTransactionState


class ProducerTrace:
    """The records of one producer.

    Attributes:
        dispatcher: sends them.
    """

    def __init__(
        self, dispatcher: trace.TraceDispatcher, instance: ClientInstance, group: str
    ) -> None:
        """Args: dispatcher: sends the records; instance: knows addresses.

        Group: as the application calls it.
        """
        self.dispatcher = dispatcher
        self._instance = instance
        self._group = group

    def sent(self, message: Message, result: SendResult, started: int) -> None:
        """A message was stored, ``started`` being when it was sent, milliseconds since 1970.

        Nothing is recorded where the broker does not want it, nor of the trace topic itself.
        """
        if not result.trace_on or result.region is None or self._is_trace(message):
            return
        kind = trace.NORMAL
        if const.TRANSACTION_PREPARED in message.system:
            kind = trace.TRANS_HALF
        elif message.is_delayed:
            kind = trace.DELAY
        self.dispatcher.append(
            trace.publish_record(
                timestamp=started,
                region=result.region,
                group=self._group,
                topic=message.topic,
                msg_id=result.msg_id,
                tags=message.tags,
                keys=message.joined_keys or None,
                store_host=self._address_of(result),
                body_length=len(message.body),
                cost_millis=now_millis() - started,
                kind=kind,
                offset_msg_id=result.offset_msg_id,
                is_success=result.is_ok,
            )
        )

    def transaction_ended(
        self, message: Message, result: SendResult, state: LocalTransactionState
    ) -> None:
        """The broker was told how a transaction ended."""
        if self._is_trace(message):
            return
        self.dispatcher.append(
            trace.end_transaction_record(
                timestamp=now_millis(),
                region=result.region,
                group=self._group,
                topic=message.topic,
                msg_id=result.msg_id,
                tags=message.tags,
                keys=message.joined_keys or None,
                store_host=self._address_of(result),
                transaction_id=result.transaction_id,
                state=state.name,
                from_check=False,
            )
        )

    def recalled(self, topic: str, msg_id: str) -> None:
        """A delayed message was taken back."""
        self.dispatcher.append(
            trace.recall_record(
                timestamp=now_millis(),
                region=trace.DEFAULT_REGION,
                group=self._group,
                topic=topic,
                msg_id=msg_id,
                is_success=True,
            )
        )

    def _is_trace(self, message: Message) -> bool:
        return message.topic.startswith(self.dispatcher.topic)

    def _address_of(self, result: SendResult) -> str:
        name = result.message_queue.broker_name or ""
        return self._instance.routes.master(name) or "null"
