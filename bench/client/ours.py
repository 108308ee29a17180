"""``python -m bench.client.ours NAMESRV TOPIC``: our client as a program with commands on stdin.

``sync COUNT``, ``async COUNT`` and ``push COUNT`` are answered ``begun`` and ``done``. A third
argument ``first`` sends one message, prints ``done`` and ends, to measure a cold process.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client import ClientConfig, Message, open_client, open_producer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client import ConsumeConcurrentlyContext, Producer
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage

BODY: Final = b"x" * 1024
IN_FLIGHT: Final = 16


def say(word: str) -> None:
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


async def send(producer: Producer, topic: str, count: int, tasks: int) -> None:
    say("begun")
    numbers = iter(range(count))

    async def some() -> None:
        for _ in numbers:
            await producer.send(Message(topic=topic, body=BODY))

    async with trio.open_nursery() as nursery:
        for _ in range(tasks):
            nursery.start_soon(some)
    say("done")


async def consume(instance: ClientInstance, topic: str, group: str, count: int) -> None:
    # a cold producer does not import these
    from rocketwire.client import PushConsumerConfig, open_push_consumer
    from rocketwire.messages.enums import ConsumeFromWhere

    consumed = 0
    all_seen = trio.Event()

    async def listener(messages: Sequence[StoredMessage], _: ConsumeConcurrentlyContext) -> None:
        nonlocal consumed
        if not consumed:
            say("begun")
        consumed += len(messages)
        if consumed >= count:
            all_seen.set()

    first = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
    async with open_push_consumer(instance, group, {topic: "*"}, listener, config=first):
        await all_seen.wait()
        say("done")


async def serve(name_server: str, topic: str) -> None:
    async with (
        open_client(ClientConfig(namesrv_addr=name_server)) as instance,
        open_producer(instance, "bench-ours") as producer,
    ):
        number = 0
        while line := await trio.to_thread.run_sync(sys.stdin.readline):
            verb, count = line.split()
            number += 1
            if verb == "push":
                await consume(instance, topic, f"bench-ours-{number}", int(count))
            else:
                await send(producer, topic, int(count), IN_FLIGHT if verb == "async" else 1)


async def first(name_server: str, topic: str) -> None:
    async with open_producer(ClientConfig(namesrv_addr=name_server), "bench-ours") as producer:
        await producer.send(Message(topic=topic, body=BODY))
        say("done")


if __name__ == "__main__":
    trio.run(first if sys.argv[3:] == ["first"] else serve, sys.argv[1], sys.argv[2])
