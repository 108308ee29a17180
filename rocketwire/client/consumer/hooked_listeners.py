"""Handlers whose calls are seen by hooks; their errors are raised again.

Java: ``ConsumeMessageConcurrentlyService.ConsumeRequest.run`` and its counterparts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from rocketwire.client.consumer.config import ConsumeOrderlyStatus
from rocketwire.client.hooks import ConsumeMessageContext
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.pop_handle import handle_of

if TYPE_CHECKING:
    from rocketwire.client.consumer.config import ConsumeOrderlyContext
    from rocketwire.client.hooks import HookChain
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage

_SUCCESS_STATES: Final = (None, ConsumeOrderlyStatus.SUCCESS, ConsumeOrderlyStatus.COMMIT)


class _HandlerContext(Protocol):
    message_queue: MessageQueue


Context = TypeVar("Context", bound=_HandlerContext)
Status = TypeVar("Status")


def hook_listener(
    listener: Callable[[Sequence[StoredMessage], Context], Awaitable[Status]],
    hooks: HookChain,
    client: ClientInstance,
    group: str,
    count: Callable[[int, Status, Context], int],
) -> Callable[[Sequence[StoredMessage], Context], Awaitable[Status]]:
    """Return a handler whose calls hooks see; ``count`` returns how many messages succeeded."""

    async def call_listener(messages: Sequence[StoredMessage], context: Context) -> Status:
        call = ConsumeMessageContext(client, group, context.message_queue, messages)
        with hooks.watch(call):
            call.status = status = await listener(messages, context)
            call.successes = count(len(messages), status, context)
            return status

    return call_listener


def count_orderly(
    messages: int, status: ConsumeOrderlyStatus | None, _: ConsumeOrderlyContext
) -> int:
    return messages if status in _SUCCESS_STATES else 0


def hook_pop(
    listener: Callable[[StoredMessage], Awaitable[bool | None]],
    hooks: HookChain,
    client: ClientInstance,
    group: str,
) -> Callable[[StoredMessage], Awaitable[bool | None]]:
    async def call_listener(message: StoredMessage) -> bool | None:
        name = handle_of(message).broker_name
        queue = MessageQueue(topic=message.topic, broker_name=name, queue_id=message.queue_id)
        call = ConsumeMessageContext(client, group, queue, [message])
        with hooks.watch(call):
            call.status = is_success = await listener(message)
            call.successes = 0 if is_success is False else 1
            return is_success

    return call_listener
