"""A pop consumer with many handlers: acknowledged messages are gone, others are redelivered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from rocketwire.client.consumer.pop.pop import PopCalls
from rocketwire.client.consumer.pop.pop_consumer import PopConsumerConfig, open_pop_consumer
from tests.peers.messages import create_topic, numbered, send, unique, until

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

    from rocketwire.client import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage

COUNT = 12
HIDDEN = 10.0
"""Seconds; not longer than a failed message is hidden, which would be redelivered before."""


async def messages_acknowledged_together_are_gone(
    client: ClientInstance, patch: pytest.MonkeyPatch
) -> None:
    """Does it, again on a machine that takes longer than messages are hidden."""
    together: list[int] = []
    batch_ack = PopCalls.batch_ack

    async def count(calls: PopCalls, messages: Iterable[StoredMessage]) -> None:
        given = list(messages)
        await batch_ack(calls, given)
        together.append(len(given))

    patch.setattr(PopCalls, "batch_ack", count)
    seen: list[tuple[bytes, int]] = []
    for _ in range(3):
        together.clear()
        seen, seconds = await _handle_together(client)
        if seconds < HIDDEN:
            break
    assert sorted(seen) == sorted([(body, 0) for body in numbered(COUNT)] + [(b"7", 1)])
    assert sum(together) > COUNT // 2


async def _handle_together(client: ClientInstance) -> tuple[list[tuple[bytes, int]], float]:
    """What handlers got, the last of it what was not handled before; and how long handling took."""
    topic = await create_topic(client, unique("together"))
    await send(client, topic, numbered(COUNT))
    seen: list[tuple[bytes, int]] = []
    all_here = trio.Event()

    async def listen(message: StoredMessage) -> bool:
        seen.append((message.body or b"", message.reconsume_times))
        if len(seen) == COUNT:
            all_here.set()
        await all_here.wait()
        return message.body != b"7" or message.reconsume_times > 0

    began = trio.current_time()
    config = PopConsumerConfig(pop_invisible_time=HIDDEN)
    async with open_pop_consumer(client, unique("g"), {topic: "*"}, listen, config=config):
        with trio.move_on_after(HIDDEN):
            await all_here.wait()
        seconds = trio.current_time() - began
        if seconds < HIDDEN:
            await until(lambda: len(seen) > COUNT)
        all_here.set()
    return seen, seconds
