"""Sends whose hooks are called by the sender, in its thread and with its context variables."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rocketwire.client.producer.producer import check_message_type

if TYPE_CHECKING:
    from rocketwire.client.hooks import HookChain, SendMessageContext
    from rocketwire.client.message import Message
    from rocketwire.client.producer.producer import Producer


def hooks_of_sender(producer: Producer) -> HookChain | None:
    """Return the hooks of a producer if its senders may call them; None otherwise."""
    hooks = producer.sender.hooks
    return None if hooks is None or not hooks.is_thread_safe else hooks


@contextmanager
def hooked_send(
    hooks: HookChain, producer: Producer, message: Message
) -> Generator[SendMessageContext]:
    """Let hooks see a send, as ``HookChain.send`` does.

    The block sends the message of the context, and notes the result there.

    Raises:
        IllegalMessageTypeError: the message is not a ``Message``; no hook is called.
    """
    from rocketwire.client.hooks import SendMessageContext

    check_message_type(message)
    context = SendMessageContext(producer.instance, producer.group, (message,))
    hooks.send_before(context)
    try:
        yield context
    except BaseException as error:
        context.exception = error
        raise
    finally:
        hooks.send_after(context)
