"""A pop consumer with many handlers: acknowledged messages are gone, others are redelivered."""

from collections.abc import Iterable

import pytest
import trio

from rocketwire.client import ClientInstance
from rocketwire.client.consumer.pop.pop import PopCalls
from rocketwire.client.consumer.pop.pop_consumer import PopConsumerConfig, open_pop_consumer
from rocketwire.wire.message.stored import StoredMessage
from tests.peers.messages import create_topic, numbered, send, unique, until

COUNT = 12
HIDDEN = 10.0
"""Seconds; not longer than a failed message is hidden, which would be redelivered before."""


async def check_batch_acknowledgements(client: ClientInstance, patch: pytest.MonkeyPatch) -> None:
    # Check it, again on a machine that takes longer than messages are hidden.
    sizes: list[int] = []
    batch_ack = PopCalls.batch_ack

    async def count(calls: PopCalls, messages: Iterable[StoredMessage]) -> None:
        batch = list(messages)
        await batch_ack(calls, batch)
        sizes.append(len(batch))

    patch.setattr(PopCalls, "batch_ack", count)
    attempts: list[tuple[bytes, int]] = []
    for _ in range(3):
        sizes.clear()
        attempts, seconds = await _handle_together(client)
        if seconds < HIDDEN:
            break
    assert sorted(attempts) == sorted([(body, 0) for body in numbered(COUNT)] + [(b"7", 1)])
    assert sum(sizes) > COUNT // 2


async def _handle_together(client: ClientInstance) -> tuple[list[tuple[bytes, int]], float]:
    # All deliveries, of which the last is one that failed before; and the seconds of handling.
    topic = await create_topic(client, unique("together"))
    await send(client, topic, numbered(COUNT))
    attempts: list[tuple[bytes, int]] = []
    all_here = trio.Event()

    async def listen(message: StoredMessage) -> bool:
        attempts.append((message.body or b"", message.reconsume_times))
        if len(attempts) == COUNT:
            all_here.set()
        await all_here.wait()
        return message.body != b"7" or message.reconsume_times > 0

    start = trio.current_time()
    config = PopConsumerConfig(pop_invisible_time=HIDDEN)
    async with open_pop_consumer(client, unique("g"), {topic: "*"}, listen, config=config):
        with trio.move_on_after(HIDDEN):
            await all_here.wait()
        seconds = trio.current_time() - start
        if seconds < HIDDEN:
            await until(lambda: len(attempts) > COUNT)
        all_here.set()
    return attempts, seconds
