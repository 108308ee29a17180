"""``python -m bench.spark.topic_reader HOW NAMESRV TOPIC``: each line on stdin reads a topic once.

``plain`` is the loop of pulls that a user of the client writes; ``worker`` is what a worker of Spark
does, from the pulls to the bytes for the JVM, with all columns.  A line of the answer has messages,
bytes of bodies, nanoseconds of CPU and the largest resident memory in kilobytes.
"""

from __future__ import annotations

import importlib
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

import trio

from rocketwire.client import open_client
from rocketwire.client.consumer.pull import PullCalls, PullRequest
from rocketwire.client.consumer.queues import get_queues
from rocketwire.policy.subscription import subscription_data
from rocketwire_tools.spark.topics.cluster import Cluster
from rocketwire_tools.spark.topics.columns import ROCKETMQ
from rocketwire_tools.spark.topics.connection import Connection
from rocketwire_tools.spark.topics.options import PullSettings, Settings
from rocketwire_tools.spark.topics.planning import batch_ranges
from rocketwire_tools.spark.topics.reading import read_range

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.client import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue

pa: Any = importlib.import_module("pyarrow")  # it has no types
Read = tuple[int, int]
"""Messages and bytes of bodies."""


async def _plain_queue(client: ClientInstance, pulls: PullCalls, queue: MessageQueue) -> Read:
    count = size = offset = 0
    subscription = subscription_data(queue.topic or "", version=0)
    address = await client.master(queue.broker_name or "")
    end = await client.brokers.max_offset(address, queue)
    while offset < end:
        result = await pulls.pull(
            PullRequest(
                queue=queue,
                offset=offset,
                group="bench-plain",
                subscription=subscription,
                suspend_timeout=0,
                send_subscription=True,
            )
        )
        for message in result.messages:
            count += 1
            size += len(message.body or b"")
        offset = result.next_begin_offset
    return count, size


async def _plain(name_servers: str, topic: str) -> Read:
    total: list[Read] = []
    async with open_client(name_servers) as client:
        pulls = PullCalls(client)

        async def read(queue: MessageQueue) -> None:
            total.append(await _plain_queue(client, pulls, queue))

        async with trio.open_nursery() as nursery:
            for queue in await get_queues(client, topic):
                nursery.start_soon(read, queue)
    return sum(count for count, _ in total), sum(size for _, size in total)


_TEXT = pa.string()
_TIME = pa.timestamp("us", tz="UTC")
_TYPES: dict[str, Any] = {
    "string": _TEXT,
    "int": pa.int32(),
    "bigint": pa.int64(),
    "binary": pa.binary(),
    "timestamp": _TIME,
    "array<string>": pa.list_(_TEXT),
    "map<string,string>": pa.map_(_TEXT, _TEXT),
}


def _worker(name_servers: str, topic: str) -> Read:
    schema = pa.schema([(name, _TYPES[kind]) for name, kind in ROCKETMQ.items()])
    settings = Settings(connection=Connection(name_servers=name_servers), topics=(topic,))
    count = size = 0
    with open("/dev/null", "wb") as sink:
        for place in batch_ranges(settings, Cluster(settings)):
            writer: Any = None
            for batch in read_range(
                settings.connection, place, PullSettings(group=settings.group), schema
            ):
                writer = writer or pa.RecordBatchStreamWriter(sink, batch.schema)
                writer.write_batch(batch)
                count += batch.num_rows
                size += batch.column("body").nbytes
            if writer is not None:
                writer.close()
    return count, size


def main() -> None:
    """Read for each line."""
    how, name_servers, topic = sys.argv[1:4]
    read: Callable[[], Read]
    if how == "plain":
        read = lambda: trio.run(_plain, name_servers, topic)  # noqa: E731 - one of two
    else:
        read = lambda: _worker(name_servers, topic)  # noqa: E731 - one of two
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while sys.stdin.readline():
        before = time.process_time_ns()
        count, size = read()
        cpu = time.process_time_ns() - before
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        sys.stdout.write(f"{count} {size} {cpu} {memory}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
