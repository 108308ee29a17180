"""Consumers of tests at a real broker: listeners that remember, and settings that begin at the first message."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from rocketwire.client import (
    ClientInstance,
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
    PushConsumer,
    PushConsumerConfig,
    open_push_consumer,
)
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.wire.message.stored import StoredMessage

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET


class Listener:
    """Remembers its messages.

    ``failing`` has the number of times that it does not handle a body.
    """

    def __init__(self, failing: Mapping[bytes, int] | None = None) -> None:
        self.messages: list[StoredMessage] = []
        self._failing = failing or {}

    @property
    def bodies(self) -> list[bytes]:
        return [message.body or b"" for message in self.messages]

    @property
    def attempts(self) -> list[tuple[bytes, int]]:
        return [(message.body or b"", message.reconsume_times) for message in self.messages]

    def fails(self, messages: Sequence[StoredMessage]) -> bool:
        self.messages += messages
        return any(
            message.reconsume_times < self._failing.get(message.body or b"", 0)
            for message in messages
        )

    async def __call__(
        self, messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus | None:
        context.delay_level_when_next_consume = 1
        return ConsumeConcurrentlyStatus.RECONSUME_LATER if self.fails(messages) else None


class OrderlyListener(Listener):
    async def listen(
        self, messages: Sequence[StoredMessage], context: ConsumeOrderlyContext
    ) -> ConsumeOrderlyStatus:
        context.suspend_current_queue_time_millis = 10
        if self.fails(messages):
            return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT
        return ConsumeOrderlyStatus.SUCCESS


def consume(
    client: ClientInstance, group: str, topic: str, listener: Any = None, **settings: Any
) -> AbstractAsyncContextManager[PushConsumer]:
    expression = settings.pop("expression", "*")
    config = PushConsumerConfig(consume_from_where=FIRST, **settings)
    is_orderly = isinstance(listener, OrderlyListener)
    return open_push_consumer(
        client,
        group,
        {topic: expression},
        None if is_orderly else listener,
        orderly_listener=listener.listen if is_orderly else None,
        config=config,
    )
