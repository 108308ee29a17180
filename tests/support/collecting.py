"""Consumers of every kind that keep the bodies of their messages."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Protocol

import trio

from rocketwire.client import (
    ClientInstance,
    LitePullConsumerConfig,
    PopConsumerConfig,
    PushConsumerConfig,
    open_lite_pull_consumer,
    open_pop_consumer,
    open_push_consumer,
)
from rocketwire.messages.enums import ConsumeFromWhere

FROM_FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
FIRST = PushConsumerConfig(consume_from_where=FROM_FIRST)


class Consumer(Protocol):
    @property
    def unreadable_messages(self) -> int: ...


@asynccontextmanager
async def collect_bodies(
    flavour: str,
    client: ClientInstance,
    topic: str,
    bodies: list[bytes],
    group: str = "g",
    **settings: Any,
) -> AsyncGenerator[Consumer]:
    async def collect(messages: Any, *_: object) -> None:
        several = messages if isinstance(messages, (list, tuple)) else [messages]  # pyright: ignore[reportUnknownVariableType] - one or many
        bodies.extend(message.body or b"" for message in several)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - one or many
        await trio.lowlevel.checkpoint()

    subscriptions = {topic: "*"}
    if flavour == "pop":
        config = PopConsumerConfig(**settings)
        async with open_pop_consumer(
            client, group, subscriptions, collect, config=config
        ) as popping:
            yield popping
    elif flavour == "lite pull":
        lite = LitePullConsumerConfig(consume_from_where=FROM_FIRST, pull_batch_size=32, **settings)
        async with (
            open_lite_pull_consumer(client, group, config=lite) as pulling,
            trio.open_nursery() as nursery,
        ):
            pulling.subscribe(topic)

            async def poll() -> None:
                while True:
                    polled = await pulling.poll(1)
                    await collect(polled.messages if polled else ())

            nursery.start_soon(poll)
            yield pulling
            nursery.cancel_scope.cancel()
    else:
        handler = {"orderly_listener" if flavour == "orderly" else "listener": collect}
        push: Any = {"config": replace(FIRST, **settings), **handler}
        async with open_push_consumer(client, group, subscriptions, **push) as pushing:
            yield pushing
