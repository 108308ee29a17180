"""Small tests of a program that uses RocketMQ: each gets the address of a name server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client import Message, open_producer, open_push_consumer
from rocketwire.client.admin import open_admin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client import ConsumeConcurrentlyContext
    from rocketwire.wire.message.stored import StoredMessage

PATIENCE: Final = 60.0


async def a_message_is_acknowledged(address: str) -> None:
    """A producer sends one message."""
    async with open_producer(address, "shop") as producer:
        result = await producer.send(Message("orders", b"17 apples"))
    assert result.queue_offset == 0


async def messages_are_consumed(address: str) -> None:
    """A push consumer gets what was sent before it started."""
    async with open_producer(address, "shop") as producer:
        for number in range(5):
            await producer.send(Message("orders", b"%d" % number))
    bodies: set[bytes | None] = set()
    complete = trio.Event()

    async def handle(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> None:
        bodies.update(message.body for message in messages)
        if len(bodies) == 5:
            complete.set()

    async with open_push_consumer(address, "readers", {"orders": "*"}, handle):
        with trio.fail_after(PATIENCE):
            await complete.wait()


async def a_tag_selects_messages(address: str) -> None:
    """A consumer of one tag does not get the others."""
    async with open_producer(address, "shop") as producer:
        for tag in ("red", "green", "red"):
            await producer.send(Message("orders", tag.encode(), tags=tag))
    bodies: list[bytes | None] = []
    complete = trio.Event()

    async def handle(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> None:
        bodies.extend(message.body for message in messages)
        if len(bodies) == 2:
            complete.set()

    async with open_push_consumer(address, "readers", {"orders": "red"}, handle):
        with trio.fail_after(PATIENCE):
            await complete.wait()
    assert set(bodies) == {b"red"}


async def a_topic_is_created(address: str) -> None:
    """An operator sees the cluster."""
    async with open_admin(address) as admin:
        cluster = await admin.clusters.info()
    assert cluster.broker_addr_table


BODIES: Final[tuple[Callable[[str], Awaitable[None]], ...]] = (
    a_message_is_acknowledged,
    messages_are_consumed,
    a_tag_selects_messages,
    a_topic_is_created,
)
