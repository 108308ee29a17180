"""Handlers whose calls are seen by hooks.

Java: ``ConsumeMessageConcurrentlyService.ConsumeRequest.run`` and its counterparts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rocketwire.client.consumer.config import ConsumeOrderlyStatus, count_successes
from rocketwire.client.hooks import ConsumeMessageContext
from rocketwire.messages.message_queue import MessageQueue

if TYPE_CHECKING:
    from rocketwire.client.consumer.config import (
        ConsumeConcurrentlyContext,
        ConsumeConcurrentlyStatus,
        ConsumeOrderlyContext,
        MessageListenerConcurrently,
        MessageListenerOrderly,
    )
    from rocketwire.client.hooks import HookChain
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage

_SUCCESS_STATES: Final = (None, ConsumeOrderlyStatus.SUCCESS, ConsumeOrderlyStatus.COMMIT)


@contextmanager
def _observe(hooks: HookChain, call: ConsumeMessageContext) -> Generator[None]:
    hooks.consume_before(call)
    try:
        yield
    except BaseException as error:
        call.exception = error
        raise
    finally:
        hooks.consume_after(call)


def hook_concurrent(
    listener: MessageListenerConcurrently, hooks: HookChain, client: ClientInstance, group: str
) -> MessageListenerConcurrently:
    """Return the handler with calls that hooks see; errors are raised again."""

    async def hooked(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus | None:
        call = ConsumeMessageContext(client, group, context.message_queue, messages)
        with _observe(hooks, call):
            call.status = status = await listener(messages, context)
            call.successes = count_successes(len(messages), status, context)
            return status

    return hooked


def hook_orderly(
    listener: MessageListenerOrderly, hooks: HookChain, client: ClientInstance, group: str
) -> MessageListenerOrderly:
    """Return the orderly handler with calls that hooks see; errors are raised again."""

    async def hooked(
        messages: Sequence[StoredMessage], context: ConsumeOrderlyContext
    ) -> ConsumeOrderlyStatus | None:
        call = ConsumeMessageContext(client, group, context.message_queue, messages)
        with _observe(hooks, call):
            call.status = status = await listener(messages, context)
            call.successes = len(messages) if status in _SUCCESS_STATES else 0
            return status

    return hooked


def hook_pop(
    listener: Callable[[StoredMessage], Awaitable[bool | None]],
    hooks: HookChain,
    client: ClientInstance,
    group: str,
    broker_name: Callable[[StoredMessage], str],
) -> Callable[[StoredMessage], Awaitable[bool | None]]:
    """Return the handler of popped messages with calls that hooks see; errors are raised again.

    Args:
        broker_name: returns the broker of a message.
    """

    async def hooked(message: StoredMessage) -> bool | None:
        queue = MessageQueue(
            topic=message.topic, broker_name=broker_name(message), queue_id=message.queue_id
        )
        call = ConsumeMessageContext(client, group, queue, [message])
        with _observe(hooks, call):
            call.status = is_success = await listener(message)
            call.successes = 0 if is_success is False else 1
            return is_success

    return hooked
