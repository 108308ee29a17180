"""Topics of Java's brokers for Spark."""

from __future__ import annotations

import contextlib
import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import trio

from rocketwire.client import Message, ProducerConfig, open_client, open_producer
from rocketwire.client.admin.admin import Admin
from rocketwire.client.consumer.queues import find_replica, get_queues
from rocketwire.errors import RocketWireError
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.topic_config import TopicConfig
from tests.peers.processes import wait_until
from tests.spark.streams import run_to_end
from tests.support.spark_sources import make_schema, read_partitions

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from rocketwire.client import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage

Place = tuple[str, int, int]
"""Broker, queue id and queue offset."""
PLACE = "brokerName string, queueId int, queueOffset bigint"
"""The columns of ``Place``."""
_BATCH = 200
_LARGE_BATCH = 10_000
_SIZE = 64 << 10
"""Bytes of a batch, for brokers that take small messages."""


class Topics:
    """Changes of tests to the topics of a cluster.

    Args:
        brokers: number of brokers that a topic has to have.
        only: address of the only broker that gets topics; None for all of the cluster.
    """

    def __init__(self, address: str, brokers: int = 1, only: str | None = None) -> None:
        self.address = address
        self.brokers = brokers
        self._where: dict[str, Any] = (
            {"cluster": "DefaultCluster"} if only is None else {"broker": only}
        )

    def run(self, work: Callable[[ClientInstance], Coroutine[Any, Any, Any]]) -> Any:
        async def main() -> Any:
            async with open_client(self.address) as client:
                return await work(client)

        return trio.run(main)

    def create(
        self,
        topic: str,
        queues: int = 4,
        perm: int = 6,
        of_all: int | None = None,
        attributes: dict[str, str] | None = None,
    ) -> str:
        """Create a topic, or change it; returns when it has a route.

        Args:
            perm: 6 to read and write, 2 to write only.
            of_all: number of all its queues then, if others have it already.
            attributes: what 5.x calls so, such as ``{"+cleanup.policy": "COMPACTION"}``.
        """
        config = TopicConfig(
            topic_name=topic,
            read_queue_nums=queues,
            write_queue_nums=queues,
            perm=perm,
            attributes=attributes,
        )
        expected = of_all or (queues * self.brokers if perm & 4 else 0)

        async def work(client: ClientInstance) -> None:
            await Admin(client).topics.create_or_update(config, **self._where)
            with trio.fail_after(60):
                while True:  # brokers register it a moment later
                    with contextlib.suppress(RocketWireError):
                        await client.refresh_route(topic)
                        if len(await get_queues(client, topic)) == expected:
                            return
                    await trio.sleep(0.1)

        self.run(work)
        return topic

    def delete(self, topic: str, cluster: str = "DefaultCluster") -> None:
        self.run(lambda client: Admin(client).topics.delete(topic, cluster))

    def forbid(self, group: str) -> None:
        config = SubscriptionGroupConfig(group_name=group, consume_enable=False)
        self.run(lambda client: Admin(client).groups.create_or_update(config, **self._where))

    def fill(self, topic: str, bodies: Sequence[bytes], **fields: Any) -> set[Place]:
        async def work(client: ClientInstance) -> set[Place]:
            places: set[Place] = set()
            config = ProducerConfig(send_msg_timeout=30)
            async with open_producer(client, "fillers", config) as producer:
                for first in range(0, len(bodies), _BATCH):
                    part = bodies[first : first + _BATCH]
                    results = await producer.send_many([Message(topic, b, **fields) for b in part])
                    places |= {
                        (
                            r.message_queue.broker_name or "",
                            r.message_queue.queue_id,
                            r.queue_offset,
                        )
                        for r in results
                    }
            return places

        places: set[Place] = self.run(work)
        return places

    def fill_fast(self, topic: str, count: int, body: bytes = b"x" * 100) -> set[Place]:
        # Send many messages in batches; returns the places that the brokers have then.

        async def work(client: ClientInstance) -> None:
            config = ProducerConfig(send_msg_timeout=30)
            async with open_producer(client, "fillers", config) as producer:
                for first in range(0, count, _LARGE_BATCH):
                    part = min(_LARGE_BATCH, count - first)
                    await producer.send_batches([Message(topic, body)] * part, max_size=_SIZE)

        count_before = sum(self.ends(topic).values())
        self.run(work)
        wait_until(
            lambda: sum(self.ends(topic).values()) >= count_before + count, "all are in queues"
        )
        return self.places(topic)

    def places(self, topic: str) -> set[Place]:
        return {
            (broker, queue_id, offset)
            for (broker, queue_id), (begin, end) in self.bounds(topic).items()
            for offset in range(begin, end)
        }

    def messages(self, topic: str) -> list[StoredMessage]:
        async def work(client: ClientInstance) -> list[StoredMessage]:
            async with aclosing(Admin(client).messages.walk(topic)) as walk:
                return [message async for message in walk]

        messages: list[StoredMessage] = self.run(work)
        return messages

    def ends(self, topic: str) -> dict[tuple[str, int], int]:
        return {queue: end for queue, (_, end) in self.bounds(topic).items()}

    def bounds(self, topic: str) -> dict[tuple[str, int], tuple[int, int]]:
        async def work(client: ClientInstance) -> dict[tuple[str, int], tuple[int, int]]:
            table = (await Admin(client).topics.stats(topic)).offset_table or {}
            return {
                (q.broker_name or "", q.queue_id): (max(0, o.min_offset), max(0, o.max_offset))
                for q, o in table.items()
            }

        bounds: dict[tuple[str, int], tuple[int, int]] = self.run(work)
        return bounds

    def read_committed(self, topic: str, group: str) -> dict[tuple[str, int], int | None]:
        async def work(client: ClientInstance) -> dict[tuple[str, int], int | None]:
            offsets: dict[tuple[str, int], int | None] = {}
            for queue in await get_queues(client, topic):
                address = (await find_replica(client, queue)).address
                offset = await client.brokers.consumer_offset(address, group, queue)
                offsets[queue.broker_name or "", queue.queue_id] = offset
            return offsets

        committed: dict[tuple[str, int], int | None] = self.run(work)
        return committed


