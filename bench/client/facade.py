"""``python -m bench.client.facade NAMESRV TOPIC threads|asyncio|uvloop [HOOKS]``: a facade as a program.

The commands on stdin are those of ``bench.client.ours``: ``sync``, ``async`` (16 in flight; for
threads ``send_many``), ``push`` (batches of 32), and ``single``: one message after the other, awaited.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from bench.client.ours import BODY, IN_FLIGHT, say
from rocketwire.client import ClientConfig, Message

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from rocketwire.client.config import Hook

SETTINGS: Final[dict[str, Any]] = {"send_msg_timeout": 60.0}
MANY: Final = 1000
"""Messages of a ``send_many``."""


def threads(name_server: str, topic: str, hooks: Sequence[Hook]) -> None:
    """Run the commands with ``rocketwire.sync``."""
    from rocketwire.sync import open_client, open_producer

    with (
        open_client(ClientConfig(namesrv_addr=name_server, hooks=hooks)) as client,
        open_producer(client, "bench-facade", **SETTINGS) as producer,
    ):
        number = 0
        while line := sys.stdin.readline():
            verb, count = line.split()[0], int(line.split()[1])
            number += 1
            if verb == "sync":
                say("begun")
                for _ in range(count):
                    producer.send(Message(topic=topic, body=BODY))
            elif verb == "async":
                say("begun")
                for start in range(0, count, MANY):
                    size = min(MANY, count - start)
                    producer.send_many([Message(topic=topic, body=BODY) for _ in range(size)])
            else:
                group = f"bench-threads-{number}"
                consume(client, topic, group, count, is_single=verb == "single")
            say("done")


def consume(client: Any, topic: str, group: str, count: int, *, is_single: bool) -> None:
    """Consume messages with a new group, in batches or one by one."""
    from rocketwire.messages.enums import ConsumeFromWhere
    from rocketwire.sync import open_push_consumer

    first = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
    consumed = 0
    with open_push_consumer(client, group, {topic: "*"}, consume_from_where=first) as consumer:
        for batch in consumer if is_single else consumer.batches(32):
            if not consumed:
                say("begun")
            consumed += len(batch)
            if consumed >= count:
                return


async def tasks(name_server: str, topic: str, dialect: str, hooks: Sequence[Hook]) -> None:
    """Run the commands with ``rocketwire.aio``; groups of other dialects have read the topic too."""
    import asyncio

    from rocketwire.aio import open_client, open_producer

    async def send(producer: Any, count: int, at_once: int) -> None:
        numbers = iter(range(count))

        async def some() -> None:
            for _ in numbers:
                await producer.send(Message(topic=topic, body=BODY))

        await asyncio.gather(*(some() for _ in range(at_once)))

    async with (
        open_client(ClientConfig(namesrv_addr=name_server, hooks=hooks)) as client,
        open_producer(client, "bench-facade", **SETTINGS) as producer,
    ):
        number = 0
        while line := await asyncio.to_thread(sys.stdin.readline):
            verb, count = line.split()[0], int(line.split()[1])
            number += 1
            if verb in ("sync", "async"):
                say("begun")
                await send(producer, count, IN_FLIGHT if verb == "async" else 1)
            else:
                group = f"bench-{dialect}-{number}"
                await consume_in_loop(client, topic, group, count, is_single=verb == "single")
            say("done")


async def consume_in_loop(
    client: Any, topic: str, group: str, count: int, *, is_single: bool
) -> None:
    """Consume messages with a new group, in batches or one by one."""
    from rocketwire.aio import open_push_consumer
    from rocketwire.messages.enums import ConsumeFromWhere

    first = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
    consumed = 0
    async with open_push_consumer(
        client, group, {topic: "*"}, consume_from_where=first
    ) as consumer:
        async for batch in consumer if is_single else consumer.batches(32):
            if not consumed:
                say("begun")
            consumed += len(batch)
            if consumed >= count:
                return


def first(name_server: str, topic: str) -> None:
    """Send one message from a thread."""
    from rocketwire.sync import open_producer

    with open_producer(name_server, "bench-facade", **SETTINGS) as producer:
        producer.send(Message(topic=topic, body=BODY))
        say("done")


async def first_in_loop(name_server: str, topic: str) -> None:
    """Send one message from a task."""
    from rocketwire.aio import open_producer

    async with open_producer(name_server, "bench-facade", **SETTINGS) as producer:
        await producer.send(Message(topic=topic, body=BODY))
        say("done")


def run(main: Coroutine[Any, Any, None], dialect: str) -> None:
    """Run a coroutine in a loop of a dialect."""
    runner: Callable[[Coroutine[Any, Any, None]], None]
    if dialect == "uvloop":
        import uvloop

        runner = uvloop.run
    else:
        import asyncio

        runner = asyncio.run
    runner(main)


def main() -> None:
    """Run the dialect of the command line."""
    name_server, topic, dialect = sys.argv[1:4]
    is_first = sys.argv[4:] == ["first"]
    if dialect == "threads" and is_first:
        first(name_server, topic)
        return
    if is_first:
        run(first_in_loop(name_server, topic), dialect)
        return
    hooks: Sequence[Hook] = ()
    if observer := "".join(sys.argv[4:]):
        from bench.client.hooks import hooks_of

        hooks = hooks_of(observer)
    if dialect == "threads":
        threads(name_server, topic, hooks)
    else:
        run(tasks(name_server, topic, dialect, hooks), dialect)


if __name__ == "__main__":
    main()
