"""``open_trace``: opens the dispatcher of trace records with its internal producer.

Java: ``AsyncTraceDispatcher.getAndCreateTraceProducer``.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.config import AccessChannel
from rocketwire.client.periodic import now_millis
from rocketwire.client.publish.config import ProducerConfig
from rocketwire.client.publish.request_builder import build_outgoing_message
from rocketwire.client.publish.sender import MessageSender
from rocketwire.client.publish.unique_keys import unique_keys
from rocketwire.client.trace.dispatcher import TraceDispatcher
from rocketwire.policy.validation import check_message, check_producer_group
from rocketwire.transport.nursery import background

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.message import Message

_CONFIG: Final = ProducerConfig(send_msg_timeout=5.0)


class TraceSender:
    def __init__(self, instance: ClientInstance, name: str) -> None:
        """Create a sender with its own producer group, which brokers do not get in heartbeats.

        ``name`` is the traced group with namespace, and ``PRODUCE`` or ``CONSUME``.

        Raises:
            IllegalNameError: the producer group would be too long.
        """
        group = f"_INNER_TRACE_PRODUCER-{name}"
        check_producer_group(group)
        chance = random.Random()  # noqa: S311 - spreads load, hides nothing
        # as in Java, where the producer of traces has no namespace
        self._sender = MessageSender(instance, group, _CONFIG, chance, adds_namespace=False)
        self._keys = unique_keys(instance.own_ip)

    async def send(self, message: Message) -> None:
        """Send a message; for errors see ``Producer.send``."""
        check_message(
            message.topic, message.body, message.properties, max_size=_CONFIG.max_message_size
        )
        born = now_millis()
        unique_key = self._keys.next_key(born)
        outgoing = build_outgoing_message(message, unique_key, born, _CONFIG)
        await self._sender.send(message.topic, outgoing, _CONFIG.send_msg_timeout)


@asynccontextmanager
async def open_trace(
    instance: ClientInstance, name: str, topic: str | None, within: float
) -> AsyncGenerator[TraceDispatcher]:
    """Send trace records until the end of the block, which sends those that are queued."""
    is_cloud = instance.config.access_channel is AccessChannel.CLOUD
    dispatcher = TraceDispatcher(TraceSender(instance, name).send, topic, is_cloud=is_cloud)
    async with background() as nursery:
        nursery.start_soon(dispatcher.run)
        try:
            yield dispatcher
        finally:
            with trio.move_on_after(within, shield=True):
                await dispatcher.flush()
