"""Topics of Java's brokers for Spark: creates them, fills them, and asks the brokers what they have."""

from __future__ import annotations

import contextlib
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import trio

from rocketwire.client import Message, ProducerConfig, open_client, open_producer
from rocketwire.client.admin.admin import Admin
from rocketwire.client.consumer.queues import get_queues
from rocketwire.errors import RocketWireError
from rocketwire.messages.topic_config import TopicConfig
from tests.support.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from rocketwire.client import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage

Place = tuple[str, int, int]
"""Broker, queue id and queue offset."""
_BATCH = 200
_LARGE_BATCH = 10_000
_SIZE = 64 << 10
"""Bytes of a batch, for brokers that take small messages."""


class Topics:
    """What tests do to the topics of a cluster.

    Args:
        address: of its name server.
        brokers: number of brokers that a topic has to have.
        only: address of the only broker that gets topics; None for all of the cluster.
    """

    def __init__(self, address: str, brokers: int = 1, only: str | None = None) -> None:
        self.address = address
        self.brokers = brokers
        self._where = {"cluster": "DefaultCluster"} if only is None else {"broker": only}

    def run(self, work: Callable[[ClientInstance], Coroutine[Any, Any, Any]]) -> Any:
        """Run a coroutine function with a client."""

        async def main() -> Any:
            async with open_client(self.address) as client:
                return await work(client)

        return trio.run(main)

    def create(self, topic: str, queues: int = 4, of_all: int | None = None) -> str:
        """Create a topic, or change the number of its queues; returns when it has a route.

        Args:
            topic: its name.
            queues: number of its queues at each broker that gets it.
            of_all: number of all its queues then, if others have it already.
        """
        config = TopicConfig(topic_name=topic, read_queue_nums=queues, write_queue_nums=queues)

        async def work(client: ClientInstance) -> None:
            await Admin(client).topics.create_or_update(config, **self._where)
            with trio.fail_after(60):
                while True:  # brokers register it a moment later
                    with contextlib.suppress(RocketWireError):
                        await client.refresh_route(topic)
                        if len(await get_queues(client, topic)) == (
                            of_all or queues * self.brokers
                        ):
                            return
                    await trio.sleep(0.1)

        self.run(work)
        return topic

    def delete(self, topic: str, cluster: str = "DefaultCluster") -> None:
        """Delete a topic."""
        self.run(lambda client: Admin(client).topics.delete(topic, cluster))

    def fill(self, topic: str, bodies: Sequence[bytes], **fields: Any) -> set[Place]:
        """Send messages; returns where the brokers have stored them."""

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
        """Send many messages in batches; returns the places that the brokers have then."""

        async def work(client: ClientInstance) -> None:
            config = ProducerConfig(send_msg_timeout=30)
            async with open_producer(client, "fillers", config) as producer:
                for first in range(0, count, _LARGE_BATCH):
                    part = min(_LARGE_BATCH, count - first)
                    await producer.send_batches([Message(topic, body)] * part, max_size=_SIZE)

        before = sum(self.ends(topic).values())
        self.run(work)
        wait_until(lambda: sum(self.ends(topic).values()) >= before + count, "all are in queues")
        return self.places(topic)

    def places(self, topic: str) -> set[Place]:
        """Every place that the brokers have now, as they say."""
        return {
            (broker, queue_id, offset)
            for (broker, queue_id), (begin, end) in self.bounds(topic).items()
            for offset in range(begin, end)
        }

    def messages(self, topic: str) -> list[StoredMessage]:
        """Every message that the brokers have now."""

        async def work(client: ClientInstance) -> list[StoredMessage]:
            async with aclosing(Admin(client).messages.walk(topic)) as walk:
                return [message async for message in walk]

        messages: list[StoredMessage] = self.run(work)
        return messages

    def ends(self, topic: str) -> dict[tuple[str, int], int]:
        """The end of each queue, as the brokers say (code 202)."""
        return {queue: end for queue, (_, end) in self.bounds(topic).items()}

    def bounds(self, topic: str) -> dict[tuple[str, int], tuple[int, int]]:
        """Begin and end of each queue, as the brokers say (code 202)."""

        async def work(client: ClientInstance) -> dict[tuple[str, int], tuple[int, int]]:
            table = (await Admin(client).topics.stats(topic)).offset_table or {}
            return {
                (q.broker_name or "", q.queue_id): (max(0, o.min_offset), max(0, o.max_offset))
                for q, o in table.items()
            }

        bounds: dict[tuple[str, int], tuple[int, int]] = self.run(work)
        return bounds
