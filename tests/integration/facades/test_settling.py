"""What handlers of a loop have settled reaches trio soon, whatever other handlers do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rocketwire import aio
from rocketwire.messages.enums import ConsumeFromWhere

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client import ConsumeConcurrentlyContext
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_tools.pytest_plugin.cluster import RocketMQ

pytestmark = pytest.mark.process


def test_a_failed_message_comes_again_while_another_is_being_handled(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(1)
    rocketmq.produce(topic, b"slow", b"handled", b"failed")

    async def consume() -> None:
        has_come_again = asyncio.Event()

        async def handle(
            messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
        ) -> None:
            for message in messages:
                if message.body == b"slow":
                    await has_come_again.wait()
                elif message.reconsume_times:
                    has_come_again.set()
                elif message.body == b"failed":
                    await asyncio.sleep(0.02)  # trio has just taken what was settled
                    context.delay_level_when_next_consume = 1
                    raise ValueError("fails once")

        first = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
        async with (
            asyncio.timeout(30),
            aio.open_push_consumer(
                rocketmq.address, "readers", {topic: "*"}, handle, consume_from_where=first
            ),
        ):
            while not has_come_again.is_set():
                await asyncio.to_thread(rocketmq.advance, 1)
                await asyncio.sleep(0.02)

    asyncio.run(consume())
