"""``python -m bench.client.facade NAMESRV TOPIC threads|asyncio|uvloop [first]``: a facade as a program.

The commands on stdin are those of ``bench.client.ours``; for threads ``async`` is ``send_many``. A cold
process imports its own facade only.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from bench.client.ours import BODY, IN_FLIGHT, say
from rocketwire.client import ClientConfig, Message

SETTINGS: Final[dict[str, Any]] = {"send_msg_timeout": 60.0}
MANY: Final = 1000
"""Messages of a ``send_many``."""
BATCH: Final = 32


def run_threads(name_server: str, topic: str) -> None:
    from rocketwire import sync

    with (
        sync.open_client(ClientConfig(namesrv_addr=name_server)) as client,
        sync.open_producer(client, "bench-facade", **SETTINGS) as producer,
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
                consume(client, topic, f"bench-threads-{number}", count)
            say("done")


def consume(client: Any, topic: str, group: str, count: int) -> None:
    from rocketwire.messages.enums import ConsumeFromWhere
    from rocketwire.sync import open_push_consumer

    consumed = 0
    first = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
    with open_push_consumer(client, group, {topic: "*"}, consume_from_where=first) as consumer:
        for batch in consumer.batches(BATCH):
            if not consumed:
                say("begun")
            consumed += len(batch)
            if consumed >= count:
                return


async def run_tasks(name_server: str, topic: str, dialect: str) -> None:
    import asyncio

    from rocketwire import aio

    async with (
        aio.open_client(ClientConfig(namesrv_addr=name_server)) as client,
        aio.open_producer(client, "bench-facade", **SETTINGS) as producer,
    ):
        number = 0
        while line := await asyncio.to_thread(sys.stdin.readline):
            verb, count = line.split()[0], int(line.split()[1])
            number += 1
            if verb == "push":
                await consume_in_loop(client, topic, f"bench-{dialect}-{number}", count)
            else:
                say("begun")
                numbers = iter(range(count))
                tasks = IN_FLIGHT if verb == "async" else 1
                await asyncio.gather(*(send(producer, topic, numbers) for _ in range(tasks)))
            say("done")


async def send(producer: Any, topic: str, numbers: Any) -> None:
    for _ in numbers:
        await producer.send(Message(topic=topic, body=BODY))


async def consume_in_loop(client: Any, topic: str, group: str, count: int) -> None:
    from rocketwire.aio import open_push_consumer
    from rocketwire.messages.enums import ConsumeFromWhere

    consumed = 0
    first = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
    async with open_push_consumer(
        client, group, {topic: "*"}, consume_from_where=first
    ) as consumer:
        async for batch in consumer.batches(BATCH):
            if not consumed:
                say("begun")
            consumed += len(batch)
            if consumed >= count:
                return


def send_first(name_server: str, topic: str) -> None:
    from rocketwire.sync import open_producer

    with open_producer(name_server, "bench-facade", **SETTINGS) as producer:
        producer.send(Message(topic=topic, body=BODY))
        say("done")


async def send_first_in_loop(name_server: str, topic: str) -> None:
    from rocketwire.aio import open_producer

    async with open_producer(name_server, "bench-facade", **SETTINGS) as producer:
        await producer.send(Message(topic=topic, body=BODY))
        say("done")


def main() -> None:
    name_server, topic, dialect = sys.argv[1:4]
    is_first = sys.argv[4:] == ["first"]
    if dialect == "threads":
        (send_first if is_first else run_threads)(name_server, topic)
        return
    if is_first:
        program = send_first_in_loop(name_server, topic)
    else:
        program = run_tasks(name_server, topic, dialect)
    if dialect == "uvloop":
        import uvloop

        uvloop.run(program)
    else:
        import asyncio

        asyncio.run(program)


if __name__ == "__main__":
    main()