class Reader:
    def __init__(self, spark: SparkSession, topics: Topics, folder: Path) -> None:
        self.spark = spark
        self.topics = topics
        self.folder = folder

    def options(self, **options: str) -> dict[str, str]:
        return {"nameServers": self.topics.address, **options}

    def batch(self, schema: str | None = None, **options: str) -> DataFrame:
        reader = self.spark.read.format("rocketmq").options(**self.options(**options))
        return (reader if schema is None else reader.schema(schema)).load()

    def places(self, **options: str) -> list[Place]:
        return [tuple(row) for row in self.batch(PLACE, **options).collect()]

    def stream(self, name: str, *, once: bool = False, **options: str) -> list[dict[str, Any]]:
        # Run a stream into files until nothing is left; returns the progress of its batches.
        progress: list[dict[str, Any]] = []

        def start() -> Any:
            frames = (
                self.spark.readStream.format("rocketmq")
                .schema(PLACE)
                .options(**self.options(**{"startingOffsets": "earliest", **options}))
                .load()
            )
            trigger: dict[str, Any] = {"once": True} if once else {"availableNow": True}
            query = (
                frames.writeStream.format("parquet")
                .option("path", str(self.folder / name))
                .option("checkpointLocation", str(self.folder / f"{name}-checkpoint"))
                .trigger(**trigger)
                .start()
            )
            query.awaitTermination()
            progress.extend(json.loads(batch.json) for batch in query.recentProgress)
            return query

        run_to_end(start)
        return progress

    def read_checkpoint(self, name: str) -> str:
        folder = self.folder / f"{name}-checkpoint" / "offsets"
        last = max(int(path.name) for path in folder.iterdir() if path.name.isdecimal())
        return (folder / str(last)).read_text("utf-8").splitlines()[-1]

    def read_files(self, name: str) -> list[Place]:
        frames = self.spark.read.schema(PLACE).parquet(str(self.folder / name))
        return [tuple(row) for row in frames.collect()]


def read_here(options: dict[str, str]) -> list[Place]:
    # The rows of a batch, read by the classes that Spark calls, in this process.

    from pyspark_rocketmq import DefaultSource

    columns = (column.partition(" ") for column in PLACE.split(", "))
    schema = make_schema({name: hint for name, _, hint in columns})
    reader: Any = DefaultSource(options).reader(schema)
    rows = read_partitions(reader, reader.partitions())
    return [(row["brokerName"], row["queueId"], row["queueOffset"]) for row in rows]
